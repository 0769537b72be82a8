// The exact functions by MPFR: a judge over the oracle of check.cpp where a body's error is near a tie or large.
#pragma once

/// The value of function `op` at x, computed with 256 bits and rounded once; NaN for functions that it doesn't know, and
/// always where the program was built without MPFR.
long double judged(const char *op, long double x);
