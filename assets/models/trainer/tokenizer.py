"""A byte-level BPE tokenizer: each word of words.whole_words() is one token, other words are split into pieces.

encode() does what tokenizer.json describes: it splits the text into words and punctuation characters, drops white space,
puts a space before each piece ("Ġ" in GPT-2's byte spelling), and makes a piece one token if it is in the vocabulary
(ignore_merges). Other pieces are merged from their bytes."""

import collections
import re

from . import words

MERGES = 160
# Letters and digits, with an apostrophe and the letters after it; or one other character.
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
    """Merges the most frequent pair, `count` times (Sennrich et al. 2016). Ties go to the alphabetically first pair."""
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
        # Without the strange words, which represent words that nobody thought of.
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
        """The word of a whole-word token."""
        return self.tokens[token].replace("Ġ", "")

    def json(self):
        """The contents of tokenizer.json."""
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
