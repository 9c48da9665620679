#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""offwait diff, which reads recordings of two sides and prints what changed. Needs no root."""

import json
import pathlib
import subprocess
import tempfile

import harness
import simulated
from harness import ROOT, TestCase, environment, run

SAMPLES = ROOT / "tests" / "unit" / "report"
BEFORE = [SAMPLES / f"diff-before-{i}.txt" for i in (1, 2, 3)]
AFTER = [SAMPLES / f"diff-after-{i}.txt" for i in (1, 2, 3)]
SCHEMA = json.loads((ROOT / "src" / "report" / "offwait-diff-1.schema.json").read_text("utf-8"))
FLAMEGRAPH = pathlib.Path("/usr/share/perl5/Devel/NYTProf/flamegraph.pl")
NEEDS = ("diff needs two recordings, as in 'offwait diff BEFORE AFTER', or several on each side of a --, as in "
         "'offwait diff A1 A2 -- B1 B2'")


def changed(rows, amount):
    return [row for row in rows if row[amount]["change"] != "none"]


class Diff(TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def written(self, name, text):
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        return path

    def recorded(self, file, seed, **options):
        return self.written(file, simulated.recording(seed, **options))

    def compared(self, *arguments):
        """The JSON of a comparison, checked against the schema."""
        result = run("diff", "--json", "-", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.harmless(result.stdout)
        comparison = json.loads(result.stdout)
        validator = harness.validate_schema.jsonschema.Draft202012Validator(SCHEMA)
        self.assertEqual([f"{error.json_path}: {error.message}" for error in validator.iter_errors(comparison)], [])
        return comparison

    def text(self, *arguments):
        result = run("diff", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.harmless(result.stdout)
        return result.stdout.decode()


class Results(Diff):
    def test_expected_texts(self):
        for name, arguments in (("diff-one", [BEFORE[0], AFTER[0]]), ("diff-three", [*BEFORE, "--", *AFTER]),
                                ("diff-verbose", ["-v", *BEFORE, "--", *AFTER])):
            with self.subTest(name):
                result = run("diff", *[argument.name if isinstance(argument, pathlib.Path) else argument
                                       for argument in arguments], cwd=SAMPLES)
                self.assertEqual(result.stdout.decode(), (SAMPLES / f"{name}.expected").read_text("utf-8"))

    def test_three_of_each_side(self):
        found = self.compared(*BEFORE, "--", *AFTER)
        self.assertEqual(found["unit"], {"per": "answer", "functions": []})
        self.assertEqual([len(found[side]["recordings"]) for side in ("before", "after")], [3, 3])
        self.assertEqual(found["spread_from"], "recordings")
        first = found["edges"][0]
        self.assertEqual((first["from"]["name"], first["to"]), ("srv-*", {"kind": "disk", "name": "vda"}))
        self.assertEqual(first["weight"]["change"], "shrank")
        self.assertEqual(len(first["weight"]["each_before"]), 3)
        self.assertAlmostEqual(first["wait_before"], 0.040, delta=0.006)
        self.assertAlmostEqual(first["wait_after"], 0.008, delta=0.002)
        self.assertEqual(found["throughput"]["change"], "grew")
        weight = first["weight"]
        self.assertGreater(abs(weight["difference"]), weight["spread"])
        self.assertAlmostEqual(weight["difference"], weight["after"] - weight["before"], places=8)
        self.assertEqual(changed(found["functions"], "time")[0]["function"], "fdatasync")

    def test_every_field_that_the_schema_requires_is_needed(self):
        found = self.compared(*BEFORE, "--", *AFTER)
        validator = harness.validate_schema.jsonschema.Draft202012Validator(SCHEMA)
        paths = list(harness.validate_schema.required_fields(SCHEMA, SCHEMA, found, []))
        self.assertGreater(len(paths), 100)
        for path in paths:
            copy = json.loads(json.dumps(found))
            parent = copy
            for step in path[:-1]:
                parent = parent[step]
            del parent[path[-1]]
            self.assertFalse(validator.is_valid(copy), path)

    def test_the_other_way_round(self):
        there = self.compared(BEFORE[0], AFTER[0])["edges"][0]["weight"]
        back = self.compared(AFTER[0], BEFORE[0])["edges"][0]["weight"]
        self.assertEqual((there["before"], there["after"]), (back["after"], back["before"]))
        self.assertEqual(back["change"], "grew")

    def test_recordings_of_one_program_show_no_change(self):
        for one, other in ((BEFORE[0], BEFORE[1]), (BEFORE[1], BEFORE[2]), (AFTER[0], AFTER[1]), (AFTER[1], AFTER[2])):
            found = self.compared(one, other)
            for table, amount in (("times", "time"), ("edges", "weight"), ("edges", "waits"), ("locks", "wait"),
                                  ("locks", "waits"), ("functions", "time"), ("knots", "weight")):
                self.assertEqual(changed(found[table], amount), [], (one.name, other.name, table))
            self.assertEqual(found["headline"], "No change: all differences are within the spread.")

    def test_lengths_threads_and_numbers_of_processes_do_not_matter(self):
        before = self.recorded("a", 1, seconds=3, locked_ms=0)
        after = self.recorded("b", 2, seconds=5, locked_ms=0, workers=6, tid=50000, program="/opt/srv")
        found = self.compared(before, after)
        self.assertEqual(changed(found["edges"], "weight"), [])
        self.assertGreater(found["throughput"]["after"], 1.7 * found["throughput"]["before"])

    def test_a_lock_that_went(self):
        # One worker never waits for the lock.
        before = [self.recorded(f"a{i}", i, locked_ms=3, disk_ms=0.5, compute_ms=0.5) for i in range(3)]
        after = [self.recorded(f"b{i}", 10 + i, locked_ms=0, disk_ms=0.5, compute_ms=0.5) for i in range(3)]
        found = self.compared(*before, "--", *after)
        self.assertEqual(found["edges"][0]["weight"]["change"], "went")
        self.assertEqual(found["locks"][0]["name"], "lock of store")
        self.assertEqual(found["locks"][0]["wait"]["change"], "went")
        self.assertIn("srv-* → srv-* is gone: it was ", found["headline"])

    def test_folded_stacks_have_two_counts(self):
        result = run("diff", "--folded", "-", BEFORE[0], AFTER[0])
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        lines = [line.rsplit(" ", 2) for line in result.stdout.decode().splitlines()]
        before = {stack: int(count) for stack, count, _ in lines}
        disk = "srv-*;serve;store;fdatasync"
        self.assertIn(disk, before)
        # The first count is what a report writes; digits in names of threads are joined.
        single = [line.rsplit(" ", 1) for line in run("report", "--folded", "-", BEFORE[0]).stdout.decode().splitlines()]
        of_disk = sum(int(count) for stack, count in single if stack.endswith(";fdatasync"))
        self.assertAlmostEqual(before[disk], of_disk, delta=3)
        after = {stack: int(count) for stack, _, count in lines}
        self.assertLess(after[disk], 0.35 * before[disk])
        if FLAMEGRAPH.exists():
            svg = subprocess.run(["perl", FLAMEGRAPH], input=result.stdout, capture_output=True, check=True).stdout
            self.assertIn(b"fdatasync", svg)

    def test_all_forms_at_once(self):
        json_file, folded = self.directory / "o.json", self.directory / "o.folded"
        text = self.text("--json", json_file, "--folded", folded, BEFORE[0], AFTER[0])
        self.assertEqual(text, self.text(BEFORE[0], AFTER[0]))
        self.assertEqual(json.loads(json_file.read_text("utf-8")), self.compared(BEFORE[0], AFTER[0]))
        self.assertEqual(folded.read_bytes(), run("diff", "--folded", "-", BEFORE[0], AFTER[0]).stdout)

    def test_standard_input(self):
        with open(BEFORE[0], "rb") as file:
            result = run("diff", "--json", "-", "-", AFTER[0], stdin=file)
        self.assertEqual(json.loads(result.stdout)["edges"], self.compared(BEFORE[0], AFTER[0])["edges"])


class Caveats(Diff):
    def caveats(self, *arguments):
        return self.compared(*arguments)["caveats"]

    def test_there_are_none_for_equal_machines(self):
        self.assertEqual(self.caveats(BEFORE[0], AFTER[0]), [])

    def test_other_programs_kernels_and_machines(self):
        before = self.recorded("a", 1)
        after = self.recorded("b", 2, name="new", program="/usr/sbin/new", kernel="6.12.0", cpus=16, samples=False)
        caveats = self.caveats(before, after)
        self.assertEqual(caveats, [
            "Different programs: srv before, new after. Their threads match nowhere: whatever they do came or went.",
            "Different kernels: 6.1.0 before, 6.12.0 after.",
            "Different machines: 8 CPUs before, 16 CPUs after.",
            "Recorded differently: CPU samples before, no CPU samples after."])

    def test_progress_that_one_side_does_not_count(self):
        counted = self.recorded("a", 1)
        uncounted = self.recorded("b", 2, responses=False)
        per_second = "so all amounts are per second: a side that does more also waits more often."
        self.assertEqual(self.caveats(counted, uncounted), [f"Progress is counted before, but not after, {per_second}"])
        self.assertEqual(self.caveats(uncounted, counted), [f"Progress is counted after, but not before, {per_second}"])
        other = self.recorded("c", 3, responses=False)
        self.assertEqual(self.caveats(uncounted, other), [f"No recording counts progress, {per_second}"])
        self.assertEqual(self.compared(uncounted, other)["unit"]["per"], "second")

    def test_lost_records(self):
        lossy = self.recorded("a", 1, more="loss ringbuf_full=1000\n")
        self.assertRegex(self.caveats(lossy, AFTER[0])[-1], r"a \(before\), 1,000 of [\d,]+ records were lost")

    def test_hostile_names(self):
        before = self.recorded("a", 1, name="%1b[2J%ff)%0a")
        after = self.recorded("b", 2, name="%1b[2J%ff)%0a", disk_ms=1)
        self.assertIn(r"\x1b[2J\xff)\x0a", self.text(before, after))
        self.compared(before, after)
        ascii_text = run("diff", before, after, env=environment(LC_ALL="C")).stdout
        self.assertTrue(ascii_text.isascii())


class Mistakes(Diff):
    def test_how_many_files(self):
        self.misused(NEEDS, "diff")
        self.misused(NEEDS, "diff", "a")
        self.misused("write -- between the recordings before and those after, as in 'offwait diff a b -- c'", "diff", "a",
                     "b", "c")
        self.misused(f"no recording stands after --: {NEEDS}", "diff", "a", "--")
        self.misused(f"no recording stands before --: {NEEDS}", "diff", "--", "a")
        self.misused("there are two --: one stands between the recordings before and those after", "diff", "a", "--", "b",
                     "--", "c")
        self.misused("a is given twice: each recording counts once", "diff", "a", "a")
        self.misused("b is given twice: each recording counts once", "diff", "a", "b", "--", "c", "b")
        self.misused("standard input is given twice: each recording counts once", "diff", "-", "-")
        self.misused("the name of a file is empty", "diff", "a", "")

    def test_options(self):
        self.misused("--json - and --folded - both want standard output: write one of them to a file", "diff", "a", "b",
                     "--json", "-", "--folded", "-")
        self.misused("diff has no option --what-if: offwait and offwait report have it", "diff", "--what-if", "x", "a", "b")

    def test_files(self):
        self.fails(1, f"cannot read {self.directory}/none: No such file or directory", "diff", self.directory / "none",
                   AFTER[0])
        broken = self.written("broken", "offwait-waits 1\nwindow 0 1000\nnonsense\n")
        self.assertEqual(run("diff", BEFORE[0], broken).returncode, 1)
        self.assertIn(f"{broken}:3:".encode(), run("diff", BEFORE[0], broken).stderr)

    def test_a_recording_is_not_overwritten(self):
        copy = self.written("a", BEFORE[0].read_text("utf-8"))
        for option in ("--json", "--folded"):
            self.fails(2, f"{copy} is the recording itself: write to another file", "diff", option, copy, AFTER[0], copy)
        self.assertEqual(copy.read_bytes(), BEFORE[0].read_bytes())

    def test_a_recording_without_threads(self):
        empty = self.written("empty", "offwait-waits 1\nwindow 0 1000\n")
        self.fails(1, f"{empty}: no thread of the target lived in this window: there is nothing to compare", "diff", empty,
                   AFTER[0])

    def test_progress_that_a_recording_does_not_have(self):
        result = self.fails(2, harness.re.compile(r"diff-before-1\.txt: --progress: no thread"), "diff", "--progress",
                            "nobody", BEFORE[0], AFTER[0])
        self.assertEqual(result.stdout, b"")


if __name__ == "__main__":
    harness.main(needs_root=False)
