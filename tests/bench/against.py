"""Finds what became slower or larger since another revision, running both builds alternately (compare.py --against)."""
import json
import os
import statistics
import subprocess
import sys

SLOWER = 1.05  # ratios above this count as slower, below its inverse as faster
SHOWN = 20  # cases with more lines than this show only the changed ones and the total
TOGETHER = "all lines together"
# Case -> arguments of `headscope_measure bench`.
CASES = {
    "512 wide, n = 512": [],
    "512 wide, n = 128": ["--only", "forward", "--tokens", "128"],
    "512 wide, n = 2,048": ["--only", "forward", "--tokens", "2048"],
    "4,096 wide, 32 over 8, n = 1,024": ["--only", "forward", "--model-dim", "4096", "--heads", "32", "--kv-heads", "8",
                                         "--tokens", "1024"],
    "fp16 cache of 32,768": ["--only", "decode", "--cached", "32768", "--cached-as", "fp16"],
    "lessons": ["--lessons"],
}


def build(root, revision):
    """Builds the revision, once per commit, in build-against/ of the checkout. Returns the program's path and the commit."""
    git = ["git", "-C", root]
    found = subprocess.run([*git, "rev-parse", "--verify", "--quiet", revision + "^{commit}"], capture_output=True, text=True)
    if found.returncode:
        sys.exit(f"compare.py: {revision} is no revision of this repository")
    commit = found.stdout.strip()
    folder = os.path.join(root, "build-against", commit[:12])
    # Up to November 2026, bench was a command of the program itself.
    separate = not subprocess.run([*git, "cat-file", "-e", commit + ":tests/bench/measure"], capture_output=True).returncode
    program = "headscope_measure" if separate else "headscope"
    source, binary = os.path.join(folder, "source"), os.path.join(folder, "build", program)
    if os.access(binary, os.X_OK):
        return binary, commit
    print(f"Building {commit[:12]} in {folder}", file=sys.stderr)
    if not os.path.isdir(source):
        os.makedirs(source)
        archive = subprocess.run([*git, "archive", commit], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", source], input=archive, check=True)
    for words in (["-S", source, "-B", os.path.dirname(binary), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"],
                  ["--build", os.path.dirname(binary), "--target", program]):
        if subprocess.run(["cmake", *words], stdout=sys.stderr).returncode:
            sys.exit(f"compare.py: {commit[:12]} could not be built")
    return binary, commit


class Refused(Exception):
    """A program failed to measure what was requested; the text is its message."""


def measure(binary, words):
    """One round: seconds by line name, and peak memory in bytes. Raises Refused if the program fails."""
    done = subprocess.run([binary, "bench", "--rounds", "1", "--json", *words], capture_output=True, text=True)
    if done.returncode:
        raise Refused((done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"])[-1])
    said = json.loads(done.stdout)
    numbers = {row["name"]: row["seconds"] for row in said["rows"]}
    if "peak_memory_bytes" in said:
        numbers["peak memory"] = float(said["peak_memory_bytes"])
    return numbers


def by_line(ours, theirs):
    """Line name -> (ours, theirs) of every round; names that only ours has; names that only theirs has."""
    mine, other = (set.intersection(*map(set, rounds)) for rounds in (ours, theirs))
    pairs = {name: [(a[name], b[name]) for a, b in zip(ours, theirs)] for name in sorted(mine & other)}
    if len(pairs) > SHOWN:
        timed = [rounds for name, rounds in pairs.items() if name != "peak memory"]
        pairs[TOGETHER] = [tuple(map(sum, zip(*at))) for at in zip(*timed)]
    return pairs, sorted(mine - other), sorted(other - mine)


def ratio(pairs):
    """The median over the rounds of ours divided by theirs."""
    return statistics.median(a / b for a, b in pairs)


def verdict(pairs):
    """"slower", "faster" or "". Requires that the median ratio and the ratio of the fastest rounds both exceed the limit,
    and that more than three in four rounds agree."""
    median, fastest = ratio(pairs), min(a for a, _ in pairs) / min(b for _, b in pairs)
    agree = sum((a > b) == (median > 1) for a, b in pairs) / len(pairs)
    if agree > 0.75 and min(median, fastest) > SLOWER:
        return "slower"
    return "faster" if agree > 0.75 and max(median, fastest) < 1 / SLOWER else ""


def measured(binary, before, words, rounds):
    """Measures both programs in each round. They take turns to begin, so that warm-up and throttling affect both."""
    ours, theirs = [], []
    for turn in range(rounds):
        for mine in ((True, False) if turn % 2 == 0 else (False, True)):
            try:
                (ours if mine else theirs).append(measure(binary if mine else before, words))
            except Refused as refused:
                if mine:
                    sys.exit(f"compare.py: {binary} bench {' '.join(words)}: {refused}")
                raise
    return ours, theirs


def compare(root, binary, revision, rounds):
    """Prints a table and a summary. Returns the number of lines that became slower."""
    before, commit = build(root, revision)
    print(f"Against {commit[:12]}, medians of {rounds} rounds in turn; above 1 = more than before\n")
    print("| work | line | before | now | ratio | |\n|---|---|---:|---:|---:|---|", flush=True)
    notes, slower = [], []
    for case, words in CASES.items():
        print(f"Measuring {case}", file=sys.stderr)
        try:
            ours, theirs = measured(binary, before, words, rounds)
        except Refused as refused:
            notes.append(f"{case}: {commit[:12]} doesn't measure this: {refused}")
            continue
        pairs, new, gone = by_line(ours, theirs)
        if "slower" in map(verdict, pairs.values()):  # of many lines some look slower by chance: as many rounds again
            print(f"Measuring {case} again", file=sys.stderr)
            ours, theirs = (a + b for a, b in zip((ours, theirs), measured(binary, before, words, rounds)))
            pairs, new, gone = by_line(ours, theirs)
        for name, of_rounds in pairs.items():
            says = verdict(of_rounds)
            if says == "slower":
                slower.append(f"{case}: {name}")
            if len(pairs) > SHOWN and not says and name != TOGETHER:
                continue
            now, then = (amount(name, statistics.median(side)) for side in zip(*of_rounds))
            print(f"| {case} | {name} | {then} | {now} | {ratio(of_rounds):.2f} | {says} |", flush=True)
        if new:
            notes.append(f"{case}: {commit[:12]} has no {', '.join(new)}.")
        if gone:
            notes.append(f"{case}: {', '.join(gone)} of {commit[:12]} are gone.")
    said = f"More than before by over {SLOWER - 1:.0%}: {'; '.join(slower)}." if slower else \
        f"Nothing takes over {SLOWER - 1:.0%} more than before."
    print("\n" + "\n".join([*notes, said]))
    return len(slower)


def amount(name, value):
    return f"{value / 2**20:.0f} MiB" if name == "peak memory" else f"{value * 1e3:.3g} ms"


def self_test():
    pairs, new, gone = by_line([{"a": 2.0, "b": 1.0}, {"a": 4.0, "b": 1.0}], [{"a": 1.0, "c": 1.0}, {"a": 2.0, "c": 1.0}])
    assert pairs == {"a": [(2.0, 1.0), (4.0, 2.0)]} and new == ["b"] and gone == ["c"], (pairs, new, gone)
    many = [{f"step {i}": 1.0 + r for i in range(30)} for r in range(2)]
    assert by_line(many, many)[0][TOGETHER] == [(30.0, 30.0), (60.0, 60.0)]
    of_ones = lambda *ours: [(a, 1.0) for a in ours]
    assert verdict(of_ones(1.2, 1.1, 1.3)) == "slower" and verdict(of_ones(0.8, 0.9, 0.7)) == "faster"
    assert verdict(of_ones(1.2, 0.9, 1.1, 0.95)) == "" and verdict(of_ones(1.01, 1.02, 1.03)) == ""
    assert verdict(of_ones(1.2, 1.3, 1.0)) == "", "the fastest is as fast as before"
    assert amount("peak memory", 3 << 20) == "3 MiB" and amount("forward", 0.00123) == "1.23 ms"
    try:
        measure("false", [])
    except Refused as refused:
        assert str(refused) == "it ended with status 1", refused
    else:
        raise AssertionError("a program that failed was measured")
