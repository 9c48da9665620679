#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--view and the functions of --what-if, as users see them. OFFWAIT is the executable under test."""

import json
import pathlib
import unittest

import harness

EXPECTED = pathlib.Path(__file__).resolve().parents[1] / "unit" / "report"
TRACE = EXPECTED / "functions.txt"


def report(*options):
    return harness.run("report", TRACE, *options)


class Views(unittest.TestCase):
    def test_they_take_the_place_of_the_report(self):
        for view in ("functions", "threads"):
            result = report("--view", view)
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            self.assertEqual(result.stdout, (EXPECTED / f"{view}.expected").read_bytes())

    def test_json_has_all_of_them_whatever_the_view(self):
        plain = json.loads(report("--json", "-").stdout)
        self.assertEqual(plain, json.loads(report("--json", "-", "--view", "threads").stdout))
        rows = plain["functions"]["rows"]
        self.assertEqual([row["function"].split(" ")[0] for row in rows[:3]],
                         ["ns::Cache<ns::Key>::evict()", "clock_nanosleep", "fdatasync"])
        self.assertEqual(rows[0]["self"]["cpu_s"], 0.53)
        self.assertEqual([row["name"] for row in plain["threads"]["rows"]], ["compact", "server", "tick"])

    def test_files(self):
        result = harness.run("report", EXPECTED / "files.txt", "--view", "files")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertEqual(result.stdout, (EXPECTED / "files.expected").read_bytes())
        report = json.loads(harness.run("report", EXPECTED / "files.txt", "--json", "-").stdout)
        rows = report["files"]["rows"]
        self.assertEqual([(row["file"]["kind"], row["wait_s"], row["read_bytes"], row["written_bytes"]) for row in rows],
                         [("file", 0.76, 0, 245760), ("file", 0.562, 1310720, 983040), ("file", 0.125, 0, 0),
                          ("file", 0.08, 81920, 0), ("journal", 0, 0, 81920)])
        self.assertEqual(rows[1]["file"]["path"],
                         "/var/lib/db/a\\x0anasty\\x1b[31m name/and a long/one/of/it/table")
        self.assertEqual([(file["ios"], file["under_way_s"]) for file in report["disks"][0]["files"]],
                         [(60, 0.64), (40, 0.56), (20, 0.16), (20, 0.08), (20, 0.04)])

    def test_one_that_there_is_not(self):
        result = report("--view", "code")
        self.assertEqual((result.returncode, result.stdout), (2, b""))
        self.assertIn(b"bad view 'code': expected functions, threads, locks or files", result.stderr)

    def test_functions_that_are_faster(self):
        result = report("--what-if", "function parse cpu /2", "--what-if", "function save /2",
                        "--what-if", "function ns::Cache::evict cpu /2")
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertIn(b"what if function parse cpu /2: +", result.stdout)
        gains = {row["function"].split(" ")[0]: row["gains"] for row in
                 json.loads(report("--json", "-", "--view", "functions").stdout)["functions"]["rows"]}
        asked = json.loads(report("--json", "-", "--what-if", "function parse cpu /2").stdout)["what_if"][0]
        self.assertEqual(asked["gain"], gains["parse"]["cpu"]["gain"])
        # They take about as long as the rest of the report.
        for row in json.loads(report("--json", "-").stdout)["functions"]["rows"]:
            self.assertEqual(set(row["gains"].values()), {None}, row["function"])

    def test_a_function_that_no_stack_has(self):
        result = report("--what-if", "function nothing /2")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"no recorded stack has a function 'nothing'", result.stderr)


if __name__ == "__main__":
    unittest.main()
