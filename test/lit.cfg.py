"""lit suite over the .mlir, .td, .test and .c files under test/.

Substitutions: %torchc %torchc-opt %torchc-tblgen %torchc-kernels (the build's tools), %python, %cc (only for tests
that check what a C user does), %src (repository root), %build. FileCheck, not and count are on PATH.
Features: x86-64-v3, x86-64-v4, aarch64 (what this machine can run), python (the extension module is built).
"""

import glob
import os
import platform
import sys

import lit.formats

config.name = "torchc"
config.test_format = lit.formats.ShTest(False)
config.suffixes = [".mlir", ".td", ".test", ".c"]
config.excludes = ["Python", "Unit", "Bench", "Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.torchc_build, "test")

bin_dir = os.path.join(config.torchc_build, "bin")
config.environment["PATH"] = os.pathsep.join(
    [bin_dir, config.llvm_tools, config.environment["PATH"]]
)
config.environment["PYTHONPATH"] = os.path.join(config.torchc_build, "python")

for tool in ["torchc-opt", "torchc-tblgen", "torchc-kernels", "torchc"]:
    path = os.path.join(bin_dir, tool)
    config.substitutions.append((rf"%{tool}\b(?!-)", path))
    if os.path.exists(path):
        config.available_features.add(tool)
config.substitutions += [
    ("%python", sys.executable),
    ("%llvm-include", os.path.join(os.path.dirname(config.llvm_tools), "include")),
    ("%cc", os.path.join(config.llvm_tools, "clang")),
    ("%src", config.torchc_source),
    ("%build", config.torchc_build),
]

V3 = {"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe"}
V4 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
if platform.machine() == "aarch64":
    config.available_features.add("aarch64")
else:
    with open("/proc/cpuinfo") as info:
        flags = set(next((line for line in info if line.startswith("flags")), "").split())
    if V3 <= flags:
        config.available_features.add("x86-64-v3")
        if V4 <= flags:
            config.available_features.add("x86-64-v4")
if glob.glob(os.path.join(config.torchc_build, "python", "torchc", "_C.*.so")):
    config.available_features.add("python")
