"""What the suites share: models of transformers with random weights, the forms of their config.json, Headscope's
results on them, and how a table of cases is run."""

import copy
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import transformers
from safetensors.numpy import load_file, save_file

transformers.utils.logging.disable_progress_bar()

# The largest difference from a quantity's largest value, for 32-bit floats that are summed in another order.
TOLERANCE = 1e-4

# Sizes that fit any family; a configuration class takes those that it has, under its own names.
SIZES = {
    "vocab_size": 97, "hidden_size": 48, "intermediate_size": 56, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 128, "sliding_window": 16,
    "eos_token_id": None, "pad_token_id": None,
}


def fields_of(config_class):
    """The fields of a configuration class, and the other names of some."""
    names = set(vars(config_class())) | set(getattr(config_class, "__annotations__", {}))
    return names, getattr(config_class, "attribute_map", {})


def config_of(model_type, overrides):
    """A small configuration of that type. A text_config is given as its type and overrides."""
    config_class = transformers.CONFIG_MAPPING[model_type]
    names, others = fields_of(config_class)
    values = {}
    for name, value in SIZES.items():
        own = others.get(name, name)
        if own in names:
            values[own] = value
    values.update(overrides)
    if isinstance(overrides.get("text_config"), tuple):
        values = {**overrides, "text_config": config_of(*overrides["text_config"]).to_dict()}
    return config_class(**values)


def randomise(model, seed):
    """Weights large enough for uneven attention, and norms, biases, sinks and gates other than 0 and 1."""
    generator = torch.Generator().manual_seed(seed)

    def noise(tensor):
        return torch.randn(tensor.shape, generator=generator, dtype=torch.float32)

    # What isn't trained is computed from the configuration, such as sines and cosines.
    tensors = [(name, tensor) for name, tensor in model.named_parameters() if tensor.requires_grad]
    tensors += [(name, t) for name, t in model.named_buffers() if name.endswith(("e_score_correction_bias", "expert_bias"))]
    for name, tensor in tensors:
        with torch.no_grad():
            if tensor.dim() < 2:
                start = torch.where(torch.isfinite(tensor), tensor.float(), torch.zeros(tensor.shape))
                tensor.copy_(start.clamp(-2, 2) + 0.3 * noise(tensor))
            elif "embed" in name or "wte" in name or "wpe" in name:
                tensor.copy_(noise(tensor))
            else:
                inputs = min(tensor.shape[-2:]) if tensor.dim() == 3 else tensor.shape[-1]
                tensor.copy_(noise(tensor) * 1.3 / inputs**0.5)


def without_defaults(values, defaults):
    """The fields that differ from the defaults, at any depth."""
    kept = {}
    for name, value in values.items():
        default = defaults.get(name)
        if name in ("model_type", "architectures") or name not in defaults:
            kept[name] = value
        elif isinstance(value, dict) and isinstance(default, dict) and "model_type" in value:
            kept[name] = without_defaults(value, default)
        elif value != default:
            kept[name] = value
    return kept


def minimal(config, written):
    """config.json without the fields that equal those of the class."""
    defaults = type(config)().to_dict()
    for name, value in written.items():
        if isinstance(value, dict) and value.get("model_type") in transformers.CONFIG_MAPPING:
            defaults[name] = transformers.CONFIG_MAPPING[value["model_type"]]().to_dict()
    return without_defaults(written, defaults)


def old(config):
    """config.json as before transformers 5: rope_theta and rope_scaling beside the sizes."""
    rope = config.get("rope_parameters")
    if not isinstance(rope, dict) or any(isinstance(value, dict) for value in rope.values()):
        return None
    config = {name: value for name, value in config.items() if name not in ("rope_parameters", "dtype")}
    rope = dict(rope)
    for name in ("rope_theta", "partial_rotary_factor"):
        if name in rope:
            config[name] = rope.pop(name)
    config["rope_scaling"] = None if rope.get("rope_type", "default") == "default" else rope
    return config


class Failure(Exception):
    pass


def write_forms(folder, config, without=()):
    """Yields each form of the config.json that save_pretrained() wrote, once it is in the folder."""
    (folder / "generation_config.json").unlink(missing_ok=True)
    written = json.loads((folder / "config.json").read_text())
    for form, fields in {"v5": written, "minimal": minimal(config, written), "old": old(written)}.items():
        if fields is not None and form not in without:
            (folder / "config.json").write_text(json.dumps(fields))
            yield form


def headscope(*arguments):
    """Runs the program and returns what it prints as JSON."""
    program = os.environ.get("HEADSCOPE", "headscope")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure((done.stderr.strip() or done.stdout.strip()).removeprefix("headscope: "))
    return json.loads(done.stdout)


def rename(file, part, by):
    """Replaces a part of all tensors' names."""
    save_file({name.replace(part, by): tensor for name, tensor in load_file(file).items()}, file, {"format": "pt"})


def listed(ids):
    return ",".join(map(str, ids))


def headscope_arrays(model, *options):
    """What `headscope model` prints, and its arrays. The model is a folder, or one of its groups of heads."""
    output = Path(str(model).split("#")[0]) / "out.safetensors"
    return headscope("model", model, "--json", "-o", output, *options), load_file(output)


def differences(ours, theirs):
    return {name: difference(name, ours[name][: len(array)], array) for name, array in theirs.items()}


def joined(tensors):
    """The first sequence of a batch, in every layer."""
    return torch.stack([tensor[0] for tensor in tensors])


def keep_worst(figures, worst):
    for name, value in figures.items():
        worst[name] = max(worst.get(name, 0), value)


def difference(name, ours, theirs):
    """The largest difference over the largest value. Refuses other shapes, infinities and NaN."""
    theirs = np.asarray(theirs, dtype=np.float32)
    if ours.shape != theirs.shape:
        raise Failure(f"{name} is {list(ours.shape)}, expected {list(theirs.shape)}")
    for array, of in ((ours, "Headscope"), (theirs, "the library")):
        if not np.isfinite(array).all():  # a NaN is less than no limit
            raise Failure(f"{name} of {of} isn't finite")
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-6))


def run_cases(cases, check, without_row):
    """Runs check(case, folder) for each case whose name has one of the words given; prints a line each, and the sum.
    Without words, each name that without_row() returns fails, too."""
    words = sys.argv[1:]
    chosen = [case for case in cases if not words or any(word in case.name for word in words)]
    passed = failed = 0
    begin = time.monotonic()
    for case in chosen:
        with tempfile.TemporaryDirectory() as folder:
            try:
                figures = check(case, Path(folder))
                worst = max((value for value in figures.values()), default=0)
                verdict = "passed" if worst <= case.tolerance else "FAILED"
                shown = "  ".join(f"{name} {value:.1e}" for name, value in figures.items())
            except Exception as error:  # a case that can't be run is a failed one
                verdict, shown = "FAILED", f"{type(error).__name__}: {error}".replace("\n", " ")[:400]
        passed += verdict == "passed"
        failed += verdict == "FAILED"
        print(f"{case.name:28} {verdict}  {shown}", flush=True)
    for name in [] if words else without_row():
        failed += 1
        print(f"{name:28} FAILED  has no case")
    print(f"in {time.monotonic() - begin:.0f} s, transformers {transformers.__version__}, torch {torch.__version__}")
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(failed > 0 or not chosen)
