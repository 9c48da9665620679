#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the documents.

    tests/documents.py [ROOT]

- No line of a document is longer than 100 characters, README.md has at most 150 lines, and doc/design.md
  at most 4,000 words.
- Relative links lead to files, and to headings, that exist.
- The rooms table of doc/design.md lists the rooms of src/CMakeLists.txt, in their order.
- Files of the repository that a document names in `code` exist.
- Documents, comments, and the texts of src/ have no words of tests/words.py over which a reader stumbles.
- Sources that name a document (`doc/design.md`, or `doc/design.md "Heading"`) name an existing one, and
  nothing refers to a document outside of the repository.
Prints one line for each fault and exits with 1 if there is any.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from rooms import rooms_of  # noqa: E402
from words import findings  # noqa: E402

LONGEST_LINE = 100
LONGEST_README = 150
LONGEST_DESIGN = 4000  # words: what a reader needs before reading code; the rest stands in the headers
ROOMS_MARKS = ("<!-- rooms -->", "<!-- end of rooms -->")
NO_SOURCES = {"node_modules", ".git", "build", "corpus", "__pycache__"}
SOURCES = {".h", ".c", ".cpp", ".py", ".sh", ".cmake"}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
REFERENCE = re.compile(r"^\[[^\]]+\]:\s+(\S+)", re.MULTILINE)
NAMED_FILE = re.compile(r"`((?:src|bpf|include|tests|doc|examples|packaging|cmake|vmlinux)/[\w./-]+)`")
HEADING = re.compile(r"^#+\s+(.*)$", re.MULTILINE)
CITATION = re.compile(r'\b(doc/[\w-]+\.md)(?:,? "([^"\n]+)")?')
UNNAMED_DESIGN = re.compile(r"(?<!doc/)(?<![\w/])design\.md\b")
OUTSIDE = re.compile(r"\.\./shared/|/work/")
THE_ISSUE = re.compile(r"\b(?:as the issue has it|the issue (?:says|asks|has)|issue [\"“])")


def files(root, suffixes):
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if path.suffix in suffixes and path.is_file() and not NO_SOURCES & set(parts):
            yield path


def without_code(text):
    """The text without its code: fenced blocks, indented blocks and spans are blanked out."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(?: {4}|\t).*$", "", text, flags=re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", text)


def headings(path):
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    return [heading.strip() for heading in HEADING.findall(text)]


def anchor(heading):
    """The name of a heading in a link."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def too_long(root, path):
    text = path.read_text()
    lines, words = text.splitlines(), len(text.split())
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            yield f"{path.relative_to(root)}:{number}: {len(line)} characters, at most {LONGEST_LINE}"
    if path == root / "README.md" and len(lines) > LONGEST_README:
        yield f"README.md: {len(lines)} lines, at most {LONGEST_README}"
    if path == root / "doc/design.md" and words > LONGEST_DESIGN:
        yield f"doc/design.md: {words} words, at most {LONGEST_DESIGN}"


def dead_links(root, path):
    place = path.relative_to(root)
    text = without_code(path.read_text())
    for link in LINK.findall(text) + REFERENCE.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, part = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.is_relative_to(root):
            yield f"{place}: {link} leads out of the repository"
        elif not target.exists():
            yield f"{place}: {link}: no such file"
        elif part and part not in map(anchor, headings(target)):
            yield f"{place}: {link}: no such heading"


def missing_files(root, path):
    for name in NAMED_FILE.findall(path.read_text()):
        if not (root / name).exists():
            yield f"{path.relative_to(root)}: `{name}`: no such file"


def odd_words(root, path):
    place = path.relative_to(root)
    for line, words, instead in findings(path, place.parts[0] == "src"):
        yield f"{place}:{line}: '{words}': {instead}"


def wrong_rooms(root):
    design = root / "doc/design.md"
    text = design.read_text()
    if any(text.count(mark) != 1 for mark in ROOMS_MARKS):
        yield f"doc/design.md: the table of rooms stands between {' and '.join(ROOMS_MARKS)}"
        return
    table = text.split(ROOMS_MARKS[0])[1].split(ROOMS_MARKS[1])[0]
    listed = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    declared = list(rooms_of((root / "src/CMakeLists.txt").read_text()))
    for room in sorted(set(declared) - set(listed)):
        yield f"doc/design.md: the table of rooms lacks {room}"
    for room in sorted(set(listed) - set(declared)):
        yield f"doc/design.md: {room} is no room of src/CMakeLists.txt"
    if sorted(listed) == sorted(declared) and listed != declared:
        yield "doc/design.md: the rooms are in another order than in src/CMakeLists.txt"


def wrong_citations(root, path):
    place = path.relative_to(root)
    text = path.read_text(errors="replace")
    for name, heading in CITATION.findall(text):
        if not (root / name).exists():
            yield f"{place}: {name}: no such document"
        elif heading and heading not in headings(root / name):
            yield f'{place}: {name} has no heading "{heading}"'
    if path.suffix != ".md":
        for _ in UNNAMED_DESIGN.findall(text):
            yield f"{place}: design.md is called doc/design.md"
    for pattern in (OUTSIDE, THE_ISSUE):
        for found in pattern.findall(text):
            yield f"{place}: '{found}' refers to what is not in the repository"


def faults(root):
    root = Path(root).resolve()
    for path in files(root, {".md"}):
        yield from too_long(root, path)
        yield from dead_links(root, path)
        yield from missing_files(root, path)
    yield from wrong_rooms(root)
    for path in files(root, {".md", ".h", ".c", ".cpp", ".py", ".sh", ".txt", ".cmake"}):
        if path.resolve() != Path(__file__).resolve() and path.parts[-2:] != ("tests", "documents_test.py"):
            yield from wrong_citations(root, path)
    for path in files(root, SOURCES | {".md", ".txt"}):
        if path.suffix != ".txt" or path.name == "CMakeLists.txt":
            yield from odd_words(root, path)


def main():
    found = list(faults(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent))
    for fault in found:
        print(fault)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
