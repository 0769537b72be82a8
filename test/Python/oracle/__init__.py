"""An independent, bit-exact NumPy implementation of the numeric rules N1–N10.

It is written from the rules page and the op table's scalar bodies alone and shares no code with
the compiler or
the runtime. `oracle.api` reads like torch; the other modules work on plain typed arrays
(`dtypes.Arr`).
"""
