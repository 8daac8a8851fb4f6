#!/usr/bin/python3
"""Prints cases.json, which the tests read: random expressions with NumPy's results.

Needs Debian's python3-numpy 1.24. The seed is fixed, so the output is always the same.
"""

import json
import random
import warnings

import numpy as np

np.seterr(all="ignore")
warnings.simplefilter("ignore")
dice = random.Random(14)
values = np.random.default_rng(14)


def table(*shape):
    return np.round(values.normal(size=shape), 3)


NAMES = {
    "a": table(3, 4),
    "b": table(4),
    "c": table(2, 3, 4),
    "d": table(3, 1),
    "t": table(2, 3, 4, 2),
    "u": table(5),
    "s": table(),
    "p": np.round(values.dirichlet(np.ones(4), size=(2, 3)), 3),
    "h": np.array([2.0, 0.0, 1.0, 2.0]),
    "open.a": table(3, 4),
}


def number():
    kind = dice.randrange(4)
    if kind == 0:
        whole = dice.randrange(0, 9)
        return str(whole), np.float64(whole)
    if kind == 1:
        text = f"{dice.randrange(1, 99)}e-{dice.randrange(0, 3)}"
        return text, np.float64(text)
    text = f"{dice.random() * 4:.2f}"
    return text, np.float64(text)


def told(x):
    """Returns a condition's operand; raises ValueError if it contains NaN."""
    if np.any(np.isnan(x)):
        raise ValueError("NaN in a condition")
    return x


def close(x, y):
    return (x == y) | (np.abs(x - y) <= 1e-6)


ARITHMETIC = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
COMPARISONS = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": close,
    "!=": lambda x, y: ~close(x, y),
}
FOLDS = {
    "sum": np.sum,
    "mean": np.mean,
    "min": np.min,
    "max": np.max,
    "std": np.std,
    "argmax": np.argmax,
    "count": np.count_nonzero,
    "any": np.any,
    "all": np.all,
}
MAPS = {
    "abs": np.abs,
    "exp": np.exp,
    "floor": np.floor,
    "sqrt": lambda x: np.sqrt(x),
    "log": lambda x: np.log(x),
}


def join(deep):
    left, x = value(deep - 1)
    right, y = value(deep - 1)
    kind = dice.randrange(4)
    if kind < 2:
        sign = dice.choice(list(ARITHMETIC))
        return f"({left}{sign}{right})", ARITHMETIC[sign](x, y)
    if kind == 2:
        sign = dice.choice(list(COMPARISONS))
        return f"({left} {sign} {right})", np.asarray(COMPARISONS[sign](told(x), told(y))).astype(float)
    sign = dice.choice(["&&", "||"])
    how = np.logical_and if sign == "&&" else np.logical_or
    return f"({left} {sign} {right})", np.asarray(how(told(x) != 0, told(y) != 0)).astype(float)


def chain(deep):
    """A chain of operators without brackets, evaluated with Python's precedence."""
    parts = [value(deep - 1) for _ in range(dice.randrange(3, 5))]
    signs = [dice.choice(["+", "-", "*", "/"]) for _ in parts[1:]]
    text, python = parts[0][0], "v[0]"
    for i, sign in enumerate(signs):
        text += f" {sign} {parts[i + 1][0]}"
        python += f" {sign} v[{i + 1}]"
    return f"({text})", eval(python, {"v": [part[1] for part in parts]})


def power(deep):
    text, x = value(deep - 1)
    times = dice.randrange(1, 4)
    if dice.random() < 0.5:
        return f"(-{text}^{times})", -(x**times)
    return f"({text}^-{times})", x ** (-float(times))


def pick(deep):
    name = dice.choice(["a", "b", "c", "t", "u", "p", "open.a"])
    text, x = name, NAMES[name]
    parts, places = [], []
    for size in x.shape:
        kind = dice.randrange(5)
        if kind == 0:
            place = dice.randrange(-size, size)
            parts.append(str(place))
            places.append(place)
        elif kind == 1 or kind == 2:
            first = dice.choice([None, dice.randrange(-size - 1, size + 2)])
            end = dice.choice([None, dice.randrange(-size - 1, size + 2)])
            parts.append(f"{'' if first is None else first}:{'' if end is None else end}")
            places.append(slice(first, end))
        elif kind == 3:
            parts.append(":")
            places.append(slice(None))
        else:
            break
    if parts and dice.random() < 0.2:
        at = dice.randrange(len(parts) + 1)
        parts.insert(at, "None")
        places.insert(at, None)
    if not parts:
        list_ = [dice.randrange(-x.shape[0], x.shape[0]) for _ in range(dice.randrange(1, 4))]
        return f"{text}[{list_}]", np.take(x, list_, axis=0)
    picked = x[tuple(places)]
    if isinstance(picked, np.ndarray) and picked.ndim > 5:
        raise ValueError("too many axes")
    return f"{text}[{', '.join(parts)}]", picked


def norm(x, axis=None):
    return np.sqrt(np.sum(x * x, axis=axis))


def entropy(x, axis=-1):
    return -np.sum(np.where(x > 0, x * np.log(np.where(x > 0, x, 1)), 0), axis=axis)


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def call(deep):
    kind = dice.randrange(11)
    if kind == 0:
        return (lambda c, x, y: (f"where({c[0]}, {x[0]}, {y[0]})", np.where(told(c[1]) != 0, x[1], y[1])))(
            value(deep - 1), value(deep - 1), value(deep - 1)
        )
    text, x = value(deep - 1)
    x = np.asarray(x, dtype=float)
    axis = dice.randrange(-x.ndim, x.ndim) if x.ndim and dice.random() < 0.6 else None
    ending = "" if axis is None else f", {axis}"
    if kind < 5:
        name = dice.choice(list(FOLDS))
        if name in ("count", "any", "all"):
            told(x)
        if name == "count" and text.startswith("unique("):
            raise ValueError("size counts those")
        return f"{name}({text}{ending})", np.asarray(FOLDS[name](x, axis=axis), dtype=float)
    if kind == 5:
        return f"norm({text}{ending})", norm(x, axis)
    if kind == 6 and x.ndim:
        return f"softmax({text}{ending})", softmax(x, -1 if axis is None else axis)
    if kind == 7:
        name = dice.choice(["p", "p[0]", "p[1, :, :2]"])
        return f"entropy({name})", entropy(eval(name, {"p": NAMES["p"]}))
    if kind == 8:
        return dice.choice(
            [
                (f"transpose({text})", np.transpose(x)),
                (f"shape({text})", np.array(x.shape, dtype=float)),
                (f"size({text})", np.float64(x.size)),
                (f"unique(floor({text}))", np.unique(np.floor(told(x)))),
            ]
        )
    if kind == 9 and x.ndim >= 2:
        other = table(x.shape[-1], 2)
        NAMES[f"m{len(NAMES)}"] = other
        return f"matmul({text}, m{len(NAMES) - 1})", np.matmul(x, other)
    name = dice.choice(list(MAPS))
    return f"{name}({text})", MAPS[name](x)


def value(deep):
    if deep <= 0:
        if dice.random() < 0.35:
            return number()
        name = dice.choice([name for name in NAMES if not name.startswith("m")])
        return name, NAMES[name]
    return dice.choice([join, join, chain, power, pick, call, call, call])(deep)


def matrix_ranks():
    NAMES["low"] = values.normal(size=(2, 6, 2)) @ values.normal(size=(2, 2, 7))
    NAMES["low"] = NAMES["low"].astype(np.float32).astype(float)
    tolerance = lambda m: np.linalg.matrix_rank(m, tol=np.linalg.norm(m, 2) * 7 * 1.1920929e-7)
    yield "rank(low)", np.array([tolerance(m) for m in NAMES["low"]], dtype=float)
    yield "rank(a)", np.float64(np.linalg.matrix_rank(NAMES["a"]))
    yield "rank(a*0)", np.float64(0)


def main():
    cases, seen = [], set()
    while len(cases) < 600:
        try:
            text, x = value(dice.randrange(2, 5))
        except (ValueError, TypeError, IndexError):
            continue  # shapes that don't fit
        x = np.asarray(x, dtype=float)
        if not np.all(np.isfinite(x)) or x.size > 60 or x.size == 0 or len(text) > 400 or text in seen:
            continue
        seen.add(text)
        cases.append((text, x))
    cases += list(matrix_ranks())
    lines = [
        json.dumps({"expression": text, "shape": list(np.shape(x)), "values": np.ravel(x).tolist()})
        for text, x in cases
    ]
    names = [
        f" {json.dumps(name)}: " + json.dumps({"shape": list(np.shape(x)), "values": np.ravel(x).tolist()})
        for name, x in NAMES.items()
    ]
    print('{"names": {\n' + ",\n".join(names) + '},\n"cases": [\n' + ",\n".join(lines) + "\n]}")


main()
