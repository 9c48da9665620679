#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""documents.py finds each kind of fault, and none in a tree that keeps the rules."""

import subprocess
import tempfile
import unittest
from pathlib import Path

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


if __name__ == "__main__":
    unittest.main()
