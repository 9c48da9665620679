#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""offwait report, which reads text and prints reports. Needs no root.

With sanitizers, the tests of 1 GB of text run only if OFFWAIT_SLOW_TESTS=1.
"""

import contextlib
import itertools
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import threading
import unittest

import harness
from harness import OFFWAIT, TRACES, TestCase, environment, run

SANITIZED = b"__asan_init" in pathlib.Path(OFFWAIT).read_bytes()
# Such a test takes seconds with the executable that ships, and half a minute with sanitizers.
SLOW = unittest.skipIf(SANITIZED and not os.environ.get("OFFWAIT_SLOW_TESTS"), "slow: OFFWAIT_SLOW_TESTS=1 runs it")
FLAMEGRAPH = pathlib.Path("/usr/share/perl5/Devel/NYTProf/flamegraph.pl")
HEADER = "offwait-waits 1\nwindow 0 1000\n"


class Reports(TestCase):
    # The knots of each trace with --no-merge, by the names of their actors.
    KNOTS = {
        "barrier": [("rank-0", "rank-1", "rank-2", "rank-3")],
        "blocked-samples-case1": [],
        "figure1": [("B", "vda")],
        "figure3": [],
        "hostile-names": [],
        "lock-convoy": [("convoy", "convoy", "convoy", "convoy")],
        "open-ends": [],
    }
    # The expected texts, as tests/unit/report/golden.py makes them.
    EXPECTED = {
        "barrier": ("barrier", []),
        "blocked-samples-case1": ("blocked-samples-case1", ["--explain"]),
        "figure1": ("figure1", ["--explain"]),
        "figure3": ("figure3", ["--explain"]),
        "hostile-names": ("hostile-names", ["--explain"]),
        "lock-convoy": ("lock-convoy", []),
        "lock-convoy-no-merge": ("lock-convoy", ["--no-merge"]),
        "open-ends": ("open-ends", []),
    }

    def test_every_trace_gives_its_expected_text(self):
        self.assertEqual({trace for trace, _ in self.EXPECTED.values()}, {file.stem for file in TRACES.glob("*.txt")})
        for name, (trace, options) in self.EXPECTED.items():
            with self.subTest(name):
                result = run("report", TRACES / f"{trace}.txt", *options)
                self.assertEqual(result.stdout.decode(), (harness.EXPECTED / f"{name}.expected").read_text("utf-8"))
                self.assertEqual(result.stderr, b"")
                self.assertEqual(result.returncode, 0)

    def test_every_trace_gives_valid_json_with_its_knots(self):
        self.assertEqual(set(self.KNOTS), {file.stem for file in TRACES.glob("*.txt")})
        for name, knots in self.KNOTS.items():
            with self.subTest(name):
                result = run("report", TRACES / f"{name}.txt", "--json", "-", "--no-merge")
                report = self.valid_json(result.stdout)
                self.assertEqual(harness.knots(report), knots)
                self.assertEqual(result.stderr, b"")
                self.assertEqual(result.returncode, 0)

    def test_a_module_without_names_is_noted_with_what_to_do(self):
        """Figure 1 as it looks if its program is stripped; the C library has names."""
        named = (TRACES / "figure1.txt").read_text("utf-8")
        stripped = re.sub(r"\w+\+0x(\w+)%20\(figure1\)", r"[figure1+0x\1]", named)
        self.assertNotEqual(stripped, named)
        note = b"offwait: functions of figure1 have no names here: install the -dbgsym package, or record with --debuginfod\n"
        self.assertEqual(run("report", given(self, stripped)).stderr, note)
        self.assertEqual(run("report", "-q", given(self, stripped)).stderr, b"")
        half = stripped.replace("[figure1+0x", "known+0x1%20(figure1);[figure1+0x", 1)
        self.assertEqual(run("report", given(self, half)).stderr, b"")

    def test_figure1_longest_wait_is_not_in_the_knot(self):
        report = self.valid_json(run("report", "--json", "-", TRACES / "figure1.txt").stdout)
        names = [actor["name"] for actor in report["actors"]]
        edges = {(names[edge["from"]], names[edge["to"]]): edge for edge in report["edges"]}
        threads = {ends: edge for ends, edge in edges.items() if edge["waits"] > 0}
        self.assertEqual(max(threads, key=lambda ends: threads[ends]["wait_s"]), ("A", "B"))
        in_knots = {(names[edge["from"]], names[edge["to"]]) for knot in report["knots"] for edge in knot["edges"]}
        self.assertEqual(in_knots, {("B", "vda"), ("vda", "B")})

    def test_figure3_weights(self):
        report = self.valid_json(run("report", "--json", "-", TRACES / "figure3.txt").stdout)
        tids = [actor.get("tid") for actor in report["actors"]]
        self.assertEqual({(tids[edge["from"]], tids[edge["to"]]): edge["weight_s"] for edge in report["edges"]},
                         {(1, 2): 3.0, (2, 3): 4.0})

    def test_standard_input_is_a_file_like_any_other(self):
        file = TRACES / "figure1.txt"
        with open(file, "rb") as stdin:
            piped = run("report", "-", stdin=stdin)
        self.assertEqual(piped.stdout, run("report", file).stdout)
        self.assertEqual((piped.stderr, piped.returncode), (b"", 0))

    def test_json_file_beside_the_text(self):
        with tempfile.TemporaryDirectory() as directory:
            json_file = pathlib.Path(directory) / "report.json"
            result = run("report", TRACES / "figure1.txt", "--json", json_file)
            self.assertEqual(result.stdout, run("report", TRACES / "figure1.txt").stdout)
            self.assertEqual(json_file.read_bytes(), run("report", TRACES / "figure1.txt", "--json", "-").stdout)

    def test_files_are_written_though_nobody_reads_standard_output(self):
        trace = TRACES / "figure1.txt"
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "file"
            for here, there in (("--json", "--folded"), ("--folded", "--json")):
                expected = run("report", trace, there, "-").stdout
                self.assertNotEqual(expected, b"")
                with self.subTest(file=there):
                    reader, writer = os.pipe()
                    os.close(reader)
                    with os.fdopen(writer, "wb") as closed:
                        result = run("report", trace, here, "-", there, file, stdout=closed)
                    self.assertEqual((result.returncode, result.stderr), (-signal.SIGPIPE, b""))
                    self.assertEqual(file.read_bytes(), expected)
                    file.unlink()
                    with open("/dev/full", "wb") as full:
                        self.fails(1, "cannot write to standard output: No space left on device", "report", trace, here, "-",
                                   there, file, stdout=full)
                    self.assertEqual(file.read_bytes(), expected)

    def test_one_file_that_cannot_be_written_costs_no_other(self):
        trace = TRACES / "figure1.txt"
        with tempfile.NamedTemporaryFile() as folded:
            result = self.fails(1, "cannot write /dev/full: No space left on device", "report", trace, "--json", "/dev/full",
                                "--folded", folded.name)
            self.assertEqual(result.stdout, run("report", trace).stdout)
            self.assertEqual(folded.read(), run("report", trace, "--folded", "-").stdout)

    def test_folded_stacks(self):
        trace = harness.EXPECTED / "samples.txt"
        result = run("report", trace, "--folded", "-", "--folded-kind", "off-wake")
        self.assertEqual(result.stdout.decode(), "A;threadA;pthread_cond_wait;futex_do_wait;--;"
                                                 "pthread_cond_signal;threadB;B 8000000\n")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        with tempfile.NamedTemporaryFile() as folded:
            result = run("report", trace, "--folded", folded.name, "--folded-kind", "on-cpu")
            self.assertEqual(folded.read().decode(), "A 1\n"
                                                     "B;threadB;flush;write;_raw_spin_lock 1\n"
                                                     "B;threadB;flush;write;copy_page 1\n"
                                                     "B;threadB;funB 5\n"
                                                     "B;threadB;other 1\n"
                                                     "B;threadB;unwaited 2\n")
            self.assertIn("SATURATED", result.stdout.decode())

    @unittest.skipUnless(FLAMEGRAPH.exists(), "needs libdevel-nytprof-perl")
    def test_folded_stacks_are_read_by_flamegraph(self):
        for name in ("figure1", "hostile-names"):
            for kind in ("off-cpu", "off-wake"):
                with self.subTest(name=name, kind=kind):
                    folded = run("report", TRACES / f"{name}.txt", "--folded", "-", "--folded-kind", kind).stdout
                    drawn = subprocess.run(["perl", FLAMEGRAPH, "--countname", "us"], input=folded, check=True,
                                           capture_output=True)
                    self.assertEqual(drawn.stderr, b"")
                    total = sum(int(line.rsplit(b" ", 1)[1]) for line in folded.splitlines())
                    self.assertIn(f"<title>all ({total:,} us, 100%)</title>", drawn.stdout.decode())

    def test_capacity_given_on_the_command_line_counts(self):
        report = self.valid_json(run("report", "--json", "-", "--disk-capacity", "vda=1G,400k",
                                     TRACES / "figure1.txt").stdout)
        self.assertEqual([disk["capacity"] for disk in report["disks"]],
                         [{"bytes_per_s": 1e9, "ios_per_s": 4e5, "source": "given", "raised": False,
                           "measured_on": None}])
        other = run("report", "--disk-capacity", "sdz=1G,1k", TRACES / "figure1.txt")
        self.assertEqual(other.stderr, b"offwait: --disk-capacity sdz: no thread waited for a disk of this name\n")
        self.assertEqual(other.returncode, 0)
        other = run("report", "--nic-capacity", "eth9=1G", TRACES / "figure1.txt")
        self.assertEqual(other.stderr, b"offwait: --nic-capacity eth9: no thread waited for an interface of this name\n")
        self.assertEqual(run("report", "-q", "--disk-capacity", "sdz=1G,1k", TRACES / "figure1.txt").stderr, b"")

    def test_output_that_is_no_terminal_has_no_colour(self):
        for env in (environment(), environment(NO_COLOR="1"), environment(TERM="dumb")):
            for trace in TRACES.glob("*.txt"):
                self.harmless(run("report", trace, "-v", "--explain", env=env).stdout)

    def test_a_locale_without_utf8_gets_ascii(self):
        for trace in TRACES.glob("*.txt"):
            self.assertTrue(run("report", trace, "-v", "--explain", env=environment(LC_ALL="C")).stdout.isascii())

    def test_hostile_names_are_escaped_everywhere(self):
        trace = TRACES / "hostile-names.txt"
        self.harmless(run("report", "-v", "--explain", trace).stdout)
        report = self.valid_json(run("report", "--json", "-", "--no-merge", trace).stdout)
        names = {actor["name"] for actor in report["actors"]}
        for name in (r"\x1b]0;owned\x07", r"\x0d\x0a\x09\x08\x7f", r"\xc3(\xf0\x9f\x92", r"\u{202e}\u{200b}evil",
                     r"\x1b[Hsda #=;%"):
            self.assertIn(name, names)


def given(test, content):
    """Makes a file with this content; yields its name."""
    if isinstance(content, str):
        content = content.encode()
    file = tempfile.NamedTemporaryFile(suffix=".txt")
    test.addCleanup(file.close)
    file.write(content)
    file.flush()
    return file.name


class PartsOfTheTarget(TestCase):
    """--comm and --threads on a trace of two processes. In each of them two threads take turns; `tap`, in the second one,
    wakes no thread and is woken by none."""
    THREADS = {11: "left", 12: "left-2", 21: "right", 22: "right-2", 23: "tap"}

    def setUp(self):
        lines = [f"thread {tid} tgid={tid // 10 * 10 + 1} comm={name} start=0 exit=-"
                 for tid, name in self.THREADS.items()]
        for turn in range(0, 1000000, 20000):
            for first, second in ((11, 12), (21, 22)):
                lines.append(f"wait {second} block={turn} wake={turn + 10000} run={turn + 10000} waker=thread:{first} "
                             "class=futex")
                if turn < 980000:
                    lines.append(f"wait {first} block={turn + 10000} wake={turn + 20000} run={turn + 20000} "
                                 f"waker=thread:{second} class=futex")
        lines.append("wait 23 block=0 wake=1000000 run=1000000 waker=thread:22 class=futex")
        self.file = given(self, "offwait-waits 1\nwindow 0 1000000\n" + "\n".join(lines) + "\n")

    def report(self, *options):
        result = run("report", self.file, "--no-merge", "--json", "-", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.valid_json(result.stdout)

    def test_all_of_it(self):
        report = self.report()
        self.assertEqual(harness.knots(report), [("left", "left-2"), ("right", "right-2")])
        self.assertEqual((report["options"]["comm"], report["options"]["threads"]), ([], []))

    def test_the_knots_are_those_of_the_chosen_process(self):
        report = self.report("--comm", "left")
        self.assertEqual(harness.knots(report), [("left", "left-2")])
        self.assertEqual({a["name"]: a["outside"] for a in report["actors"]},
                         {name: not name.startswith("left") for name in self.THREADS.values()})
        self.assertEqual(report["totals"]["threads"], 2)
        self.assertEqual(report["options"]["comm"], ["left"])

    def test_a_knot_of_other_threads_is_found_if_a_chosen_thread_waits_for_it(self):
        report = self.report("--threads", "tap")
        self.assertEqual(harness.knots(report), [("right", "right-2")])
        self.assertEqual([a["name"] for a in report["actors"] if not a["outside"]], ["tap"])

    def test_the_head_says_so(self):
        for options, said in ((["--comm", "left"], "processes called left"),
                              (["--threads", "right", "--threads", "t*"], "threads called right or t*"),
                              (["--threads", "*-2", "--comm", "r*"], "threads called *-2 of processes called r*")):
            text = run("report", self.file, *options).stdout.decode()
            self.assertIn(f"\nOnly {said} count as the target; all others are outside.\n", text)
        self.assertNotIn("count as the target", run("report", self.file).stdout.decode())

    def test_folded_stacks_are_of_the_chosen_threads(self):
        folded = run("report", self.file, "--threads", "left*", "--folded", "-").stdout.decode()
        self.assertEqual({line.split(";")[0].split(" ")[0] for line in folded.splitlines()}, {"left", "left-2"})

    def test_a_pattern_that_matches_nothing(self):
        self.fails(2, "--comm: no process of the target is called 'tap'; there are 'left', 'right'", "report",
                   self.file, "--comm", "tap")
        self.fails(2, "--threads: no thread of the chosen processes is called 'tap'; there are 'left', 'left-2'",
                   "report", self.file, "--comm", "left", "--threads", "*", "--threads", "tap")
        result = self.fails(2, re.compile(r"^offwait: --threads: no thread of the target is called 'x'; there are '"),
                            "report", TRACES / "hostile-names.txt", "--threads", "x")
        self.assertIn(rb"\x1b]0;owned\x07", result.stderr)


class Asked(TestCase):
    """--progress and --what-if on two programs in one target: `slow` waits for the disk vda for most of the time, `busy`
    computes for most of it."""
    # Of 4 ms, slow-1 and slow-2 wait for the disk vda for 3.5 ms, and busy runs for 3.5 ms: this is the gain of either in
    # half of the time.
    GAIN = 4 / (0.5 + 3.5 / 2) - 1

    def setUp(self):
        lines = [f"thread {tid} tgid=1 comm={name} start=0 exit=-"
                 for tid, name in ((1, "slow-1"), (2, "slow-2"), (3, "busy"))]
        for turn in range(0, 2_000_000_000, 4_000_000):
            end = turn + 4_000_000
            for tid, begin, disk in ((1, turn + 500_000, "vda"), (2, turn + 500_000, "vda"), (3, turn + 3_500_000, "vdb")):
                lines.append(f"wait {tid} block={begin} wake={end} run={end} waker=disk:{disk} class=disk")
        self.file = given(self, "offwait-waits 1\nwindow 0 2000000000\nrecording cpus=8\n" + "\n".join(lines) + "\n")

    def report(self, *options):
        result = run("report", self.file, "--json", "-", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, b"")
        return self.valid_json(result.stdout)

    def part(self, report, answer):
        """What the answer changes, as (what, actor or disk)."""
        one = answer["device"] if answer["device"] is not None else answer["actor"]
        return answer["what"], report["actors"][one]["name"]

    def test_the_first_answer_is_for_the_progress_that_the_user_names(self):
        self.assertEqual(self.report()["answers"][0]["certainty"], "split")
        for pattern, what in (("slow*", ("disk", "vda")), ("comm:slow-2", ("disk", "vda")), ("busy", ("cpu", "busy"))):
            with self.subTest(pattern):
                report = self.report("--progress", pattern)
                self.assertEqual([one["how"] for one in report["progress"]], ["told"])
                first = report["answers"][0]
                self.assertIn(self.part(report, first), [what, ("io", what[1])])
                self.assertAlmostEqual(first["gain"], self.GAIN, delta=0.02)
                self.assertEqual(first["certainty"], "sure")
        text = run("report", self.file, "--progress", "busy").stdout.decode()
        self.assertIn("\nprogress  busy: named by --progress\n", text)
        self.assertIn("\n1  busy's CPU work halved: +78%", text)

    def test_what_if_a_disk_were_twice_as_fast_is_the_answer_of_that_disk(self):
        report = self.report("--progress", "slow*", "--what-if", "disk vda /2", "--what-if", "disk vdb /2")
        vda = next(one for one in report["answers"] if self.part(report, one) == ("disk", "vda"))
        self.assertEqual(report["what_if"][0], {"asked": "disk vda /2", **{key: vda[key] for key in
                                                                          ("gain", "low", "high", "certainty", "doubt")}})
        self.assertEqual(report["what_if"][1]["asked"], "disk vdb /2")
        self.assertAlmostEqual(report["what_if"][1]["gain"], 0, delta=0.001)

    def test_changes_together(self):
        report = self.report("--progress", "slow*", "--what-if", " disk vda /4, comm:slow* cpu /2 ", "--what-if",
                             "comm:slow-? io vda *2,comm:busy sleep /2")
        self.assertEqual(report["what_if"][0]["asked"], "disk vda /4, comm:slow* cpu /2")
        self.assertAlmostEqual(report["what_if"][0]["gain"], 4 / (0.25 + 3.5 / 4) - 1, delta=0.02)
        self.assertAlmostEqual(report["what_if"][1]["gain"], 4 / (0.5 + 3.5 * 2) - 1, delta=0.02)

    def test_the_text_has_a_line_for_each(self):
        result = run("report", self.file, "--progress", "slow*", "--what-if", "disk vda /2", "--what-if", "disk vdb *3")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertIn("\nwhat if disk vda /2: +78% (63 to 92) [sure]\nwhat if disk vdb *3: +0% (-2 to 2) [sure]\n", result.stdout.decode())
        self.assertNotIn("what if", run("report", self.file).stdout.decode())

    def test_the_end_of_a_command(self):
        # It computes for 1 s, waits 3 s for a child that computes, and computes for 1 s again.
        file = given(self, "offwait-waits 1\nwindow 0 8000000000\nrecording cpus=2 command=1\n"
                     "thread 1 tgid=1 comm=make start=0 exit=5000000000\n"
                     "thread 2 tgid=2 comm=cc start=1000000000 exit=4000000001 parent=1\n"
                     "wait 1 block=1000000001 wake=4000000000 run=4000000000 waker=thread:2 class=child\n")
        for options in ([], ["--progress", "end"]):
            report = self.valid_json(run("report", file, "--json", "-", "--what-if", "comm:* cpu /2", *options).stdout)
            self.assertEqual([(one["how"], one["name"], one["end_s"]) for one in report["progress"]], [("end", "make", 5.0)])
            first = report["answers"][0]
            self.assertEqual(self.part(report, first), ("cpu", "cc"))
            self.assertAlmostEqual(first["gain"], 5 / 3.5 - 1, delta=0.001)
            # The time saved is known to within 10 %, and the rest to within 2 %.
            error = abs(complex(0.1 * first["gain"], 0.02)) * (1 + first["gain"])
            self.assertAlmostEqual((first["high"] - first["low"]) / 2, error, delta=0.002)
            self.assertEqual(first["certainty"], "sure")
            self.assertAlmostEqual(report["what_if"][0]["gain"], 1, delta=0.001)
        report = self.valid_json(run("report", file, "--json", "-", "--progress", "cc").stdout)
        self.assertEqual([one["how"] for one in report["progress"]], ["told"])
        self.fails(2, "--progress end: this is no recording of a program from its start to its end, as 'offwait record "
                   "-o FILE -- PROGRAM' makes it", "report", self.file, "--progress", "end")

    def test_mistakes_name_what_is_wrong_and_what_there_is(self):
        for sentence, options in (
                ("--progress: no thread is called 'x*'; there are 'busy', 'slow-1', 'slow-2'", ["--progress", "x*"]),
                ("--what-if 'disk sda /2': no recorded disk is called 'sda'; there are 'vda', 'vdb'",
                 ["--what-if", "disk sda /2"]),
                ("--what-if 'comm:x cpu /2': no recorded thread is called 'x'; there are 'busy', 'slow-1', 'slow-2'",
                 ["--what-if", "comm:x cpu /2"]),
                ("--what-if 'comm:slow-1 cpu /2': 'slow-1' is the name of 1 of 2 similar threads, one of them 'slow-1', and "
                 "they are changed together: write a pattern that matches all of them",
                 ["--what-if", "comm:slow-1 cpu /2"])):
            with self.subTest(options):
                self.fails(2, sentence, "report", self.file, *options)
        for sentence, text in (
                ("--what-if 'disk vda': 'vda' stands where a factor is expected: /2 is half of the time, *2 twice as much",
                 "disk vda"),
                (r"--what-if '\x1b[2J cpu /2': '\x1b[2J' is nothing that can be changed: write 'disk vda /2', 'cpus *2' or "
                 "'comm:worker* cpu /2'", "\x1b[2J cpu /2")):
            with self.subTest(text):
                self.misused(sentence, "report", self.file, "--what-if", text)


class BadInput(TestCase):
    def given(self, content):
        return given(self, content)

    def bad(self, content, sentence):
        name = self.given(content)
        result = self.fails(1, f"{name}:{sentence}", "report", name)
        self.assertEqual(result.stdout, b"")
        # The answer is the same when the text comes through a pipe.
        with open(name, "rb") as stdin:
            self.fails(1, f"standard input:{sentence}", "report", "-", stdin=stdin)

    def test_no_such_file(self):
        self.fails(1, "cannot read /nonexistent/w.txt: No such file or directory", "report", "/nonexistent/w.txt")

    def test_a_recording_is_not_overwritten(self):
        recorded = (TRACES / "figure1.txt").read_text("utf-8")
        name = self.given(recorded)
        for option in ("--json", "--folded"):
            self.fails(2, f"{name} is the recording itself: write to another file", "report", name, option, name)
            with open(name, "rb") as stdin:
                self.fails(2, f"{name} is the recording itself: write to another file", "report", "-", option, name,
                           stdin=stdin)
            with open(name, encoding="utf-8") as file:
                self.assertEqual(file.read(), recorded)

    def test_a_name_that_hurts(self):
        self.fails(1, r"cannot read /\x1b[31m\x0a: No such file or directory", "report", "/\x1b[31m\n")

    def test_garbage(self):
        garbage = random.Random(1).randbytes(100_000)
        name = self.given(garbage)
        self.fails(1, f"{name}: not a recording of offwait", "report", name)

    def test_an_executable(self):
        self.fails(1, f"{OFFWAIT}: not a recording of offwait", "report", OFFWAIT)

    def test_a_line_of_garbage(self):
        for seed in range(20):
            line = bytes(byte for byte in random.Random(seed).randbytes(2000) if byte != 0x0a)
            name = self.given(HEADER.encode() + b"x" + line + b"\n")
            result = run("report", name)
            self.assertEqual(result.returncode, 1)
            self.harmless(result.stderr)
            self.assertRegex(result.stderr.decode(), "^offwait: .*:3: .*\n$")

    def test_a_wrong_line_is_named_by_file_and_number(self):
        name = self.given(HEADER + "# fine\n\nthread 1 tgid=1 comm=a start=0 exit=- colour=red\n")
        result = self.fails(1, re.compile(rf"^offwait: {name}:5: .*colour"), "report", name)
        self.assertEqual(result.stdout, b"")
        for line in ("frob 1", "wait 1 block=1", "wait 1 block=9 wake=5 run=7 waker=timer class=poll"):
            name = self.given(HEADER + line + "\n")
            self.fails(1, re.compile(rf"^offwait: {name}:3: \S"), "report", name)

    def test_truncated_anywhere(self):
        whole = (TRACES / "figure3.txt").read_bytes()
        ends = set(range(0, len(whole), 37)) | {len(whole) - 1}
        for end in sorted(ends):
            cut = whole[:end]
            with self.subTest(end):
                name = self.given(cut)
                result = run("report", name)
                self.harmless(result.stderr)
                if cut.endswith(b"\n") and b"\nwindow" in cut:
                    continue  # a cut between lines leaves a valid trace
                self.assertEqual(result.returncode, 1)
                self.assertRegex(result.stderr.decode(), rf"^offwait: {name}(:\d+: \S.*|: not a recording of offwait| is empty: nothing was recorded yet)\n$")
                self.assertEqual(result.stdout, b"")

    def test_a_trace_without_threads_is_reported_and_fails(self):
        self.fails(1, "no thread of the target lived in this window: there is nothing to analyse", "report",
                   self.given(HEADER))

    def test_unwritable_output(self):
        trace = TRACES / "figure1.txt"
        self.fails(1, "cannot write /nonexistent/r.json: No such file or directory", "report", trace, "--json",
                   "/nonexistent/r.json")
        self.fails(1, "cannot write /tmp: Is a directory", "report", trace, "--json", "/tmp")
        self.fails(1, "cannot write /dev/full: No space left on device", "report", trace, "--json", "/dev/full")
        self.fails(1, "cannot write /dev/full: No space left on device", "report", trace, "--folded", "/dev/full")
        with open("/dev/full", "wb") as full:
            self.fails(1, "cannot write to standard output: No space left on device", "report", trace, stdout=full)
            self.fails(1, "cannot write to standard output: No space left on device", "report", trace, "--json", "-",
                       stdout=full)

    def test_wrong_command_lines(self):
        for sentence, arguments in (
                ("report needs a FILE: what 'offwait record' or 'offwait dump' has written, - for standard input, or a directory for the newest in it", ["report"]),
                ("unexpected 'b': report takes one FILE", ["report", "a", "b"]),
                ("report has no option -p: offwait, offwait record, offwait top and offwait dump have it", ["report", "-p", "1", TRACES / "figure1.txt"]),
                ("report has no option -o; did you mean --json?", ["report", TRACES / "figure1.txt", "-o", "x"]),
                ("--json and --folded both want /tmp/x: write one of them to another file",
                 ["report", TRACES / "figure1.txt", "--json", "/tmp/x", "--folded", "/tmp/x"]),
                ("say what to record: -p PID or NAME, -t TID, -c CGROUP, --unit NAME, --container ID, -a or -- COMMAND", []),
                ("say what to record: -p PID or NAME, -t TID, -c CGROUP, --unit NAME, --container ID, -a or -- COMMAND", ["dump"]),
                ("-p and -t each say what to record: choose one", ["-p", "1", "-t", "1"]),
                ("bad duration '1x': expected something like 90, 90s, 1m30s or 500ms, at most 24h",
                 ["-p", "1", "-d", "1x"]),
                ("bad duration '0': expected something like 90, 90s, 1m30s or 500ms, at most 24h",
                 ["dump", "-p", "1", "-d", "0"]),
                ("bad number of a process or thread '1x': expected a whole number from 1 to 2147483647",
                 ["-p", "1x"]),
                (r"unknown command '\x1b[2J' (commands: record, top, report, diff, dump, export, calibrate, doctor; a running process is -p "
                 "NAME, a program to run stands after --)", ["\x1b[2J"]),
        ):
            with self.subTest(arguments):
                self.misused(sentence, *arguments)

    def test_help_and_version_go_to_stdout(self):
        short = run("-h")
        self.assertEqual((short.stderr, short.returncode), (b"", 0))
        self.assertEqual(len(re.findall(rb"^  offwait ", short.stdout, re.MULTILINE)), 5)
        self.assertTrue(short.stdout.endswith(b"All options and commands: offwait --help, or man offwait\n"))
        for arguments in (["--help"], ["help"], ["report", "--help"], ["help", "report"], ["dump", "--help"]):
            result = run(*arguments)
            self.assertEqual((result.stderr, result.returncode), (b"", 0))
            self.assertIn(b"\nExamples:\n", result.stdout)
            self.assertLessEqual(max(map(len, result.stdout.decode().splitlines())), 100)
        for arguments in (["--version"], ["-V"]):
            result = run(*arguments)
            self.assertEqual((result.stderr, result.returncode), (b"", 0))
            self.assertRegex(result.stdout, rb"^offwait \d+\.\d+\.\d+\n$")


class LargeInput(TestCase):
    """Memory is bounded by what the text contains, not by its length."""

    # The memory that any run takes; sanitizers keep much of what was freed.
    FIXED_BYTES = (400 if SANITIZED else 100) << 20

    def piped(self, chunks, limit=None):
        """Runs a report on the text in `chunks`, or at most `limit` bytes of it. Returns (result, bytes taken, peak
        memory)."""
        process = subprocess.Popen([OFFWAIT, "report", "-v", "--json", "/dev/null", "-"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        output = {}
        readers = [threading.Thread(target=lambda name=name: output.update({name: getattr(process, name).read()}))
                   for name in ("stdout", "stderr")]
        for reader in readers:
            reader.start()
        taken = 0
        try:
            for chunk in chunks:
                process.stdin.write(chunk)
                taken += len(chunk)
                if limit and taken >= limit:
                    break
            process.stdin.close()
        except BrokenPipeError:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
        for reader in readers:
            reader.join()
        process.stdout.close()
        process.stderr.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return output, process.returncode, taken, usage.ru_maxrss << 10

    def waits(self, count):
        """Text with about `count` waits of two threads for each other and for the timer."""
        yield (f"offwait-waits 1\nwindow 0 {(count // 3000 + 1) * 10 ** 9}\n"
               "thread 1 tgid=1 comm=a start=0 exit=-\nthread 2 tgid=1 comm=b start=0 exit=-\n").encode()
        lines = []
        for i in range(1000):
            at = i * 900_000
            for tid, offset, rest in ((1, 0, "waker=thread:2 class=futex"), (2, 300_000, "waker=thread:1 class=futex"),
                                      (1, 600_000, "waker=timer class=sleep")):
                block, wake = at + offset, at + offset + 200_000
                lines.append(f"wait {tid} block=@{block:09} wake=@{wake:09} run=@{wake + 500:09} {rest}\n")
        template = "".join(lines).encode()
        for second in range(count // 3000):
            yield template.replace(b"@", str(second).encode() if second else b"")

    def check(self, waits):
        output, status, taken, peak = self.piped(self.waits(waits))
        self.assertEqual(status, 0, output["stderr"])
        self.assertIn(f"{waits:,} waits".encode(), output["stdout"])
        self.assertLess(peak, 64 * waits + self.FIXED_BYTES)
        print(f"{taken / 1e6:.0f} MB of text, {waits:,} waits: peak {peak / 1e6:.0f} MB, "
              f"{peak / waits:.0f} B a wait", flush=True)

    def test_a_million_waits(self):
        self.check(999_000)

    @SLOW
    def test_a_gigabyte_of_waits(self):
        self.check(12_000_000)

    @SLOW
    def test_a_gigabyte_of_comments(self):
        comments = itertools.repeat(b"# nothing to see here, for a whole line of text\n" * 20_000, 1_100)
        output, status, taken, peak = self.piped(itertools.chain([HEADER.encode()], comments))
        self.assertGreater(taken, 1_000_000_000)
        self.assertEqual(output["stderr"],
                         b"offwait: no thread of the target lived in this window: there is nothing to analyse\n")
        self.assertEqual(status, 1)
        self.assertLess(peak, self.FIXED_BYTES)

    def test_one_endless_line(self):
        endless = itertools.chain([HEADER.encode(), b"wait 1 stack="], itertools.repeat(b"f;" * 500_000))
        output, status, taken, peak = self.piped(endless, limit=10 ** 9)
        self.assertEqual(status, 1)
        self.assertRegex(output["stderr"].decode(), r"^offwait: standard input:3: .*\n$")
        self.assertLess(taken, 10 ** 8)
        self.assertLess(peak, self.FIXED_BYTES)

    def test_endless_garbage(self):
        garbage = itertools.repeat(random.Random(7).randbytes(1 << 20))
        output, status, taken, peak = self.piped(garbage, limit=10 ** 9)
        self.assertEqual(status, 1)
        self.assertEqual(output["stderr"],
                         b"offwait: standard input: not a recording of offwait\n")
        self.assertLess(taken, 10 ** 8)
        self.assertLess(peak, self.FIXED_BYTES)


if __name__ == "__main__":
    harness.main(needs_root=False)
