"""Writes the PyTorch files in ../fuzz/corpus/recorded, which torch_file_test.cpp reads. Needs torch and transformers.

Weight j of row i of head h in layer l is (1 + j + h + 2 l), divided by the sum of its row, for j <= i.
"""
import os
from pathlib import Path

import numpy as np
import torch
from transformers.modeling_outputs import BaseModelOutput


def layer(l, first, n, heads=2):
    j = torch.arange(n)
    rows = [(1.0 + j + h + 2 * l) * (j <= i) for h in range(heads) for i in range(first, n)]
    weights = torch.stack(rows).reshape(1, heads, n - first, n)
    return weights / weights.sum(-1, keepdim=True)


class Code:
    def __reduce__(self):
        return os.system, ("true",)


os.chdir(Path(__file__).parent.parent / "fuzz/corpus/recorded")
layers = tuple(layer(l, 0, 3) for l in range(2))
tokens = ["The", "dog", "slept"]
torch.save(layers, "tuple.pt")
torch.save(layers, "before_1_6.pt", _use_new_zipfile_serialization=False)
torch.save(BaseModelOutput(last_hidden_state=torch.ones(1, 3, 4), attentions=layers), "output.pt")
transposed = torch.cat(layers).transpose(2, 3).contiguous().transpose(2, 3)
torch.save({"attention": torch.nn.Parameter(transposed), "tokens": tokens}, "transposed.pt")
torch.save({"attention": torch.cat(layers).bfloat16(), "input_ids": torch.tensor([[7, 8, 9]])}, "bfloat16.pt")
torch.save(tuple(tuple(layer(l, f, n) for l in range(2)) for f, n in ((0, 2), (2, 3))), "steps.pt")
torch.save({"attention": layers[0], "more": Code()}, "code.pt")
torch.save({"attention": layers[0].numpy()}, "numpy.pt")
torch.save({"attention": layers[0].to_sparse()}, "sparse.pt")
torch.save({"attention": torch.ones(1, 1, 3, 1).expand(1, 2, 3, 3)}, "repeated.pt")
np.savez("objects.npz", attention=torch.cat(layers).numpy(), tokens=np.array(tokens, dtype=object))
