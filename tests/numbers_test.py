#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers in the documents are those of the code."""

import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[1]
WORDS = {"eight": 8, "ten": 10, "a minute": 60}
OPTIONS = "src/session/recording_options.h"
RECORDING = "doc/recording.md"
# (document, what it says, source, what that says, how many of the source's units are one of the document's)
NUMBERS = [
    (RECORDING, r"`--max-memory` \((\d+)M\) is moved", OPTIONS, r"max_memory = ([\d']+)", 1_000_000),
    (RECORDING, r"takes at most `--max-memory` \((\d+)M\)|at most `--max-memory` \((\d+)M\)", OPTIONS, r"max_memory = ([\d']+)",
     1_000_000),
    (RECORDING, r"less than `--max-overhead` \((\d+) %\)", OPTIONS, r"max_overhead = ([\d.]+)", 0.01),
    (RECORDING, r"A CPU sample \(`--sample-hz`\).*?: (\d+) a second", OPTIONS, r"sample_hz = (\d+)", 1),
    (RECORDING, r"The directory holds (\w+) of them at most \(`--keep`\)", "src/cli/options.h", r"keep = (\d+)", 1),
    (RECORDING, r"there is no other for (a minute) \(`--cooldown`\)", "src/cli/options.h", r"cooldown = (\d+) \* kSecond", 1),
    (RECORDING, r"so do each thread's first (\w+) waits", "bpf/draw.h", r"#define FIRST_WAITS (\d+)", 1),
    (RECORDING, r"all have (\d+) MB together", "src/capture/event_rings.cpp", r"kAll = std::size_t\{(\d+)\} << 20", 1),
    (RECORDING, r"in order with (\d+) threads", "src/calibrate/measure.h", r"kLargeAtOnce = (\d+)", 1),
    (RECORDING, r"at random with (\d+), for", "src/calibrate/measure.h", r"kSmallAtOnce = (\d+)", 1),
    (RECORDING, r"for (\d+) s each \(`-d`\)", "src/cli/options.h", r"each = (\d+) \* kSecond", 1),
    (RECORDING, r"a file of (\d+) GB \(`--size`", "src/cli/options.h", r"file_bytes = ([\d']+)", 1_000_000_000),
    ("doc/troubleshooting.md", r"Above (\d+) % of what the CPUs do", OPTIONS, r"max_overhead = ([\d.]+)", 0.01),
    ("doc/troubleshooting.md", r"more than (\d+) frames", "include/offwait/event.h", r"#define OFFWAIT_STACK_FRAMES (\d+)", 1),
    ("doc/troubleshooting.md", r"the first ([\d,]+) executable mappings", "include/offwait/unwind.h",
     r"#define OFFWAIT_MAPPINGS (\d+)", 1),
    ("doc/troubleshooting.md", r"An edge just below (\d+) % of the window", "src/cli/options.h", r"min_weight\{true, ([\d.]+)",
     0.01),
    ("doc/design.md", r"A share of fewer than (\d+) samples", "src/report/wording_edges.cpp", r"kFewSamples = (\d+)", 1),
    ("src/cli/command_line.cpp", r"default (\d+); 0: never", OPTIONS, r"sample_hz = (\d+)", 1),
    ("src/cli/command_line.cpp", r"default (\d+)%; off", OPTIONS, r"max_overhead = ([\d.]+)", 0.01),
    ("src/cli/command_line.cpp", r"as (\d+)M \(the default\); the rest", OPTIONS, r"max_memory = ([\d']+)", 1_000_000),
    ("src/cli/command_line.cpp", r"the terminal, or (\d+)\)", "src/report/text.h", r"int width = (\d+)", 1),
]

# An entry of doc/thresholds.md: the value with its unit, the constant's name, its file. Times in the code are in nanoseconds, or,
# if they are floating-point numbers, in seconds.
THRESHOLD = re.compile(r"- \*\*([\d.,]+)( %| µs| s|)\*\* \(`(k\w+)`, `(src/[\w/.]+)`\): ")
UNITS = {" %": 0.01, " µs": 1000, " s": 1, "": 1}


def number(text):
    return WORDS[text] if text in WORDS else float(re.sub("[,']", "", text))


def said(file, pattern):
    """The number that the pattern finds in the file, whose lines are joined, and so are C++'s texts."""
    text = re.sub(r'"\s*\n\s*"', "", (ROOT / file).read_text("utf-8"))
    found = re.search(pattern, " ".join(text.split()))
    if not found:
        raise AssertionError(f"{file} does not say: {pattern}")
    return number(next(group for group in found.groups() if group))


class Numbers(unittest.TestCase):
    def test_documents_and_code_agree(self):
        for document, pattern, source, code, unit in NUMBERS:
            with self.subTest(document=document, pattern=pattern):
                self.assertAlmostEqual(said(document, pattern) * unit, said(source, code))

    def test_thresholds_are_those_of_the_code(self):
        text = " ".join((ROOT / "doc/thresholds.md").read_text("utf-8").split())
        self.assertEqual(len(THRESHOLD.findall(text)), text.count(" - "))
        self.assertGreater(len(THRESHOLD.findall(text)), 0)
        for value, unit, name, file in THRESHOLD.findall(text):
            with self.subTest(name=name):
                found = re.search(rf"\b{name} = (?:std::size_t\{{1\}} << (\d+)|([\d.']+));", (ROOT / file).read_text("utf-8"))
                code = 2 ** int(found.group(1)) if found.group(1) else number(found.group(2))
                self.assertAlmostEqual(number(value) * UNITS[unit], code)


if __name__ == "__main__":
    unittest.main(verbosity=2)
