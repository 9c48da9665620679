# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian package is built, installed in clean Debian releases, used there, and removed.

    deb_test.py BUILD [test names]"""
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

import roots
from running import run, sleeper

BUILD = pathlib.Path(sys.argv.pop(1))
SOURCE = pathlib.Path(__file__).resolve().parents[2]
# The files that apt changes whenever it installs a package.
TRACES_OF_APT = re.compile(r"(etc/ld\.so\.cache|var/(cache/(apt|ldconfig|debconf)|lib/(apt|dpkg)|log)/.*)")


class DebTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if lacks := [tool for tool in ("dpkg-buildpackage", "dh", "lintian") if not shutil.which(tool)]:
            raise unittest.SkipTest(f"{', '.join(lacks)} missing")
        cls.out = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="offwait-deb")))
        cls.package = cls.make(cls.out)

    @staticmethod
    def make(out):
        return pathlib.Path(run(SOURCE / "packaging/build-deb.sh", BUILD, out).strip())

    def test_lintian(self):
        self.assertEqual(run("lintian", "--allow-root", "--fail-on", "error,warning", self.package), "")

    def test_same_bytes_again(self):
        self.assertEqual(self.make(self.out / "again").read_bytes(), self.package.read_bytes())
        times = {" ".join(line.split()[3:5]) for line in run("dpkg-deb", "--contents", self.package).splitlines()}
        self.assertEqual(len(times), 1, times)
        executable = (BUILD / "offwait").read_bytes()
        self.assertNotIn(os.fsencode(SOURCE), executable)
        self.assertNotIn(os.fsencode(BUILD), executable)

    def test_fields(self):
        fields = "${Architecture}\n${Depends}\n${Version}\n${Built-Using}"
        architecture, depends, version, built_using = run("dpkg-deb", "--show", "--showformat", fields, self.package).split("\n")
        self.assertEqual((architecture, depends), (run("dpkg", "--print-architecture").strip(), ""))
        self.assertEqual(f"offwait {version}\n", run(BUILD / "offwait", "--version"))
        gcc = "gcc-" + run("g++", "-dumpversion").strip()
        self.assertEqual({source.split()[0] for source in built_using.split(",")},
                         {"bzip2", "cli11", "elfutils", "fmtlib", gcc, "glibc", "libbpf", "libiberty", "libzstd",
                          "ncurses", "nlohmann-json3", "protozero", "xz-utils", "zlib"})

    def check_debian(self, suite):
        if os.geteuid() != 0:
            self.skipTest("root missing")
        try:
            root = self.enterContext(roots.Root(suite))
        except roots.Unavailable as unavailable:
            self.skipTest(str(unavailable))

        def inside(*command, mounts=("/proc", "/dev")):
            environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
            return run(*root.inside(*command, mounts=mounts), env=environment)

        def files():
            return {str(path.relative_to(root.changes)) for path in root.changes.rglob("*") if not path.is_dir()}
        (root.changes / "root").mkdir(mode=0o700)
        (root.changes / "tmp").mkdir()
        before = files()
        shutil.copy(self.package, root.changes / "tmp")
        inside("apt-get", "-q", "-y", "install", f"/tmp/{self.package.name}")
        (root.changes / "tmp" / self.package.name).unlink()

        installed = set(inside("dpkg-query", "--listfiles", "offwait").split())
        for path in ("share/man/man1/offwait.1.gz", "share/man/man1/offwait-report.1.gz", "share/bash-completion/completions/offwait",
                     "share/zsh/vendor-completions/_offwait", "share/fish/vendor_completions.d/offwait.fish",
                     "include/offwait/annotate.h", "share/doc/offwait/copyright", "share/doc/offwait/README.Debian"):
            self.assertIn(f"/usr/{path}", installed)
            self.assertTrue((root.changes / "usr" / path).is_file(), path)
        self.assertEqual(inside("dpkg", "--verify", "offwait"), "")

        self.assertEqual(inside("offwait", "--version"), run(BUILD / "offwait", "--version"))
        shutil.copy(SOURCE / "tests/traces/figure3.txt", root.changes / "root")
        self.assertIn("A → B", inside("env", "LC_ALL=C.UTF-8", "offwait", "report", "/root/figure3.txt"))
        (root.changes / "root/figure3.txt").unlink()
        with sleeper() as pid:
            report = json.loads(inside("offwait", "-p", pid, "-d", "500ms", "--json", "-", mounts=("/proc", "/sys")))
        self.assertEqual([(wait["tid"], wait["class"]) for wait in report["open_waits"]], [(pid, "sleep")])

        (root.changes / "var/lib/offwait").mkdir()
        (root.changes / "var/lib/offwait/disks.json").write_text("{}\n")
        inside("apt-get", "-q", "-y", "purge", "offwait")
        self.assertEqual([path for path in files() - before if not TRACES_OF_APT.fullmatch(path)], [])
        self.assertNotIn("offwait", (root.changes / "var/lib/dpkg/status").read_text())

    def test_bullseye(self):
        self.check_debian("bullseye")

    def test_bookworm(self):
        self.check_debian("bookworm")

    def test_trixie(self):
        self.check_debian("trixie")


if __name__ == "__main__":
    unittest.main(verbosity=2)
