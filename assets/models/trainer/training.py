"""The training loop: AdamW, warm-up, cosine, the guided heads in the first part."""

import dataclasses
import math
import random
import time

import torch

from . import guidance
from .batches import make_batch
from .model import Miniature, Sizes

SHAPES = ((24, 64), (24, 64), (12, 128), (48, 32))  # rows and length, in turn: 1,536 tokens a step


@dataclasses.dataclass(frozen=True)
class Plan:
    steps: int = 4000
    seed: int = 1
    rate: float = 3e-3
    warm_up: int = 150
    decay: float = 0.05
    guided: float = 0.5  # the share of the steps in which heads are guided
    likeness: float = 1.0
    lists: tuple = (0.5, 0.35)  # at first and at the end


def learning_rate(plan, step):
    if step < plan.warm_up:
        return plan.rate * (step + 1) / plan.warm_up
    done = (step - plan.warm_up) / (plan.steps - plan.warm_up)
    return plan.rate * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * done)))


def guidance_weight(plan, step):
    """1, falling to 0 in the last half of the guided steps."""
    done = step / (plan.guided * plan.steps)
    return max(0.0, min(1.0, 2 - 2 * done))


def losses(model, batch, guided, likeness):
    logits, attention = model(batch.tokens)
    each = torch.nn.functional.cross_entropy(
        logits[:, :-1].flatten(0, 1), batch.tokens[:, 1:].flatten(), reduction="none")
    counts = batch.counts.flatten()
    guess = (each * counts).sum() / counts.sum()
    total = guess
    reward = guidance.reward(attention, batch)
    total = total + 0.2 * guided * reward
    if likeness > 0:
        total = total + likeness * guidance.likeness(attention)
    return total, guess.detach(), reward.detach()


def optimizer_of(model, plan):
    matrices = [p for p in model.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if p.dim() != 2]
    return torch.optim.AdamW([{"params": matrices, "weight_decay": plan.decay},
                              {"params": others, "weight_decay": 0.0}], betas=(0.9, 0.98), eps=1e-8)


def train(tokenizer, plan, report, every=250):
    """`report(line, model)` is called after every `every` steps."""
    torch.manual_seed(plan.seed)
    rolls = random.Random(plan.seed)
    model = Miniature(Sizes(vocabulary=len(tokenizer)))
    optimizer = optimizer_of(model, plan)
    begun = time.monotonic()
    for step in range(plan.steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(plan, step)
        lists = plan.lists[0] + (plan.lists[1] - plan.lists[0]) * step / plan.steps
        batch = make_batch(tokenizer, rolls, *SHAPES[step % len(SHAPES)], lists)
        total, guess, reward = losses(model, batch, guidance_weight(plan, step), plan.likeness)
        optimizer.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % every == every - 1:
            minutes = (time.monotonic() - begun) / 60
            report(f"step {step + 1:5d}  loss {guess:.4f}  guided {reward:.3f}  {minutes:.1f} min", model)
    return model.eval()
