"""Uses the window under Wine as a person would. The places are those of the program's first window, of 1600x960."""

import shutil
import subprocess

from wine import expect, patient

TEXT_BOX, HEATMAP, SHARPNESS = (150, 110), (700, 400), (167, 487)
# Where the pointer changes nothing, and buttons.
NEUTRAL, NOT_NOW, RESTORE, LEAVE = (300, 945), (1526, 904), (533, 517), (588, 453)


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
        now = patient(lambda: (found := self.screen.settled()) != self.before and found, 60)
        self.screen.picture(name)
        self.before = now or self.before
        return expect(now and self.program.poll() is None, what + " changes the picture")

    def equals(self, picture, what, name):
        expect(patient(lambda: self.screen.settled() == picture, 60), what)
        self.screen.picture(name)
        self.before = self.screen.settled()

    def ends(self, what):
        if not expect(patient(lambda: self.program.poll() is not None, 30), what):
            self.program.kill()


def use(window):
    screen = window.screen
    screen.picture("1-opened")
    screen.click(*window.at(NOT_NOW))  # to the lesson for beginners
    screen.click(*window.at(TEXT_BOX))
    screen.settled()
    screen.press("End")
    screen.type(" grün")
    window.changes("typing", "2-typed")
    screen.press("Escape")
    x, y = window.at(SHARPNESS)
    screen.drag(x, y, x + 40)
    window.changes("a slider", "3-slider")
    screen.point(*window.at(HEATMAP))
    window.changes("pointing at a head", "4-pointed")
    screen.point(*window.at(NEUTRAL))
    window.before = heads = screen.settled()
    screen.press("3")
    window.changes("going to Mask", "5-mask")
    screen.press("1")
    window.equals(heads, "1 leads back to the heads", "6-heads")


def present(window):
    """The lecturer's window shares pictures with the other one."""
    screen, heads = window.screen, window.before
    screen.press("ctrl+shift+p")
    lecturer = lambda: screen.window("Headscope: lecturer")
    expect(patient(lecturer), "the lecturer's window opens")
    screen.settled()
    screen.picture("7-lecturer")
    screen.press("ctrl+shift+p")
    expect(patient(lambda: not lecturer()), "the lecturer's window closes")
    screen.press("Escape")
    window.equals(heads, "Escape leads back to the heads", "8-heads")


def save_and_reopen(window, saved):
    screen, heads = window.screen, window.before
    screen.press("ctrl+s")
    window.changes("the question where to save", "9-saving")
    screen.press("ctrl+a")
    screen.type("C:/users/" + saved.name)
    screen.settled()
    screen.press("Return")
    if not expect(patient(saved.exists, 30), "saves a scene under a name that isn't ASCII"):
        return
    window.equals(heads, "the question closes", "10-saved")
    screen.press("ctrl+q")
    window.ends("Ctrl+Q ends the program once all is saved")
    renamed = shutil.copy(saved, saved.with_name("kopiert 中文.json"))
    if window.open("it opens a copy with a Chinese name", "C:\\users\\" + renamed.name):
        window.equals(heads, "as it was", "11-reopened")


def kill_and_recover(window):
    screen, wine = window.screen, window.wine
    screen.click(*window.at(TEXT_BOX))
    screen.settled()
    screen.press("End")
    screen.type(" and sat")
    screen.press("Escape")
    screen.point(*window.at(NEUTRAL))
    window.changes("typing", "12-unsaved")
    unsaved = window.before
    kept = lambda: (found := wine.user_file("AppData/Local/headscope/recovery")) and list(found.glob("*.json"))
    expect(patient(kept, 30), "unsaved work is kept on disk")
    wine.run(["taskkill", "/f", "/im", "headscope.exe"])
    window.ends("the program is killed")
    if not window.open("it starts again"):
        return
    screen.picture("13-offered")
    screen.click(*window.at(RESTORE))
    screen.settled()
    screen.point(*window.at(NEUTRAL))
    window.equals(unsaved, "unsaved work is restored", "14-restored")


def send_and_leave(window, file, output):
    sent = window.wine.headscope(["--send", str(file)], output)
    expect(sent.returncode == 0 and not sent.stderr, "--send finds the open window " + sent.stderr.decode())
    window.changes("a sent file", "15-sent")
    window.screen.press("ctrl+q")
    window.changes("asking to leave with unsaved edits", "16-leaving")
    window.screen.click(*window.at(LEAVE))
    window.ends("Leave ends the program")


def use_window(wine, screen, linux, root, output):
    window = Window(wine, screen, output / "window.log")
    if not window.open("the window opens"):
        return
    use(window)
    present(window)
    saved = wine.prefix / "drive_c/users/gespeichert ü.json"
    save_and_reopen(window, saved)
    if saved.exists():
        read = subprocess.run([linux, "link", saved], capture_output=True)
        expect(read.returncode == 0, "Linux reads the saved scene")
        expect("grün" in saved.read_text(encoding="utf-8"), "with the text as typed")
    kill_and_recover(window)
    send_and_leave(window, root / "assets/lessons/04-causal-masks.json", output)
    expect(not (output / "window.log").read_bytes(), "the windows have said nothing")
