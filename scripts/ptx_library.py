#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles softcuda/ptx/library/*.c to textual LLVM IR and writes
softcuda/ptx/library/library_ir.inc: one entry a function, sorted by name.

usage: ptx_library.py [--check]     (needs clang-19 and opt-19; --check: fails if stale)

Only promotion of variables to registers and clean-up are run; optimizing is the JIT's. What
newer LLVM versions added to the text (nneg, disjoint, range ...) is taken out, so that
LLVM 16 reads it, and so are attributes, which would stop inlining.
"""
import pathlib, re, subprocess, sys

root = pathlib.Path(__file__).resolve().parent.parent
folder = root / "softcuda/ptx/library"
target = folder / "library_ir.inc"


def compile_ir(path):
    ir = subprocess.run(
        ["clang-19", "-x", "c", "-std=c11", "-O1", "-Xclang", "-disable-llvm-passes", "-S",
         "-emit-llvm", "-o", "-", "--target=x86_64-linux-gnu", "-ffp-contract=off",
         "-fno-strict-aliasing", "-fwrapv", "-fno-math-errno", "-fno-trapping-math",
         "-fno-unwind-tables", "-I", str(folder), str(path)],
        check=True, capture_output=True, text=True).stdout
    passes = "sroa,early-cse,simplifycfg,instsimplify,adce"
    return subprocess.run(["opt-19", "-S", "-passes=" + passes], input=ir, check=True,
                          capture_output=True, text=True).stdout


DROP = (r"\bnoundef\b|\bdso_local\b|\bzeroext\b|\bsignext\b|\blocal_unnamed_addr\b|"
        r"\bnneg\b|\bdisjoint\b|\bnsw\b|\bnuw\b|\bsamesign\b|\binternal\b|#\d+|"
        r"\brange\([^)]*\)|, ![\w.]+ ![0-9]+")


def functions(ir, prefix):
    """Name and text of every function; static ones get a name of their own."""
    local = set(re.findall(r"^define internal [^@]*@(\w+)\(", ir, re.M))
    for match in re.finditer(r"^define .*?^}\n", ir, re.M | re.S):
        text = re.sub(DROP, "", match[0])
        text = re.sub(r" *; preds = .*", "", text)
        text = re.sub(r".*@llvm\.lifetime\..*\n", "", text)
        text = re.sub(r"@(\w+)\(", lambda m: f"@x_{prefix}_{m[1]}(" if m[1] in local else m[0], text)
        text = re.sub(r"^define +", "define internal ", text)
        text = re.sub(r"\) *{", ") alwaysinline nounwind {", text, count=1)
        text = re.sub(r"[ \t]+", " ", text)
        text = re.sub(r"\n ", "\n", text).replace("\n\n", "\n").replace(" ,", ",")
        text = re.sub(r" +\n", "\n", text).replace("( ", "(").replace(" )", ")")
        yield re.search(r"@([\w.]+)\(", text)[1], text


def main():
    table = {}
    for path in sorted(folder.glob("*.c")):
        for name, text in functions(compile_ir(path), path.stem):
            if not name.startswith("x_"):
                raise SystemExit(f"{path}: {name} is not called x_")
            table[name] = text
    out = ["/* SPDX-License-Identifier: Apache-2.0 */",
           "/* Written by scripts/ptx_library.py from softcuda/ptx/library; do not edit. */"]
    for name in sorted(table):
        lines = table[name].rstrip("\n").split("\n")
        body = "\n".join(f'     "{line}\\n"' for line in (l.replace('"', '\\"') for l in lines))
        out.append(f'    {{"{name}",\n{body}}},')
    text = "\n".join(out) + "\n"
    if "--check" in sys.argv:
        if target.read_text() != text:
            raise SystemExit(f"{target} is stale: run scripts/ptx_library.py")
    else:
        target.write_text(text)


main()
