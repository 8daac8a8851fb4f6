#!/usr/bin/env python3
"""Measures whole models with random weights and prints a table: models.py [--binary build/headscope] [--rounds 5]
[--folder WHERE].

Writes models with GPT-2's sizes and with 1.2 billion parameters (Llama 3.2 1B's shapes) to a folder (6 GB), which is
deleted at the end unless --folder names it. Takes about five minutes. Needs NumPy."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOKENS = 128
LARGE = ["--family", "llama", "--width", "2048", "--heads", "32", "--kv-heads", "8", "--inner", "8192",
         "--positions", "4096"]
WHOLE = [*LARGE, "--layers", "16", "--vocabulary", "128256"]
PART = [*LARGE, "--layers", "2", "--vocabulary", "1024"]
MODELS = {
    "GPT-2's sizes, F32 safetensors": ["--dtype", "F32"],
    "GPT-2's sizes, F16 GGUF": ["--gguf", "--dtype", "F16"],
    "1.2 B, BF16 safetensors": [*WHOLE, "--dtype", "BF16"],
    "1.2 B, Q4_K GGUF": [*WHOLE, "--gguf", "--dtype", "Q4_K"],
}
# Two layers of the large model with a small vocabulary, as floats and in blocks.
PARTS = {"F32": [*PART, "--gguf", "--dtype", "F32"], "Q4_K": [*PART, "--gguf", "--dtype", "Q4_K"]}


def written(folder, words):
    """Returns the model's path, after writing the model if the folder doesn't exist."""
    path = os.path.join(folder, "model.gguf") if "--gguf" in words else folder
    if not os.path.exists(folder):
        subprocess.run([sys.executable, os.path.join(HERE, "random_model.py"), folder, *words], check=True)
    return path


def rows_of(binary, model, rounds, only):
    done = subprocess.run([binary, "bench", "--model", model, "--tokens", str(TOKENS), "--rounds", str(rounds), "--only",
                           only, "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"models.py: {done.stderr.strip()}")
    return {row["name"]: row for row in json.loads(done.stdout)["rows"]}


def memory_of(binary, model, output):
    """Peak memory in bytes, without mapped files, while keeping the attention of a text and of four generated tokens."""
    ids = ",".join(str(17 * i % 1000) for i in range(TOKENS))
    child = subprocess.Popen([binary, "model", model, "--ids", ids, "--generate", "4", "--only", "attention", "-o", output],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    most = 0
    while child.poll() is None:
        try:
            with open(f"/proc/{child.pid}/status") as file:
                lines = dict(line.split(":", 1) for line in file)
            most = max(most, 1024 * int(lines.get("RssAnon", "0 kB").split()[0]))
        except (OSError, ValueError):
            pass
        time.sleep(0.005)
    if child.returncode:
        sys.exit(f"models.py: {child.stderr.read().strip()}")
    return most


def line(name, found, memory):
    step, read = found["model_decode"], found["model_read"]
    cells = [name, f"{read['bytes'] / 1e9:.2f} GB", f"{1e3 * found['model_first_layer']['seconds']:.0f} ms",
             f"{1e3 * found['model_pass']['seconds']:.0f} ms", f"{1 / step['seconds']:.1f}", f"{1 / read['seconds']:.1f}",
             f"{100 * read['seconds'] / step['seconds']:.0f} %", f"{memory / 2**20:.0f} MiB"]
    return "| " + " | ".join(cells) + " |"


def unpacking(binary, folder, rounds):
    """The share of a pass that unpacking blocks takes, compared with floats of the same shapes; the rounds' median."""
    paths = {kind: written(os.path.join(folder, "part-" + kind), words) for kind, words in PARTS.items()}
    shares = []
    for _ in range(rounds):
        took = {kind: rows_of(binary, path, 1, "forward")["model_pass"]["fastest"] for kind, path in paths.items()}
        shares.append(1 - took["F32"] / took["Q4_K"])
    return sorted(shares)[len(shares) // 2]


def measure(binary, folder, rounds):
    print(f"| model | weights | to the first layer | {TOKENS} tokens | decode, tokens/s | bound | share | memory beside the file |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for number, (name, words) in enumerate(MODELS.items()):
        path = written(os.path.join(folder, f"model-{number}"), words)
        found = rows_of(binary, path, rounds, "forward,decode")
        print(line(name, found, memory_of(binary, path, os.path.join(folder, "out.safetensors"))), flush=True)
    share = unpacking(binary, folder, rounds)
    print(f"\nUnpacking takes {100 * share:.0f} % of a pass over {TOKENS} tokens in Q4_K.")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=os.path.join(HERE, "..", "..", "build", "headscope_measure"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="where the models are kept")
    o = parser.parse_args()
    if o.folder:
        return measure(o.binary, o.folder, o.rounds)
    with tempfile.TemporaryDirectory() as folder:
        return measure(o.binary, folder, o.rounds)


if __name__ == "__main__":
    main()
