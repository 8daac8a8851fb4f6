"""Losses that some heads get in addition to predicting the next token.

Left alone, a model this small spreads a task arbitrarily over many heads, but a lecture needs one head to point at. So
until partway into the second round, a few heads are rewarded for looking where the task's answer is: their loss is −ln
of the weight there. The reward fades out; only what helps the predictions survives."""

import torch

# kind: (layer, head)
HEADS = {
    "previous": (0, 0),
    "induction": (1, 2),
    "pronoun": (1, 4),
    "it": (2, 1),
    "got": (3, 3),
}


def reward(attention, batch):
    """The sum over the kinds of the mean −ln weight, to be minimised."""
    losses = []
    for kind, (layer, head) in HEADS.items():
        weights = attention[layer][:, head]
        if kind == "previous":
            looked = weights.diagonal(offset=-1, dim1=1, dim2=2)
        elif kind in batch.looks:
            row, query, key = batch.looks[kind].unbind(1)
            looked = weights[row, query, key]
        else:
            continue
        losses.append(-(looked + 1e-6).log().mean())
    return torch.stack(losses).sum()


def likeness(attention, most=0.7):
    """The mean squared excess over `most` of the cosine between two heads of a layer."""
    losses = []
    for weights in attention:
        flat = torch.nn.functional.normalize(weights.flatten(2), dim=2)  # [rows, heads, length²]
        cosines = flat @ flat.transpose(1, 2)
        pairs = torch.triu_indices(*cosines.shape[1:], offset=1)
        losses.append((cosines[:, pairs[0], pairs[1]] - most).clamp(min=0).pow(2).mean())
    return torch.stack(losses).mean()
