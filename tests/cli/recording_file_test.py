# SPDX-License-Identifier: GPL-2.0-or-later
"""Recording files of every version, whole, in part and damaged, as 'report' and 'dump' read them."""
import gzip
import pathlib
import random
import re
import struct
import subprocess
import tempfile
import zlib

from harness import OFFWAIT, ROOT, TestCase, main, run

RECORDINGS = ROOT / "tests" / "recordings"


class RecordingFileTest(TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = f"{directory.name}/f"
        self.text = f"{directory.name}/text"

    def text_of(self, file):
        """The name of a file with the text form of this recording, as it was written with the recording."""
        with gzip.open(file.with_suffix(".txt.gz")) as packed, open(self.text, "wb") as text:
            text.write(packed.read())
        return self.text

    def write(self, content):
        with open(self.path, "wb") as file:
            file.write(content)

    def test_files_of_every_version_are_read(self):
        files = sorted(RECORDINGS.glob("*.offwait"))
        self.assertEqual([file.name for file in files], ["version-1.offwait"])
        for file in files:
            text = self.text_of(file)
            dumped = run("dump", file)
            self.assertEqual((dumped.returncode, dumped.stderr), (0, b""))
            self.assertEqual(dumped.stdout, pathlib.Path(text).read_bytes())
            for options in ([], ["-v", "--explain"], ["--view", "functions"], ["--json", "-"], ["--folded", "-"]):
                reports = [run("report", name, "-q", *options) for name in (file, text)]
                self.assertEqual(reports[0].returncode, 0, reports[0].stderr)
                self.assertEqual(reports[0].stdout, reports[1].stdout)
            # Lines of ndjson have the numbers that stacks have in a trace, and text has only those that it needs.
            for form in ("perfetto", "pprof", "dot", "folded", "speedscope"):
                exports = [run("export", "--format", form, name) for name in (file, text)]
                self.assertEqual(exports[0].returncode, 0, exports[0].stderr)
                self.assertEqual(exports[0].stdout, exports[1].stdout)

    def test_labels_are_shown(self):
        file = RECORDINGS / "version-1.offwait"
        self.assertIn(b"\nLabels: kept=version 1\n", run("report", file).stdout)
        report = self.valid_json(run("report", file, "--json", "-").stdout)
        self.assertEqual(report["recording"]["labels"], [{"name": "kept", "value": "version 1"}])
        self.assertNotIn("interrupted", report["recording"])

    def test_a_part_of_a_file_is_that_of_its_text(self):
        file = RECORDINGS / "version-1.offwait"
        text = self.text_of(file)
        for part in (["--last", "100ms"], ["--window", "50ms..150ms"], ["--window", "..100ms"]):
            reports = [run("report", name, "-q", *part) for name in (file, text)]
            self.assertEqual(reports[0].returncode, 0, reports[0].stderr)
            self.assertEqual(reports[0].stdout, reports[1].stdout)
            self.assertIn(b" 100 ms ", reports[0].stdout)
            exports = [run("export", "--format", "perfetto", name, *part) for name in (file, text)]
            self.assertEqual(exports[0].returncode, 0, exports[0].stderr)
            self.assertEqual(exports[0].stdout, exports[1].stdout)
        self.fails(2, re.compile(r"--window begins at 3600\.000 s, and the recording lasts 0\.\d\d\d s$"), "report",
                   text, "--window", "1h..")

    def test_a_part_of_what_comes_through_a_pipe_or_is_damaged_is_that_of_its_text(self):
        content = (RECORDINGS / "version-1.offwait").read_bytes()
        for file in (content, content[:-1], content[:-40]):
            self.write(file)
            pathlib.Path(self.text).write_bytes(run("dump", self.path).stdout)
            for part in (["--last", "100ms"], ["--window", "50ms..150ms"]):
                dumps = [run("dump", name, *part) for name in (self.path, self.text)]
                self.assertEqual(dumps[0].stdout, dumps[1].stdout)
                self.assertIn(b"\nwait ", dumps[0].stdout)
                piped = subprocess.run([OFFWAIT, "dump", "-", *part], input=file, capture_output=True)
                self.assertEqual(piped.stdout, dumps[0].stdout)

    def test_a_file_comes_through_a_pipe(self):
        content = (RECORDINGS / "version-1.offwait").read_bytes()
        piped = subprocess.run([OFFWAIT, "report", "-", "-q"], input=content, capture_output=True)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        self.assertEqual(piped.stdout, run("report", RECORDINGS / "version-1.offwait", "-q").stdout)

    def test_a_cut_file_is_interrupted(self):
        content = (RECORDINGS / "version-1.offwait").read_bytes()
        self.write(content[:-1])
        report = run("report", self.path)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn(b"The recording was interrupted.", report.stdout)
        self.assertIn(b"/f: the recording was interrupted (it ends inside a section)", report.stderr)
        self.assertTrue(self.valid_json(run("report", self.path, "--json", "-").stdout)["recording"]["interrupted"])
        for length, said in ((0, " is empty: nothing was recorded yet"),
                             (8, ": nothing was recorded yet (it ends inside its header)"),
                             (16, ": nothing was recorded yet (it has no end)"),
                             (20, ": nothing was recorded yet (it ends inside a section)")):
            self.write(content[:length])
            for command in ("report", "dump"):
                self.fails(1, self.path + said, command, self.path)

    def test_a_report_takes_no_more_memory_than_it_may(self):
        file = RECORDINGS / "version-1.offwait"
        whole = run("report", file)
        self.assertEqual(run("report", file, "--max-memory", "300M").stdout, whole.stdout)
        self.fails(1, f"{file}: a report of it takes more than 8 MB of memory: allow more with --max-memory, or ask for less "
                      "with --last", "report", file, "--max-memory", "8M")
        piped = subprocess.run([OFFWAIT, "report", "-", "--max-memory", "300M"], input=file.read_bytes(), capture_output=True)
        self.assertEqual(piped.stdout, whole.stdout)

    def test_a_recording_is_not_overwritten(self):
        content = (RECORDINGS / "version-1.offwait").read_bytes()
        self.write(content)
        self.fails(2, f"{self.path} is the recording itself: write to another file", "dump", self.path, "-o", self.path)
        self.assertEqual(pathlib.Path(self.path).read_bytes(), content)

    def test_a_newer_version_is_refused_in_one_line(self):
        content = bytearray((RECORDINGS / "version-1.offwait").read_bytes())
        content[8:12] = struct.pack("<I", 2)
        content[12:16] = struct.pack("<I", zlib.crc32(content[:12]))
        self.write(content)
        self.fails(1, f"{self.path}: this recording has version 2 of the format, and this offwait reads version 1: a newer "
                      "offwait has written it", "report", self.path)

    def test_damage_is_an_error_or_an_interruption(self):
        content = (RECORDINGS / "version-1.offwait").read_bytes()
        chance = random.Random(1)
        for _ in range(60):
            damaged = bytearray(content)
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
            self.write(damaged)
            dumped = run("dump", self.path)
            self.assertIn(dumped.returncode, (0, 1))
            if dumped.returncode == 0:
                self.assertIn(b"was interrupted", dumped.stderr)


if __name__ == "__main__":
    main(needs_root=False)
