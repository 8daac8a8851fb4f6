"""The training loop: two rounds of AdamW with warm-up and cosine decay. Heads are guided until partway into the second."""

import dataclasses
import math
import random
import time

import torch

from . import guidance
from .batches import make_batch
from .model import Miniature, Sizes

SHAPES = ((24, 64), (24, 64), (12, 128), (48, 32))  # (rows, length) of consecutive steps; 1,536 tokens per step


@dataclasses.dataclass(frozen=True)
class Round:
    """A part of training with a separate optimizer."""
    steps: int
    seed: int
    rate: float
    warm_up: int
    horizon: int  # the step at which the schedules end; a round may stop earlier
    guided: tuple  # guidance weight: 1 up to the first share of the horizon, falling to 0 at the second
    lists: tuple  # share of rows that are lists, at the start and at the horizon
    decay: float = 0.05
    likeness: float = 1.0


# The first round forms the heads quickly, under guidance; the second releases them and converges.
ROUNDS = (
    Round(steps=1300, seed=1, rate=3e-3, warm_up=150, horizon=3500, guided=(0.25, 0.5), lists=(0.5, 0.35)),
    Round(steps=1100, seed=2, rate=2e-3, warm_up=50, horizon=1100, guided=(0.0, 0.4), lists=(0.4, 0.35)),
)


def learning_rate(plan, step):
    """Linear warm-up, then half a cosine down to a fiftieth of the rate."""
    if step < plan.warm_up:
        return plan.rate * (step + 1) / plan.warm_up
    done = (step - plan.warm_up) / (plan.horizon - plan.warm_up)
    return plan.rate * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * done)))


def guidance_weight(plan, step):
    full, none = plan.guided
    return max(0.0, min(1.0, (none - step / plan.horizon) / (none - full)))


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


def train_round(model, tokenizer, plan, report, every):
    rolls = random.Random(plan.seed)
    optimizer = optimizer_of(model, plan)
    begun = time.monotonic()
    for step in range(plan.steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(plan, step)
        lists = plan.lists[0] + (plan.lists[1] - plan.lists[0]) * step / plan.horizon
        batch = make_batch(tokenizer, rolls, *SHAPES[step % len(SHAPES)], lists)
        total, guess, reward = losses(model, batch, guidance_weight(plan, step), plan.likeness)
        optimizer.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % every == every - 1:
            minutes = (time.monotonic() - begun) / 60
            report(f"step {step + 1:5d}  loss {guess:.4f}  guided {reward:.3f}  {minutes:.1f} min", model)


def train(tokenizer, rounds, report, every=100):
    """Returns the trained model. Calls `report(line, model)` after every `every` steps of a round."""
    torch.manual_seed(rounds[0].seed)
    model = Miniature(Sizes(vocabulary=len(tokenizer)))
    for plan in rounds:
        train_round(model, tokenizer, plan, report, every)
    return model.eval()
