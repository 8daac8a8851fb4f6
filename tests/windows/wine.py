"""A Windows of its own for the program, and what checks say."""

import os
import shutil
import subprocess
import tempfile
import time

failures = []


def expect(holds, what):
    print(("- " if holds else "FAILED: ") + what, flush=True)
    if not holds:
        failures.append(what)
    return bool(holds)


def patient(condition, seconds=60):
    """The condition's first true value, or its last one."""
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.2)
    return found


class Wine:
    """Has the program in a folder whose name isn't ASCII, and nothing from other runs."""

    def __init__(self, packed, folder):
        self.folder = folder / "programm ü 中文"
        shutil.copytree(packed, self.folder)
        self.prefix = folder / "prefix"
        self.environment = {
            **os.environ, "WINEPREFIX": str(self.prefix), "WINEARCH": "win64", "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe=", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8",
        }
        self.run(["wineboot", "--init"])

    def run(self, words, **options):
        """Keeps what it prints in files: pipes would stay open as long as Wine's own programs do, which it may start."""
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            done = subprocess.run(["wine", *words], env=self.environment, timeout=1200, stdout=stdout, stderr=stderr, **options)
            for name, file in ("stdout", stdout), ("stderr", stderr):
                file.seek(0)
                setattr(done, name, file.read())
        return done

    def start(self, *words, log):
        """Starts the window."""
        with open(log, "ab") as messages:
            return subprocess.Popen(["wine", str(self.folder / "headscope.exe"), *words], env=self.environment,
                                    stdout=messages, stderr=messages)

    def headscope(self, words, cwd):
        """Runs a command as a shell does."""
        return self.run([str(self.folder / "headscope.com"), *words], cwd=cwd, stdin=subprocess.DEVNULL)

    def user_file(self, name):
        """A file in the user's own folder; None if it doesn't exist."""
        return next((self.prefix / "drive_c/users").glob(f"*/{name}"), None)

    def end(self):
        subprocess.run(["wineserver", "-k"], env=self.environment, check=False)
