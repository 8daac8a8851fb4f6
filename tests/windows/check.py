#!/usr/bin/env python3
"""check.py LINUX_PROGRAM WINDOWS_BUILD_FOLDER OUTPUT: runs the program for Windows under Wine beside the one for Linux.

Compares what commands.txt lists byte for byte, and the picture of the window, then uses the window as a person would, on
an X server of its own. OUTPUT keeps what both wrote, and pictures of the screen.
"""

import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
linux, built, output = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
windows = next(folder for folder in built.glob("headscope-*-win64") if folder.is_dir())
failures = []


def expect(holds, what):
    print(("- " if holds else "FAILED: ") + what, flush=True)
    if not holds:
        failures.append(what)


def patient(condition, seconds=60):
    """The condition's first true value, or its last one."""
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.2)
    return found


class Wine:
    """A Windows of its own, in which the program is in a folder whose name isn't ASCII."""

    def __init__(self, folder):
        self.folder = folder / "programm ü 中文"
        shutil.copytree(windows, self.folder)
        self.prefix = folder / "prefix"
        self.environment = {
            **os.environ, "WINEPREFIX": str(self.prefix), "WINEARCH": "win64", "WINEDEBUG": "-all", "LANG": "C.UTF-8",
            "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe=", "LC_ALL": "C.UTF-8",
        }
        self.run(["wineboot", "--init"])

    def run(self, words, **options):
        return subprocess.run(["wine", *words], env=self.environment, timeout=600, capture_output=True, **options)

    def start(self, *words, log):
        with open(log, "wb") as messages:
            return subprocess.Popen(["wine", str(self.folder / "headscope.exe"), *words], env=self.environment,
                                    stdout=messages, stderr=messages)

    def headscope(self, words, cwd):
        return self.run([str(self.folder / "headscope.com"), *words], cwd=cwd, stdin=subprocess.DEVNULL)

    def user_file(self, name):
        """A file in the user's own folder, as the program for Windows sees it."""
        found = list((self.prefix / "drive_c/users").glob(f"*/{name}"))
        return found[0] if found else None

    def end(self):
        subprocess.run(["wineserver", "-k"], env=self.environment, check=False)


def run_traps(wine):
    for _ in range(5):  # some of what they look for happened in one of three runs
        done = wine.run([str(built / "windows_traps.exe")])
        expect(done.returncode == 0, "the traps of Windows " + done.stdout.decode())


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
        for name in ("returncode", "stdout", "stderr"):
            expect(getattr(one, name) == getattr(other, name), f"{line}: same {name}")
            if getattr(one, name) != getattr(other, name):
                print(repr(getattr(one, name))[:300], repr(getattr(other, name))[:300], sep="\n")
    files = {system: sorted(file.name for file in (place / "OUT").iterdir()) for system, place in places.items()}
    expect(files["linux"] == files["windows"], f"the same {len(files['linux'])} files")
    for name in files["linux"]:
        both = [place / "OUT" / name for place in places.values()]
        expect(all(file.exists() for file in both) and both[0].read_bytes() == both[1].read_bytes(), f"{name}: same bytes")


def pixels(file):
    """Width, height and RGB bytes of a picture, by ffmpeg."""
    words = ["ffmpeg", "-loglevel", "error", "-i", str(file), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    return subprocess.run(words, capture_output=True, check=True).stdout


def compare_window_picture(wine):
    """The drivers may round a few pixels differently."""
    for system in ("linux", "windows"):
        file = output / f"window-{system}.png"
        words = ["render", "--size", "1280x800", "-o", str(file)]
        if system == "linux":
            subprocess.run([linux, *words], check=True)
        else:
            done = wine.headscope(words, output)
            expect(done.returncode == 0, "draws the window without showing it " + done.stderr.decode())
    one, other = pixels(output / "window-linux.png"), pixels(output / "window-windows.png")
    differing = sum(one[i:i + 3] != other[i:i + 3] for i in range(0, len(one), 3)) if one != other else 0
    expect(len(one) == len(other) and differing < 100, f"the window's picture: {differing} of {len(one) // 3} pixels differ")


class Screen:
    """An X server with a 1600x1000 screen."""

    def __init__(self):
        read, write = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1600x1000x24", "-nolisten", "tcp", "-noreset"],
            pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        os.environ["DISPLAY"] = ":" + os.read(read, 16).decode().strip()

    def tool(self, *words):
        return subprocess.run(["xdotool", *map(str, words)], capture_output=True, text=True).stdout.strip()

    def picture(self, name=None):
        """The screen's bytes; also kept as a picture if it has a name."""
        words = ["ffmpeg", "-loglevel", "error", "-f", "x11grab", "-draw_mouse", "0", "-video_size", "1600x1000", "-i",
                 os.environ["DISPLAY"], "-frames:v", "1"]
        if name:
            subprocess.run([*words, "-y", str(output / f"{name}.png")], check=False)
        return subprocess.run([*words, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True).stdout

    def settled(self):
        """The picture once it stays the same for a second, but for the status line."""
        before, same, end = b"", 0, time.monotonic() + 60
        while same < 4 and time.monotonic() < end:
            time.sleep(0.25)
            now = self.picture()[:1600 * 3 * 850]
            same = same + 1 if now == before else 0
            before = now
        return before

    def changes(self, before, what, name):
        now = patient(lambda: (found := self.settled()) != before and found, 30) or before
        self.picture(name)
        expect(now != before, what + " changes the picture")
        return now

    def press(self, *keys):
        for key in keys:
            self.tool("key", "--delay", "60", key)

    def end(self):
        self.server.terminate()


def use_window(wine, screen):
    program = wine.start(log=output / "window.log")
    window = patient(lambda: screen.tool("search", "--onlyvisible", "--name", "Headscope"))
    expect(bool(window), "the window opens")
    if not window:
        return
    screen.tool("windowfocus", window.split()[0])
    picture = screen.settled()
    screen.picture("1-opened")
    x, y = (int(word.split("=")[1]) for word in screen.tool("getwindowgeometry", "--shell", window.split()[0]).split()[1:3])
    screen.tool("mousemove", x + 150, y + 110, "click", 1)
    screen.tool("type", "--delay", "60", " grün")
    picture = screen.changes(picture, "typing", "2-typed")
    screen.press("Escape", "m")
    picture = screen.changes(picture, "a key for a page", "3-page")
    saved = wine.prefix / "drive_c/users" / "gespeichert ü 中.json"
    screen.press("ctrl+s")
    screen.settled()
    screen.press("ctrl+a")
    screen.tool("type", "--delay", "60", "C:\\users\\gespeichert ü 中.json")
    screen.picture("4-saving")
    screen.press("Return")
    expect(patient(saved.exists, 30), "saves a scene under a name that isn't ASCII")
    screen.picture("5-saved")
    if saved.exists():
        read = subprocess.run([linux, "link", saved], capture_output=True)
        expect(read.returncode == 0, "Linux reads the saved scene")
    send_file(wine, screen)
    kill_and_recover(wine, screen, program)


def send_file(wine, screen):
    picture = screen.settled()
    sent = wine.headscope(["--send", str(root / "assets/lessons/04-causal-masks.json")], output)
    expect(sent.returncode == 0 and not sent.stderr, "--send finds the open window " + sent.stderr.decode())
    screen.changes(picture, "a sent lesson", "6-sent")


def kill_and_recover(wine, screen, program):
    screen.press("Escape", "Escape")
    screen.tool("type", "--delay", "60", "+")
    recovery = lambda: wine.user_file("AppData/Local/headscope/recovery")
    expect(patient(lambda: (found := recovery()) and any(found.glob("*.json")), 20), "unsaved work is kept on disk")
    wine.run(["taskkill", "/f", "/im", "headscope.exe"])
    expect(patient(lambda: program.poll() is not None, 20), "the program is killed")
    again = wine.start(log=output / "again.log")
    expect(patient(lambda: screen.tool("search", "--onlyvisible", "--name", "Headscope")), "it starts again")
    screen.settled()
    screen.picture("7-recovered")
    wine.run(["taskkill", "/im", "headscope.exe"])
    patient(lambda: again.poll() is not None, 20)


def main():
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    screen = Screen()
    wine = Wine(output)
    try:
        run_traps(wine)
        compare_commands(wine)
        install_and_remove(wine)
        compare_window_picture(wine)
        use_window(wine, screen)
    finally:
        wine.end()
        screen.end()
    if failures:
        print(len(failures), "checks failed:", *failures, sep="\n", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.exit(main())
