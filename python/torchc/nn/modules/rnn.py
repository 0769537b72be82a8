"""Recurrent layers, computed step by step."""

from __future__ import annotations

import math
import warnings

from torchc import _C
from torchc.nn import init
from torchc.nn._functions.recurrent import gru_cell, lstm_cell, rnn_cell, run_layers
from torchc.nn.modules.module import Module, factory_options
from torchc.nn.parameter import Parameter

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "GRU": 3, "LSTM": 4}


class RNNBase(Module):
    """What RNN, LSTM and GRU share.

    Parameters per layer and direction: weight_ih_l{k}{_reverse} (gates * hidden, input), weight_hh_l{k} (gates *
    hidden, hidden or proj_size), bias_ih, bias_hh (gates * hidden), with projections weight_hr (proj_size, hidden).
    Starting values are uniform within 1 / sqrt(hidden_size).
    """

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device=None,
        dtype=None,
    ):  # fmt: skip
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = (
            mode,
            input_size,
            hidden_size,
            num_layers,
        )
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._check()
        options, gates = factory_options(device, dtype), _GATES[mode] * hidden_size
        kept = proj_size or hidden_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            width = input_size if layer == 0 else kept * (2 if bidirectional else 1)
            for end in ("", "_reverse")[: 2 if bidirectional else 1]:
                shapes: dict[str, tuple] = {"weight_ih": (gates, width), "weight_hh": (gates, kept)}
                if bias:
                    shapes.update(bias_ih=(gates,), bias_hh=(gates,))
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                names = [f"{name}_l{layer}{end}" for name in shapes]
                for name, shape in zip(names, shapes.values()):
                    setattr(self, name, Parameter(_C.empty(*shape, **options)))
                self._all_weights.append(names)
        self.reset_parameters()

    def _check(self):
        if not 0 <= self.dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if self.dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={self.dropout} and num_layers={self.num_layers}",
                stacklevel=4,
            )
        if not isinstance(self.hidden_size, int):
            raise TypeError(
                f"hidden_size should be of type int, got: {type(self.hidden_size).__name__}"
            )
        if self.hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters, one list per layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self):
        """Nothing: there is no other memory layout that would be faster."""

    def reset_parameters(self):
        """Draws the starting values again."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self):
        """Sizes, and what isn't the default."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        for name, default in (
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        ):
            if getattr(self, name) != default:
                text += f", {name}={getattr(self, name)}"
        return text

    def _check_state(self, state, batch: int, width: int, what: str):
        expected = (self.num_layers * (2 if self.bidirectional else 1), batch, width)
        if tuple(state.shape) != expected:
            raise RuntimeError(f"Expected {what} size {expected}, got {list(state.size())}")

    def _widths(self) -> list[int]:
        """The size of each part of the state."""
        kept = self.proj_size or self.hidden_size
        return [kept, self.hidden_size] if self.mode == "LSTM" else [kept]

    def forward(self, input, hx=None):
        """(output, state): input (L, N, in), (N, L, in) if batch_first, (L, in), or a PackedSequence.

        Output (L, N, directions * hidden) in the same form; the state (layers * directions, N, hidden), for LSTM a
        pair of them; without N for an input without.
        """
        from torchc.nn.utils.rnn import PackedSequence

        lstm = self.mode == "LSTM"
        states = None if hx is None else list(hx) if lstm else [hx]
        if isinstance(input, PackedSequence):
            return self._run_packed(input, states)
        if input.dim() not in (2, 3):
            raise ValueError(
                f"{self._get_name()}: Expected input to be 2D or 3D, got {input.dim()}D instead"
            )
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(1)
            if states is not None:
                if any(state.dim() != 2 for state in states):
                    raise RuntimeError(
                        f"For unbatched 2-D input, hx should also be 2-D but got {states[0].dim()}-D tensor"
                    )
                states = [state.unsqueeze(1) for state in states]
        elif self.batch_first:
            input = input.transpose(0, 1)
        if batched and states is not None and any(state.dim() != 3 for state in states):
            raise RuntimeError(
                f"For batched 3-D input, hx should also be 3-D but got {states[0].dim()}-D tensor"
            )
        self._check_input(input)
        states = self._states(input, input.size(1), states)
        output, states = run_layers(self, input, None, states)
        if not batched:
            output, states = output.squeeze(1), [state.squeeze(1) for state in states]
        elif self.batch_first:
            output = output.transpose(0, 1)
        return output, tuple(states) if lstm else states[0]

    def _check_input(self, input):
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )
        weight = self.all_weights[0][0]
        if input.dtype is not weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input: "
                f"input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )

    def _states(self, input, batch: int, states):
        rows, widths = self.num_layers * (2 if self.bidirectional else 1), self._widths()
        if states is None:
            return [input.new_zeros(rows, batch, width) for width in widths]
        names = ("hidden[0]", "hidden[1]") if len(widths) == 2 else ("hidden",)
        for state, width, name in zip(states, widths, names):
            self._check_state(state, batch, width, name)
        return states

    def _run_packed(self, packed, states):
        data, sizes, order, inverse = packed
        self._check_input(data)
        batch = int(sizes[0])
        if states is None:
            states = self._states(data, batch, None)
        else:
            states = self._states(data, batch, states)
            if order is not None:
                states = [state.index_select(1, order) for state in states]
        output, states = run_layers(self, data, sizes.tolist(), states)
        if inverse is not None:
            states = [state.index_select(1, inverse) for state in states]
        result = type(packed)(output, sizes, order, inverse)
        return result, tuple(states) if self.mode == "LSTM" else states[0]


class RNN(RNNBase):
    """h = tanh (or relu) of (weight_ih x + bias_ih + weight_hh h + bias_hh); arguments as RNNBase."""

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:  # the nonlinearity is the fourth argument
            self.nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        nonlinearity = self.nonlinearity
        super().__init__("RNN_" + nonlinearity.upper(), *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory (gates i, f, g, o), with `proj_size` projected states; arguments as RNNBase."""

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent unit (gates r, z, n); arguments as RNNBase."""

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """Weights of one step: weight_ih (gates * hidden, input), weight_hh (gates * hidden, hidden), two biases."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device=None,
        dtype=None,
    ):
        super().__init__()
        options = factory_options(device, dtype)
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        self.weight_ih = Parameter(_C.empty(num_chunks * hidden_size, input_size, **options))
        self.weight_hh = Parameter(_C.empty(num_chunks * hidden_size, hidden_size, **options))
        for name in ("bias_ih", "bias_hh"):
            value = Parameter(_C.empty(num_chunks * hidden_size, **options)) if bias else None
            self.register_parameter(name, value)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws the starting values again."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self):
        """Sizes, and what isn't the default."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return text + (f", nonlinearity={nonlinearity}" if nonlinearity != "tanh" else "")

    def _weights(self):
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _step(self, cell, input, states):
        """`cell` on a batch; a single sample is a batch of one."""
        name = self._get_name()
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for state in states or ():
            if state.dim() not in (1, 2):
                raise ValueError(
                    f"{name}: Expected hidden to be 1D or 2D, got {state.dim()}D instead"
                )
        single = input.dim() == 1
        x = input.unsqueeze(0) if single else input
        if states is None:
            zeros = x.new_zeros(x.size(0), self.hidden_size)
            states = [zeros] * (2 if cell is lstm_cell else 1)
        elif single:
            states = [state.unsqueeze(0) for state in states]
        result = cell(x, states, self._weights())
        return [state.squeeze(0) for state in result] if single else result


class RNNCell(RNNCellBase):
    """One step of RNN: input (N, in) or (in), hidden (N, hidden) or (hidden)."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device=None,
        dtype=None,
    ):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        """The new hidden state."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        cell = rnn_cell[self.nonlinearity]
        return self._step(cell, input, None if hx is None else [hx])[0]


class LSTMCell(RNNCellBase):
    """One step of LSTM: input (N, in) or (in), hidden and cell states (N, hidden) or (hidden)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device=None, dtype=None
    ):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        """The new (hidden, cell) states."""
        return tuple(self._step(lstm_cell, input, None if hx is None else list(hx)))


class GRUCell(RNNCellBase):
    """One step of GRU: input (N, in) or (in), hidden (N, hidden) or (hidden)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device=None, dtype=None
    ):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        """The new hidden state."""
        return self._step(gru_cell, input, None if hx is None else [hx])[0]
