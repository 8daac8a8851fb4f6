"""The sentences that were never trained on, and what is asked of them. They are kept beside the model (held_out.json), so
that its scores can be counted again by other programs."""

import random

from . import grammar, words

COUNT = 200
SEED = 11
STORIES = {"got": grammar.giving, "it": grammar.crossing, "pronoun": grammar.meeting, "found": grammar.losing}


def from_story(story):
    query, key = story.looks.get(story.kind, (None, None))
    return {"text": story.prompt(), "next": story.words[story.answer], "query": query, "key": key}


def from_list(rolls):
    """A list of 6 to 16 words, then its beginning again: the next word is the list's."""
    chosen = rolls.sample(words.whole_words(), rolls.randint(6, 16))
    again = rolls.randint(1, len(chosen) - 1)
    return {"text": " ".join(chosen + chosen[:again]), "next": chosen[again],
            "query": len(chosen) + again - 1, "key": again}


def make():
    """Skill -> sentences: text, next word, and for the head that is asked of it query and key, counted in words from 0."""
    rolls = random.Random(SEED)
    lexicon = grammar.Lexicon(rolls)
    sentences = {}
    for kind, story in STORIES.items():
        sentences[kind] = [from_story(made) for made in grammar.held_out_stories(story, lexicon, COUNT)]
    sentences["list"] = [from_list(rolls) for _ in range(COUNT)]
    return sentences
