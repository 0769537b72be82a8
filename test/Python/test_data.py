"""Data sets, samplers, loaders and collation."""

import signal
import time
from collections import namedtuple

import numpy as np
import pytest

torch = pytest.importorskip(
    "torchc", reason="the extension module is not built", exc_type=ImportError
)
from torchc.utils.data import (  # noqa: E402
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    get_worker_info,
    random_split,
)


class Squares(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i >= 100:
            raise ValueError(f"no sample {i}")
        return torch.tensor(float(i * i)), i


class Stream(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, self.n, step))


def indices(batches):
    return [batch[1].tolist() for batch in batches]


def test_tensor_dataset_and_views_of_it():
    x, y = torch.arange(10.0), torch.arange(10)
    data = TensorDataset(x, y)
    assert len(data) == 10 and data[3][1].item() == 3 and data[2:4][0].tolist() == [2.0, 3.0]
    with pytest.raises(AssertionError, match="Size mismatch"):
        TensorDataset(x, y[:5])
    joined = data + Subset(data, [1, 3])
    assert isinstance(joined, ConcatDataset) and len(joined) == 12
    assert joined[11][1].item() == 3 and joined[-2][1].item() == 1
    assert StackDataset(a=data, b=data)[4]["b"][1].item() == 4


def test_random_split_covers_everything_once():
    parts = random_split(range(10), [0.5, 0.3, 0.2], torch.Generator().manual_seed(1))
    assert [len(part) for part in parts] == [5, 3, 2]
    assert sorted(i for part in parts for i in part) == list(range(10))
    again = random_split(range(10), [5, 3, 2], torch.Generator().manual_seed(1))
    assert [list(part) for part in again] == [list(part) for part in parts]
    with pytest.raises(ValueError, match="Sum of input lengths"):
        random_split(range(10), [5, 3])


def test_batches_in_order_and_the_last_one():
    data = Squares(7)
    assert indices(DataLoader(data, 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert indices(DataLoader(data, 3, drop_last=True)) == [[0, 1, 2], [3, 4, 5]]
    assert len(DataLoader(data, 3)) == 3 and len(DataLoader(data, 3, drop_last=True)) == 2
    single = list(DataLoader(data, batch_size=None))
    assert single[2][0].item() == 4.0 and len(single) == 7
    batches = DataLoader(data, batch_sampler=[[1, 2], [0]])
    assert indices(batches) == [[1, 2], [0]]


def test_shuffling_is_a_permutation_that_the_seed_determines():
    data = Squares(20)

    def order(seed):
        loader = DataLoader(data, 5, shuffle=True, generator=torch.Generator().manual_seed(seed))
        return sum(indices(loader), [])

    assert sorted(order(1)) == list(range(20)) and order(1) == order(1) != order(2)
    torch.manual_seed(3)
    first = indices(DataLoader(data, 5, shuffle=True))
    torch.manual_seed(3)
    assert indices(DataLoader(data, 5, shuffle=True)) == first


def test_samplers():
    assert sorted(RandomSampler(range(5))) == [0, 1, 2, 3, 4]
    drawn = list(RandomSampler(range(5), replacement=True, num_samples=50))
    assert len(drawn) == 50 and set(drawn) <= set(range(5))
    assert len(list(RandomSampler(range(5), num_samples=12))) == 12
    assert sorted(SubsetRandomSampler([3, 5, 7])) == [3, 5, 7]
    weighted = list(WeightedRandomSampler([0.0, 1.0, 0.0, 3.0], 200))
    assert set(weighted) == {1, 3} and weighted.count(3) > weighted.count(1)
    assert sorted(WeightedRandomSampler([1.0, 2.0, 3.0], 3, replacement=False)) == [0, 1, 2]
    assert list(BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]]
    parts = [list(DistributedSampler(range(10), 3, rank, shuffle=False)) for rank in range(3)]
    assert parts == [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]
    sampler = DistributedSampler(range(10), 2, 0)
    first = list(sampler)
    sampler.set_epoch(1)
    assert list(sampler) != first


@pytest.mark.parametrize(
    "options, error",
    [
        (dict(num_workers=-1), ValueError),
        (dict(batch_size=0), ValueError),
        (dict(shuffle=True, sampler=[0]), ValueError),
        (dict(batch_sampler=[[0]], batch_size=2), ValueError),
        (dict(batch_size=None, drop_last=True), ValueError),
        (dict(prefetch_factor=2), ValueError),
        (dict(persistent_workers=True), ValueError),
    ],
)
def test_options_that_exclude_each_other(options, error):
    with pytest.raises(error):
        DataLoader(Squares(3), **options)


def test_iterable_datasets():
    assert [b.tolist() for b in DataLoader(Stream(5), 2)] == [[0, 1], [2, 3], [4]]
    assert [b.tolist() for b in DataLoader(Stream(5), 2, drop_last=True)] == [[0, 1], [2, 3]]
    assert list(DataLoader(Stream(3), batch_size=None)) == [0, 1, 2]
    with pytest.raises(ValueError, match="IterableDataset"):
        DataLoader(Stream(3), shuffle=True)


def test_collation_keeps_structure():
    Point = namedtuple("Point", "x y")
    batch = default_collate(
        [{"t": torch.ones(2), "p": Point(1, 2.0), "s": "a", "l": [1, (2, 3)]} for _ in range(3)]
    )
    assert batch["t"].shape == (3, 2) and batch["s"] == ["a"] * 3
    assert isinstance(batch["p"], Point) and batch["p"].x.dtype is torch.int64
    assert batch["p"].y.dtype is torch.float64
    assert [type(part) for part in batch["l"]] == [torch.Tensor, list]
    array = default_collate([np.ones((2,), np.float32), np.zeros((2,), np.float32)])
    assert array.dtype is torch.float32 and array.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    with pytest.raises(RuntimeError, match="equal size"):
        default_collate([[1, 2], [1]])
    with pytest.raises(TypeError, match="object"):
        default_collate([object()])


def test_workers_give_the_same_batches_in_order():
    data = Squares(23)
    for context in ("fork", "spawn"):
        loader = DataLoader(data, 4, num_workers=2, multiprocessing_context=context)
        assert indices(loader) == indices(DataLoader(data, 4))


def test_persistent_workers_serve_several_passes():
    loader = DataLoader(Squares(9), 2, num_workers=2, persistent_workers=True)
    first = [process.pid for process in iter(loader)._workers.processes]
    assert indices(loader) == indices(loader) == indices(DataLoader(Squares(9), 2))
    assert [process.pid for process in loader._workers.processes] == first


class Large(Dataset):
    """Batches that fill the pipe."""

    def __len__(self):
        return 64

    def __getitem__(self, i):
        return torch.zeros(200000)


class Stuck(Large):
    def __getitem__(self, i):
        if i >= 2:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
        return i


def test_leaving_a_pass_early_takes_no_time():
    passes = iter(DataLoader(Large(), batch_size=4, num_workers=3))
    next(passes)
    processes = passes._workers.processes
    time.sleep(0.5)  # the pipe is full now
    began = time.monotonic()
    del passes
    assert time.monotonic() - began < 1.5
    assert all(process.exitcode == 0 for process in processes)


def test_workers_that_hang_are_ended_together():
    passes = iter(DataLoader(Stuck(), batch_size=1, num_workers=2))
    next(passes), next(passes)
    processes = passes._workers.processes
    time.sleep(0.5)
    began = time.monotonic()
    del passes
    assert time.monotonic() - began < 6 and not any(process.is_alive() for process in processes)


def test_no_prefetching_is_refused():
    loader = DataLoader(Squares(3), num_workers=1, prefetch_factor=0)
    with pytest.raises(AssertionError, match="prefetch_factor must be greater than 0"):
        iter(loader)


@pytest.mark.parametrize(
    "weights, text",
    [
        ([0.0, 0.0], "sum of probabilities <= 0"),
        ([], "sum of probabilities <= 0"),
        ([1.0, -1.0], "entry < 0"),
        ([1.0, float("nan")], "infinity or NaN"),
        ([1.0, float("inf")], "infinity or NaN"),
    ],
)
def test_weights_that_are_no_probabilities(weights, text):
    with pytest.raises(RuntimeError, match=text):
        list(WeightedRandomSampler(weights, 2))


def test_iterable_datasets_split_among_workers():
    batches = [b.tolist() for b in DataLoader(Stream(7), 2, num_workers=2)]
    assert sorted(sum(batches, [])) == list(range(7))


def set_mark(worker_id):
    import builtins

    builtins.mark = worker_id


def test_an_error_in_a_worker_arrives_with_its_class():
    with pytest.raises(ValueError, match="no sample 100") as error:
        list(DataLoader(Squares(102), 50, num_workers=1, worker_init_fn=set_mark))
    assert "worker process 0" in str(error.value)
