#!/usr/bin/env python3
"""Compares Headscope with PyTorch and matplotlib: runs the same work alternately and prints a table of ratios.

    /usr/bin/python3 tests/bench/compare.py [--binary build/headscope_measure] [--rounds 5] [--case NAME ...]

Needs Debian's python3-torch with libopenblas0-openmp, and python3-matplotlib. Both sides use two threads. Each round
starts a separate process for each side, one after the other; the ratio is the median over the rounds of the other's
time divided by ours. PyTorch's threads wait by spinning, which costs many times its own work as soon as anything else
runs, so it is measured with spinning and with sleeping threads, and the better time counts. A line below the table says
how much of the processors other programs used meanwhile. `--self-test` checks the script itself and needs neither
package.

    tests/bench/compare.py --against REVISION [--rounds 5]

compares with an earlier revision of Headscope instead, which it builds, and fails if anything became more than 5 %
slower or larger.
"""
import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import against

THREADS = "2"
TUNED = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
WAITING = ({}, {"OMP_WAIT_POLICY": "passive"})
QUIET = 0.05  # other programs' largest share of the processors at which ratios are worth quoting
# name: model dim, heads, kv heads, tokens
FORWARD = {
    "forward 512, n = 128": (512, 8, 8, 128),
    "forward 512, n = 512": (512, 8, 8, 512),
    "forward 768, n = 512": (768, 12, 12, 512),
    "forward 512, n = 2,048": (512, 8, 8, 2048),
    "forward 4,096, 32 over 8, n = 1,024": (4096, 32, 8, 1024),
}
SLIDERS = {"slider to pixels, n = 64": (512, 8, 8, 64), "slider to pixels, n = 512": (768, 12, 12, 512)}
FIRST_PICTURE = "start to first picture"
# name: layers, width, heads, vocabulary, tokens
MODELS = {"GPT-2's sizes, 512 tokens, all attention kept": (12, 768, 12, 50257, 512)}


def torch_forward(shape, warm_up, repeats):
    """A causal layer that keeps all weights, as an inference script would write it. Returns the seconds of each repeat."""
    import torch

    model, heads, kv_heads, n = shape
    dim = model // heads
    torch.manual_seed(1)
    torch.set_num_threads(int(THREADS))
    with torch.no_grad():
        q_proj, k_proj, v_proj, o_proj = (
            torch.nn.Linear(model, out, bias=False)
            for out in (heads * dim, kv_heads * dim, kv_heads * dim, model))
        x = torch.randn(n, model)
        hidden = torch.ones(n, n, dtype=torch.bool).triu(1)

        def layer():
            q = q_proj(x).view(n, heads, dim).transpose(0, 1)
            k = k_proj(x).view(n, kv_heads, dim).transpose(0, 1)
            v = v_proj(x).view(n, kv_heads, dim).transpose(0, 1)
            if kv_heads != heads:
                k = k.repeat_interleave(heads // kv_heads, dim=0)
                v = v.repeat_interleave(heads // kv_heads, dim=0)
            scores = torch.matmul(q, k.transpose(1, 2)) * dim ** -0.5
            scores.masked_fill_(hidden, float("-inf"))
            weights = torch.softmax(scores, dim=-1)
            return weights, o_proj(torch.matmul(weights, v).transpose(0, 1).reshape(n, heads * dim))

        weights, output = layer()
        check_weights(weights.shape, float((weights.sum(-1) - 1).abs().max()), shape)
        assert tuple(output.shape) == (n, model)
        seconds = []
        for turn in range(warm_up + repeats):
            start = time.perf_counter()
            layer()
            if turn >= warm_up:
                seconds.append(time.perf_counter() - start)
    return seconds


def torch_gpt2(shape, warm_up, repeats):
    """An eager GPT-2 with random weights that returns every layer's attention. Returns the seconds of each repeat."""
    import torch
    from torch.nn.functional import layer_norm

    layers, d, heads, vocabulary, n = shape
    torch.manual_seed(1)
    torch.set_num_threads(int(THREADS))
    with torch.no_grad():
        matrix = lambda rows, columns: torch.randn(rows, columns) * 0.02
        blocks = [[matrix(d, 3 * d), matrix(d, d), matrix(d, 4 * d), matrix(4 * d, d)] for _ in range(layers)]
        words, places = matrix(vocabulary, d), matrix(1024, d)
        ids = torch.randint(vocabulary, (n,))
        hidden = torch.ones(n, n, dtype=torch.bool).triu(1)
        zeros = {size: torch.zeros(size) for size in (d, 3 * d, 4 * d)}
        norm = lambda x: layer_norm(x, (d,), torch.ones(d), zeros[d])

        def model():
            x, kept = words[ids] + places[:n], []
            for c_attn, attn_proj, c_fc, mlp_proj in blocks:
                split = lambda y: y.view(n, heads, d // heads).transpose(0, 1)
                q, k, v = map(split, torch.addmm(zeros[3 * d], norm(x), c_attn).split(d, dim=-1))
                scores = torch.matmul(q, k.transpose(1, 2)) * (d // heads) ** -0.5
                weights = torch.softmax(scores.masked_fill_(hidden, float("-inf")), dim=-1)
                kept.append(weights)
                x = x + torch.addmm(zeros[d], torch.matmul(weights, v).transpose(0, 1).reshape(n, d), attn_proj)
                up = torch.addmm(zeros[4 * d], norm(x), c_fc)
                up = 0.5 * up * (1 + torch.tanh(0.7978845608 * (up + 0.044715 * up ** 3)))
                x = x + torch.addmm(zeros[d], up, mlp_proj)
            return kept, norm(x[-1:]) @ words.T

        kept, logits = model()
        check_weights(kept[-1].shape, float((kept[-1].sum(-1) - 1).abs().max()), (d, heads, heads, n))
        assert len(kept) == layers and tuple(logits.shape) == (1, vocabulary)
        seconds = []
        for turn in range(warm_up + repeats):
            start = time.perf_counter()
            model()
            if turn >= warm_up:
                seconds.append(time.perf_counter() - start)
    return seconds


def compare_model(binary, name, rounds):
    layers, d, heads, vocabulary, n = shape = MODELS[name]
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "random_model.py")
        sizes = ["--layers", layers, "--width", d, "--heads", heads, "--vocabulary", vocabulary, "--inner", 4 * d]
        subprocess.run([str(word) for word in [sys.executable, script, folder, *sizes]], check=True)

        def ours():
            # The first of the five rounds warms up, which the median ignores; PyTorch's warm-up isn't measured at all.
            command = [binary, "bench", "--model", folder, "--tokens", str(n), "--rounds", "5", "--json"]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
            return next(row["seconds"] for row in json.loads(output)["rows"] if row["name"] == "model_pass")

        def torch_run(environment):
            return min(statistics.median(child("gpt2", [shape, 1, 3], {**environment, **waiting}))
                       for waiting in WAITING)

        return rows_of(name, *in_turn(rounds, ours, {"PyTorch": lambda: torch_run({}),
                                                     "PyTorch, malloc tuned": lambda: torch_run(TUNED)}))


def check_weights(found, row_error, shape):
    _, heads, _, n = shape
    if tuple(found) != (heads, n, n):
        raise SystemExit(f"weights are {list(found)}, expected {[heads, n, n]}")
    if not row_error < 1e-4:
        raise SystemExit(f"rows of weights sum to 1 with an error of {row_error}")


def agreement(binary):
    """The largest difference between our and PyTorch's weights and output of the same random layer."""
    import numpy as np
    import torch

    n, model, heads, kv_heads = 96, 64, 4, 2
    dim = model // heads
    generator = np.random.default_rng(7)
    arrays = {"x": (n, model), "q_proj.weight": (heads * dim, model), "k_proj.weight": (kv_heads * dim, model),
              "v_proj.weight": (kv_heads * dim, model), "o_proj.weight": (model, heads * dim)}
    arrays = {name: (generator.standard_normal(size) / 8).astype("<f4") for name, size in arrays.items()}
    metadata = {"heads": str(heads), "kv_heads": str(kv_heads), "causal": "true"}
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "in.safetensors"), os.path.join(folder, "out.safetensors")
        write_safetensors(source, arrays, metadata)
        subprocess.run([binary, "attend", source, "-o", result], check=True)
        ours = read_safetensors(result)
    t = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
    split = lambda y, count: y.view(n, count, dim).transpose(0, 1)
    q = split(t["x"] @ t["q_proj.weight"].T, heads)
    k = split(t["x"] @ t["k_proj.weight"].T, kv_heads).repeat_interleave(heads // kv_heads, dim=0)
    v = split(t["x"] @ t["v_proj.weight"].T, kv_heads).repeat_interleave(heads // kv_heads, dim=0)
    scores = (q @ k.transpose(1, 2)) * dim ** -0.5
    scores.masked_fill_(torch.ones(n, n, dtype=torch.bool).triu(1), float("-inf"))
    weights = torch.softmax(scores, -1)
    output = (weights @ v).transpose(0, 1).reshape(n, -1) @ t["o_proj.weight"].T
    return max(float(abs(ours["weights"] - weights.numpy()).max()), float(abs(ours["output"] - output.numpy()).max()))


def write_safetensors(path, arrays, metadata):
    header, at = {"__metadata__": metadata}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            file.write(array.tobytes())


def read_safetensors(path):
    import numpy as np

    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    return {name: np.frombuffer(data[8 + size:][slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
            for name, entry in header.items() if name != "__metadata__"}


def matplotlib_slider(shape, repeats):
    """Computes attention with NumPy after a slider moved and redraws all heads at 1920×1080: [saved, drawn] seconds."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np

    model, heads, _, n = shape
    dim = model // heads
    generator = np.random.default_rng(1)
    x = generator.standard_normal((n, model), dtype=np.float32)
    maps = [generator.standard_normal((model, model), dtype=np.float32) / model ** 0.5 for _ in range(4)]
    visible = np.tril(np.ones((n, n), dtype=bool))
    columns = 4
    figure, axes = plt.subplots(-(-heads // columns), columns, figsize=(19.2, 10.8), dpi=100, squeeze=False)
    images = [axis.imshow(np.zeros((n, n)), vmin=0, vmax=1) for axis in list(axes.flat)[:heads]]

    def compute(sharpness):
        q, k, v = ((x @ w).reshape(n, heads, dim).transpose(1, 0, 2) for w in maps[:3])
        scores = np.where(visible, q @ k.transpose(0, 2, 1) * (sharpness / dim ** 0.5), -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        return weights, (weights @ v).transpose(1, 0, 2).reshape(n, -1) @ maps[3]

    def change(sharpness):
        for image, head in zip(images, compute(sharpness)[0]):
            image.set_data(head)

    saved, drawn = [], []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(repeats + 1):
            start = time.perf_counter()
            change(1 + 0.01 * turn)
            figure.canvas.draw()
            drawn.append(time.perf_counter() - start)
            start = time.perf_counter()
            change(2 + 0.01 * turn)
            figure.savefig(os.path.join(folder, "picture.png"))
            saved.append(time.perf_counter() - start)
    return [statistics.median(saved[1:]), statistics.median(drawn[1:])]


def child(work, shape, environment):
    """Runs one of the functions above in a separate process and returns the list that it prints."""
    env = {**os.environ, "OMP_NUM_THREADS": THREADS, "OPENBLAS_NUM_THREADS": THREADS, **environment}
    command = [sys.executable, os.path.abspath(__file__), "--child", work, json.dumps(shape)]
    return json.loads(subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE).stdout)


def bench(binary, shape, part):
    """Rows of `headscope_measure bench` by name."""
    model, heads, kv_heads, n = shape
    command = [binary, "bench", "--model-dim", model, "--heads", heads, "--kv-heads", kv_heads, "--tokens", n,
               "--causal", "--only", part, "--rounds", 3, "--json"]
    output = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE).stdout
    return {row["name"]: row for row in json.loads(output)["rows"]}


def in_turn(rounds, ours, others):
    """The median of ours, and for each other the median and the median of its ratio to ours in the same round."""
    mine, theirs = [], {name: [] for name in others}
    for _ in range(rounds):
        mine.append(ours())
        for name, run in others.items():
            theirs[name].append(run())
    return statistics.median(mine), {
        name: (statistics.median(seconds), statistics.median(s / m for s, m in zip(seconds, mine)))
        for name, seconds in theirs.items()}


def ms(seconds):
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.2f} s"


def rows_of(name, mine, theirs):
    return [(name, ms(mine), other, ms(seconds), f"{ratio:.1f}×") for other, (seconds, ratio) in theirs.items()]


def compare_forward(binary, name, rounds):
    shape = FORWARD[name]
    repeats = 3 if shape[0] * shape[3] > 1 << 20 else 7

    def torch_run(environment):
        return min(statistics.median(child("torch", [shape, 2, repeats], {**environment, **waiting}))
                   for waiting in WAITING)

    return rows_of(name, *in_turn(
        rounds, lambda: bench(binary, shape, "forward")["forward_weights"]["seconds"],
        {"PyTorch": lambda: torch_run({}), "PyTorch, malloc tuned": lambda: torch_run(TUNED)}))


def compare_slider(binary, name, rounds):
    shape = SLIDERS[name]
    latest = {}

    def matplotlib_run(which):
        if which == 0:
            latest["both"] = child("matplotlib", [shape, 3], {})
        return latest["both"][which]

    return rows_of(name, *in_turn(
        rounds, lambda: bench(binary, shape, "window")["slider_to_pixels"]["seconds"],
        {"NumPy and matplotlib, saved": lambda: matplotlib_run(0),
         "NumPy and matplotlib, drawn": lambda: matplotlib_run(1)}))


def first_picture(binary, rounds):
    with tempfile.TemporaryDirectory() as folder:
        seconds = []
        for _ in range(rounds):
            start = time.perf_counter()
            subprocess.run([binary, "render", "-o", os.path.join(folder, "a.png")], check=True)
            seconds.append(time.perf_counter() - start)
    return [(FIRST_PICTURE + ", 1920×1080 PNG", ms(statistics.median(seconds)), "–", "–", "–")]


def machine():
    names = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return f"{names[0] if names else 'unknown processor'}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


def busy_seconds():
    """Processor seconds used on this machine so far: by all programs, and by this script and its children."""
    numbers = [int(word) for word in open("/proc/stat").readline().split()[1:9]]
    idle = numbers[3] + numbers[4]
    own = os.times()
    return ((sum(numbers) - idle) / os.sysconf("SC_CLK_TCK"),
            own.user + own.system + own.children_user + own.children_system)


def others_share(before, after, seconds, cores):
    """The share of all processors that other programs used between two busy_seconds()."""
    return max(0.0, (after[0] - before[0]) - (after[1] - before[1])) / (seconds * cores)


def others_text(share):
    text = f"Meanwhile other programs used {share:.0%} of the processors."
    return text if share <= QUIET else text + " That is too much for the figures to be worth quoting."


def table(rows):
    lines = ["| work | Headscope | compared with | its time | ratio |", "|---|---:|---|---:|---:|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def self_test():
    halves = iter([1.0, 2.0, 4.0])
    mine, theirs = in_turn(3, lambda: next(halves), {"other": lambda: 8.0})
    assert mine == 2.0 and theirs["other"] == (8.0, 4.0), (mine, theirs)
    assert ms(0.01234) == "12.3 ms" and ms(1.5) == "1.50 s"
    assert table(rows_of("a", mine, theirs)).endswith("| a | 2.00 s | other | 8.00 s | 4.0× |")
    for shape, error in [((8, 5, 6), 0.0), ((8, 5, 5), 0.5), ((8, 5, 5), float("nan"))]:
        try:
            check_weights(shape, error, (64, 8, 8, 5))
        except SystemExit:
            continue
        raise AssertionError("weights that are wrong were accepted")
    check_weights((8, 5, 5), 1e-6, (64, 8, 8, 5))
    assert others_share((10.0, 4.0), (20.0, 9.0), 10.0, 2) == 0.25
    assert "worth quoting" in others_text(0.25) and "worth quoting" not in others_text(0.01)
    against.self_test()
    print("compare.py works")


def arguments():
    everything = [*FORWARD, *MODELS, *SLIDERS, FIRST_PICTURE]
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", default=os.path.join(root, "build", "headscope_measure"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--case", action="append", choices=everything, help="only this; may be given again")
    parser.add_argument("--against", metavar="REVISION", help="an earlier revision of Headscope")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds has to be at least 1")
    options.case = options.case or everything
    options.root = root
    return options


def main():
    options = arguments()
    if options.self_test:
        return self_test()
    if options.child:
        work = {"torch": torch_forward, "gpt2": torch_gpt2, "matplotlib": matplotlib_slider}[options.child[0]]
        return print(json.dumps(work(*json.loads(options.child[1]))))
    if not os.access(options.binary, os.X_OK):
        sys.exit(f"compare.py: {options.binary} is no program, expected headscope_measure")
    start, before = time.perf_counter(), busy_seconds()
    said = lambda: others_text(others_share(before, busy_seconds(), time.perf_counter() - start, os.cpu_count()))
    if options.against:
        slower = against.compare(options.root, options.binary, options.against, options.rounds)
        print(said())
        sys.exit(1 if slower else 0)
    os.environ["HEADSCOPE_THREADS"] = THREADS
    try:
        import matplotlib
        import torch
    except ImportError as error:
        sys.exit(f"compare.py: {error.name} is missing: install python3-torch, libopenblas0-openmp and python3-matplotlib")
    print(f"{datetime.date.today()}; {machine()}; {THREADS} threads; PyTorch {torch.__version__}, matplotlib "
          f"{matplotlib.__version__}; medians of {options.rounds} rounds. Largest difference to PyTorch's weights and "
          f"output: {agreement(options.binary):.1e}\n", flush=True)
    rows = []
    for name in options.case:
        if name in FORWARD:
            rows += compare_forward(options.binary, name, options.rounds)
        elif name in MODELS:
            rows += compare_model(options.binary, name, options.rounds)
        elif name in SLIDERS:
            rows += compare_slider(options.binary, name, options.rounds)
        else:
            rows += first_picture(options.binary, max(options.rounds, 3))
    print(table(rows))
    print("\n" + said())


if __name__ == "__main__":
    main()
