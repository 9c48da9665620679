#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rooms.py finds each kind of violation, at its line, and none in a tree that keeps the rules."""

import subprocess
import tempfile
import unittest
from pathlib import Path

ROOMS = Path(__file__).parent / "rooms.py"
CLEAN = {
    "src/CMakeLists.txt": "offwait_room(base)\noffwait_room(model DEPENDS base)\n# offwait_room(gone)\n"
    "offwait_room(capture DEPENDS base LIBRARIES offwait_bpf -l:libbpf.a)\n"
    "offwait_room(cli DEPENDS base\n  model capture LIBRARIES CLI11::CLI11)\n",
    "src/base/result.h": "#include <string>\n",
    "src/model/trace.h": '#include "base/result.h"\n#include "model/wait.h"\n#include <vector>\n',
    "src/capture/recorder.cpp": '#include <bpf/libbpf.h>\n#include "offwait.skel.h"\n#include "offwait/event.h"\n',
    "src/cli/run.cpp": '#include <CLI/CLI.hpp>\n  #  include "model/trace.h"\n',
    "src/main.cpp": '#include "cli/run.h"\n',
    "include/offwait/event.h": "#include <linux/types.h>\n",
    "bpf/sched.bpf.c": '#include "vmlinux.h"\n#include <bpf/bpf_helpers.h>\n#include "offwait/event.h"\n',
    "examples/figure1/figure1.cpp": '#include <thread>\n#include "queue.h"\n',
    "tests/unit/model/trace_test.cpp": '#include "model/trace.h"\n#include "reference/cascade.h"\n',
}


def check(changes):
    with tempfile.TemporaryDirectory() as root:
        for name, text in {**CLEAN, **changes}.items():
            path = Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        run = subprocess.run([ROOMS, root], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr


class RoomsTest(unittest.TestCase):
    def test_clean(self):
        self.assertEqual(check({}), (0, ""))

    def assert_one(self, name, text, line, *words):
        status, output = check({name: text})
        self.assertEqual(status, 1, output)
        self.assertEqual(output.count("\n"), 1, output)
        self.assertTrue(output.startswith(f"{name}:{line}: "), output)
        for word in words:
            self.assertIn(word, output)

    def test_room_above(self):
        self.assert_one("src/base/nanos.h", '\n#include "model/trace.h"\n', 2, "base does not depend on model")

    def test_indirect_dependency_is_not_enough(self):
        self.assert_one("src/capture/drain.cpp", '#include "model/trace.h"\n', 1, "capture does not depend on model")

    def test_types_of_one_name(self):
        base = {"src/base/step.h": "namespace offwait {\nclass Step {\n};\nstruct Known;\n}\n"}
        again = "namespace offwait {\n\nstruct Step : Base {\n};\n}\n"
        status, output = check({**base, "src/model/step.h": again})
        self.assertEqual((status, output), (1, "src/model/step.h:3: offwait::Step is defined in src/base/step.h as well\n"))
        self.assertEqual(check({**base, "src/model/step.h": again.replace("offwait", "offwait::cli")}), (0, ""))
        self.assertEqual(check({**base, "src/model/step.h": "namespace offwait {\nstruct Step;\n}\n"}), (0, ""))

    def test_functions_are_named_in_one_room(self):
        code = {
            "src/CMakeLists.txt": CLEAN["src/CMakeLists.txt"] + "offwait_room(code DEPENDS base)\n",
            "src/code/rows.cpp": '// "from_a_comment"\nRow{"*take_gil*", 1}, Row{"lock", 1}, Row{"__schedule", 1}\n',
        }
        for text, line in (
            ('\nis(name, "take_gil");\n', 2),
            ('is("schedule", "a \\"b");\nis("_take_gil*");\n', 2),
            ('is("std::mutex::lock");\n', 1),
            ('is("libjvm.so");\n', 1),
        ):
            status, output = check({**code, "src/model/list.cpp": text})
            self.assertEqual(status, 1, output)
            self.assertEqual(output.count("\n"), 1, output)
            self.assertTrue(output.startswith(f"src/model/list.cpp:{line}: "), output)
        allowed = '#include "base/take_gil"\n// "take_gil"\nis("lock", "from_a_comment", "take");\n'
        self.assertEqual(check({**code, "src/base/take_gil": "", "src/model/list.cpp": allowed}), (0, ""))
        self.assertEqual(check({**code, "src/capture/types.cpp": 'find("unix_stream_sendmsg");\n'}), (0, ""))

    def test_libbpf_outside_capture(self):
        self.assert_one("src/cli/run.cpp", "#include <bpf/libbpf.h>\n", 1, "only src/capture")
        self.assert_one("src/cli/run.cpp", '#include "offwait.skel.h"\n', 1, "only src/capture")
        self.assert_one("src/main.cpp", "#include <bpf/bpf.h>\n", 1, "only src/capture")

    def test_header_without_its_room(self):
        self.assert_one("src/model/trace.cpp", '#include "trace.h"\n', 1, "room/file.h")
        self.assert_one("src/model/trace.cpp", '#include "../base/result.h"\n', 1, "room/file.h")
        self.assert_one("src/model/trace.cpp", '#include "base/../model/trace.h"\n', 1, "room/file.h")

    def test_header_in_angle_brackets(self):
        self.assert_one("src/model/trace.cpp", "#include <model/trace.h>\n", 1, '"model/trace.h"')
        self.assert_one("src/capture/drain.cpp", "#include <offwait/event.h>\n", 1, '"offwait/event.h"')

    def test_tests_from_outside(self):
        self.assert_one("src/model/trace.cpp", '#include "reference/cascade.h"\n', 1, "room/file.h")
        self.assert_one("src/model/trace.cpp", '#include "tests/reference/cascade.h"\n', 1, "room/file.h")
        self.assert_one("bpf/sched.bpf.c", '#include "tests/fake.h"\n', 1)
        self.assert_one("examples/figure1/figure1.cpp", '#include "../../tests/fake.h"\n', 1, "its own headers")
        self.assert_one("include/offwait/event.h", '#include "tests/fake.h"\n', 1)

    def test_main_sees_cli_only(self):
        self.assert_one("src/main.cpp", '#include "model/trace.h"\n', 1, "main does not depend on model")

    def test_contract_is_plain_c(self):
        self.assert_one("include/offwait/event.h", "#include <vector>\n", 1, "plain C")
        self.assert_one("include/offwait/event.h", '#include "base/result.h"\n', 1, "plain C")

    def test_bpf_programs(self):
        self.assert_one("bpf/sched.bpf.c", "#include <linux/bpf.h>\n", 1, "<bpf/...>")
        self.assert_one("bpf/sched.bpf.c", '#include "base/result.h"\n', 1)

    def test_example_uses_nothing_of_offwait(self):
        self.assert_one("examples/convoy/convoy.cpp", "#include <base/result.h>\n", 1, "its own headers")

    def test_computed_include(self):
        self.assert_one("src/model/trace.cpp", "#define H <vector>\n#include H\n", 2, "computed")

    def test_undeclared_room(self):
        status, output = check({"src/utils/misc.h": ""})
        self.assertEqual((status, output), (1, "src/utils/misc.h: utils is no room of src/CMakeLists.txt\n"))

    def test_order_of_rooms(self):
        status, output = check({"src/CMakeLists.txt": CLEAN["src/CMakeLists.txt"].replace("(base)", "(base DEPENDS cli)")})
        self.assertEqual(status, 1)
        self.assertIn("base depends on cli, which is no room declared above it", output)


if __name__ == "__main__":
    unittest.main()
