#!/usr/bin/python3
"""Trains the miniature and writes its folder. On Debian 12, first apt-get install python3-torch libopenblas0-pthread

  /usr/bin/python3 assets/models/train.py             writes assets/models/miniature and prints the scores
  /usr/bin/python3 assets/models/train.py --help
"""

import argparse
import pathlib
import sys

try:
    import torch
except ImportError:
    sys.exit("train.py needs PyTorch: apt-get install python3-torch, and run it with /usr/bin/python3")

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from trainer import export, held_out, scores, training  # noqa: E402
from trainer.tokenizer import Tokenizer  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description="Trains the miniature and writes its folder.")
    parser.add_argument("--output", default=str(pathlib.Path(__file__).resolve().parent / "miniature"), metavar="FOLDER")
    parser.add_argument("--threads", type=int, default=2, help="default: %(default)s")
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    tokenizer = Tokenizer()
    model = training.train(tokenizer, training.ROUNDS, lambda line, _: print(line, flush=True))
    sentences = held_out.make()
    table = scores.table(model, tokenizer, sentences)
    export.write(chosen.output, model, tokenizer, sentences, table)
    for skill in table["skills"]:
        guesses = f"{skill['right']} of {skill['of']}" if "of" in skill else ""
        head = f"layer {skill['layer']} head {skill['head']}: {skill['score']:.3f}" if "score" in skill else ""
        print(f"{skill['title']:22} {guesses:12} {head}")
    print(f"greatest cosine of two heads of a layer: {table['greatest_likeness']:.3f}")
    print(f"written to {chosen.output}")


if __name__ == "__main__":
    main()
