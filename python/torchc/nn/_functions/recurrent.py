"""Steps of recurrent layers, and layers over sequences. Weights are (weight_ih, weight_hh, bias_ih, bias_hh[, hr])."""

from __future__ import annotations

from torchc import _C
from torchc._autocast import lower
from torchc.nn._functions.dropout import dropout

__all__ = ["gru_cell", "lstm_cell", "rnn_cell", "run_layers"]


def _from_gates(inputs, weights, states, function):
    """function(projected input + projected hidden): what plain RNN cells are."""
    return [function(inputs + _C.linear(states[0], weights[1], weights[3]))]


def _lstm_gates(inputs, weights, states):
    gates = inputs + _C.linear(states[0], weights[1], weights[3])
    i, f, g, o = gates.chunk(4, 1)
    cell = _C.sigmoid(f) * states[1] + _C.sigmoid(i) * g.tanh()
    hidden = _C.sigmoid(o) * cell.tanh()
    if len(weights) > 4 and weights[4] is not None:
        hidden = _C.linear(hidden, weights[4])
    return [hidden, cell]


def _gru_gates(inputs, weights, states):
    hidden = _C.linear(states[0], weights[1], weights[3])
    r, z, n = zip(inputs.chunk(3, 1), hidden.chunk(3, 1))
    reset, update = _C.sigmoid(r[0] + r[1]), _C.sigmoid(z[0] + z[1])
    new = (n[0] + n[1] * reset).tanh()
    return [(states[0] - new) * update + new]


def _tanh_gates(inputs, weights, states):
    return _from_gates(inputs, weights, states, _C.tanh)


def _relu_gates(inputs, weights, states):
    return _from_gates(inputs, weights, states, _C.relu)


# From inputs that are already multiplied by weight_ih, by mode.
_GATES = {"LSTM": _lstm_gates, "GRU": _gru_gates, "RNN_TANH": _tanh_gates, "RNN_RELU": _relu_gates}


def _cell(gates):
    def cell(x, states, weights):
        return gates(_C.linear(x, weights[0], weights[2]), weights, states)

    return cell


lstm_cell = _cell(_lstm_gates)
gru_cell = _cell(_gru_gates)
rnn_cell = {"tanh": _cell(_tanh_gates), "relu": _cell(_relu_gates)}


def _padded(gates, x, weights, states, reverse: bool):
    """One direction over (L, N, in): (output (L, N, hidden), final states)."""
    projected = _C.linear(x, weights[0], weights[2])
    steps = range(x.size(0))
    outputs = []
    for t in reversed(steps) if reverse else steps:
        states = gates(projected[t], weights, states)
        outputs.append(states[0])
    return _C.stack(outputs[::-1] if reverse else outputs), states


_padded_lower = lower(_padded)


def _packed(gates, x, sizes, weights, states, reverse: bool):
    """One direction over packed rows, `sizes` of which belong to each step."""
    projected = _C.linear(x, weights[0], weights[2]).split_with_sizes(sizes)
    if reverse:
        return _packed_reverse(gates, projected, sizes, weights, states)
    outputs, ended, current = [], [], states
    for part, size in zip(projected, sizes):
        have = current[0].size(0)
        if size < have:  # the sequences at the end of the batch are over
            ended.append([state[size:] for state in current])
            current = [state[:size] for state in current]
        current = gates(part, weights, current)
        outputs.append(current[0])
    ended.append(current)
    finals = [_C.cat([part[i] for part in reversed(ended)]) for i in range(len(states))]
    return _C.cat(outputs), finals


def _packed_reverse(gates, projected, sizes, weights, states):
    current = [state[: sizes[-1]] for state in states]
    outputs = []
    for part, size in zip(reversed(projected), reversed(sizes)):
        have = current[0].size(0)
        if size > have:  # shorter sequences begin here
            current = [_C.cat([state, first[have:size]]) for state, first in zip(current, states)]
        current = gates(part, weights, current)
        outputs.append(current[0])
    return _C.cat(outputs[::-1]), current


def _complete(names_and_values: list, has_bias: bool, projected: bool) -> list:
    """A layer's weights with None where it has no bias or projection."""
    if has_bias:
        return names_and_values if projected else [*names_and_values, None]
    return [*names_and_values[:2], None, None, names_and_values[2] if projected else None]


def run_layers(module, x, sizes, states):
    """All layers and directions of an RNNBase: (output, states). `sizes` are a packed input's, else None."""
    gates = _GATES[module.mode]
    # PyTorch's list for autocast has the layer of an LSTM as a whole; others are what they are made of.
    padded = _padded_lower if module.mode == "LSTM" and not module.proj_size else _padded
    directions = 2 if module.bidirectional else 1
    weights = [_complete(layer, module.bias, module.proj_size > 0) for layer in module.all_weights]
    finals: list[list] = []
    for layer in range(module.num_layers):
        outputs = []
        for direction in range(directions):
            row = layer * directions + direction
            begin = [state[row] for state in states]
            if sizes is None:
                output, end = padded(gates, x, weights[row], begin, direction == 1)
            else:
                output, end = _packed(gates, x, sizes, weights[row], begin, direction == 1)
            outputs.append(output)
            finals.append(end)
        x = outputs[0] if directions == 1 else _C.cat(outputs, -1)
        if module.dropout > 0 and module.training and layer < module.num_layers - 1:
            x = dropout(x, module.dropout)
    return x, [_C.stack([end[i] for end in finals]) for i in range(len(states))]
