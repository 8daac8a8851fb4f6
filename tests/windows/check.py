#!/usr/bin/env python3
"""check.py LINUX_PROGRAM WINDOWS_BUILD_FOLDER OUTPUT: runs the program for Windows under Wine beside the one for Linux.

Compares what commands.txt lists byte for byte, and the picture of the window, then uses the window as a person would, on
an X server of its own. OUTPUT keeps what both wrote, and pictures of the screen.
"""

import difflib
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import zipfile

import pdf
from screen import Screen
from window import use_window
from wine import Wine, expect, failures, patient

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
linux, built, output = (pathlib.Path(word).resolve() for word in sys.argv[1:4])


def run_tests(wine):
    left_out = (
        "ExpressionNumPy.RandomExpressionsMatchNumPy",  # a power's last bit differs from NumPy's
        "FuzzReplay.*",  # thousands of files, for which Wine takes too long
        "OtherFolders.LfsPointerIsNamedInPlaceOfAnyFile",  # expects a slash in a path's text
        "Recorded.GroupsEncoderDecoderAndCrossAttention", "Recorded.NamesImagePatchesByRowAndColumn",  # replace open files
    )
    words = ["--gtest_brief=1", "--gtest_filter=-" + ":".join(left_out)]
    done = wine.run([str(built / "windows_attention_tests.exe"), *words])
    expect(done.returncode == 0, "attention_tests " + done.stdout.decode(errors="replace")[-3000:])


def run_traps(wine):
    for _ in range(5):  # some of what they look for happened in one of three runs
        done = wine.run([str(built / "windows_traps.exe")])
        expect(done.returncode == 0, "the traps of Windows: " + done.stdout.decode().strip())


def install_and_remove(wine):
    folder = lambda: wine.user_file("AppData/Local/Programs/Headscope")
    wine.run([str(next(built.glob("headscope-*-setup.exe"))), "/S"])
    expect(folder() and (folder() / "headscope.exe").exists(), "installs silently")
    version = wine.run([str(folder() / "headscope.com"), "--version"])
    expect(version.stdout == subprocess.run([linux, "--version"], capture_output=True).stdout, "the installed program runs")
    known = wine.run(["reg", "query", "HKCU\\Software\\Classes\\headscope"])
    expect(known.returncode == 0, "links are known to it")
    wine.run([str(folder() / "uninstall.exe"), "/S"])
    expect(patient(lambda: not folder(), 30), "removing it leaves nothing")


def timeless(output):
    """What a command printed, but for how long it took."""
    return re.sub(rb'"tokens_per_second": [0-9.e+]+', b"", output)


def compare_commands(wine):
    """Runs each command in two folders that hold the same files."""
    scene = subprocess.run([linux, "scene"], capture_output=True, check=True).stdout
    places = {}
    for system in ("linux", "windows"):
        place = places[system] = output / "commands" / system
        (place / "OUT").mkdir(parents=True)
        for name in ("assets", "tests"):
            (place / name).symlink_to(root / name)
        for name in ("opening.json", "übung 中文.json"):
            (place / name).write_bytes(scene)
        (place / "texts.txt").write_text("When Anna and Ben went to the lake\nBen gave the key to Anna\n")
    for line in (here / "commands.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        words = shlex.split(line)
        one = subprocess.run([linux, *words], cwd=places["linux"], capture_output=True, stdin=subprocess.DEVNULL)
        other = wine.headscope(words, places["windows"])
        same = one.returncode == other.returncode
        for name in ("stdout", "stderr"):
            texts = [timeless(getattr(done, name)) for done in (one, other)]
            same = same and texts[0] == texts[1]
            if texts[0] != texts[1]:
                lines = [text.decode(errors="replace").splitlines() for text in texts]
                print(*difflib.unified_diff(*lines, f"{name} on Linux", "on Windows", lineterm="", n=0), sep="\n")
        expect(same, f"the same output: {line}")
    files = {system: sorted(file.relative_to(place) for file in (place / "OUT").rglob("*.*")) for system, place in places.items()}
    expect(files["linux"] == files["windows"], f"the same {len(files['linux'])} files")
    for name in files["linux"]:
        one, other = (place / name for place in places.values())
        expect(other.exists() and same_file(one, other), f"{name}: says the same")


def record_film(wine):
    """Every frame reaches a program in PATH, and its file takes the film's place."""
    film, (width, height, frames) = output / "film ü.mp4", (640, 360, 5)
    words = ["record", "--seconds", "1", "--fps", str(frames), "--size", f"{width}x{height}", "-o", film.name]
    wine.environment["WINEPATH"] = "Z:" + str(built / "ffmpeg").replace("/", "\\")
    done = wine.headscope(words, output)
    del wine.environment["WINEPATH"]
    whole = done.returncode == 0 and film.read_text() == str(width * height * 4 * frames)
    expect(whole, "a film goes to ffmpeg" + ("" if whole else ": " + done.stderr.decode().splitlines()[-1]))


def same_file(one, other):
    """Whether they have the same bytes, but for what differs between systems and moments."""
    if one.suffix == ".pdf":
        return pdf.same(one, other)
    if one.suffix == ".npz":
        parts = [{name: archive.read(name) for name in archive.namelist()} for archive in map(zipfile.ZipFile, (one, other))]
        return parts[0] == parts[1]
    if one.parent.name == "frames":
        return nearly_same_picture(one, other)[0]
    return one.read_bytes() == other.read_bytes()


def pixels(file):
    """The RGB bytes of a picture, by ffmpeg."""
    words = ["ffmpeg", "-loglevel", "error", "-i", str(file), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    return subprocess.run(words, capture_output=True, check=True).stdout


def nearly_same_picture(*files):
    """Also says how many pixels differ: drivers may round a few in their own way."""
    one, other = map(pixels, files)
    differing = sum(one[i:i + 3] != other[i:i + 3] for i in range(0, len(one), 3)) if one != other else 0
    return len(one) == len(other) and differing < 100, f"{differing} of {len(one) // 3} pixels differ"


def compare_window_picture(wine):
    files = [output / f"window-{system}.png" for system in ("linux", "windows")]
    words = ["render", "--size", "1280x800", "-o"]
    subprocess.run([linux, *words, str(files[0])], check=True)
    done = wine.headscope([*words, str(files[1])], output)
    if not expect(done.returncode == 0, "draws the window without showing it " + done.stderr.decode()):
        return
    same, how = nearly_same_picture(*files)
    expect(same, "the window's picture: " + how)


def main():
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    screen = Screen(output)
    wine = Wine(next(folder for folder in built.glob("headscope-*-win64") if folder.is_dir()), output)
    try:
        run_traps(wine)
        run_tests(wine)
        compare_commands(wine)
        record_film(wine)
        install_and_remove(wine)
        compare_window_picture(wine)
        use_window(wine, screen, linux, root, output)
    finally:
        wine.end()
        screen.end()
    if failures:
        print(len(failures), "checks failed:", *failures, sep="\n", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
