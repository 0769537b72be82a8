"""Tensors in scikit-learn and pandas."""

import pytest

torch = pytest.importorskip("torchc", reason="torchc is not on the path", exc_type=ImportError)
np = pytest.importorskip("numpy")


@pytest.fixture
def data():
    torch.manual_seed(0)
    x = torch.rand(60, 3)
    return x, 2 * x[:, 0] - x[:, 1] + 0.5, (x.sum(1) > 1.5).long()


def test_estimators(data):
    pytest.importorskip("sklearn")
    from sklearn import (
        cluster,
        ensemble,
        linear_model,
        metrics,
        model_selection,
        pipeline,
        preprocessing,
    )

    x, y, labels = data
    line = linear_model.LinearRegression().fit(x, y)
    assert np.allclose(line.coef_, [2, -1, 0], atol=1e-4) and line.score(x, y) > 0.999
    assert torch.allclose(torch.from_numpy(line.predict(x)), y, atol=1e-4)
    scaled = preprocessing.StandardScaler().fit_transform(x)
    assert np.allclose(scaled, (x - x.mean(0)) / x.std(0, unbiased=False), atol=1e-4)
    parts = model_selection.train_test_split(x, labels, test_size=0.25, random_state=0)
    assert [len(p) for p in parts] == [45, 15, 45, 15]
    assert all(isinstance(p, torch.Tensor) for p in parts)
    for model in (
        linear_model.LogisticRegression(),
        ensemble.RandomForestClassifier(10, random_state=0),
        pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression()),
    ):
        model.fit(parts[0], parts[2])
        predicted = model.predict(parts[1])
        assert metrics.accuracy_score(parts[3], torch.from_numpy(predicted)) > 0.6
        assert model.predict_proba(parts[1]).shape == (15, 2)
    found = cluster.KMeans(2, n_init=1, random_state=0).fit(torch.cat([x, x + 10]))
    assert len(set(found.labels_[:60].tolist())) == 1 and found.labels_[0] != found.labels_[60]
    assert metrics.mean_squared_error(y, y) == 0 and metrics.r2_score(y, y) == 1
    assert metrics.confusion_matrix(labels, labels).sum() == 60
    assert metrics.roc_auc_score(labels, x.sum(1)) == 1.0
    scores = model_selection.cross_val_score(linear_model.LinearRegression(), x, y, cv=3)
    assert scores.min() > 0.99


def test_gradients_are_not_lost_silently(data):
    pytest.importorskip("sklearn")
    from sklearn import linear_model

    with pytest.raises(RuntimeError, match="requires grad"):
        linear_model.LinearRegression().fit(data[0].requires_grad_(), data[1])


def test_frames():
    pd = pytest.importorskip("pandas")
    x = torch.arange(6.0).reshape(2, 3)
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    assert frame.shape == (2, 3) and frame["b"].tolist() == [1.0, 4.0]
    assert frame.dtypes.tolist() == [np.dtype("f4")] * 3
    assert torch.equal(torch.tensor(frame.values), x)
    assert torch.equal(torch.from_numpy(frame.to_numpy(copy=True)), x)
    series = pd.Series(torch.tensor([3, 1, 2]))
    assert series.dtype == np.int64 and series.sort_values().tolist() == [1, 2, 3]
    assert torch.tensor(series.values).tolist() == [3, 1, 2]
    assert torch.tensor(series).tolist() == torch.as_tensor(series).tolist() == [3, 1, 2]
    named = pd.DataFrame({"x": torch.ones(2), "y": torch.tensor([True, False])})
    assert named["y"].dtype == bool and named.groupby("y")["x"].sum().tolist() == [1.0, 1.0]
    assert frame.iloc[torch.tensor([1])].values.tolist() == [[3.0, 4.0, 5.0]]
