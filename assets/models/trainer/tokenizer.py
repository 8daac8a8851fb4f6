"""A byte-level BPE tokenizer: the grammar's words are one token each, any other word falls to pieces of it.

What encode() does is what tokenizer.json says to readers of that format: words and signs are cut out of the text, white
space is dropped, every piece is written with a space in front ("Ġ" in the spelling of GPT-2's bytes), a piece that is in
the vocabulary is one token (ignore_merges), any other is merged from its bytes."""

import collections
import re

from . import words

MERGES = 160
# Letters and digits, with what follows an apostrophe; or one sign.
PIECE = r"[\p{L}\p{N}]+(?:'\p{L}+)?|[^\s\p{L}\p{N}]"
PIECE_IN_PYTHON = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?|[^\s\w]|_")


def byte_characters():
    """GPT-2's printable character for each byte (Radford et al. 2019, encoder.py: bytes_to_unicode)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]


BYTE_CHARACTERS = byte_characters()


def spelled(word):
    return "".join(BYTE_CHARACTERS[byte] for byte in (" " + word).encode())


def merge_pair(symbols, pair):
    merged, at = [], 0
    while at < len(symbols):
        if tuple(symbols[at:at + 2]) == pair:
            merged.append(symbols[at] + symbols[at + 1])
            at += 2
        else:
            merged.append(symbols[at])
            at += 1
    return merged


def learn_merges(texts, count):
    """The `count` most frequent pairs, one after the other (Sennrich et al. 2016); of equals the first in the alphabet."""
    split = [list(spelled(text)) for text in texts]
    merges = []
    for _ in range(count):
        pairs = collections.Counter(pair for symbols in split for pair in zip(symbols, symbols[1:]))
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        split = [merge_pair(symbols, best) for symbols in split]
    return merges


class Tokenizer:
    def __init__(self):
        # Strange words are left out here: they stand for words that nobody thought of.
        self.merges = learn_merges(words.TEXT_FOR_PIECES + words.whole_words(), MERGES)
        tokens = list(BYTE_CHARACTERS) + [left + right for left, right in self.merges]
        tokens += [spelled(word) for word in words.whole_words()]
        self.tokens = list(dict.fromkeys(tokens))
        self.ids = {token: at for at, token in enumerate(self.tokens)}
        self.ranks = {pair: rank for rank, pair in enumerate(self.merges)}
        self.whole = [self.ids[spelled(word)] for word in words.whole_words()]
        self._known = {}

    def __len__(self):
        return len(self.tokens)

    def encode_word(self, word):
        if word not in self._known:
            self._known[word] = self._merge(spelled(word))
        return self._known[word]

    def _merge(self, piece):
        if piece in self.ids:
            return [self.ids[piece]]
        symbols = list(piece)
        while len(symbols) > 1:
            pair = min(zip(symbols, symbols[1:]), key=lambda pair: self.ranks.get(pair, MERGES))
            if pair not in self.ranks:
                break
            symbols = merge_pair(symbols, pair)
        return [self.ids[symbol] for symbol in symbols]

    def encode(self, text):
        return [token for word in PIECE_IN_PYTHON.findall(text.replace("’", "'")) for token in self.encode_word(word)]

    def word(self, token):
        """A whole word's token as the word."""
        return self.tokens[token].replace("Ġ", "")

    def json(self):
        """What tokenizer.json holds."""
        return {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": {"type": "Replace", "pattern": {"String": "’"}, "content": "'"},
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": PIECE}, "behavior": "Removed", "invert": True},
                {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False}]},
            "post_processor": None,
            "decoder": {"type": "Sequence", "decoders": [
                {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": True,
                      "vocab": self.ids, "merges": [f"{left} {right}" for left, right in self.merges]},
        }
