"""An X server with a screen of its own, on which tests use a window as a person would."""

import os
import pathlib
import struct
import subprocess
import tempfile
import time

WIDTH, HEIGHT = 1800, 1100
# Where the heatmaps are: the status line shows timings, and the panel on the right what the last change did.
FIRST_ROW, LAST_ROW, LEFT, RIGHT = 170, 720, 320, 1280


class Screen:
    """Its pixels are read from the file in which Xvfb keeps them, without the pointer."""

    def __init__(self, output):
        self.output = output
        self.folder = tempfile.TemporaryDirectory()
        read, write = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-fbdir", self.folder.name,
             "-nocursor", "-nolisten", "tcp", "-noreset"], pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        os.environ["DISPLAY"] = ":" + os.read(read, 16).decode().strip()
        self.file = pathlib.Path(self.folder.name) / "Xvfb_screen0"
        header = struct.unpack(">25I", self.file.read_bytes()[:100])
        self.pixels_at, self.row = header[0] + 12 * header[19], header[12]

        # Umlauts have keys of their own. For others xdotool makes keys one by one, which Wine notices too late.
        subprocess.run(["setxkbmap", "de"], check=True)

    def tool(self, *words):
        return subprocess.run(["xdotool", *map(str, words)], capture_output=True, text=True).stdout.strip()

    def rows(self, first=0, last=HEIGHT):
        with open(self.file, "rb") as file:
            file.seek(self.pixels_at + first * self.row)
            return file.read((last - first) * self.row)

    def colours(self, row):
        pixels = self.rows(row, row + 1)
        return len({pixels[i:i + 3] for i in range(0, len(pixels), 4)})

    def picture(self, name):
        """Keeps the screen as a picture."""
        subprocess.run(
            ["ffmpeg", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "bgr0", "-s", f"{self.row // 4}x{HEIGHT}", "-i", "-",
             "-pix_fmt", "rgb24", "-y", str(self.output / f"{name}.png")], input=self.rows(), check=False)

    def settled(self, seconds=60):
        """The heatmaps once they stay the same for a second."""
        before, same, end = b"", 0, time.monotonic() + seconds
        while same < 5 and time.monotonic() < end:
            time.sleep(0.2)
            rows = self.rows(FIRST_ROW, LAST_ROW)
            now = b"".join(rows[at + 4 * LEFT:at + 4 * RIGHT] for at in range(0, len(rows), self.row))
            same = same + 1 if now == before else 0
            before = now
        return before

    def window(self, name="Headscope"):
        """The number of a window that is shown; empty if there is none."""
        return self.tool("search", "--onlyvisible", "--name", name).split("\n")[0]

    def press(self, *keys):
        """Presses keys one after another, each as a hand does: programs miss keys that are let go at once."""
        for key in keys:
            parts = key.split("+")
            for part in parts:
                self.tool("keydown", part)
                time.sleep(0.05)
            for part in reversed(parts):
                self.tool("keyup", part)
            time.sleep(0.1)

    def type(self, text):
        """Types characters of a German keyboard that need no AltGr."""
        self.tool("type", "--delay", "60", text)

    def point(self, x, y):
        self.tool("mousemove", x, y)
        time.sleep(0.3)

    def click(self, x, y):
        self.point(x, y)
        self.tool("click", 1)

    def drag(self, x, y, to_x, steps=12):
        """Drags along a row."""
        self.point(x, y)
        self.tool("mousedown", 1)
        for i in range(1, steps + 1):
            self.point(x + (to_x - x) * i // steps, y)
        self.tool("mouseup", 1)

    def end(self):
        self.server.terminate()
        self.server.wait()
        self.folder.cleanup()
