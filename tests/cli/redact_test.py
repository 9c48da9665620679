#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--redact: what reports say of paths and hosts without saying where they are. Needs no root."""

import harness
from harness import TestCase, run


class Redacted(TestCase):
    def both(self, name):
        """The JSON report as it is, and redacted; the text and the page are redacted, too."""
        trace = harness.EXPECTED / f"{name}.txt"
        plain, redacted = (self.valid_json(run("report", trace, "--json", "-", *more).stdout) for more in ([], ["--redact"]))
        page = run("report", trace, "--html", "-", "--redact").stdout.decode()
        return plain, redacted, page, run("report", trace, "--redact", "--view", "files").stdout.decode()

    def test_directories_go_and_numbers_stay(self):
        plain, redacted, page, text = self.both("files")
        self.assertIn("/var/lib/db/log.0", [row["file"]["path"] for row in plain["files"]["rows"]])
        self.assertEqual([row["file"]["path"] for row in redacted["files"]["rows"]],
                         [path and path.rsplit("/", 1)[-1] for path in (row["file"]["path"] for row in plain["files"]["rows"])])
        self.assertNotIn("/var/lib", page)
        self.assertNotIn("/var/lib", text)
        self.assertEqual([answer["gain"] for answer in redacted["answers"]], [answer["gain"] for answer in plain["answers"]])

    def test_hosts_get_numbers(self):
        plain, redacted, page, _ = self.both("remote-service")
        peers = [{peer["peer"] for edge in report["edges"] for peer in edge["peers"]} for report in (plain, redacted)]
        self.assertEqual(len(peers[0]), len(peers[1]))
        for peer in peers[1]:
            self.assertRegex(peer, r"^(127\..*|192\.0\.2\.x\d+(:\d+)?|.*x\d+.*)$")
        self.assertNotRegex(page, r"192\.0\.2\.\d")


if __name__ == "__main__":
    harness.main(needs_root=False)
