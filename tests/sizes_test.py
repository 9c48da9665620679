#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sizes.py finds functions, and names files and functions that are too long."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import sizes

CODE = """
#define BLOCK(x) \\
  do {           \\
    x            \\
  } while (0)
namespace a {
const int kValues[] = {1, 2, {3}};
struct S {
  S() : at_{0}, list_({1, 2}) {
    run();
  }
  int at_{7};
  std::array<int, 2> list_ = {1, 2};
  int get() const { return at_; }  // }
};
enum class E { one, two };
template <class T>
T twice(const T& value) {
  const auto f = [&] {
    return value + '{' + "}" + R"(})";
  };
  if (value) {
    return S{1'000}, f();
  }
  return {};
}
TEST_CASE("a test } with a name") {
  CHECK(true);
}
}  // namespace a
extern "C" int entry(void) {
  return 0;
}
"""


class SizesTest(unittest.TestCase):
    def test_functions_are_found_with_their_lines(self):
        self.assertEqual(
            list(sizes.functions_with_braces(CODE)),
            [("S", 9, 3), ("get", 14, 1), ("twice", 17, 10), ('"a test } with a name"', 27, 3), ("entry", 31, 3)],
        )

    def test_a_function_of_python_reaches_to_its_last_line(self):
        self.assertEqual(list(sizes.functions_of_python("import a\ndef f():\n    a()\n\n    a()\n")), [("f", 2, 4)])

    def check(self, function_lines, file_lines, *options):
        """Runs sizes.py on a tree with one function and one file of these lengths; returns its exit status and output."""
        with tempfile.TemporaryDirectory() as root:
            source = Path(root, "src")
            source.mkdir()
            body = "  run();\n" * (function_lines - 2)
            Path(source, "f.cpp").write_text("void f() {\n" + body + "}\n", encoding="utf-8")
            Path(source, "g.cpp").write_text("int i;\n" * file_lines, encoding="utf-8")
            done = subprocess.run([sys.executable, sizes.__file__, root, *options], capture_output=True, text=True)
            return done.returncode, done.stdout

    def test_what_is_just_short_enough_passes(self):
        status, output = self.check(80, 600, "--strict")
        self.assertEqual((status, output.count("at most")), (0, 0))

    def test_a_long_function_is_named(self):
        status, output = self.check(81, 600, "--strict")
        self.assertEqual(status, 1)
        self.assertIn("81 lines (at most 80): src/f.cpp:1 f\n", output)

    def test_a_long_file_is_named(self):
        status, output = self.check(80, 601, "--strict")
        self.assertEqual(status, 1)
        self.assertIn("601 lines (at most 600): src/g.cpp\n", output)

    def test_without_strict_it_only_prints(self):
        status, output = self.check(81, 601)
        self.assertEqual((status, output.count("at most")), (0, 2))

    def test_a_tree_without_sources_fails(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertNotEqual(subprocess.run([sys.executable, sizes.__file__, root], capture_output=True).returncode, 0)


if __name__ == "__main__":
    unittest.main()
