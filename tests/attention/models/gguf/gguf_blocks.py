"""Decodes GGUF's block types from their definitions, one number at a time, in double precision.

An independent formulation that shares no code with the program, from docs/gguf.md and the comments in ggml-common.h of
github.com/ggml-org/ggml. Each function named like a type returns number i of a block b, a list of bytes.
"""
import numpy as np

UNEVEN = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113]
E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def half(block, at):
    return float(np.frombuffer(bytes(block[at:at + 2]), "<f2")[0])


def signed(byte):
    return byte - 256 if byte > 127 else byte


def nibble(block, at, i):
    """Number i of 32 in 16 bytes: first all low nibbles, then all high ones."""
    return block[at + i % 16] >> 4 * (i // 16) & 15


def bit(block, at, i):
    return block[at + i // 8] >> i % 8 & 1


def q8_0(b, i):
    return half(b, 0) * signed(b[2 + i])


def q4_0(b, i):
    return half(b, 0) * (nibble(b, 2, i) - 8)


def q4_1(b, i):
    return half(b, 0) * nibble(b, 4, i) + half(b, 2)


def q5_0(b, i):
    return half(b, 0) * (nibble(b, 6, i) + 16 * bit(b, 2, i) - 16)


def q5_1(b, i):
    return half(b, 0) * (nibble(b, 8, i) + 16 * bit(b, 4, i)) + half(b, 2)


def two_bits(b, at, i):
    """Number i of 256 in 64 bytes: each half of the block has 32 bytes, each with four numbers that are 32 apart."""
    return b[at + 32 * (i // 128) + i % 32] >> 2 * (i % 128 // 32) & 3


def q2_k(b, i):
    scale = b[i // 16]
    return half(b, 80) * (scale & 15) * two_bits(b, 16, i) - half(b, 82) * (scale >> 4)


def q3_k(b, i):
    group = i // 16
    low = b[96 + group % 8] >> 4 * (group // 8) & 15
    high = b[96 + 8 + group % 4] >> 2 * (group // 4) & 3
    third = b[i % 32] >> i // 32 & 1
    return half(b, 108) * (low + 16 * high - 32) * (two_bits(b, 32, i) + 4 * third - 4)


def k_scales(b, at, group):
    """The 6-bit scale and the 6-bit minimum of a group of 32."""
    s = b[at:at + 12]
    if group < 4:
        return s[group] % 64, s[group + 4] % 64
    return s[group + 4] % 16 + s[group - 4] // 64 * 16, s[group + 4] // 16 + s[group] // 64 * 16


def k_nibble(b, at, i):
    """Number i of 256: each 32 bytes hold 64 numbers, first all low nibbles, then all high ones."""
    return b[at + 32 * (i // 64) + i % 32] >> 4 * (i % 64 // 32) & 15


def q4_k(b, i):
    scale, least = k_scales(b, 4, i // 32)
    return half(b, 0) * scale * k_nibble(b, 16, i) - half(b, 2) * least


def q5_k(b, i):
    scale, least = k_scales(b, 4, i // 32)
    return half(b, 0) * scale * (k_nibble(b, 48, i) + 16 * (b[16 + i % 32] >> i // 32 & 1)) - half(b, 2) * least


def q6_k(b, i):
    part, place = divmod(i, 128)
    low = b[64 * part + place % 64] >> 4 * (place // 64) & 15
    high = b[128 + 32 * part + place % 32] >> 2 * (place // 32) & 3
    return half(b, 208) * signed(b[192 + i // 16]) * (low + 16 * high - 32)


def iq4_nl(b, i):
    return half(b, 0) * UNEVEN[nibble(b, 2, i)]


def iq4_xs(b, i):
    group = i // 32
    high = (b[2] + 256 * b[3]) >> 2 * group & 3
    scale = (b[4 + group // 2] >> 4 * (group % 2) & 15) + 16 * high - 32
    return half(b, 0) * scale * UNEVEN[nibble(b, 8 + 16 * group, i % 32)]


def mxfp4(b, i):
    if b[0] == 255:
        return float("nan")
    four = nibble(b, 1, i)
    return 2.0 ** (b[0] - 127) * E2M1[four % 8] * (-1 if four > 7 else 1)


# name: (type number in files, numbers per block, bytes per block, offsets of half-precision fields, decoder)
TYPES = {
    "Q4_0": (2, 32, 18, [0], q4_0),
    "Q4_1": (3, 32, 20, [0, 2], q4_1),
    "Q5_0": (6, 32, 22, [0], q5_0),
    "Q5_1": (7, 32, 24, [0, 2], q5_1),
    "Q8_0": (8, 32, 34, [0], q8_0),
    "Q2_K": (10, 256, 84, [80, 82], q2_k),
    "Q3_K": (11, 256, 110, [108], q3_k),
    "Q4_K": (12, 256, 144, [0, 2], q4_k),
    "Q5_K": (13, 256, 176, [0, 2], q5_k),
    "Q6_K": (14, 256, 210, [208], q6_k),
    "IQ4_NL": (20, 32, 18, [0], iq4_nl),
    "IQ4_XS": (23, 256, 136, [0], iq4_xs),
    "MXFP4": (39, 32, 17, [], mxfp4),
}


def values(name, blocks):
    """Decodes blocks [count, bytes] to [count, numbers]."""
    _, numbers, _, _, rule = TYPES[name]
    return np.array([[rule(b, i) for i in range(numbers)] for b in blocks.tolist()], np.float64)


def random_blocks(name, count, random, spread=None):
    """Blocks of random bits, with small scales. If `spread` is given, the decoded numbers deviate by about that."""
    _, _, size, halves, _ = TYPES[name]
    blocks = random.integers(0, 256, (count, size), np.uint8)
    for at in halves:
        blocks[:, at:at + 2] = random.normal(0, 1, count).astype("<f2").view(np.uint8).reshape(count, 2)
    if name == "MXFP4":
        blocks[:, 0] = random.integers(120, 130, count)
    if spread is None:
        return blocks
    if name == "MXFP4":
        blocks[:, 0] = 127 + round(np.log2(spread / 2.8))
        return blocks
    deviation = np.sqrt(np.mean(values(name, blocks[:16]) ** 2))
    for at in halves:
        scaled = blocks[:, at:at + 2].copy().view("<f2").astype(np.float64) * spread / deviation
        blocks[:, at:at + 2] = scaled.astype("<f2").view(np.uint8).reshape(count, 2)
    return blocks
