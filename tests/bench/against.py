"""What became slower or larger since another revision: both builds in turn on this machine (compare.py --against)."""
import json
import os
import statistics
import subprocess
import sys

SLOWER = 1.05  # the median ratio from which a line is named
# What is measured, as words for `headscope bench`.
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
    """headscope of the revision, in a folder of its own below the checkout; built once for each commit."""
    git = ["git", "-C", root]
    found = subprocess.run([*git, "rev-parse", "--verify", "--quiet", revision + "^{commit}"], capture_output=True, text=True)
    if found.returncode:
        sys.exit(f"compare.py: {revision} is no revision of this repository")
    commit = found.stdout.strip()
    folder = os.path.join(root, "build-against", commit[:12])
    source, binary = os.path.join(folder, "source"), os.path.join(folder, "build", "headscope")
    if os.access(binary, os.X_OK):
        return binary, commit
    print(f"Building {commit[:12]} in {folder}", file=sys.stderr)
    if not os.path.isdir(source):
        os.makedirs(source)
        archive = subprocess.run([*git, "archive", commit], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", source], input=archive, check=True)
    for words in (["-S", source, "-B", os.path.dirname(binary), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"],
                  ["--build", os.path.dirname(binary), "--target", "headscope"]):
        if subprocess.run(["cmake", *words], stdout=sys.stderr).returncode:
            sys.exit(f"compare.py: {commit[:12]} could not be built")
    return binary, commit


def measure(binary, words):
    """One round: seconds by the line's name, and the peak of memory in bytes."""
    done = subprocess.run([binary, "bench", "--rounds", "1", "--json", *words], capture_output=True, text=True)
    if done.returncode:
        return {}
    said = json.loads(done.stdout)
    numbers = {row["name"]: row["seconds"] for row in said["rows"]}
    if "peak_memory_bytes" in said:
        numbers["peak memory"] = float(said["peak_memory_bytes"])
    return numbers


def ratios(ours, theirs):
    """By the line's name: ours by theirs in each round; and names that one side alone has."""
    both = set.intersection(*(set(r) for r in ours + theirs))
    alone = set.union(*(set(r) for r in ours + theirs)) - both
    return {name: [a[name] / b[name] for a, b in zip(ours, theirs) if b[name] > 0] for name in sorted(both)}, sorted(alone)


def verdict(of_rounds):
    """"slower", "faster" or "": the median is beyond the limit, and more than three in four rounds say the same."""
    median = statistics.median(of_rounds)
    agree = sum((r > 1) == (median > 1) for r in of_rounds) / len(of_rounds)
    if agree <= 0.75:
        return ""
    return "slower" if median > SLOWER else "faster" if median < 1 / SLOWER else ""


def compare(root, binary, revision, rounds):
    """Prints a table; the number of lines that became slower."""
    before, commit = build(root, revision)
    print(f"Against {commit[:12]}, medians of {rounds} rounds in turn; above 1 = more than before\n")
    print("| work | line | ratio | |\n|---|---|---:|---|", flush=True)
    slower = 0
    for case, words in CASES.items():
        ours, theirs = [], []
        for turn in range(rounds):  # who begins changes, for what warms up or is throttled
            for mine in ((True, False) if turn % 2 == 0 else (False, True)):
                (ours if mine else theirs).append(measure(binary if mine else before, words))
        by_name, alone = ratios(ours, theirs)
        for name, of_rounds in by_name.items():
            says = verdict(of_rounds)
            slower += says == "slower"
            print(f"| {case} | {name} | {statistics.median(of_rounds):.2f} | {says} |", flush=True)
        if alone:
            print(f"| {case} | {', '.join(alone)} | – | not in both |", flush=True)
    return slower


def self_test():
    by_name, alone = ratios([{"a": 2.0, "b": 1.0}, {"a": 4.0, "b": 1.0}], [{"a": 1.0, "c": 1.0}, {"a": 2.0, "c": 1.0}])
    assert by_name == {"a": [2.0, 2.0]} and alone == ["b", "c"], (by_name, alone)
    assert verdict([1.2, 1.1, 1.3]) == "slower" and verdict([0.8, 0.9, 0.7]) == "faster"
    assert verdict([1.2, 0.9, 1.1, 0.95]) == "" and verdict([1.01, 1.02, 1.03]) == ""
