# SPDX-License-Identifier: GPL-2.0-or-later
"""What offwait records of programs that know their own waits, on the running kernel.

    truth_test.py OFFWAIT WORKLOAD [test names]

Each test states facts: who woke whom, how often, how long. None asserts that something is fast."""
import collections
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

import recording
import runner
from truth import LOOPBACK, TruthCase

OFFWAIT, WORKLOAD = sys.argv[1], sys.argv[2]

SETTINGS = {
    "lo_rps_cpus": "/sys/class/net/lo/queues/rx-0/rps_cpus",
    "dev_weight": "/proc/sys/net/core/dev_weight",
    "netdev_budget": "/proc/sys/net/core/netdev_budget",
}


class TruthTest(TruthCase):
    def run_workload(self, *arguments, **options):
        try:
            return recording.record(OFFWAIT, WORKLOAD, arguments, **options)
        except recording.SkipWorkload as skipped:
            if skipped.status == runner.SKIP:
                self.skipTest("this host cannot run " + arguments[0])
            raise

    # --- locks, conditions, pipes ---

    def test_mutex(self):
        self.check(self.run_workload("mutex"))

    def test_mutex_handed_over(self):
        self.check(self.run_workload("mutex", "--lock", "handoff"))

    def test_condvar(self):
        self.check(self.run_workload("condvar"))

    def test_condvar_at_a_high_rate(self):
        self.check(self.run_workload("condvar", "--rounds", "20000", "--work-us", "0"), durations=False, states=False)

    def test_pipe_across_cpus(self):
        self.check(self.run_workload("pipe"))

    def test_pipe_on_one_cpu(self):
        self.check(self.run_workload("pipe", "--cpus", "same"))

    def test_eventfd(self):
        self.check(self.run_workload("eventfd"))

    # --- sockets ---

    def test_loopback(self):
        # The sender delivers its packet itself.
        run = self.run_workload("socket")
        for _, sent, on_top in self.check_socket(run, LOOPBACK):
            self.assertGreaterEqual(len(on_top), 0.9 * len(sent))
        self.check_peers(run)
        self.check_responses(run)

    def test_peers_over_ipv6(self):
        run = self.run_workload("socket", "--address", "::1", "--rounds", "50")
        self.check_peers(run)
        self.check_responses(run)

    def test_peers_of_ipv4_through_ipv6(self):
        self.check_peers(self.run_workload("socket", "--ipv6", "--rounds", "50"))

    def test_peers_of_poll(self):
        # No call names the socket here; the sender is known from its packet.
        self.check_peers(self.run_workload("socket", "--poll", "--rounds", "50"))
        self.check_peers(self.run_workload("socket", "--poll", "--address", "::1", "--rounds", "50"))

    @contextlib.contextmanager
    def settings(self, **values):
        paths = {name: pathlib.Path(SETTINGS[name]) for name in values}
        try:
            before = {name: path.read_text() for name, path in paths.items()}
            for name, path in paths.items():
                path.write_text(str(values[name]))
        except OSError as error:
            self.skipTest(str(error))
        try:
            yield
        finally:
            for name, path in paths.items():
                path.write_text(before[name])

    def test_loopback_on_a_bystander(self):
        # Both ends are on CPU 1. CPU 0 delivers all packets, in the context of any thread that runs there.
        with self.settings(lo_rps_cpus=1):
            run = self.run_workload("socket", "--cpus", "same", "--cpu", "1")
        for _, sent, on_top in self.check_socket(run, LOOPBACK):
            self.assertLessEqual(len(on_top), 0.01 * len(sent))

    def test_loopback_on_ksoftirqd(self):
        def switches():
            comms = {path: path.read_text() for path in pathlib.Path("/proc").glob("[0-9]*/comm")}
            [ksoftirqd] = [path.parent for path, comm in comms.items() if comm == "ksoftirqd/0\n"]
            return int((ksoftirqd / "schedstat").read_text().split()[2])

        # A softirq delivers one packet at a time and ten in all. ksoftirqd delivers the rest of the four hundred.
        with self.settings(lo_rps_cpus=1, dev_weight=1, netdev_budget=1):
            before = switches()
            run = self.run_workload("socket", "--cpus", "same", "--cpu", "1", "--flood", "4",
                                    "--work-us", "1000")
            self.assertGreater(switches() - before, 300, "ksoftirqd had nothing to do")
        for _, sent, on_top in self.check_socket(run, LOOPBACK):
            self.assertLessEqual(len(on_top), 0.01 * len(sent))

    def test_veth_into_a_network_namespace(self):
        name = f"offwait{os.getpid()}"
        near, far = f"ow{os.getpid()}", f"wo{os.getpid()}"

        def ip(command):
            try:
                subprocess.run(["ip", *command.split()], check=True, capture_output=True)
            except (OSError, subprocess.CalledProcessError) as error:
                self.skipTest(f"ip {command}: {error}")

        ip(f"netns add {name}")
        try:
            ip(f"link add {near} type veth peer name {far} netns {name}")
            ip(f"addr add 198.51.100.1/30 dev {near}")
            ip(f"link set {near} up")
            ip(f"-n {name} addr add 198.51.100.2/30 dev {far}")
            ip(f"-n {name} link set {far} up")
            run = self.run_workload("socket", "--netns", f"/run/netns/{name}", "--address", "198.51.100.2")
        finally:
            ip(f"netns del {name}")
        for truth, sent, _ in self.check_socket(run, {"client": "nic:" + near, "server": "nic:" + far}):
            # Names are unique in one namespace only.
            self.assertEqual({"@" in w.nic for w in sent}, {truth["name"] == "server"})
        self.check_peers(run)
        self.check_responses(run)

    def test_unix_socket(self):
        run = self.run_workload("socket", "--over", "unix")
        self.check(run)
        for truth in self.thread_truths(run):
            waits = [w for w in run.dump.waits_of(truth) if w.cls == "net"]
            self.assertGreaterEqual(len(waits), 0.99 * truth["waits"])
            self.assertEqual({w.nic for w in waits}, {""})
            self.assertEqual({w.peer for w in waits}, {""})

    # --- timers, disks, signals, children ---

    def test_nanosleep(self):
        run = self.run_workload("nanosleep")
        self.check(run)
        self.check_class(run, "timer", "sleep")

    def test_timer_poll(self):
        run = self.run_workload("timer_poll")
        self.check(run)
        self.check_class(run, "timer", "poll")

    def test_fsync(self):
        with tempfile.TemporaryDirectory(dir=".") as directory:
            run = self.run_workload("fsync", "--bytes", "4194304", "--rounds", "100", "--dir", directory)
        self.check_syncs(run)

    def test_page_fault(self):
        with tempfile.TemporaryDirectory(dir=".") as directory:
            run = self.run_workload("page_fault", "--dir", directory)
        self.check(run, durations=False)
        for truth in self.thread_truths(run, "reader"):
            self.assertIn("fault", {w.cls for w in run.dump.waits_of(truth)})

    def test_signal_wake(self):
        self.check(self.run_workload("signal_wake"), durations=False)

    def test_child_wait(self):
        run = self.run_workload("child_wait")
        self.check(run, durations=False)
        for truth in self.thread_truths(run, "parent"):
            self.assertIn("child", {w.cls for w in run.dump.waits_of(truth)})

    # --- births, deaths, names ---

    def test_fork_churn_of_threads(self):
        run = self.run_workload("fork_churn", "--count", "10000")
        self.check(run, durations=False)
        self.check_joins(run, 10000)

    def test_fork_churn_of_processes(self):
        run = self.run_workload("fork_churn", "--processes", "--count", "1000")
        self.check(run, durations=False)
        self.check_joins(run, 1000)

    def test_exec_in_the_middle(self):
        run = self.run_workload("exec_middle")
        self.check(run)
        self.assertIn("after_exec", {t.comm for t in run.dump.threads})

    def test_exec_from_a_thread(self):
        self.check(self.run_workload("exec_middle", "--from-thread"))

    def test_tid_reuse(self):
        run = self.run_workload("tid_reuse")
        first, second = self.thread_truths(run, "first")[0], self.thread_truths(run, "second")[0]
        self.assertEqual(first["tid"], second["tid"])
        self.check(run)
        lives = sorted((t.start, t.exit, t.comm) for t in run.dump.threads if t.tid == first["tid"])
        self.assertEqual([name for _, _, name in lives], ["first", "second"])
        self.assertLessEqual(lives[0][1], lives[1][0])

    def test_hostile_names(self):
        run = self.run_workload("spawn_names")
        self.check(run, durations=False)
        recorded = {(t.tid, t.comm) for t in run.dump.threads}
        for truth in self.thread_truths(run):
            name = bytes.fromhex(truth["name_hex"]).decode(errors="backslashreplace")
            self.assertIn((truth["tid"], name), recorded)

    # --- races ---

    def test_wakes_that_race_with_going_to_sleep(self):
        run = self.run_workload("race", "--races", os.environ.get("OFFWAIT_RACES", "1000000"))
        # Most wakings here have to wait until the sleeper has left its CPU. The kernel calls it blocked until they are complete,
        # and offwait calls it runnable from sched_waking on.
        self.check(run, durations=False, states=False)
        sleeper, waker = self.thread_truths(run, "sleeper")[0], self.thread_truths(run, "waker")[0]
        wakers = collections.Counter(w.waker for w in run.dump.waits_of(sleeper) if w.cls == "futex")
        self.assertLessEqual(wakers.pop("-", 0), run.dump.loss["waker_unknown"] + run.dump.loss["waker_impossible"])
        self.assertEqual(list(wakers), [f"thread:{waker['tid']}"])

    def test_preempted_between_state_and_sleep(self):
        self.check(self.run_workload("preempted_sleeper"), durations=False)

    # --- the window's ends ---

    def test_blocked_throughout(self):
        run = self.run_workload("blocked_throughout")
        self.check_blocked_throughout(run)

    # --- load ---

    def test_nothing_is_lost_at_100000_switches_a_second(self):
        run = self.run_workload("load", "--rate", "100000", "--seconds", "5", extra=["--no-stacks"])
        self.check(run, durations=False)

    def test_nothing_is_lost_at_100000_switches_a_second_with_stacks(self):
        run = self.run_workload("load", "--rate", "100000", "--seconds", "5")
        self.check(run, durations=False)


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[3:]))
