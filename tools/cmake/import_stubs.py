"""import_stubs.py LIST ARCH LIBRARY OUT CC LD: the import stub of one library, made from the list of allowed imports.

The stub is a shared library that defines each symbol with its version and holds no code: enough to link against on a
machine that has no libc of that architecture.
"""

import pathlib
import subprocess
import sys

listing, arch, library, out, cc, ld = sys.argv[1:]
versions: dict[tuple[int, ...], list[str]] = {}
asm = ["\t.text"]
for line in pathlib.Path(listing).read_text().splitlines():
    fields = line.split()
    if not fields or fields[0] == "#" or fields[1] != library:
        continue
    name, kind = fields[0], fields[4]
    if kind != "func":
        raise SystemExit(f"{listing}: {name}: expected func, got {kind}")
    version = tuple(int(x) for x in fields[2 if arch == "x86_64" else 3].split("."))
    if version > (2, 34):
        raise SystemExit(f"{listing}: {name}: version {version} is above the floor 2.34")
    versions.setdefault(version, []).append(name)
    asm.append(f"\t.globl {name}\n\t.type {name},%function\n{name}:")

script, previous = [], ""
for version, names in sorted(versions.items()):
    label = "GLIBC_" + ".".join(map(str, version))
    script.append(f"{label} {{ {' '.join(n + ';' for n in names)} }} {previous};")
    previous = label
base = pathlib.Path(out)
base.with_suffix(".ver").write_text("\n".join(script) + "\n")
base.with_suffix(".s").write_text("\n".join(asm) + "\n")
subprocess.run(
    [cc, f"--target={arch}-linux-gnu", "-c", base.with_suffix(".s"), "-o", base.with_suffix(".o")],
    check=True,
)
machine = "elf_x86_64" if arch == "x86_64" else "aarch64linux"
subprocess.run(
    [
        ld,
        "-m",
        machine,
        "-shared",
        "-soname",
        library + ".so.6",
        "--hash-style=gnu",
        "-s",
        "-z",
        "noseparate-code",
        "--build-id=none",
        f"--version-script={base.with_suffix('.ver')}",
        "-o",
        out,
        base.with_suffix(".o"),
    ],
    check=True,
)
