#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""offwait export, whose files are read by others: Graphviz, databases, go tool pprof. Needs no root.

The two formats of protocol buffers are read with the definitions in protos/, which protoc compiles.
"""

import collections
import copy
import gzip
import json
import os
import pathlib
import pty
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import harness
from harness import TRACES, TestCase, run, validate_schema

FORMATS = ("perfetto", "pprof", "dot", "folded", "speedscope", "ndjson")
BINARY = ("perfetto", "pprof")
UNIT = harness.EXPECTED
MORE = [UNIT / f"{name}.txt" for name in ("requests", "functions", "files", "samples", "herd", "processes", "disks")]
ALL = sorted(TRACES.glob("*.txt")) + MORE
SCHEMA = harness.ROOT / "src" / "export" / "offwait-export-1.schema.json"


def export(form, trace, *options):
    """What the export writes, with nothing on stderr."""
    result = run("export", "--format", form, trace, *options)
    if (result.returncode, result.stderr) != (0, b""):
        raise AssertionError(f"{form} of {trace}: {result.returncode} {result.stderr}")
    return result.stdout


def lines(trace, *options):
    """The objects of an NDJSON export by type."""
    found = collections.defaultdict(list)
    for line in export("ndjson", trace, *options).decode().splitlines():
        one = json.loads(line)
        found[one["type"]].append(one)
    return found


def text_waits(trace):
    """The lines of waits in a text trace, in their order, as dictionaries."""
    found = []
    for line in pathlib.Path(trace).read_text("utf-8").splitlines():
        words = line.split()
        if words[:1] == ["wait"]:
            found.append({"tid": words[1], **dict(word.split("=", 1) for word in words[2:])})
    return found


def messages(name):
    """The Python module of protos/NAME.proto."""
    import importlib.util

    source = pathlib.Path(__file__).resolve().parent / "protos"
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(["protoc", f"--proto_path={source}", f"--python_out={directory}", f"{name}.proto"], check=True)
        spec = importlib.util.spec_from_file_location(f"{name}_pb2", f"{directory}/{name}_pb2.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def unknown_fields(message):
    """Whether a message, or one in it, has a field that its definition has not."""
    if len(message.UnknownFields()) > 0:
        return True
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            parts = value if field.label == field.LABEL_REPEATED else [value]
            if any(map(unknown_fields, parts)):
                return True
    return False


class Everything(TestCase):
    def test_every_format_of_every_trace_is_the_same_each_time_and_harmless(self):
        for trace in ALL:
            for form in FORMATS:
                with self.subTest(trace=trace.name, form=form):
                    written = export(form, trace)
                    self.assertEqual(written, export(form, trace))
                    if form not in BINARY:
                        self.harmless(written)
                        self.assertTrue(written == b"" or written.endswith(b"\n"))

    def test_files_and_standard_streams(self):
        trace = TRACES / "figure1.txt"
        for form in FORMATS:
            written = export(form, trace)
            with tempfile.TemporaryDirectory() as directory:
                file = pathlib.Path(directory) / "out"
                self.assertEqual(export(form, trace, "-o", file), b"")
                self.assertEqual(file.read_bytes(), written)
            with open(trace, "rb") as stdin:
                self.assertEqual(run("export", "--format", form, "-", stdin=stdin).stdout, written)
            with open("/dev/full", "wb") as full:
                self.fails(1, "cannot write to standard output: No space left on device", "export", "--format", form, trace,
                           stdout=full)

    def test_a_terminal_gets_no_binary(self):
        for form in BINARY:
            terminal, writer = pty.openpty()
            with os.fdopen(writer, "wb") as stdout:
                self.fails(2, f"{form} is no text for a terminal: write it to a file with -o FILE, or into a pipe", "export",
                           "--format", form, TRACES / "figure1.txt", stdout=stdout)
            os.close(terminal)

    def test_mistakes(self):
        trace = TRACES / "figure1.txt"
        formats = "perfetto, pprof, dot, folded, speedscope or ndjson"
        self.misused(f"export needs --format: {formats}", "export", trace)
        self.misused(f"bad format 'svg': expected {formats}", "export", "--format", "svg", trace)
        self.misused("export needs a FILE: what 'offwait record' or 'offwait dump' has written, - for standard input, or a directory for the newest in it", "export",
                     "--format", "dot")
        self.misused("--folded-kind is for --format folded, and has no effect on dot", "export", "--format", "dot", trace,
                     "--folded-kind", "off-wake")
        self.misused("--full-stacks is for --format folded, and has no effect on pprof", "export", "--format", "pprof", trace,
                     "--full-stacks")
        self.misused("export has no option -f; did you mean --format?", "export", "-f", "dot", trace)
        self.fails(1, "cannot read /nowhere: No such file or directory", "export", "--format", "dot", "/nowhere")
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "out"
            self.fails(1, re.compile("^offwait: cannot read /nowhere"), "export", "--format", "dot", "/nowhere", "-o", file)
            self.assertFalse(file.exists())

    def test_a_recording_is_not_overwritten(self):
        recorded = (TRACES / "figure1.txt").read_bytes()
        with tempfile.TemporaryDirectory() as directory:
            file, link = (pathlib.Path(directory) / name for name in ("waits.txt", "link"))
            file.write_bytes(recorded)
            link.symlink_to(file)
            for output in (file, link):
                self.fails(2, f"{output} is the recording itself: write to another file", "export", "--format", "dot", file,
                           "-o", output)
                self.assertEqual(file.read_bytes(), recorded)

    def test_a_trace_without_waits(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("offwait-waits 1\nwindow 0 1000\n")
            file.flush()
            for form in FORMATS:
                export(form, file.name)


class Text(TestCase):
    def test_folded_is_what_the_report_writes(self):
        trace = UNIT / "samples.txt"
        for options in ([], ["--folded-kind", "off-wake"], ["--folded-kind", "on-cpu"], ["--folded-weight", "weight"],
                        ["--full-stacks"]):
            expected = run("report", trace, "--folded", "-", *options).stdout
            self.assertNotEqual(expected, b"")
            self.assertEqual(export("folded", trace, *options), expected)
        files = UNIT / "files.txt"
        expected = run("report", files, "--folded", "-", "--folded-objects").stdout
        self.assertIn(b";for ", expected)
        self.assertEqual(export("folded", files, "--folded-objects"), expected)

    def svg(self, trace):
        """The graph as Graphviz draws it: the labels of its nodes, and pairs of them for its edges."""
        drawn = subprocess.run(["dot", "-Tsvg"], input=export("dot", trace), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               check=False)
        self.assertEqual((drawn.returncode, drawn.stderr), (0, b""))
        root = xml.etree.ElementTree.fromstring(drawn.stdout)
        space = "{http://www.w3.org/2000/svg}"
        self.assertEqual({element.tag for element in root.iter()} - {
            space + name for name in ("svg", "g", "title", "text", "path", "polygon", "ellipse", "polyline")}, set())
        nodes, edges = {}, set()
        for group in root.iter(space + "g"):
            title = group.findtext(space + "title")
            labels = [text.text for text in group.iter(space + "text")]
            if group.get("class") == "node":
                nodes[title] = labels[0]
            if group.get("class") == "edge":
                edges.add((tuple(title.split("->")), labels[0]))
        return nodes, {(nodes[ends[0]], nodes[ends[1]], label) for ends, label in edges}

    @unittest.skipUnless(shutil.which("dot"), "needs Graphviz")
    def test_graphviz_draws_every_graph_without_a_warning(self):
        for trace in ALL:
            with self.subTest(trace.name):
                nodes, edges = self.svg(trace)
                self.assertEqual(len(nodes), len(set(nodes.values())))
        nodes, edges = self.svg(TRACES / "figure1.txt")
        self.assertEqual(set(nodes.values()), {"A (tid 11)", "B (tid 12)", "disk vda"})
        self.assertIn(("A (tid 11)", "B (tid 12)", "futex 0.152 s"), edges)
        self.assertIn(("B (tid 12)", "disk vda", "disk 0.100 s"), edges)
        self.assertIn(("disk vda", "B (tid 12)", "idle 0.100 s"), edges)

    @unittest.skipUnless(shutil.which("dot"), "needs Graphviz")
    def test_hostile_names_are_drawn_as_they_are_escaped(self):
        labels = " ".join(self.svg(TRACES / "hostile-names.txt")[0].values())
        for name in (r'"\'<script>&amp; (tid 44)', r"\x1b]0;owned\x07 (tid 41)", r"disk \x1b[Hsda #=;%", r"\u{202e}\u{200b}evil"):
            self.assertIn(name, labels)

    def test_the_graph_is_bounded(self):
        """301 threads that wait for one: the heaviest 14 of them are drawn."""
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("offwait-waits 1\nwindow 0 1000000\nthread 9 tgid=9 comm=waker start=0 exit=-\n")
            for n in range(301):
                file.write(f"thread {1000 + n} tgid=9 comm=t{'x' * n} start=0 exit=-\n"
                           f"wait {1000 + n} block=0 wake={900000 - n} run=900000 waker=thread:9 class=futex\n")
            file.flush()
            graph = export("dot", file.name, "--no-merge").decode()
        self.assertEqual(graph.count(" -> "), 14)
        self.assertIn("(186 arrows that hold up less are left out)", graph)
        self.assertLess(max(map(len, graph.splitlines())), 300)

    def test_speedscope(self):
        """The file follows https://www.speedscope.app/file-format-schema.json, and adds up to the folded stacks."""
        for trace in ALL:
            with self.subTest(trace.name):
                file = json.loads(export("speedscope", trace))
                self.assertEqual(file["$schema"], "https://www.speedscope.app/file-format-schema.json")
                frames = file["shared"]["frames"]
                for frame in frames:
                    self.assertLessEqual(set(frame), {"name", "file", "line"})
                    self.assertIsInstance(frame["name"], str)
                names = [profile["name"] for profile in file["profiles"]]
                self.assertEqual(names, ["time waited", "weight of waits", "CPU samples"][:len(names)])
                self.assertGreaterEqual(len(names), 2)
                for profile in file["profiles"]:
                    self.assertEqual(set(profile),
                                     {"type", "name", "unit", "startValue", "endValue", "samples", "weights"})
                    self.assertEqual((profile["type"], profile["startValue"]), ("sampled", 0))
                    self.assertEqual(profile["unit"], "none" if profile["name"] == "CPU samples" else "nanoseconds")
                    self.assertEqual(len(profile["samples"]), len(profile["weights"]))
                    self.assertEqual(profile["endValue"], sum(profile["weights"]))
                    self.assertTrue(all(0 <= frame < len(frames) for sample in profile["samples"] for frame in sample))
                folded = {"time waited": [], "weight of waits": ["--folded-weight", "weight"],
                          "CPU samples": ["--folded-kind", "on-cpu"]}
                for profile in file["profiles"]:
                    text = export("folded", trace, *folded[profile["name"]]).decode().splitlines()
                    total = sum(int(line.rsplit(" ", 1)[1]) for line in text)
                    unit = 1 if profile["unit"] == "none" else 1000
                    self.assertLessEqual(abs(profile["endValue"] - total * unit), len(text) * unit)
        figure = json.loads(export("speedscope", TRACES / "figure1.txt"))
        stacks = [[figure["shared"]["frames"][frame]["name"] for frame in sample]
                  for sample in figure["profiles"][0]["samples"]]
        self.assertIn(["B", "B_main", "fdatasync"], [stack[:3] for stack in stacks])


class Ndjson(TestCase):
    def validator(self):
        schema = json.loads(SCHEMA.read_text("utf-8"))
        validate_schema.jsonschema.Draft202012Validator.check_schema(schema)
        return schema, validate_schema.jsonschema.Draft202012Validator(schema)

    def test_each_line_follows_the_schema(self):
        schema, validator = self.validator()
        seen = set()
        for trace in ALL:
            written = export("ndjson", trace).decode().splitlines()
            self.assertEqual(json.loads(written[0])["type"], "recording")
            for line in written:
                one = json.loads(line)
                self.assertEqual([error.message for error in validator.iter_errors(one)], [], line)
                definition = schema["$defs"][one["type"]]
                self.assertEqual(set(definition["required"]), set(definition["properties"]))
                self.assertEqual(set(one), set(definition["required"]), "the schema names every field")
                for name in definition["required"]:
                    if (one["type"], name) in seen:
                        continue
                    seen.add((one["type"], name))
                    for broken in ("missing", "of a wrong type"):
                        copied = copy.deepcopy(one)
                        if broken == "missing":
                            del copied[name]
                        else:
                            copied[name] = [[]]
                        self.assertFalse(validator.is_valid(copied), f"{one['type']}.{name} {broken}")
        self.assertEqual({kind for kind, _ in seen}, set(schema["$defs"]) - {"seconds", "count", "actor_kind", "class"})

    def test_waits_are_those_of_the_recording(self):
        for trace in ALL:
            with self.subTest(trace.name):
                found = lines(trace)
                begin = int(re.search(r"^window (\d+)", trace.read_text("utf-8"), re.MULTILINE)[1])
                expected = [(int(wait["tid"]), wait["class"], int(wait["block"]) - begin,
                             None if wait["wake"] == "-" else int(wait["wake"]) - begin,
                             None if wait["run"] == "-" else int(wait["run"]) - begin,
                             None if wait["waker"] == "-" else wait["waker"].split(":")[0]) for wait in text_waits(trace)]
                self.assertEqual([(wait["tid"], wait["class"], wait["block_ns"], wait["wake_ns"], wait["run_ns"],
                                   wait["waker_kind"]) for wait in found["wait"]], expected)
                stacks = {stack["id"] for stack in found["stack"]}
                used = {wait[name] for wait in found["wait"] for name in ("stack", "waker_stack")} - {None}
                self.assertLessEqual(used, stacks)

    def test_edges_are_those_of_the_report(self):
        for trace in ALL:
            for options in ([], ["--no-merge"]):
                found = lines(trace, *options)
                report = json.loads(run("report", trace, "--json", "-", *options).stdout)
                for edge in report["edges"]:
                    for name in set(edge) - set(found["edge"][0]):
                        del edge[name]
                self.assertEqual([{name: value for name, value in edge.items() if name not in ("type", "from_name", "to_name")}
                                  for edge in found["edge"]], report["edges"])
                self.assertEqual([actor["id"] for actor in found["actor"]], [actor["id"] for actor in report["actors"]])

    def test_locks_and_files_have_the_names_of_the_report(self):
        found = {wait["object"] for wait in lines(UNIT / "files.txt")["wait"]}
        files = json.loads(run("report", UNIT / "files.txt", "--json", "-").stdout)["files"]["rows"]
        waited = {row["file"]["path"] + (" (deleted)" if row["file"].get("deleted") else "") for row in files
                  if row["wait_s"] > 0 and row["file"]["path"]}
        self.assertNotEqual(waited, set())
        self.assertLessEqual(waited, found)

    def test_a_database_answers_questions(self):
        base = sqlite3.connect(":memory:")
        base.execute("create table lines (line text)")
        base.executemany("insert into lines values (?)",
                         [(line,) for line in export("ndjson", TRACES / "figure1.txt").decode().splitlines()])
        [(thread, waker, total)] = base.execute(
            "select line ->> 'thread', line ->> 'waker', sum(line ->> 'wait_ns') as total from lines "
            "where line ->> 'type' = 'wait' group by 1, 2 order by total desc limit 1").fetchall()
        self.assertEqual((thread, waker), ("A", "B"))
        self.assertEqual(total, 19 * 7_980_000 + 10_000)


@unittest.skipUnless(shutil.which("protoc"), "needs protoc")
class Pprof(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.proto = messages("pprof")

    def profile(self, trace, *options):
        profile = self.proto.Profile.FromString(gzip.decompress(export("pprof", trace, *options)))
        self.assertFalse(unknown_fields(profile))
        self.assertEqual(profile.string_table[0], "")
        self.assertEqual(len(set(profile.string_table)), len(profile.string_table))
        self.harmless("\n".join(profile.string_table).encode())
        return profile

    def rows(self, profile):
        """Samples as (stack of function names, labels, values)."""
        text = profile.string_table
        functions = {function.id: text[function.name] for function in profile.function}
        locations = {location.id: [functions[line.function_id] for line in location.line] for location in profile.location}
        self.assertEqual(len(locations), len(profile.location))
        self.assertEqual(len(functions), len(profile.function))
        mappings = {mapping.id for mapping in profile.mapping}
        self.assertTrue(all(location.mapping_id in mappings | {0} for location in profile.location))
        return [([name for location in sample.location_id for name in locations[location]],
                 {text[label.key]: text[label.str] for label in sample.label}, list(sample.value))
                for sample in profile.sample]

    def test_types_and_sums(self):
        for trace in ALL:
            with self.subTest(trace.name):
                profile = self.profile(trace)
                text = profile.string_table
                self.assertEqual([(text[one.type], text[one.unit]) for one in profile.sample_type],
                                 [("off_cpu", "nanoseconds"), ("waits", "count"), ("weight", "nanoseconds")])
                self.assertEqual(text[profile.default_sample_type], "off_cpu")
                rows = self.rows(profile)
                self.assertEqual(len({json.dumps([labels, list(sample.location_id)]) for sample, (_, labels, _)
                                      in zip(profile.sample, rows)}), len(rows), "equal samples are one")
                for _, labels, values in rows:
                    self.assertIn(list(labels), (["thread", "class", "waker", "idle"],
                                                 ["thread", "class", "waker", "idle", "object"]))
                    self.assertIn(labels["idle"], ("yes", "no"))
                    self.assertEqual(len(values), 3)
                speedscope = json.loads(export("speedscope", trace))
                self.assertEqual([sum(values[0] for _, _, values in rows), sum(values[2] for _, _, values in rows)],
                                 [one["endValue"] for one in speedscope["profiles"][:2]])
                self.assertEqual(profile.duration_nanos, lines(trace)["recording"][0]["window_ns"])

    def test_figure1(self):
        profile = self.profile(TRACES / "figure1.txt")
        self.assertEqual(profile.time_nanos, 1767225600 * 10**9)  # 2026-01-01T00:00:00Z
        sums = collections.Counter()
        for stack, labels, values in self.rows(profile):
            sums[labels["thread"], labels["class"], labels["waker"]] += values[1]
            if labels["waker"] == "disk vda":
                self.assertEqual(stack[-2:], ["fdatasync", "B_main"])
        self.assertEqual(sums["B", "disk", "disk vda"], 20)
        self.assertEqual(sums["A", "futex", "B"], 19)
        self.assertEqual(sums["A", "futex", "[nobody seen]"], 1)

    def test_waits_for_requests_are_idle(self):
        rows = self.rows(self.profile(UNIT / "requests.txt"))
        self.assertEqual({labels["idle"] for _, labels, _ in rows}, {"yes", "no"})

    def test_locks_and_files_have_the_time_of_the_folded_stacks(self):
        sums = collections.Counter()
        for _, labels, values in self.rows(self.profile(UNIT / "files.txt")):
            if "object" in labels:
                sums[labels["object"]] += values[0] / 1000
        folded = collections.Counter()
        for line in export("folded", UNIT / "files.txt", "--folded-objects").decode().splitlines():
            stack, count = line.rsplit(" ", 1)
            if (last := stack.rsplit(";", 1)[1]).startswith("for "):
                folded[last.removeprefix("for ")] += int(count)
        self.assertGreater(len(folded), 1)
        self.assertEqual({name: round(count) for name, count in sums.items() if count >= 1}, dict(folded))

    @unittest.skipUnless(shutil.which("go"), "needs Go")
    def test_go_reads_it(self):
        with tempfile.NamedTemporaryFile(suffix=".pb.gz") as file:
            file.write(export("pprof", TRACES / "figure1.txt"))
            file.flush()

            def pprof(*options):
                result = subprocess.run(["go", "tool", "pprof", *options, file.name], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, check=False, env={**os.environ, "PPROF_TMPDIR": "/tmp"})
                self.assertEqual(result.returncode, 0, result.stderr)
                return result.stdout.decode()

            self.assertRegex(pprof("-top"), r"(?m) 159\.60ms 61\.38%  queue_enqueue$")
            self.assertRegex(pprof("-sample_index=waits", "-tags"), r"class: Total 60\.0")
            self.assertRegex(pprof("-tagfocus=waker=disk vda", "-top", "-sample_index=waits"), r"(?m) 20 33\.33%  fdatasync$")
            self.assertIn("B_main", pprof("-traces"))


if __name__ == "__main__":
    harness.main(needs_root=False)
