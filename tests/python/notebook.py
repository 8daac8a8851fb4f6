"""headscope.view() in JupyterLab in headless Chromium: cells are run, heads are clicked, the selection goes both ways, a
second view shares the page, and the saved notebook shows a picture without a kernel."""
import contextlib
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

PORT = int(os.environ.get("HEADSCOPE_TEST_PORT", 8931))
FOLDER = Path.cwd() / "notebook"
CELLS = [
    """import numpy as np, headscope
random = np.random.default_rng(1)
scores = np.tril(np.exp(random.normal(0, 1, (12, 12, 20, 20))))
view = headscope.view(scores / scores.sum(-1, keepdims=True), [f"w{i}" for i in range(20)], height=500)
view""",
    'print("status", view.status, "selection", dict(view.selection))',
    "view.selection = {'layer': 3, 'head': 5, 'query': 9, 'key': 2}",
    "second = headscope.view(scores[::-1] / scores[::-1].sum(-1, keepdims=True)); second.link(view); second",
    "view.attention = scores[:, :, :6, :6] / scores[:, :, :6, :6].sum(-1, keepdims=True)",
]


def notebook():
    cells = [{"cell_type": "code", "id": f"cell{i}", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
             for i, text in enumerate(CELLS)]
    return {"cells": cells, "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
            "nbformat": 4, "nbformat_minor": 5}


@contextlib.contextmanager
def server():
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "view.ipynb").write_text(json.dumps(notebook()))
    started = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={PORT}", "--ServerApp.token=",
         "--ServerApp.password=", f"--ServerApp.root_dir={FOLDER}", "--LabApp.collaborative=False",
         "--LabApp.news_url=None"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://localhost:{PORT}/api").read()
                break
            time.sleep(0.2)
        yield
    finally:
        started.terminate()
        started.wait()


class Lab:
    """One notebook in JupyterLab."""

    def __init__(self, page):
        self.page, self.asked = page, []
        page.on("dialog", lambda dialog: (self.asked.append(dialog.message), dialog.accept()))
        page.goto(f"http://localhost:{PORT}/lab/tree/view.ipynb?reset")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60000)
        page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", timeout=60000)

    def run(self, cell):
        """Runs a cell and returns the text that it prints."""
        at = self.page.locator(".jp-CodeCell").nth(cell)
        at.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_timeout(300)
        self.page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", timeout=60000)
        output = at.locator(".jp-OutputArea-output pre")
        return output.first.inner_text() if output.count() else ""

    def frames(self):
        return [frame for frame in self.page.frames if frame.url.startswith("blob:")]

    def wait(self, true, what):
        for _ in range(240):
            if true():
                return
            self.page.wait_for_timeout(250)
        raise AssertionError(f"{what}: not within a minute")

    def status(self):
        return self.run(1)


def selection(text):
    return dict(re.findall(r"'(\w+)': (\d+)", text)) if "selection" in text else {}


def check(page):
    lab = Lab(page)
    began = time.monotonic()
    lab.run(0)
    lab.wait(lambda: "status shown" in lab.status(), "the first picture")
    print(f"first picture after {time.monotonic() - began:.1f} s, beside whatever else runs")
    page.screenshot(path="notebook-view.png")
    frame = page.locator("iframe[title=Headscope]").first
    box = frame.bounding_box()
    assert box["height"] == 500

    # A click on another head tells the kernel.
    lab.wait(lambda: set(selection(lab.status())) == {"layer", "head", "query", "key"}, "the selection")
    before = selection(lab.status())
    frame.click(position={"x": box["width"] * 0.25, "y": box["height"] * 0.4})
    lab.wait(lambda: selection(lab.status()) != before, "a clicked head")

    # The kernel selects, and the page keeps it.
    lab.run(2)
    wanted = {"layer": "3", "head": "5", "query": "9", "key": "2"}
    page.wait_for_timeout(2000)
    assert selection(lab.status()) == wanted, lab.status()
    page.screenshot(path="notebook-selected.png")

    # Nothing leads away from the heads: the page has no way back.
    frame.dblclick(position={"x": box["width"] * 0.25, "y": box["height"] * 0.4})
    frame.dblclick(position={"x": box["width"] * 0.75, "y": box["height"] * 0.4})
    page.wait_for_timeout(2000)
    page.screenshot(path="notebook-clicked.png")
    lab.run(2)

    # A second view has a page of its own, of one copy, and the same selection.
    lab.run(3)
    lab.wait(lambda: len(lab.frames()) == 2, "a second view")
    assert page.evaluate("globalThis[Symbol.for('headscope.pages')].size") == 1
    page.wait_for_timeout(4000)
    assert selection(lab.status()) == wanted, lab.status()
    lab.run(4)
    page.wait_for_timeout(3000)
    assert "status shown" in lab.status()
    page.screenshot(path="notebook-second.png")

    # Saved and opened again: nothing asked, no page in the file, a picture without a kernel.
    page.keyboard.press("Control+s")
    page.wait_for_timeout(2000)
    saved = (FOLDER / "view.ipynb").read_text()
    assert len(saved) < 2_000_000 and "data:image/" in saved, len(saved)
    assert page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('headscope:')).length") == 0
    subprocess.run([sys.executable, "-m", "nbconvert", "--to", "html", "--output", "view.html", str(FOLDER / "view.ipynb")],
                   check=True, stderr=subprocess.DEVNULL)
    page.goto(f"file://{FOLDER}/view.html")
    assert page.locator("[class^=headscope-still] img").first.is_visible()
    page.screenshot(path="notebook-still.png")
    assert not lab.asked, lab.asked


def main():
    with server(), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"])
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        check(page)
        browser.close()
    print("notebook: passed")


if __name__ == "__main__":
    main()
