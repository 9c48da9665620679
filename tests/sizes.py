#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that no source file has more than 600 lines and no function more than 80.

    tests/sizes.py [--strict] [ROOT]

Prints one line for each file and function that has more, the longest first, then the longest file and the longest function.
With --strict it exits with 1 if there is one that has more. Functions of C and C++ are found by their braces, as clang-format
puts them.
"""

import ast
import re
import sys
from pathlib import Path

MOST_FILE_LINES = 600
MOST_FUNCTION_LINES = 80
DIRECTORIES = ("bpf", "examples", "include", "packaging", "src", "tests")  # not vmlinux: it is generated
BRACES = {".c", ".cpp", ".h"}
OTHERS = {".py", ".sh"}
# Files and functions (FILE:FUNCTION) that may be longer, each with the reason.
EXCEPTIONS = {}

TOKEN = re.compile(
    r'R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"'  # raw string
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"  # not a digit separator
    r"|//[^\n]*|/\*.*?\*/"
    r"|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
TYPES = re.compile(r"\b(namespace|class|struct|union|enum)\b[^()]*$|\bextern\s*$")
NAME = re.compile(r"([~\w:<>]+|operator\s*\S+)\s*\(")


def without_literals(text):
    """The text with literals, comments and preprocessor lines blanked out, its lines where they were."""
    return TOKEN.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def name_of(statement, original):
    """The name of a function; for a test case, its string."""
    if test := re.match(r'\s*(?:TEST_CASE|TEMPLATE_TEST_CASE|SCENARIO)\s*\(\s*("[^"]*")', original):
        return test.group(1)
    found = NAME.search(statement)
    return found.group(1) if found else "lambda"


def functions_with_braces(text):
    """(name, first line, number of lines) of each function of a C or C++ file."""
    code = without_literals(text)
    begin = 0  # where the statement begins that is being read
    opened = []  # for each open brace: "scope", "function", "block" or "value", and where its statement begins
    for brace in re.finditer(r"[{};]", code):
        at, kind = brace.start(), brace.group()
        inside = any(what in ("function", "value") for what, _ in opened)
        if kind == "{":
            statement = code[begin:at]
            if inside:
                opened.append(("block", at))
                continue
            if code[at - 1] not in " \n" or re.search(r"[=,(]\s*$", statement):
                opened.append(("value", at))
                continue
            what = "function" if "(" in statement and not TYPES.search(statement) else "scope"
            opened.append((what, begin))
            begin = at + 1
        elif kind == "}":
            if not opened:
                raise ValueError("braces do not match")
            what, since = opened.pop()
            if what == "function":
                since += len(code[since:at]) - len(code[since:at].lstrip())
                first, last = text.count("\n", 0, since) + 1, text.count("\n", 0, at) + 1
                yield name_of(code[since:at], text[since:at]), first, last - first + 1
            if what in ("function", "scope"):
                begin = at + 1
        elif not inside:
            begin = at + 1
    if opened:
        raise ValueError("braces do not match")


def functions_of_python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1


def functions_of(path, text):
    if path.suffix == ".py":
        return functions_of_python(text)
    return functions_with_braces(text) if path.suffix in BRACES else ()


def measure(root):
    """(lines, place) of all files, and of all functions, the longest first."""
    files, functions = [], []
    for directory in DIRECTORIES:
        for path in sorted((root / directory).rglob("*")):
            if path.suffix not in BRACES | OTHERS or not path.is_file():
                continue
            name, text = str(path.relative_to(root)), path.read_text(encoding="utf-8")
            if name not in EXCEPTIONS:
                files.append((text.count("\n"), name))
            try:
                for function, line, lines in functions_of(path, text):
                    if f"{name}:{function}" not in EXCEPTIONS:
                        functions.append((lines, f"{name}:{line} {function}"))
            except ValueError as error:
                raise SystemExit(f"{name}: {error}") from error
    return sorted(files, reverse=True), sorted(functions, reverse=True)


def main():
    arguments = sys.argv[1:]
    strict = "--strict" in arguments
    roots = [argument for argument in arguments if argument != "--strict"]
    if len(roots) > 1 or any(root.startswith("-") for root in roots):
        sys.exit(__doc__.strip().splitlines()[2].strip())
    files, functions = measure(Path(roots[0]) if roots else Path(__file__).resolve().parents[1])
    if not files or not functions:
        sys.exit("no sources")
    too_long = [f"{lines} lines (at most {MOST_FILE_LINES}): {place}" for lines, place in files if lines > MOST_FILE_LINES]
    too_long += [f"{lines} lines (at most {MOST_FUNCTION_LINES}): {place}" for lines, place in functions
                 if lines > MOST_FUNCTION_LINES]
    print("\n".join(too_long + [f"longest file: {files[0][0]} lines, {files[0][1]}",
                                f"longest function: {functions[0][0]} lines, {functions[0][1]}"]))
    sys.exit(1 if strict and too_long else 0)


if __name__ == "__main__":
    main()
