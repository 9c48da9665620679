#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds words over which a reader stumbles, in documents, in comments, and in the texts that src/ prints.

    tests/words.py FILE...

tests/documents.py calls this for all files. Prints a line for each finding, with what to write instead.
"""

import bisect
import io
import re
import sys
import tokenize
from pathlib import Path

ACTOR = r"(?:[Tt]hreads?|[Pp]rocess(?:es)?|[Gg]roups?|[Aa]ctors?|[Dd]evices?|[Dd]isks?|[Hh]olders?|(?:[Ww]ak|[Ww]ait|[Ww]ork)ers?)"
DOES = r"(?:waits?|waited|waiting|wakes?|woke|holds?|held|lets|drains?|hands|releases?|ends?|ended)"
# What is looked for in text whose words have one space between them, and what to write instead.
WORDS = [
    (r"\b(?:[Tt]he|[Ii]ts|[Tt]heir|own|of|at|from|\w+'s|\w+s') begins?\b(?![\w(-]|\.\w)", "begin is a verb: write start, or when it begins"),
    (r"\bbegins? of\b", "begin is a verb: write start of"),
    (r"(?<![Tt]here )\b(?:is|are|was|were) none\b(?! of\b)", "write is no, has no, or is not a"),
    (r"\b[Nn]one of it is\b", "say what is not"),
    (r", of which\b", "write a sentence of its own, or whose"),
    (r"\bas the next (?:one|two|three|four)\b", "say it on each, or group them"),
    (r"\bfor ever\b", "write forever, or without end"),
    (r"\b[Bb]y turns\b", "write in turn, or alternately"),
    (rf"\b{ACTOR} who\b", "write that: who is for people"),
    (rf"\b(?:[Tt]hose|[Aa]ll|ones?) who (?:runs?|works?|responds?|{DOES})\b", "name them: the threads that"),
    (rf"\b[Ww]hoever (?:runs|works|responds|{DOES})\b", "write the thread that, or any thread that"),
    (rf"\b(?:[Nn]obody|[Ss]omebody) (?:else )?{DOES}\b", "write no thread, another thread, or the passive"),
]
WORDS = [(re.compile(pattern), instead) for pattern, instead in WORDS]
C_TOKEN = re.compile(
    r'R"(?P<mark>[^(\s]*)\((?P<raw>.*?)\)(?P=mark)"'
    r'|"(?P<text>(?:\\.|[^"\\\n])*)"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"  # not a digit separator
    r"|(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)",
    re.DOTALL,
)
MARKS = re.compile(r"^[ \t]*(?:///?<?|/?\*+/?|#+)|/\*+|\*+/|///?<?", re.MULTILINE)
NOT_PROSE = " | "  # between two comments that have code between them


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def prose_of_c(text, with_literals):
    """Comments, and with_literals the texts of the program, on the lines on which they stand."""
    out, at = [], 0
    for token in C_TOKEN.finditer(text):
        code = text[at:token.start()]
        out.append(code if not code.strip() else NOT_PROSE + re.sub(r"[^\n]", "", code))
        at = token.end()
        if token.group("line") or token.group("block"):
            out.append(MARKS.sub(blank, token.group()))
        elif with_literals and token.group("text") is not None:
            out.append(token.group("text").replace("\\n", " "))
        elif with_literals and token.group("raw") is not None:
            out.append(token.group("raw"))
        else:
            out.append(NOT_PROSE + re.sub(r"[^\n]", "", token.group()))
    return "".join(out)


def prose_of_python(text):
    """Comments and the strings that are statements."""
    lines = [[] for _ in range(text.count("\n") + 2)]
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_text = token.type == tokenize.STRING and before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        if token.type == tokenize.COMMENT or is_text:
            alone = is_text or not token.line[:token.start[1]].strip()
            words = token.string.strip("\"'") if is_text else token.string.lstrip("# ")
            for number, line in enumerate(words.split("\n"), token.start[0]):
                lines[number].append(line if alone else NOT_PROSE + line + NOT_PROSE)
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type
    return "\n".join(" ".join(line) for line in lines[1:])


def prose_of_script(text):
    """The comments that stand on lines of their own."""
    return "\n".join(line.lstrip("# \t") if re.match(r"\s*#(?!!)", line) else NOT_PROSE for line in text.split("\n"))


def prose_of_document(text):
    """The text without its blocks of code."""
    text = re.sub(r"^```.*?^```", blank, text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^(?: {4}|\t).*$", "", text, flags=re.MULTILINE)


def prose_of(path, with_literals):
    text = path.read_text(errors="replace")
    if path.suffix == ".md":
        return prose_of_document(text)
    if path.suffix in (".h", ".c", ".cpp"):
        return prose_of_c(text, with_literals)
    return prose_of_python(text) if path.suffix == ".py" else prose_of_script(text)


def findings(path, with_literals=False):
    """(line, words, what to write instead) of each finding. Code in `…` is left out."""
    prose = re.sub(r"`[^`\n]*`", blank, prose_of(path, with_literals))
    words, begins, lines = [], [], []
    length = 0
    for number, line in enumerate(prose.split("\n"), 1):
        for word in line.split():
            words.append(word)
            begins.append(length)
            lines.append(number)
            length += len(word) + 1
    text = " ".join(words)
    for pattern, instead in WORDS:
        for found in pattern.finditer(text):
            yield lines[bisect.bisect_right(begins, found.start()) - 1], found.group(), instead


def main():
    for name in sys.argv[1:]:
        for line, words, instead in findings(Path(name), name.startswith("src/")):
            print(f"{name}:{line}: '{words}': {instead}")


if __name__ == "__main__":
    main()
