"""Uses the window under Wine as a person would. The places are those of the program's first window, of 1600x960."""

import json
import subprocess

from wine import expect, patient

TEXT_BOX, HEATMAP, MASK_CELL = (150, 110), (700, 400), (560, 420)


class Window:
    def __init__(self, wine, screen, log):
        self.wine, self.screen, self.log = wine, screen, log
        self.program, self.before = None, b""

    def open(self, what, *words):
        self.program = self.wine.start(*words, log=self.log)
        window = patient(self.screen.window)
        shown = window and patient(lambda: self.screen.colours(305) > 20)
        if shown:
            self.screen.tool("windowfocus", window)
        self.before = self.screen.settled()
        return expect(shown, what)

    def at(self, place):
        """Where a place of the window is on the screen."""
        found = dict(line.split("=") for line in
                     self.screen.tool("getwindowgeometry", "--shell", self.screen.window()).split("\n") if "=" in line)
        return place[0] + int(found.get("X", 0)), place[1] + int(found.get("Y", 0))

    def changes(self, what, name):
        """Expects another picture than before, and keeps it."""
        now = patient(lambda: (found := self.screen.settled()) != self.before and found, 30)
        self.screen.picture(name)
        self.before = now or self.before
        return expect(now and self.program.poll() is None, what + " changes the picture")

    def equals(self, picture, what):
        expect(patient(lambda: self.screen.settled() == picture, 30), what)
        self.before = self.screen.settled()

    def ends(self, what):
        if not expect(patient(lambda: self.program.poll() is not None, 30), what):
            self.program.kill()


def use(window):
    screen = window.screen
    screen.picture("1-opened")
    opened = window.before
    screen.click(*window.at(TEXT_BOX))
    screen.settled()
    screen.press("End")
    screen.type(" grün 中文")
    window.changes("typing", "2-typed")
    screen.press("Escape")
    screen.point(*window.at(HEATMAP))
    window.changes("pointing at a head", "3-pointed")
    heads = window.before
    screen.press("3")
    window.changes("going to Mask", "4-mask")
    screen.press("1")
    screen.point(*window.at(HEATMAP))
    window.equals(heads, "1 leads back to the heads")
    screen.press("ctrl+shift+p")
    lecturer = lambda: screen.window("Headscope: lecturer")
    expect(patient(lecturer), "the lecturer's window opens")
    screen.settled()
    screen.picture("5-lecturer")
    screen.press("ctrl+shift+p")
    expect(patient(lambda: not lecturer()), "the lecturer's window closes")
    return opened


def save(window, output):
    screen, saved = window.screen, window.wine.prefix / "drive_c/users/gespeichert ü 中.json"
    screen.press("ctrl+s")
    window.changes("the question where to save", "6-saving")
    screen.press("ctrl+a")
    screen.type("C:\\users\\gespeichert ü 中.json")
    screen.settled()
    screen.press("Return")
    expect(patient(saved.exists, 30), "saves a scene under a name that isn't ASCII")
    screen.settled()
    screen.picture("7-saved")
    return saved


def send(window, file, output):
    sent = window.wine.headscope(["--send", str(file)], output)
    expect(sent.returncode == 0 and not sent.stderr, "--send finds the open window " + sent.stderr.decode())
    window.changes("a sent file", "8-sent")


def kill_and_recover(window):
    screen, wine = window.screen, window.wine
    screen.click(*window.at(TEXT_BOX))
    screen.settled()
    screen.press("End")
    screen.type(" and sat")
    screen.press("Escape")
    kept = lambda: (found := wine.user_file("AppData/Local/headscope/recovery")) and list(found.glob("*.json"))
    expect(patient(kept, 30), "unsaved work is kept on disk")
    wine.run(["taskkill", "/f", "/im", "headscope.exe"])
    window.ends("the program is killed")
    if window.open("it starts again"):
        screen.picture("9-offered")


def use_window(wine, screen, linux, root, output):
    window = Window(wine, screen, output / "window.log")
    if not window.open("the window opens"):
        return
    use(window)
    saved = save(window, output)
    if saved.exists():
        read = subprocess.run([linux, "link", saved], capture_output=True)
        expect(read.returncode == 0, "Linux reads the saved scene")
        expect("grün 中文" in json.dumps(json.loads(saved.read_bytes()), ensure_ascii=False), "with the text as typed")
    send(window, root / "assets/lessons/04-causal-masks.json", output)
    kill_and_recover(window)
    expect(not (output / "window.log").read_bytes(), "the windows have said nothing")
