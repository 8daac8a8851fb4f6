"""Compares what two PDF files of Cairo's say.

Two things differ between systems: the six letters before a font's name, which Cairo makes from a number whose size
differs, and the last digit of a number that lies halfway between two, so also how many bytes a compressed stream has.
"""

import re
import zlib


def objects(file):
    """The text of each object and its bytes, uncompressed; without those that are only a length."""
    for found in re.finditer(rb"\d+ 0 obj(.*?)endobj", file.read_bytes(), re.S):
        text, _, stream = found[1].partition(b"stream\n")
        if text.strip().isdigit():
            continue
        if b"/FlateDecode" in text:
            stream = zlib.decompressobj().decompress(stream)
        yield re.sub(rb"/[A-Z]{6}\+", b"/", text) + stream


def same_number(one, other):
    if one == other:
        return True
    try:
        return abs(float(one) - float(other)) < 1.5 * 10.0 ** -len(one.partition(b".")[2])
    except ValueError:
        return False


def same_object(one, other):
    if one == other:
        return True
    words = [re.split(rb"([-+]?[0-9.]+)", text) for text in (one, other)]
    return len(words[0]) == len(words[1]) and all(same_number(a, b) for a, b in zip(*words))


def same(one, other):
    both = list(objects(one)), list(objects(other))
    return len(both[0]) == len(both[1]) > 0 and all(same_object(a, b) for a, b in zip(*both))
