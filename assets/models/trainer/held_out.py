"""The sentences that the model was never trained on, with their answers. They are stored next to the model
(held_out.json), so that other programs can recompute its scores."""

import random

from . import grammar, words

COUNT = 200
SEED = 11
STORIES = {"got": grammar.giving, "it": grammar.crossing, "pronoun": grammar.meeting, "found": grammar.losing}


def from_story(story):
    query, key = story.looks.get(story.kind, (None, None))
    return {"text": story.prompt(), "next": story.words[story.answer], "query": query, "key": key}


def from_list(rolls):
    """A list of 6 to 16 words followed by a repetition of its beginning. The answer is the next word of the list."""
    chosen = rolls.sample(words.whole_words(), rolls.randint(6, 16))
    again = rolls.randint(1, len(chosen) - 1)
    return {"text": " ".join(chosen + chosen[:again]), "next": chosen[again],
            "query": len(chosen) + again - 1, "key": again}


def make():
    """Skill -> sentences: text, next word, and the query and key of the head being scored, as word indices (None: no head)."""
    rolls = random.Random(SEED)
    lexicon = grammar.Lexicon(rolls)
    sentences = {}
    for kind, story in STORIES.items():
        sentences[kind] = [from_story(made) for made in grammar.held_out_stories(story, lexicon, COUNT)]
    sentences["list"] = [from_list(rolls) for _ in range(COUNT)]
    return sentences
