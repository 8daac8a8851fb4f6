"""Attention heads from Python, in one line.

    import headscope
    headscope.show(outputs, tokens)                       # what output_attentions=True gives
    headscope.show(headscope.record(model, tokenizer, "The animal didn't cross the street."))
    headscope.figure(outputs, tokens, layer=4, head=7)    # an SVG, which a notebook shows

Attention is NumPy's or PyTorch's: an array a layer, [heads, queries, keys] or [1, heads, queries, keys], all
layers in one array, or an object of Hugging Face's with .attentions. This file needs NumPy and the program
`headscope`, which it looks for in $HEADSCOPE, in the path, and where it was installed with it. It can be copied
anywhere: `headscope python > headscope.py`.
"""
import json
import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np

__all__ = ["show", "record", "figure", "save", "Recording", "Figure"]

# The groups of an encoder-decoder, as Hugging Face calls them; a file keeps the names.
_GROUPS = ("attentions", "encoder_attentions", "decoder_attentions", "cross_attentions")


class Recording:
    """Attention with its tokens, and q, k and v where they were kept: lists of an array a layer.

    attentions: {group: [layers of [heads, queries, keys]]}, of one group "attention" mostly.
    tokens: a list of texts, or {"encoder": …, "decoder": …}.
    """

    def __init__(self, attentions, tokens=None, q=None, k=None, v=None):
        self.attentions, self.tokens, self.q, self.k, self.v = attentions, tokens, q, k, v


class Figure(str):
    """An SVG as text, which notebooks draw."""

    def _repr_svg_(self):
        return str(self)


def _array(values, axes, what):
    """NumPy's array of at most `axes` axes, without a batch of one."""
    if hasattr(values, "detach"):  # PyTorch's; its 16-bit numbers have no equal in NumPy
        values = values.detach().float().cpu().numpy()
    array = np.asarray(values, dtype=np.float32)
    if array.ndim == axes + 1 and array.shape[0] == 1:
        array = array[0]
    if array.ndim != axes:
        kept = "a batch of one at most" if array.ndim == axes + 1 else f"{axes} axes"
        raise ValueError(f"{what} is {list(array.shape)}, expected {kept}")
    return array


def _layers(values, what):
    """A list of [heads, …] of one group's layers."""
    if not isinstance(values, (list, tuple)):
        shape = getattr(values, "shape", np.shape(values))
        values = [values] if len(shape) == 3 else list(values)
        if len(shape) == 4 and shape[0] == 1 and len(values) == 1:
            values = [values[0]]
    if len(values) == 0 or values[0] is None:
        raise ValueError(f"{what} has no layers: did the model run with output_attentions=True?")
    return [_array(layer, 3, f"layer {i} of {what}") for i, layer in enumerate(values)]


def _recording(attentions, tokens=None, q=None, k=None, v=None):
    """What any of the functions was given, as a Recording."""
    if isinstance(attentions, Recording):
        return attentions
    groups = {}
    for name in _GROUPS:
        found = getattr(attentions, name, None) if not isinstance(attentions, np.ndarray) else None
        if found is not None:
            groups["attention" if name == "attentions" else name] = _layers(found, name)
    if not groups:
        groups["attention"] = _layers(attentions, "attentions")
    given = {"q": q, "k": k, "v": v}
    kept = {name: None if values is None else _layers(values, name) for name, values in given.items()}
    return Recording(groups, tokens, **kept)


def _check_tokens(recording):
    tokens = recording.tokens
    if tokens is None or isinstance(tokens, dict):
        return tokens
    tokens = [str(token) for token in tokens]
    keys = next(iter(recording.attentions.values()))[0].shape[2]
    if len(tokens) != keys:
        raise ValueError(f"there are {len(tokens)} tokens, expected one for each of the {keys} keys")
    return tokens


def save(path, attentions, tokens=None, q=None, k=None, v=None):
    """Writes a safetensors file that Headscope opens; the one that is there is replaced at once and whole."""
    recording = _recording(attentions, tokens, q, k, v)
    arrays, metadata = {}, {}
    for group, layers in recording.attentions.items():
        arrays.update({f"{group}.{i}": layer for i, layer in enumerate(layers)})
    for name in ("q", "k", "v"):
        arrays.update({f"{name}.{i}": layer for i, layer in enumerate(getattr(recording, name) or [])})
    found = _check_tokens(recording)
    if isinstance(found, dict):
        metadata = {f"{name}_tokens": json.dumps([str(t) for t in texts]) for name, texts in found.items()}
    elif found is not None:
        metadata = {"tokens": json.dumps(found)}
    header, at = {"__metadata__": metadata} if metadata else {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path = Path(path)
    with tempfile.NamedTemporaryFile(dir=path.parent or ".", prefix=path.name, delete=False) as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            file.write(np.ascontiguousarray(array, "<f4").tobytes())
    os.replace(file.name, path)
    return path


def program():
    """Where the program is."""
    beside = Path(__file__).resolve().parent
    for place in (os.environ.get("HEADSCOPE"), shutil.which("headscope"), beside.parents[2] / "bin" / "headscope"
                  if len(beside.parents) > 2 else None, beside.parent.parent / "build" / "headscope"):
        if place and os.access(place, os.X_OK) and not os.path.isdir(place):
            return str(place)
    raise FileNotFoundError("the program headscope isn't in the path; set HEADSCOPE to where it is")


def show(attentions, tokens=None, q=None, k=None, v=None, path=None, new_window=False):
    """Shows attention in the window that was opened last; without one, or with `new_window`, in a new one. It is
    written to `path`, or to a file in a temporary folder, which is returned; the window reads what it shows from
    there, and again when that file is written again."""
    if path is None:
        path = Path(tempfile.mkdtemp(prefix="headscope-")) / "attention.safetensors"
    path = save(path, attentions, tokens, q, k, v)
    sends = [] if new_window else ["--send"]
    subprocess.Popen([program(), *sends, os.path.abspath(path)], stdin=subprocess.DEVNULL, start_new_session=True)
    return path


def figure(attentions, tokens=None, layer=None, head=None, width=None, dark=False):
    """A Figure of all heads; of one layer's, or of one head alone, where they are named."""
    recording = _recording(attentions, tokens)
    if head is not None and layer is None:
        raise ValueError("head is given and layer is not, expected both")
    if layer is not None:
        group, layers = next(iter(recording.attentions.items()))
        if not 0 <= layer < len(layers):
            raise ValueError(f"layer is {layer}, expected 0 to {len(layers) - 1}")
        recording = Recording({group: [layers[layer]]}, recording.tokens)
    with tempfile.TemporaryDirectory() as folder:
        source, out = save(Path(folder) / "attention.safetensors", recording), Path(folder) / "figure.svg"
        command = [program(), "render", str(source), "--what", "heads" if head is None else "head", "-o", str(out)]
        command += ["--theme", "dark" if dark else "light"]
        command += ["--head", str(head)] if head is not None else []
        command += ["--width", str(width)] if width is not None else []
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return Figure(out.read_text())


# Projections that are modules of their own, and those of q, k and v in one.
_APART = {"q": ("q_proj", "query", "q_lin"), "k": ("k_proj", "key", "k_lin"), "v": ("v_proj", "value", "v_lin")}
_TOGETHER = ("c_attn", "qkv_proj", "Wqkv", "in_proj")


def _is_projection(name, module, last):
    return last in name and hasattr(module, "weight") and getattr(module.weight, "ndim", 0) == 2


def _heads(values, size):
    """[n, heads · size] as [heads, n, size]."""
    array = _array(values, 2, "a projection")
    return array.reshape(array.shape[0], -1, size).transpose(1, 0, 2)


def _watch(model, kept, handles):
    """Keeps what projections of q, k and v give, by the order in which they run."""

    def keep(name):
        return lambda module, inputs, output: kept[name].append(output)

    for path, module in model.named_modules():
        last = path.rpartition(".")[2]
        for name, names in _APART.items():
            if _is_projection(names, module, last):
                handles.append(module.register_forward_hook(keep(name)))
        if _is_projection(_TOGETHER, module, last):
            handles.append(module.register_forward_hook(keep("all")))


def _projections(kept, attentions, config):
    """q, k and v as lists of [heads, n, headDim]; None where the model has no projections of a known shape."""
    heads = attentions[0].shape[0]
    shared = getattr(config, "num_key_value_heads", None) or heads
    size = getattr(config, "head_dim", None)
    if kept["all"] and not kept["q"]:
        for values in kept["all"]:
            array = _array(values, 2, "a projection")
            each = size or array.shape[1] // (heads + 2 * shared)
            if array.shape[1] != (heads + 2 * shared) * each:
                return {}
            ends = (heads * each, (heads + shared) * each)
            for name, part in zip("qkv", np.split(array, ends, axis=1)):
                kept[name].append(part)
    layers = len(attentions)
    if any(len(kept[name]) != layers for name in "qkv"):
        return {}
    size = size or _array(kept["q"][0], 2, "q").shape[1] // heads
    return {name: [_heads(values, size) for values in kept[name]] for name in "qkv"}


def record(model, tokenizer, text, **inputs):
    """Runs a model of Hugging Face's on a text and keeps its attention, with q, k and v as their projections
    give them (before any rotation). The model has to compute attention itself: load it with
    attn_implementation="eager". `inputs` go to the model beside the tokens."""
    import torch

    encoded = tokenizer(text, return_tensors="pt")
    kept, handles = {"q": [], "k": [], "v": [], "all": []}, []
    trained = model.training
    try:
        _watch(model, kept, handles)
        model.eval()
        with torch.no_grad():
            outputs = model(**encoded, output_attentions=True, **inputs)
    finally:
        for handle in handles:
            handle.remove()
        model.train(trained)
    tokens = tokenizer.convert_ids_to_tokens(encoded["input_ids"][0])
    recording = _recording(outputs, tokens)
    if list(recording.attentions) == ["attention"]:
        found = _projections(kept, recording.attentions["attention"], getattr(model, "config", None))
        recording.q, recording.k, recording.v = (found.get(name) for name in "qkv")
    return recording
