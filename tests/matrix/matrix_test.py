# SPDX-License-Identifier: GPL-2.0-or-later
"""The release executable on Debian's kernels, under qemu.

    matrix_test.py BUILD ARM64_BUILD [test names]

The builds are build directories of CMake; the one for arm64 need not exist."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "kernel"))

import debian  # noqa: E402
import machine  # noqa: E402
import recording  # noqa: E402
import runner  # noqa: E402
from drawn_stacks import DrawnStacks, where_they_were  # noqa: E402
from truth import LOOPBACK, TruthCase, while_counted  # noqa: E402

BUILD, ARM64_BUILD = map(pathlib.Path, sys.argv[1:3])
PLAN = HERE / "plan.txt"
# The kernel takes a million. Walking to the path of a file makes up most of it.
VERIFIER_LIMIT = 150_000
CHURN = 60
TOOLS = ["cpio", "busybox", "mke2fs", "apt-get", "dpkg-deb", "readelf"]


class Kernel(DrawnStacks):
    """The tests that every kernel has to pass. Each kernel is booted once and records all workloads in one go."""

    # System calls take long in an emulated machine, and its CPUs are threads that may have to wait for a CPU.
    duration_tolerance = 0.1
    wakeup_ns = 300_000
    accounting_tolerance = 0.15
    slow_wakings = True
    all_kernel_features = {"end of a switch", "sched_switch prev_state", "block_rq_merge", "bpf_rdonly_cast", "vm_unmapped_area",
                           "BPF memory allocator"}
    # The kernel skips a BPF program that an interrupt would run while it already runs. Programs take a hundred times as long
    # here, and longer where a CPU has to wait for one, so this happens.
    allowed_loss = {"program_skipped": 20}
    least_drawn = 30

    @classmethod
    def setUpClass(cls):
        name = f"linux-{cls.suite}-{cls.architecture}"
        build, sysroot = BUILD, pathlib.Path("/")
        if cls.architecture == "arm64":
            build, sysroot = ARM64_BUILD, pathlib.Path("/usr/aarch64-linux-gnu")
        qemu = machine.QEMU[cls.architecture][0]
        if lacks := runner.missing_tools([*TOOLS, qemu]):
            raise unittest.SkipTest(f"{', '.join(lacks)} missing")
        programs = {"offwait": build / "offwait", "workload": build / "tests/workloads/workload",
                    "verifier_cost": build / "tests/matrix/verifier_cost", "lock_convoy": build / "examples/lock_convoy",
                    "cgroup_churn": build / "tests/kernel/cgroup_churn", "mixed_waits": build / "tests/kernel/mixed_waits"}
        if cls.architecture == "amd64":
            programs["setpriv.full"] = pathlib.Path(shutil.which("setpriv"))
        if unbuilt := [str(program) for program in programs.values() if not program.exists()]:
            raise unittest.SkipTest(f"not built: {', '.join(unbuilt)}")
        try:
            kernel, busybox = machine.image(cls.suite, cls.architecture), machine.busybox(cls.architecture)
        except debian.Unavailable as unavailable:
            raise unittest.SkipTest(str(unavailable)) from None

        with tempfile.TemporaryDirectory(prefix=name) as scratch:
            scratch = pathlib.Path(scratch)
            out = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix=name)))
            machine.initramfs(scratch / "initramfs", {"busybox": busybox, **programs}, {"plan": PLAN.read_text(), "churn": str(CHURN)}, sysroot)
            machine.run(cls.architecture, kernel, scratch / "initramfs", scratch, out)
            if keep := os.environ.get("OFFWAIT_KEEP_DUMPS"):
                shutil.copytree(out, pathlib.Path(keep) / name, dirs_exist_ok=True)
        cls.out = out
        cls.dump = recording.Dump(out / "dump.txt")
        cls.release = (out / "release").read_text().strip()

    @classmethod
    def tearDownClass(cls):
        if hasattr(cls, "release"):
            steps = dict(line.split() for line in (cls.out / "steps").read_text().splitlines())
            print(f"Linux {cls.release} ({cls.architecture}): up after {steps['booted']} s, done after {steps['diagnosed']} s; "
                  f"{len(cls.dump.waits):,} waits; lost {cls.dump.loss}", file=sys.stderr)
        super().tearDownClass()
        cls.figures.clear()

    def recorded(self, name):
        lines = (self.out / f"{name}.truth").read_text().splitlines()
        said = [json.loads(line) for line in lines]
        return recording.Run(self.dump, [line for line in said if "truth" in line], said[0]["pid"])

    def check_durations(self, run, truth, waits):
        """The time that a thread measures for a call includes the call's own work, which takes long here, and preemptions of
        that work."""
        recorded = sum(w.run - w.block for w in waits)
        in_calls = sum(w.run - w.block for w in run.dump.waits_of(while_counted(truth)))
        preempted = sum(p.end - p.begin for p in run.dump.preemptions
                        if p.tid == truth["tid"] and truth["begin_ns"] <= p.begin and p.end <= truth["end_ns"])
        slack = self.duration_tolerance * truth["wait_ns"]
        self.count(recorded_ns=recorded, known_ns=truth["wait_ns"])
        self.assertLessEqual(in_calls, truth["wait_ns"] + slack, truth)
        self.assertGreaterEqual(recorded + preempted, truth["wait_ns"] - truth["call_cpu_ns"] - slack, truth)

    def test_mutex(self):
        self.check(self.recorded("mutex"))

    def test_condvar(self):
        self.check(self.recorded("condvar"))

    def test_pipe(self):
        self.check(self.recorded("pipe"))

    def test_socket(self):
        run = self.recorded("socket")
        for _ in self.check_socket(run, LOOPBACK):
            pass
        self.check_peers(run)
        self.check_responses(run)

    def test_nanosleep(self):
        run = self.recorded("nanosleep")
        self.check(run)
        self.check_class(run, "timer", "sleep")

    def test_timer_poll(self):
        run = self.recorded("timer_poll")
        self.check(run)
        self.check_class(run, "timer", "poll")

    def test_fsync(self):
        self.check_syncs(self.recorded("fsync"))

    def test_page_fault(self):
        self.check(self.recorded("page_fault"), durations=False)

    def test_signal_wake(self):
        self.check(self.recorded("signal_wake"), durations=False)

    def test_child_wait(self):
        self.check(self.recorded("child_wait"), durations=False)

    def test_fork_churn(self):
        run = self.recorded("fork_churn")
        self.check(run, durations=False)
        self.check_joins(run, 300)

    def test_exec_middle(self):
        self.check(self.recorded("exec_middle"))

    def test_race(self):
        self.check(self.recorded("race"), durations=False, states=False)

    def test_blocked_throughout(self):
        self.check_blocked_throughout(self.recorded("blocked_throughout"))

    def doctor(self, name):
        """The doctor's exit status, and {feature: (state, value, meaning)}."""
        status, _, answer = (self.out / f"doctor.{name}").read_text().partition("\n")
        report = json.loads(answer)
        self.assertEqual(report["can_record"], status == "0")
        return int(status), {one["name"]: (one["state"], one["value"], one["meaning"]) for one in report["features"]}

    def test_doctor(self):
        status, features = self.doctor("root")
        self.assertEqual(status, 0, features)
        for name in ("BPF programs", "CPU samples", "response counter", "uprobes", "kernel symbols", "deleted files", "confined processes"):
            self.assertEqual(features[name][0], "ok", features[name])
        self.assertEqual(features["kernel"][1].split()[0], self.release)
        self.assertEqual({name for name in self.all_kernel_features if features[name][0] == "ok"}, self.kernel_features)

    def test_doctor_of_four_capabilities(self):
        if self.architecture != "amd64":
            self.skipTest("no setpriv for this architecture")
        self.check_four_capabilities()

    def check_four_capabilities(self):
        status, features = self.doctor("four")
        self.assertEqual(status, 0, features)
        self.assertEqual(features["kernel symbols"], ("ok", "BPF symbol iterator", ""))
        self.assertEqual(features["deleted files"][0], "degraded")

    def test_cgroup(self):
        lines = [json.loads(line) for line in (self.out / "churn.truth").read_text().splitlines()]
        truths = [line for line in lines if "tid" in line]
        self.assertEqual(len(truths), CHURN)
        self.check_churn(recording.Run(recording.Dump(self.out / "churn.txt"), truths, lines[0]["pid"]), 5 * CHURN)

    def test_knot_of_a_lock_convoy(self):
        self.check_convoy("convoy.json")

    def test_knot_of_a_lock_convoy_as_nobody(self):
        if self.architecture != "amd64":
            self.skipTest("no setpriv for this architecture")
        self.check_convoy("convoy.nobody.json")

    def check_convoy(self, file):
        report = json.loads((self.out / file).read_text())
        actors = {actor["id"]: (actor["name"], len(actor.get("tids", []))) for actor in report["actors"]}
        knots = [knot for knot in report["knots"] if not knot["background"]]
        self.assertEqual(len(knots), 1)
        # Some threads may get the CPU so rarely here that they are not merged with the others.
        names, threads = zip(*[actors[actor] for actor in knots[0]["actors"]])
        self.assertEqual((set(names), sum(threads)), ({"convoy"}, 8))
        self.assertEqual(knots[0]["pattern"], "lock-contention")

    def dump_of_drawn(self):
        text = self.out / "drawn.txt"
        with text.open("wb") as dump:
            subprocess.run([BUILD / "offwait", "dump", self.out / "drawn.offwait"], stdout=dump, check=True)
        return text

    def test_stacks_that_are_drawn(self):
        dump, cost = self.drawn_from(self.dump_of_drawn())
        print(f"Linux {self.release}: {cost['waits_with_stacks']} waits with stacks, {cost['waits_without_stacks']} without",
              file=sys.stderr)
        self.check_most_stacks_are_left_out(cost)
        with (self.out / "drawn.truth").open(encoding="ascii") as said:
            self.check_time_of_each_function(dump, cost, where_they_were(self.waits_of_main(dump), said))
        self.check_stack_of_open_wait(dump)
        self.check_one_stack_for_each_place(dump)

    def test_stacks_reach_the_start_of_their_thread(self):
        """The stacks go through a libc without frame pointers."""
        threads = {truth["tid"] for name in ("mutex", "condvar", "nanosleep", "socket")
                   for truth in self.recorded(name).truths if truth["truth"] == "thread"}
        stacks = [wait.stack for wait in self.dump.waits if wait.tid in threads and wait.stack]
        self.assertTrue(stacks)
        whole = [stack for stack in stacks if "[cut:" not in stack]
        print(f"Linux {self.release}: {len(whole)} of {len(stacks)} stacks whole", file=sys.stderr)
        self.assertGreaterEqual(len(whole), 0.99 * len(stacks))

    def test_verifier(self):
        for target, file in (("processes", "verifier"), ("a cgroup", "verifier.cgroup")):
            costs = {name: int(count) for name, count in
                     (line.split() for line in (self.out / file).read_text().splitlines())}
            dearest = max(costs, key=costs.get)
            print(f"Linux {self.release}: verifier instructions for {target} {json.dumps(costs)}", file=sys.stderr)
            self.assertGreaterEqual(set(costs), {"on_sched_switch", "on_sched_waking", "on_cpu_clock"})
            self.assertLessEqual(costs[dearest], VERIFIER_LIMIT)


class Bullseye(Kernel, TruthCase):
    suite, architecture = machine.KERNELS["Bullseye"]
    kernel_features = {"block_rq_merge", "vm_unmapped_area"}

    def test_stacks_that_are_drawn(self):
        """The BTF of 5.10 lacks the function at the end of a switch."""
        _, cost = self.drawn_from(self.dump_of_drawn())
        self.assertNotIn("waits_without_stacks", cost)

    def check_four_capabilities(self):
        """The BTF of 5.10 lacks the per-CPU variables, only CAP_SYSLOG shows the symbols, and BPF maps count as locked memory."""
        status, features = self.doctor("four")
        self.assertEqual(status, 1)
        self.assertIn("CAP_SYSLOG", features["kernel types (BTF)"][2])
        status, features = self.doctor("five")
        self.assertEqual(status, 1)
        self.assertIn("ulimit -l unlimited", features["BPF programs"][2])


class Bookworm(Kernel, TruthCase):
    suite, architecture = machine.KERNELS["Bookworm"]
    kernel_features = {"end of a switch", "sched_switch prev_state", "block_rq_merge", "vm_unmapped_area", "BPF memory allocator"}


class Trixie(Kernel, TruthCase):
    suite, architecture = machine.KERNELS["Trixie"]
    kernel_features = Kernel.all_kernel_features


class Sid(Kernel, TruthCase):
    suite, architecture = machine.KERNELS["Sid"]
    kernel_features = Kernel.all_kernel_features


class Arm64(Kernel, TruthCase):
    suite, architecture = machine.KERNELS["Arm64"]
    kernel_features = Kernel.all_kernel_features


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[3:]))
