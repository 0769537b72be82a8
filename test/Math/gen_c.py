#!/usr/bin/env python3
"""Prints the scalar bodies of .td files as C functions: gen_c.py MathBodies.td ... > bodies.h

A parser of its own for `defvar name = [dags];`, so the check doesn't lean on torchc-tblgen.
"""

import re
import sys

INT_OPS = {
    "IAdd": "+",
    "ISub": "-",
    "IMul": "*",
    "IAnd": "&",
    "IOr": "|",
    "IXor": "^",
    "IShl": "<<",
    "IUShr": ">>",
}
BOOL_OPS = {"Lt": "<", "Le": "<=", "Gt": ">", "Ge": ">=", "Eq": "==", "Ne": "!=", "IsNan": "isNan"}
LOGIC = {"And": "&", "Or": "|", "Xor": "^"}
FLOAT_OPS = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/"}
TOKEN = re.compile(
    r'\s*(//[^\n]*|^#(?:ifndef|define|endif)[^\n]*|\$\w+|\w+:\$\w+|-?0x[0-9a-fA-F]+|-?\d+|"[^"]*"'
    r"|\w+|[()\[\],;=#])",
    re.M,
)


def tokens(text):
    pos, out = 0, []
    text = text.rstrip()
    while pos < len(text):
        m = TOKEN.match(text, pos)
        if not m:
            raise SyntaxError("unexpected text: " + text[pos : pos + 40])
        pos = m.end()
        if not re.match("//|#.", m[1]):
            out.append(m[1])
    return out


def dag(toks, i):
    """toks[i] is '('; returns (operator, name, operands) and the index after ')'."""
    op, _, name = toks[i + 1].partition(":$")
    i, args = i + 2, []
    while toks[i] != ")":
        if toks[i] == "(":
            arg, i = dag(toks, i)
            args.append(arg)
        else:
            if toks[i] != ",":
                args.append(toks[i])
            i += 1
    return (op, name, args), i + 1


def bodies(text, known):
    """name -> list of dags, in file order; lists may be joined by '#', also with those of earlier files."""
    toks, i, found = tokens(text), 0, {}
    while i < len(toks):
        if toks[i] != "defvar":
            i += 1
            continue
        name, i, stmts = toks[i + 1], i + 3, []
        while toks[i] != ";":
            if toks[i] == "(":
                stmt, i = dag(toks, i)
                stmts.append(stmt)
                continue
            if toks[i] in known:
                stmts += known[toks[i]]
            i += 1
        found[name] = known[name] = stmts
    return found


class Emitter:
    def __init__(self, wide):
        self.t, self.u, self.w = ("double", "uint64_t", 64) if wide else ("float", "uint32_t", 32)
        self.lines, self.names, self.count = [], {"x": ("x", "f"), "y": ("y", "f")}, 0
        self.binary = False  # reads the operand y

    def put(self, kind, text):
        v = "v%d" % len(self.lines)
        ctype = {"f": self.t, "i": self.u, "b": "int"}[kind]
        self.lines.append("  %s %s = %s;" % (ctype, v, text))
        return v, kind

    def value(self, node):
        if isinstance(node, str):
            found = self.names[node[1:]]
            self.binary |= found[0] == "y"
            return found
        op, name, args = node
        result = self.node(op, args)
        if name:
            self.names[name] = result
        return result

    def node(self, op, args):
        w = self.w
        if op == "Const":
            text = float(args[0].strip('"')).hex().replace("inf", "INFINITY").replace("nan", "NAN")
            return self.put("f", "(%s)%s" % (self.t, text))
        if op == "Bits":
            return self.put("f", "fromInt%d(UINT%d_C(%d))" % (w, w, int(args[0], 0) % (1 << w)))
        if op == "ConstI":
            return self.put("i", "UINT%d_C(%d)" % (w, int(args[0], 0) % (1 << w)))
        self.count += 1
        vs = [self.value(a) for a in args]
        v, kinds = [x[0] for x in vs], "".join(x[1] for x in vs)

        def need(want):
            if kinds != want:
                raise TypeError("%s wants operands %s, got %s" % (op, want, kinds))

        if op in FLOAT_OPS:
            need("ff")
            return self.put("f", "%s %s %s" % (v[0], FLOAT_OPS[op], v[1]))
        if op in ("Neg", "Abs", "Sqrt", "Floor", "RoundEven"):
            need("f")
            return self.put("f", "%s%d(%s)" % (op.lower(), w, v[0]))
        if op == "Fma":
            need("fff")
            return self.put("f", "fma%d(%s)" % (w, ", ".join(v)))
        if op == "IsNan":
            need("f")
            return self.put("b", "%s != %s" % (v[0], v[0]))
        if op in BOOL_OPS:
            need("ff")
            return self.put("b", "%s %s %s" % (v[0], BOOL_OPS[op], v[1]))
        if op in LOGIC:
            need("bb")
            return self.put("b", "%s %s %s" % (v[0], LOGIC[op], v[1]))
        if op == "Not":
            need("b")
            return self.put("b", "!" + v[0])
        if op == "Select":
            need("b" + kinds[1] * 2)
            return self.put(kinds[1], "%s ? %s : %s" % tuple(v))
        if op in ("FromInt", "FFromI"):
            need("i")
            return self.put("f", "%s%d(%s)" % (op[0].lower() + op[1:], w, v[0]))
        if op == "ToInt":
            need("f")
            return self.put("i", "toInt%d(%s)" % (w, v[0]))
        if op == "IShr":
            need("ii")
            return self.put("i", "(%s)((int%d_t)%s >> %s)" % (self.u, w, v[0], v[1]))
        if op in INT_OPS:
            need("ii")
            return self.put("i", "%s %s %s" % (v[0], INT_OPS[op], v[1]))
        raise TypeError("no C form for operator " + op)


def main(paths):
    print("// Made by gen_c.py from the scalar bodies.")
    entries, known = [], {}
    for path in paths:
        for name, stmts in bodies(open(path).read(), known).items():
            if not re.search("F(32|64)$", name):
                continue  # a piece shared by others
            e = Emitter(name.endswith("64"))
            try:
                for s in stmts:
                    result, kind = e.value(s)
            except (TypeError, KeyError) as err:
                sys.exit("%s: body %s: %s" % (path, name, err))
            print("static inline %s %s(%s x, [[maybe_unused]] %s y) {" % (e.t, name, e.t, e.t))
            print("\n".join(e.lines) + "\n  return %s;\n}" % result)
            form = "B" if e.binary else "U"
            entries.append("%s(%s, %s, %s, %d)" % (form, name[:-3], name, e.t, e.count))
    print("// U: of x; B: of x and y\n#define FOR_BODIES(U, B) " + " \\\n  ".join(entries))


main(sys.argv[1:])
