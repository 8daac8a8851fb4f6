#!/usr/bin/env python3
"""Lists all texts that the program can show, with their places, and checks their words.

words.py            prints FILE:LINE: "text" for each
words.py FOLDER ... prints only those of these folders or files
words.py --check    prints the words in texts and comments that tests/words.txt bans, and exits with 1 if there are any
"""
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ['app', 'attention', 'render', 'assets/lessons', 'assets/talks', 'assets/manual', 'README.md']
TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|(?:u8|[uUL])?R"(?P<d>[^\s()\\]*)\((?P<raw>.*?)\)(?P=d)"'
    r'|(?:u8)?"(?P<text>(?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])+\'', re.S)
ESCAPE = re.compile(r'\\(x[0-9a-fA-F]+|u[0-9a-fA-F]{4}|[0-7]{1,3}|.)', re.S)


def unescaped(text):
    def one(m):
        e = m.group(1)
        if e[0] == 'x':
            return chr(int(e[1:], 16))
        if e[0] == 'u' and len(e) == 5:
            return chr(int(e[1:], 16))
        return {'n': '\n', 't': '\t', '0': '\0', 'r': '\r'}.get(e, e)
    return ESCAPE.sub(one, text)


def literals(source):
    """(line, text) of each literal; adjacent literals are joined."""
    out, last_end = [], -1
    for m in TOKEN.finditer(source):
        if m.group('text') is None and m.group('raw') is None:
            continue
        line = source.count('\n', 0, m.start()) + 1
        start = source.rfind('\n', 0, m.start()) + 1
        if source[start:m.start()].lstrip().startswith('#'):
            continue
        text = m.group('raw') if m.group('text') is None else unescaped(m.group('text'))
        if out and not re.sub(r'//[^\n]*|\s', '', source[last_end:m.start()]):
            out[-1] = (out[-1][0], out[-1][1] + text)
        else:
            out.append((line, text))
        last_end = m.end()
    return out


def is_visible(text):
    """Whether a literal is prose, not a key, a path, a pattern or a shader."""
    if re.search(r'#version|void main|gl_Position', text):
        return False
    words = re.sub(r'\{[^{}]*\}', '', text)
    if not re.search(r'[A-Za-z]{2}', words):
        return False
    return ' ' in words.strip() or bool(re.match(r'\W*[A-Z]', words))


def strings_of(path):
    text = path.read_text(encoding='utf-8')
    if path.suffix in ('.cpp', '.h'):
        return [(line, t) for line, t in literals(text) if is_visible(t)]
    if path.suffix == '.json':
        return [(text.count('\n', 0, m.start()) + 1, json.loads(m.group(0)))
                for m in re.finditer(r'"(?:\\.|[^"\\])*"', text) if is_visible(json.loads(m.group(0)))]
    return [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]


def comments_of(path):
    """(line, text) of each comment; those on consecutive lines are joined."""
    if path.suffix not in ('.cpp', '.h'):
        return []
    source, out, last = path.read_text(encoding='utf-8'), [], -1
    for m in TOKEN.finditer(source):
        if not m.group(0).startswith('//'):
            continue
        line, text = source.count('\n', 0, m.start()) + 1, m.group(0).lstrip('/<').strip()
        if line == last + 1:
            out[-1] = (out[-1][0], out[-1][1] + ' ' + text)
        else:
            out.append((line, text))
        last = line
    return out


def files(folders):
    for folder in folders:
        at = ROOT / folder
        yield from ([at] if at.is_file() else
                    sorted(p for p in at.rglob('*') if p.suffix in ('.cpp', '.h', '.json', '.md')))


def banned():
    """(pattern, replacement) of each line of words.txt."""
    lines = (ROOT / 'tests/words.txt').read_text(encoding='utf-8').splitlines()
    return [(re.compile(pattern), better) for pattern, better in
            (line.split('\t') for line in lines if line and not line.startswith('#'))]


def check(arguments):
    """Prints each banned word with its place and returns their number. Tests may use any word outside comments."""
    found = 0
    for path in files(arguments or PROGRAM + ['tests']):
        texts = [] if path.is_relative_to(ROOT / 'tests') else strings_of(path)
        for line, text in texts + comments_of(path):
            for pattern, better in banned():
                if match := pattern.search(text):
                    found += 1
                    print(f'{path.relative_to(ROOT)}:{line}: "{match.group(0)}", better: {better}: {text[:120]}')
    return found


if __name__ == '__main__':
    arguments = sys.argv[1:]
    if arguments[:1] == ['--check']:
        sys.exit(1 if check(arguments[1:]) else 0)
    for path in files(arguments or PROGRAM):
        for line, text in strings_of(path):
            print(f'{path.relative_to(ROOT)}:{line}: {json.dumps(text, ensure_ascii=False)}')
