#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `offwait doctor` prints here: as root, as nobody, with four capabilities, in namespaces, without BTF."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import harness
from harness import OFFWAIT, TestCase, environment

FOUR = ["bpf", "perfmon", "sys_ptrace", "dac_read_search"]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
WITHOUT_BTF = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys/kernel/btf && exec "$@"', "sh"]


def with_capabilities(names):
    given = ",".join(f"+{name}" for name in names)
    return [*NOBODY, f"--inh-caps=-all,{given}", f"--ambient-caps={given}"]


class Doctor(TestCase):
    @classmethod
    def setUpClass(cls):
        directory = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        directory.chmod(0o755)
        cls.offwait = shutil.copy(OFFWAIT, directory)

    def run_doctor(self, wrapper, *arguments, **changes):
        return subprocess.run([*wrapper, self.offwait, "doctor", *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=harness.GUARD_S, check=False, env=environment(**changes))

    def doctor(self, status, wrapper=(), **changes):
        """{feature: (state, value, meaning)}, and the verdict, after a check that the text says the same."""
        text, result = self.run_doctor(wrapper, **changes), self.run_doctor(wrapper, "--json", **changes)
        for one in (text, result):
            self.assertEqual((one.returncode, one.stderr), (status, b""))
            self.harmless(one.stdout)
        report = json.loads(result.stdout)
        self.assertEqual((report["schema"], report["can_record"]), ("offwait-doctor/1", status == 0))
        lines = text.stdout.decode().splitlines()
        self.assertLessEqual(max(map(len, lines)), 100)
        said = [line for line in lines if line[:1].isalpha()]
        self.assertEqual([line.split()[0] for line in said[:-1]], [one["state"] for one in report["features"]])
        for line, one in zip(said, report["features"]):
            self.assertEqual(line[10:36].rstrip(), one["name"])
        last = " ".join(" ".join(lines[lines.index("") + 1:]).split())
        self.assertEqual(last, report["verdict"])
        return {one["name"]: (one["state"], one["value"], one["meaning"]) for one in report["features"]}, report["verdict"]

    def test_root(self):
        features, verdict = self.doctor(0)
        self.assertTrue(verdict.startswith("Recording is possible"))
        self.assertEqual(features["kernel"][:2], ("ok", f"{os.uname().release} {os.uname().machine}"))
        for name, value in (("kernel types (BTF)", "/sys/kernel/btf/vmlinux"), ("BPF ring buffer", "yes"),
                            ("BPF programs", "loaded and attached"), ("CPU samples", "started"), ("response counter", "sock_send_length"),
                            ("uprobes", "attached"), ("recorder's priority", "real-time"),
                            ("PID namespace", "the host's"), ("confined processes", "seccomp"),
                            ("kernel symbols", "/proc/kallsyms"),
                            ("deleted files", "/proc/PID/map_files")):
            self.assertEqual(features[name], ("ok", value, ""), name)
        for name in ("kernel.kptr_restrict", "perf_event_paranoid"):
            file = pathlib.Path("/proc/sys/kernel") / name.removeprefix("kernel.")
            self.assertEqual(features[name][1], file.read_text().strip())
        self.assertNotIn("missing", {state for state, _, _ in features.values()})

    def test_cgroup_v2(self):
        mounts = [line.split()[1] for line in pathlib.Path("/proc/mounts").read_text().splitlines()
                  if line.split()[2] == "cgroup2"]
        features, _ = self.doctor(0)
        self.assertEqual(features["cgroup v2"], ("ok", mounts[0], "") if mounts else ("degraded", "none", features["cgroup v2"][2]))
        hidden = "".join(f"umount -l {mount} && " for mount in mounts)
        features, _ = self.doctor(0, ["unshare", "--mount", "sh", "-c", f'{hidden}exec "$@"', "sh"])
        self.assertEqual(features["cgroup v2"][:2], ("degraded", "none"))

    def test_nobody(self):
        features, verdict = self.doctor(1, [*NOBODY, "--inh-caps=-all"])
        self.assertIn("CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH; run offwait with sudo, or let everybody "
                      "here record, and so read the memory of every process: sudo setcap "
                      f"cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search=ep {self.offwait}",
                      verdict)
        self.assertEqual({name for name, (state, _, _) in features.items() if state == "missing"},
                         {f"CAP_{name.upper()}" for name in FOUR})
        for name in ("BPF programs", "CPU samples", "response counter", "uprobes"):
            self.assertEqual(features[name], ("unknown", "not tried", ""))
        self.assertEqual(features["BPF ring buffer"][0], "ok")

    def test_four_capabilities(self):
        features, _ = self.doctor(0, with_capabilities(FOUR))
        for name in ("BPF programs", "CPU samples", "response counter", *(f"CAP_{name.upper()}" for name in FOUR)):
            self.assertEqual(features[name][0], "ok", features[name])
        self.assertEqual(features["deleted files"][:2], ("degraded", "no"))
        self.assertEqual(features["recorder's priority"][:2], ("degraded", "as other threads"))
        self.assertEqual(features["kernel symbols"][:2], ("ok", "BPF symbol iterator"))

    def test_three_capabilities(self):
        for left_out in FOUR:
            features, verdict = self.doctor(1, with_capabilities([name for name in FOUR if name != left_out]))
            self.assertEqual([name for name, (state, _, _) in features.items() if state == "missing"],
                             [f"CAP_{left_out.upper()}"])
            self.assertIn(f"lacks: CAP_{left_out.upper()};", verdict)

    def test_namespaces(self):
        for option, name in (("--pid", "PID namespace"), ("--map-root-user", "user namespace")):
            options = [option, "--fork", "--mount-proc"] if option == "--pid" else [option]
            features, verdict = self.doctor(1, ["unshare", *options])
            self.assertEqual(features[name][:2], ("missing", "another one"))
            self.assertIn(f"this is a {name}", verdict)
            self.assertEqual(features["BPF programs"][0], "unknown")

    def test_no_btf(self):
        features, verdict = self.doctor(1, WITHOUT_BTF)
        self.assertEqual(features["kernel types (BTF)"][:2], ("missing", "unusable"))
        self.assertIn("this kernel has no BTF", verdict)
        self.assertEqual(features["BPF programs"][:2], ("unknown", "not tried"))

    def test_no_new_privs(self):
        features, _ = self.doctor(0, ["setpriv", "--no-new-privs"])
        self.assertEqual(features["no_new_privs"][:2], ("degraded", "set"))

    def test_other_programs(self):
        with tempfile.TemporaryDirectory() as directory:
            features, _ = self.doctor(0, PATH=directory)
            self.assertEqual(features["jcmd"][:2], ("degraded", "not installed"))
            jcmd = pathlib.Path(directory) / "jcmd"
            jcmd.touch(0o755)
            features, _ = self.doctor(0, PATH=f"/nonexistent:{directory}")
            self.assertEqual(features["jcmd"], ("ok", str(jcmd), ""))


if __name__ == "__main__":
    harness.main(needs_root=True)
