"""Differential testing: one program text on the oracle, on eager torchc, compiled, replayed,
ahead of time."""
