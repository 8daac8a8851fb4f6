"""Writes the wheel of Headscope's Python package: wheel.py --page headscope.html --to FOLDER. With --program PREFIX, it
contains the program that is installed below PREFIX with its libraries."""
import argparse
import base64
import hashlib
import os
import platform
import re
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "assets" / "python"
METADATA = """\
Metadata-Version: 2.1
Name: headscope
Version: {version}
Summary: A microscope for attention heads: record them, look at them, draw them, measure them
Requires-Python: >=3.9
Requires-Dist: numpy
Requires-Dist: anywidget
Provides-Extra: record
Requires-Dist: torch ; extra == "record"
Requires-Dist: transformers ; extra == "record"
Description-Content-Type: text/markdown

"""
WHEEL = "Wheel-Version: 1.0\nGenerator: headscope\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"
# The command of the program starts without NumPy, which importing the package would load.
START = b"""\
import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "headscope", "_program", "bin", "headscope")
    os.execv(program, [program, *sys.argv[1:]])
"""
ENTRY = b"[console_scripts]\nheadscope = _headscope_program:main\n"
# The program has a C library of its own for systems with an older one; its oldest kernel is that of this version.
OLDEST = "manylinux_2_31"
# Of what is installed, what the program itself doesn't read.
LEFT_OUT = re.compile(r"share/(?!headscope/)|share/headscope/(python|notebooks)/")


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def installed(prefix):
    """{path below prefix: file} of the program and what it reads. A library is there once, by the name that programs
    ask for, since a wheel has no links."""
    files = [path for path in sorted(prefix.rglob("*")) if path.is_file()]
    linked = {path.resolve() for path in files if path.is_symlink()}
    once = [path for path in files if path.is_symlink() or path.resolve() not in linked]
    names = {path.relative_to(prefix).as_posix(): path for path in once}
    return {name: path for name, path in names.items() if not LEFT_OUT.match(name)}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--page", type=Path, required=True)
    options.add_argument("--program", type=Path)
    options.add_argument("--to", type=Path, required=True)
    options = options.parse_args()
    version = re.search(r"project\(headscope VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    info = f"headscope-{version}.dist-info"
    manual = (ROOT / "assets" / "manual" / "python.md").read_text(encoding="utf-8")
    tag = f"py3-none-{OLDEST}_{platform.machine()}" if options.program else "py3-none-any"
    program = installed(options.program) if options.program else {}
    files = {
        "headscope/__init__.py": (SOURCES / "headscope.py").read_bytes(),
        "headscope/_view.py": (SOURCES / "_view.py").read_bytes(),
        "headscope/view.js": (SOURCES / "view.js").read_bytes(),
        "headscope/page.html": options.page.read_bytes(),
        "headscope/py.typed": b"",
        f"{info}/METADATA": (METADATA.format(version=version) + manual).encode(),
        f"{info}/WHEEL": WHEEL.format(pure=str(not program).lower(), tag=tag).encode(),
        **({"_headscope_program.py": START, f"{info}/entry_points.txt": ENTRY} if program else {}),
        **{f"headscope/_program/{name}": path.read_bytes() for name, path in program.items()},
    }
    runs = {f"headscope/_program/{name}" for name, path in program.items() if os.access(path, os.X_OK)}
    record = "".join(f"{name},{digest(data)},{len(data)}\n" for name, data in files.items()) + f"{info}/RECORD,,\n"
    options.to.mkdir(parents=True, exist_ok=True)
    path = options.to / f"headscope-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in [*files.items(), (f"{info}/RECORD", record.encode())]:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same content makes the same file
            entry.external_attr = (0o100755 if name in runs else 0o100644) << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
