"""Rows of tokens to train on: stories one after the other, or a random list again and again."""

import dataclasses

import torch

from . import grammar

# A story token's loss counts 1. What can't be known, the words of a list that stands for the first time, counts little.
UNKNOWABLE = 0.05


@dataclasses.dataclass
class Batch:
    tokens: torch.Tensor  # [rows, length]
    counts: torch.Tensor  # [rows, length - 1], how much the loss of the next token counts
    looks: dict  # kind -> [many, 3]: row, query, key


def story_row(tokenizer, lexicon, length):
    """Stories until the row is full: tokens, counts, and (kind, query, key) of words that are one token each."""
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
    """A list of 4 to 24 tokens, of words alone or of any, repeated until the row is full."""
    size = random.randint(4, min(24, length // 2))
    choices = tokenizer.whole if random.random() < 0.7 else range(len(tokenizer))
    if random.random() < 0.85:
        segment = random.sample(choices, size)
        followed = [("induction", at, at - size + 1) for at in range(size, length)]
    else:
        segment, followed = random.choices(choices, k=size), []
    tokens = (segment * (length // size + 1))[:length]
    # The second place of the list is the first that can be known.
    counts = [UNKNOWABLE if at < size else 1.0 for at in range(length - 1)]
    return tokens, counts, followed[:size]


def make_batch(tokenizer, random, rows, length, lists):
    """`lists` of the rows, 0 to 1, are lists."""
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
