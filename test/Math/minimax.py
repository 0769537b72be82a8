"""Minimax polynomials for the scalar bodies: Remez exchange with mpmath, then the coefficients are rounded
to the format one by one, most significant first, refitting the rest after each.

    fit(f, exps, a, b, w, bits): c with sum(c[i] * x**exps[i]) ~ f(x) on [a, b] minimising max |w(x) * error|
"""

import struct

from mpmath import cos, lu_solve, matrix, mp, mpf, pi

mp.prec = 240


def rounded(c, bits):
    if bits == 53:
        return mpf(float(c))
    m, e = mp.frexp(c)
    return mp.ldexp(mp.nint(mp.ldexp(m, bits)), e - bits)


def remez(f, exps, xs, w, rounds=12):
    """Best coefficients on the grid xs; returns (coefficients, error)."""
    n = len(exps)
    # x**e0 changes sign at 0 for odd e0, and the alternation with it
    fx, wx = [f(x) for x in xs], [w(x) * mp.sign(x) ** exps[0] for x in xs]
    pick = [round(i * (len(xs) - 1) / n) for i in range(n + 1)]
    for _ in range(rounds):
        a = matrix(n + 1, n + 1)
        b = matrix(n + 1, 1)
        for i, p in enumerate(pick):
            for j, e in enumerate(exps):
                a[i, j] = xs[p] ** e
            a[i, n] = (-1) ** i / wx[p]
            b[i] = fx[p]
        c = lu_solve(a, b)
        err = [
            wx[i] * (fx[i] - sum(c[j] * x**e for j, e in enumerate(exps))) for i, x in enumerate(xs)
        ]
        best, runs = max(abs(e) for e in err), []
        for i, e in enumerate(err):  # the largest error of each run of equal sign
            if runs and (err[runs[-1]] > 0) == (e > 0):
                runs[-1] = i if abs(e) > abs(err[runs[-1]]) else runs[-1]
            else:
                runs.append(i)
        while (
            len(runs) > n + 1
        ):  # drop the smallest, with a neighbour inside, so that signs still alternate
            s = min(range(len(runs)), key=lambda i: abs(err[runs[i]]))
            if 0 < s < len(runs) - 1 and len(runs) > n + 2:
                t = min((s - 1, s + 1), key=lambda i: abs(err[runs[i]]))
                del runs[min(s, t) : max(s, t) + 1]
            else:
                runs.pop(0 if abs(err[runs[0]]) < abs(err[runs[-1]]) else -1)
        if len(runs) < n + 1 or best < abs(c[n]) * mpf("1.0001"):
            break
        pick = runs
    return [c[j] for j in range(n)], best


def fit(f, exps, a, b, w=lambda x: 1, bits=24, fixed=(), grid=40):
    """fixed: the first coefficients, given. Returns (coefficients in order of exps, error before, after rounding)."""
    m = grid * (len(exps) + 1)
    xs = [(mpf(a) + b) / 2 - (mpf(b) - a) / 2 * cos(pi * (i + mpf(1) / 2) / m) for i in range(m)]
    got, first = [mpf(c) for c in fixed], None
    while len(got) < len(exps):
        k = len(got)
        rest = lambda x: f(x) - sum(c * x**e for c, e in zip(got, exps))
        c, err = remez(rest, exps[k:], xs, w)
        first = err if first is None else first
        got.append(rounded(c[0], bits))
    err = max(abs(w(x) * (f(x) - sum(c * x**e for c, e in zip(got, exps)))) for x in xs)
    return got, first, err


def bits_of(c, bits):
    return (
        "0x%08x" % struct.unpack("<I", struct.pack("<f", float(c)))
        if bits == 24
        else "0x%016x" % struct.unpack("<Q", struct.pack("<d", float(c)))
    )


def show(name, result, bits):
    print(name, "error 2^%.1f, rounded 2^%.1f" % tuple(float(mp.log(e, 2)) for e in result[1:]))
    for c in result[0]:
        print("  (Bits %s)  %s" % (bits_of(c, bits), mp.nstr(c, 10)))
