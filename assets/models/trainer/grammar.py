"""The stories: who gave what to whom, what "it" was, who "he" was, what was lost and found.

A story is a list of words with two annotations: which word attends to which (`looks`: kind -> (query word, key word)),
and which word is the answer, the one to predict in held-out stories."""

import dataclasses
import zlib

from . import words

HELD_OUT_OF = 8  # one story in this many is never trained on


@dataclasses.dataclass
class Story:
    kind: str
    words: list
    answer: int  # index of the word to predict
    looks: dict

    def text(self):
        return " ".join(self.words)

    def prompt(self):
        return " ".join(self.words[:self.answer])

    def held_out(self):
        """Whether the story is held out. Depends only on the prompt, so no story with the same prompt is trained on."""
        return zlib.crc32(self.prompt().encode()) % HELD_OUT_OF == 0


class Lexicon:
    """Picks random words. `strange` is the probability of a word that isn't a single token, if there are any."""

    def __init__(self, random, strange=0.0):
        self.random = random
        self.strange = strange

    def pick(self, usual, strange=()):
        if strange and self.random.random() < self.strange:
            return self.random.choice(strange)
        return self.random.choice(usual)

    def person(self, is_man):
        return (self.pick(words.MEN, words.STRANGE_MEN) if is_man else
                self.pick(words.WOMEN, words.STRANGE_WOMEN))

    def animal(self):
        return self.pick(words.ANIMALS, words.STRANGE_ANIMALS)

    def object(self):
        return self.pick(words.OBJECTS, words.STRANGE_OBJECTS)

    def place(self):
        return self.pick(words.PLACES, words.STRANGE_PLACES)


def crossing(lexicon):
    """"The dog didn't cross the bridge because it was too tired . The dog was tired ." """
    random = lexicon.random
    animal, way = lexicon.animal(), random.choice(words.WAYS)
    about_animal = random.random() < 0.5
    reason = random.choice(words.OF_ANIMALS if about_animal else words.OF_WAYS)
    did = random.choice(["didn't", "didn't", "couldn't", "wouldn't"])
    text = f"The {animal} {did} cross the {way} because it was too {reason} . The".split()
    text += [animal if about_animal else way, "was", reason, "."]
    return Story("it", text, 13, {"it": (12, 1 if about_animal else 5)})


def giving(lexicon):
    """"When Anna and Ben went to the river , Ben gave the key to Anna . Anna thanked Ben ." """
    random = lexicon.random
    first = lexicon.person(random.random() < 0.5)
    second = first
    while second == first:
        second = lexicon.person(random.random() < 0.5)
    giver, getter = random.choice([(first, second), (second, first)])
    gave = random.choice(["gave", "gave", "handed", "sent", "showed"])
    went = random.choice(["went", "came"])
    text = f"{random.choice(['When', 'After'])} {first} and {second} {went} to the {lexicon.place()} , ".split()
    text += f"{giver} {gave} the {lexicon.object()} to {getter} . {getter} thanked {giver} .".split()
    return Story("got", text, 14, {"got": (13, text.index(getter))})


def meeting(lexicon):
    """"Anna saw Leo at the lake because he was happy . Leo was happy ." """
    random = lexicon.random
    man, woman = lexicon.person(True), lexicon.person(False)
    pair = random.choice([(man, woman), (woman, man)])
    pronoun, who = random.choice([("he", man), ("she", woman)])
    mood, saw = random.choice(words.MOODS), random.choice(["saw", "saw", "met", "called"])
    text = f"{pair[0]} {saw} {pair[1]} at the {lexicon.place()} because {pronoun} was {mood} .".split()
    text += [who, "was", mood, "."]
    return Story("pronoun", text, 11, {"pronoun": (7, text.index(who))})


def losing(lexicon):
    """"Mia lost her ring in the garden . Then she found the ring under the bag ." """
    random = lexicon.random
    is_man = random.random() < 0.5
    who = lexicon.person(is_man)
    he, his = ("he", "his") if is_man else ("she", "her")
    thing, other = lexicon.object(), lexicon.object()
    text = f"{who} lost {his} {thing} in the {lexicon.place()} . Then {he} found the {thing}".split()
    text += f"{random.choice(['under', 'behind', 'near'])} the {other} .".split()
    return Story("found", text, 12, {"pronoun": (9, 0)})


KINDS = (crossing, giving, meeting, losing)


def training_story(lexicon):
    while True:
        story = lexicon.random.choice(KINDS)(lexicon)
        if not story.held_out():
            return story


def held_out_stories(kind, lexicon, count):
    """`count` held-out stories with different prompts."""
    stories = {}
    while len(stories) < count:
        story = kind(lexicon)
        if story.held_out():
            stories.setdefault(story.prompt(), story)
    return list(stories.values())
