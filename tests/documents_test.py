#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""documents.py finds each kind of fault, and none in a tree that keeps the rules."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
from words import findings  # noqa: E402

DOCUMENTS = Path(__file__).parent / "documents.py"
DESIGN = ("# Design\n\n<!-- rooms -->\n| room | holds |\n|---|---|\n| `base` | a |\n| `model` | b |\n"
          "<!-- end of rooms -->\n\n## Wait classes\n")
CLEAN = {
    "src/CMakeLists.txt": "offwait_room(base)\noffwait_room(model DEPENDS base)\n",
    "src/base/result.h": '// doc/design.md "Wait classes"\n',
    "doc/design.md": DESIGN,
    "README.md": "# It\n\n[design](doc/design.md#wait-classes), [web](https://example.org/), [top](#it)\n"
                 "[by name][1]\n\n[1]: doc/design.md\n\n    [code](nowhere.md)\n`[code](nowhere.md)`\n",
}


def check(changes):
    with tempfile.TemporaryDirectory() as root:
        for name, text in {**CLEAN, **changes}.items():
            path = Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        run = subprocess.run([DOCUMENTS, root], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr


def found(name, text):
    """(line, words) of what words.py finds in a file of src/."""
    with tempfile.TemporaryDirectory() as root:
        path = Path(root, name)
        path.write_text(text)
        return [(line, words) for line, words, _ in findings(path, with_literals=True)]


class DocumentsTest(unittest.TestCase):
    def fails(self, changes, line):
        self.assertEqual(check(changes), (1, line + "\n"))

    def test_clean(self):
        self.assertEqual(check({}), (0, ""))

    def test_lines(self):
        self.assertEqual(check({"doc/a.md": "×" * 100 + "\n"}), (0, ""))
        self.fails({"doc/a.md": "a\n" + "×" * 101 + "\n"}, "doc/a.md:2: 101 characters, at most 100")
        self.fails({"README.md": "a\n" * 151}, "README.md: 151 lines, at most 150")
        self.assertEqual(check({"doc/a.md": "a\n" * 5000}), (0, ""))
        words = 4001 - len(DESIGN.split())
        self.assertEqual(check({"doc/design.md": DESIGN + "a\n" * (words - 1)}), (0, ""))
        self.fails({"doc/design.md": DESIGN + "a\n" * words}, "doc/design.md: 4001 words, at most 4000")

    def test_links(self):
        self.fails({"doc/a.md": "[a](b.md)\n"}, "doc/a.md: b.md: no such file")
        self.fails({"doc/a.md": "[1]: b.md\n"}, "doc/a.md: b.md: no such file")
        self.fails({"doc/a.md": "[a](design.md#waits)\n"}, "doc/a.md: design.md#waits: no such heading")
        self.fails({"doc/a.md": "[a](../../b.md)\n"}, "doc/a.md: ../../b.md leads out of the repository")

    def test_files(self):
        self.fails({"doc/a.md": "`src/base/gone.h`, `src/base/result.h`\n"},
                   "doc/a.md: `src/base/gone.h`: no such file")

    def test_rooms(self):
        self.fails({"doc/design.md": DESIGN.replace("| `model` | b |\n", "")},
                   "doc/design.md: the table of rooms lacks model")
        self.fails({"doc/design.md": DESIGN.replace("`model` | b |\n", "`model` | b |\n| `gone` | c |\n")},
                   "doc/design.md: gone is no room of src/CMakeLists.txt")
        self.fails({"doc/design.md": DESIGN.replace("`base`", "`x`").replace("`model`", "`base`")
                    .replace("`x`", "`model`")},
                   "doc/design.md: the rooms are in another order than in src/CMakeLists.txt")
        self.fails({"doc/design.md": "# Design\n\n## Wait classes\n"},
                   "doc/design.md: the table of rooms stands between <!-- rooms --> and <!-- end of rooms -->")

    def test_citations(self):
        self.fails({"src/base/a.h": "// doc/gone.md\n"}, "src/base/a.h: doc/gone.md: no such document")
        self.fails({"src/base/a.h": '// doc/design.md "Waits"\n'},
                   'src/base/a.h: doc/design.md has no heading "Waits"')
        self.fails({"src/base/a.h": "// (design.md §4)\n"}, "src/base/a.h: design.md is called doc/design.md")
        outside = "../" + "shared/"
        self.fails({"src/base/a.h": f"// {outside}x\n"},
                   f"src/base/a.h: '{outside}' refers to what is not in the repository")

    def test_words(self):
        self.fails({"doc/a.md": "From the\nbegin on.\n"},
                   "doc/a.md:1: 'the begin': begin is a verb: write start, or when it begins")
        self.assertEqual(check({"src/a.cpp": 'print("for ever");\n'})[0], 1)
        self.assertEqual(check({"tests/a.cpp": 'print("for ever");\n', "tests/a.txt": "# for ever\n"}), (0, ""))

    def test_words_of_each_kind(self):
        for text, words in (("from the begin on", "the begin"), ("Its begin.", "Its begin"), ("a wait's begin", "wait's begin"),
                            ("the threads' begins", "threads' begins"), ("begin of it", "begin of"), ("It is none.", "is none"),
                            ("they are none", "are none"), ("none of it is", "none of it is"), ("two, of which", ", of which"),
                            ("as the next two", "as the next two"), ("for ever", "for ever"), ("By turns", "By turns"),
                            ("a thread who waits", "thread who"), ("those who hold it", "those who hold"),
                            ("Whoever waits", "Whoever waits"), ("whoever ended it", "whoever ended"),
                            ("nobody waits", "nobody waits"), ("what somebody ended", "somebody ended")):
            with self.subTest(text=text):
                self.assertEqual(found("a.md", f"# A\n\nOf a wait:\n{text}\n"), [(4, words)])

    def test_words_that_are_fine(self):
        for text in ("It begins and ends.", "The threads begin to wait.", "There is none.", "there are none", "None of them is.",
                     "one of which", "for every thread", "people who wait", "who waits for whom", "Whoever may record",
                     "A sink waits for nobody.", "`the begin`", "the begin() of it", "the begin.x of it", "that begin on time",
                     "    the begin", "```\nthe begin\n```"):
            with self.subTest(text=text):
                self.assertEqual(found("a.md", text + "\n"), [])

    def test_words_in_sources(self):
        for name, text, line in (("a.h", "int a;\n/* From\n * the begin on. */\n", 3), ("a.cpp", "// the\n// begin.\n", 1),
                                 ("a.h", "int a;  ///< from the begin on\n", 1), ("a.cpp", 'print("from "\n  "the begin");\n', 2),
                                 ("a.py", '"""A.\n\nFrom the begin on."""\n', 3), ("a.py", "a = 1  # the begin\n", 1),
                                 ("a.sh", "#!/bin/sh\n# the\n# begin\n", 2), ("a.cmake", "# the begin\n", 1)):
            with self.subTest(name=name, text=text):
                self.assertEqual(found(name, text), [(line, "the begin")])
        for name, text in (("a.h", "the begin;\n"), ("a.cpp", "int the; begin = 1;  // the\nint b;  // begin\n"),
                           ("a.py", 'a = "the begin"\nthe = begin\n'), ("a.sh", "echo the begin\n"),
                           ("a.cpp", "// Of the\nint begin;\n"), ("a.cpp", "f('\"', \"the\", \"begin\");\n")):
            with self.subTest(name=name, text=text):
                self.assertEqual(found(name, text), [])


if __name__ == "__main__":
    unittest.main()
