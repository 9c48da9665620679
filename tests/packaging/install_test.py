# SPDX-License-Identifier: GPL-2.0-or-later
"""`cmake --install`: where it puts the files, and whether the manual and the completions are right.

    install_test.py BUILD [test names]"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import unittest

from running import GUARD_S, run

BUILD = pathlib.Path(sys.argv.pop(1))
INSTALLED = {
    "bin/offwait", "include/offwait/annotate.h", "share/offwait/offwait-report-1.schema.json",
    "share/offwait/offwait-diff-1.schema.json", "share/offwait/offwait-export-1.schema.json",
    "share/bash-completion/completions/offwait", "share/zsh/site-functions/_offwait",
    "share/fish/vendor_completions.d/offwait.fish", "share/doc/offwait/README.md", "share/doc/offwait/LICENSE",
    "share/doc/offwait/SECURITY.md",
    "share/doc/offwait/doc/reading-a-report.md",
    "share/doc/offwait/examples/README.md", "share/doc/offwait/examples/lock_convoy.cpp",
    "share/doc/offwait/kubernetes/pod.yaml", "share/man/man1/offwait.1"}


def needs(*tools):
    lacks = [tool for tool in tools if not shutil.which(tool)]
    return unittest.skipIf(lacks, f"{', '.join(lacks)} missing")


class InstallTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.prefix = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="offwait-install")))
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.offwait = cls.prefix / "bin/offwait"
        help_text = run(cls.offwait, "--help")
        subcommands = re.search(r"^Commands:\n((?:  .*\n)+)", help_text, re.MULTILINE)[1]
        cls.subcommands = re.findall(r"^  (\w+) ", subcommands, re.MULTILINE)
        # Subcommand, "" for none → its long options.
        cls.options = {"": cls.long_options(help_text)}
        for subcommand in cls.subcommands:
            cls.options[subcommand] = cls.long_options(run(cls.offwait, subcommand, "--help"))

    @staticmethod
    def long_options(help_text):
        return set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", help_text, re.MULTILINE))

    def page(self, subcommand):
        return self.prefix / "share/man/man1" / ("-".join(filter(None, ["offwait", subcommand])) + ".1")

    def test_files(self):
        installed = {str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if path.is_file()}
        self.assertEqual(INSTALLED - installed, set())
        self.assertEqual({path.name for path in self.page("").parent.iterdir()},
                         {"offwait.1", *(f"offwait-{subcommand}.1" for subcommand in self.subcommands)})
        self.assertEqual([name for name in installed if "CMake" in name or "servers" in name], [])

    @needs("cc")
    def test_header(self):
        """The header compiles on its own, as C and as C++."""
        for language, standard in (("c", "c11"), ("c++", "c++17")):
            run("cc", f"-x{language}", f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                f"-I{self.prefix}/include", "-", input="#include <offwait/annotate.h>\nint main(void) { return 0; }\n")

    @needs("man", "mandoc")
    def test_man_pages_are_sound(self):
        for subcommand in self.options:
            page = self.page(subcommand)
            for command in (["mandoc", "-Tlint", "-W", "warning"], ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"]):
                checked = subprocess.run([*command, page], capture_output=True, text=True, timeout=GUARD_S, check=False)
                self.assertEqual((checked.returncode, checked.stderr), (0, ""), f"{page}\n{checked.stdout[:1000]}")

    @needs("mandoc")
    def test_man_pages_know_all_options_and_no_others(self):
        for subcommand, options in self.options.items():
            text = re.sub(".\b", "", run("mandoc", "-Tutf8", "-O", "width=900", self.page(subcommand)))
            section = re.search(r"^OPTIONS\n((?:[ \n].*\n)+)", text, re.MULTILINE)[1]
            self.assertEqual(set(re.findall(r"^ {5,7}(?:-\w, )?(--[a-z-]+)", section, re.MULTILINE)), options, subcommand)
            mentioned = {option for line in text.splitlines() for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", line)
                         if not re.search(r"systemd-run|flamegraph\.pl| -- ", line)}
            self.assertEqual(mentioned - set().union(*self.options.values()), set(), subcommand)

    @needs("mandoc")
    def test_main_page_leads_to_the_others(self):
        text = re.sub(".\b", "", run("mandoc", "-Tutf8", self.page("")))
        for subcommand in self.subcommands:
            self.assertIn(f"offwait-{subcommand}(1)", text)

    @needs("bash")
    def test_bash(self):
        library = "/usr/share/bash-completion/bash_completion"
        if not os.path.exists(library):
            self.skipTest("bash-completion missing")

        def completed(*words):
            script = ('source "$1" && source "$2" && COMP_LINE=$3 COMP_POINT=${#3} && shift 3 && '
                      'COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && { _offwait; printf "%s\\n" "${COMPREPLY[@]}"; }')
            completions = self.prefix / "share/bash-completion/completions/offwait"
            line = " ".join(words).replace(" = ", "=")
            return set(run("bash", "--norc", "-c", script, "bash", library, completions, line, *words, cwd=self.prefix / "share").split())
        self.assertEqual(completed("offwait", ""), set(self.subcommands))
        for subcommand, options in self.options.items():
            words = filter(None, ["offwait", subcommand])
            self.assertEqual({word for word in completed(*words, "-") if word.startswith("--")}, options)
        self.assertEqual(completed("offwait", "report", "--folded-kind", "off"), {"off-cpu", "off-wake"})
        self.assertEqual(completed("offwait", "--folded-kind", "=", "on"), {"on-cpu"})
        self.assertEqual(completed("offwait", "report", "of"), {"offwait"})  # the directory
        self.assertIn(str(os.getpid()), completed("offwait", "--pid", ""))
        self.assertEqual(completed("offwait", "--duration", ""), set())
        self.assertIn("mandoc", completed("offwait", "-q", "--", "mando"))
        self.assertIn("mandoc", completed("offwait", "dump", "-o", "f", "--", "mando"))
        # Programs alone: `test` is one beside a word of the shell, `then` is not.
        self.assertIn("test", completed("offwait", "--", "te"))
        self.assertEqual(completed("offwait", "--", "the") & {"then"}, set())
        self.assertIn("./doc", completed("offwait", "--", "./do"))
        self.assertIn(pathlib.Path("/proc/self/comm").read_text().strip(), completed("offwait", "-p", "py"))

    @needs("fish")
    def test_fish(self):
        def completed(line):
            script = f"source {self.prefix}/share/fish/vendor_completions.d/offwait.fish; complete -C '{line}'"
            with tempfile.TemporaryDirectory() as home:
                out = run("fish", "--no-config", "-c", script, cwd=self.prefix / "share", env={**os.environ, "HOME": home})
            return {word.split("\t")[0] for word in out.splitlines()}
        self.assertEqual(completed("offwait "), set(self.subcommands))
        for subcommand, options in self.options.items():
            line = " ".join(filter(None, ["offwait", subcommand, "--"]))
            self.assertEqual(completed(line), options)
        self.assertEqual(completed("offwait report --folded-kind off"), {"off-cpu", "off-wake"})
        self.assertEqual(completed("offwait report offw"), {"offwait/"})
        self.assertEqual(completed("offwait dump offw"), {"offwait/"})
        self.assertEqual(completed("offwait record offw"), set())
        self.assertIn(str(os.getpid()), completed("offwait --pid "))
        self.assertIn("mandoc", completed("offwait -q -- mando"))
        self.assertNotIn("report", completed("offwait -q -- repo"))

    @needs("zsh")
    def test_zsh(self):
        """Runs zsh in a terminal, as it completes only there."""
        setup = (f"fpath=({self.prefix}/share/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D; "
                 "unsetopt list_beep; offwait() print -r -- \"<<$*>>\"\n")

        def completed(line):
            child, terminal = pty.fork()
            if child == 0:
                os.chdir(self.prefix / "share")
                os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb", "HOME": str(self.prefix), "PS1": "ready>"})
            got = ""
            try:
                for sent, until in ((setup, "ready>"), ("echo set''up\n", "setup"), (line + "\n", ">>")):
                    os.write(terminal, sent.encode())
                    got = ""
                    while until not in got:
                        self.assertTrue(select.select([terminal], [], [], GUARD_S)[0], got)
                        got += os.read(terminal, 65536).decode()
            finally:
                os.close(terminal)
                os.waitpid(child, 0)
            return re.search("<<(.*)>>", got)[1]
        self.assertEqual(completed("offwait rep\toffw\t"), "report offwait")  # zsh removes a slash at the end
        self.assertEqual(completed("offwait --folded-k\ton\t"), "--folded-kind=on-cpu")
        self.assertEqual(completed("offwait dump --out\tdoc/offw\t"), "dump --output=doc/offwait")
        self.assertEqual(completed("offwait dump -o f -- mando\t -T"), "dump -o f -- mandoc -T")
        self.assertEqual(completed("offwait -q -- mando\t -T"), "-q -- mandoc -T")
        self.assertEqual(completed("offwait cal\t --siz\t1G"), "calibrate --size=1G")


if __name__ == "__main__":
    unittest.main(verbosity=2)
