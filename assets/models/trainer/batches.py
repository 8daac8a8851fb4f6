"""Rows of training tokens: consecutive stories, or a random list that repeats."""

import dataclasses

import torch

from . import grammar

# The loss weight of tokens that can't be predicted: the first pass through a list. All others, stories included, weigh 1.
UNKNOWABLE = 0.05


@dataclasses.dataclass
class Batch:
    tokens: torch.Tensor  # [rows, length]
    counts: torch.Tensor  # [rows, length - 1], loss weight of the next token
    looks: dict  # kind -> [count, 3]: row, query, key


def story_row(tokenizer, lexicon, length):
    """A row of stories: tokens, loss weights, and (kind, query, key) for each look between single-token words."""
    tokens, looks = [], []
    while len(tokens) <= length:
        story = grammar.training_story(lexicon)
        pieces = [tokenizer.encode_word(word) for word in story.words]
        starts = [len(tokens)]
        for piece in pieces:
            tokens += piece
            starts.append(len(tokens))
        for kind, (query, key) in story.looks.items():
            if len(pieces[query]) == len(pieces[key]) == 1:
                looks.append((kind, starts[query], starts[key]))
    looks = [look for look in looks if look[1] < length]
    return tokens[:length], [1.0] * (length - 1), looks


def list_row(tokenizer, random, length):
    """A row that repeats a list of 4 to 24 tokens, either whole words or any tokens. Returns the same as story_row()."""
    size = random.randint(4, min(24, length // 2))
    choices = tokenizer.whole if random.random() < 0.7 else range(len(tokenizer))
    if random.random() < 0.85:
        segment = random.sample(choices, size)
        followed = [("induction", at, at - size + 1) for at in range(size, length)]
    else:
        segment, followed = random.choices(choices, k=size), []
    tokens = (segment * (length // size + 1))[:length]
    # The second token of the repetition is the first that can be predicted.
    counts = [UNKNOWABLE if at < size else 1.0 for at in range(length - 1)]
    return tokens, counts, followed[:size]


def make_batch(tokenizer, random, rows, length, lists):
    """`lists` is the share of rows that are lists, 0 to 1; the others are stories."""
    lexicon = grammar.Lexicon(random, strange=0.05)
    tokens, counts, looks = [], [], {}
    for row in range(rows):
        is_list = row < round(lists * rows)
        made = list_row(tokenizer, random, length) if is_list else story_row(tokenizer, lexicon, length)
        tokens.append(made[0])
        counts.append(made[1])
        for kind, query, key in made[2]:
            looks.setdefault(kind, []).append((row, query, key))
    return Batch(torch.tensor(tokens), torch.tensor(counts), {kind: torch.tensor(at) for kind, at in looks.items()})
