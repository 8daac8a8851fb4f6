"""Headscope's page for browsers as a notebook's widget.

The notebook's file holds neither the page nor the attention: the widget's script asks for both by messages and gets them as
binary buffers. What the file keeps is a still picture, which stands in for the view wherever there is no kernel.
"""
from __future__ import annotations

import base64
import hashlib
import os
import tempfile
import uuid
from functools import cache
from pathlib import Path

import anywidget
import traitlets

from . import Attention, HeadscopeError, _index, _shape, figure

_NAMES = ("layer", "head", "query", "key")
_MOST_SVG = 1_000_000  # bytes; larger pictures are kept as PNG


@cache
def _page() -> tuple[bytes, str]:
    """The page and its name for the browser's cache. $HEADSCOPE_PAGE names another file."""
    path = Path(os.environ.get("HEADSCOPE_PAGE") or Path(__file__).with_name("page.html"))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise HeadscopeError(f"the page for browsers can't be read: {error}") from None
    return data, hashlib.sha256(data).hexdigest()[:16]


class HeadView(anywidget.AnyWidget):
    """Attention heads, live in a notebook.

    selection: {"layer", "head", "query", "key"}, counted from 0; follows clicks, and can be set, also in part.
    scene: a link's part from "#" on that holds what is shown; can be set.
    theme: "auto" follows the notebook. tools: the program's controls as well; False shows the heads alone.
    status: "shown" once there is a picture, or why there is none.
    """

    _esm = Path(__file__).with_name("view.js")
    selection = traitlets.Dict().tag(sync=True)
    scene = traitlets.Unicode("").tag(sync=True)
    height = traitlets.Int(600, min=120).tag(sync=True)
    theme = traitlets.Enum(["auto", "light", "dark"], "auto").tag(sync=True)
    tools = traitlets.Bool(False).tag(sync=True)
    status = traitlets.Unicode("", read_only=True).tag(sync=True)
    _page_name = traitlets.Unicode().tag(sync=True)
    _data_name = traitlets.Unicode().tag(sync=True)
    _numbers = traitlets.List(traitlets.Int()).tag(sync=True)  # of the layers with weights, which the page counts
    _ends = traitlets.Dict().tag(sync=True)  # of the selection's numbers
    _still = traitlets.Unicode().tag(sync=True)

    def __init__(self, attention: Attention, **traits):
        self._take(attention)
        selection = traits.pop("selection", {})
        super().__init__(_page_name=_page()[1], _still=uuid.uuid4().hex[:12], **self._synced(), **traits)
        self.selection = dict(zip(_NAMES, selection)) if isinstance(selection, (tuple, list)) else selection
        self.on_msg(self._told)

    def _take(self, attention):
        self._attention, self._bytes = attention, attention.to_bytes("float16")
        self._name = hashlib.sha256(self._bytes).hexdigest()[:16]

    def _synced(self):
        """What the script is told of the attention."""
        layers = self._attention.layers
        return {"_numbers": [i for i, layer in enumerate(layers) if layer is not None],
                "_ends": dict(zip(_NAMES, (len(layers), *_shape(layers)))), "_data_name": self._name}

    @property
    def attention(self) -> Attention:
        """What is shown. Setting it shows other attention in place; the selection stays."""
        return self._attention

    @attention.setter
    def attention(self, value):
        self._take(Attention.of(value))
        for name, told in self._synced().items():  # its name last, which makes the script ask for it
            setattr(self, name, told)

    @traitlets.validate("selection")
    def _selectable(self, proposal):
        value = proposal["value"]
        if set(value) - set(_NAMES):
            raise traitlets.TraitError(f"selection has {', '.join(sorted(set(value) - set(_NAMES)))}, expected some of "
                                       f"{', '.join(_NAMES)}")
        try:
            found = {name: _index(int(value[name]), range(end), name) for name, end in self._ends.items() if name in value}
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None
        if found.get("layer", self._numbers[0]) not in self._numbers:
            raise traitlets.TraitError(f"layer {found['layer']} has no attention weights")
        return found

    def link(self, *others: "HeadView"):
        """Shares the selection with other views: this one's, or theirs if nothing is selected here."""

        def follow(source, target):
            def take(_=None):  # what the other has, too
                found = {name: at for name, at in source.selection.items() if at < target._ends[name]}
                if found.get("layer", target._numbers[0]) not in target._numbers:
                    del found["layer"]
                target.selection = {**target.selection, **found}
            source.observe(take, "selection")
            return take

        for other in others:
            there, here = follow(self, other), follow(other, self)
            (there if self.selection else here)()

    def picture(self, kind: str = "png") -> bytes:
        """A still picture of all heads, "png" or "svg". Needs the program."""
        return self._drawn(figure(self._attention, theme="dark" if self.theme == "dark" else "light"), kind)

    @staticmethod
    def _drawn(drawn, kind):
        if kind == "svg":
            return drawn.encode()
        with tempfile.TemporaryDirectory(prefix="headscope-") as folder:
            return drawn.save(Path(folder) / "still.png").read_bytes()

    def _told(self, _, content, __):
        if content.get("want") == "page":
            self.send({"page": self._page_name}, [_page()[0]])
        elif content.get("want") == "data":
            self.send({"data": self._data_name}, [self._bytes])
        elif "status" in content:
            self.set_trait("status", content["status"])

    def _still_html(self):
        """The picture, or without the program a sentence."""
        try:
            drawn = figure(self._attention, theme="dark" if self.theme == "dark" else "light")
            kind = "svg" if len(drawn) <= _MOST_SVG else "png"
            data = base64.b64encode(self._drawn(drawn, kind)).decode()
            inside = f'<img alt="{self._attention!r}" src="data:image/{"svg+xml" if kind == "svg" else kind};base64,{data}">'
        except (FileNotFoundError, HeadscopeError):
            inside = f"<p>{self._attention!r}. Run the cell to see the heads.</p>"
        return f'<div class="headscope-still-{self._still}">{inside}</div>'

    def _ipython_display_(self, **_):
        """Two outputs, because JupyterLab prefers a widget to a picture in one: without a kernel it would show neither."""
        from IPython.display import HTML, display

        bundle = self._repr_mimebundle_()
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        display(HTML(self._still_html()))
        display(data, metadata=metadata, raw=True)
