# SPDX-License-Identifier: GPL-2.0-or-later
"""An OCI container that crun runs, with a root and a PID namespace of its own, recorded by its cgroup and by its id.

    container_test.py OFFWAIT WORKLOAD [test names]"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import recording
import runner
from cgroup import mount
from truth import TruthCase

OFFWAIT, WORKLOAD = sys.argv[1], sys.argv[2]
ID = "5eed" + f"{os.getpid():060x}"

# crun accepts only cgroups of version 2. Where both versions are mounted, it is shown version 2 alone.
ONLY_V2 = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
           'mountpoint -q /sys/fs/cgroup/unified && mount --bind /sys/fs/cgroup/unified /sys/fs/cgroup; exec "$@"', "sh"]
CRUN = [*ONLY_V2, "crun", "--cgroup-manager=cgroupfs"]


def libraries(program):
    return re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout)


@contextlib.contextmanager
def container(name, arguments, cgroup=None):
    """A workload in a container, as recording.Workload. Its executable is called `guest` and exists only there."""
    with tempfile.TemporaryDirectory(prefix="offwait-container") as bundle:
        root = pathlib.Path(bundle) / "rootfs"
        for file, inside in [(WORKLOAD, "/guest"), *((library, library) for library in libraries(WORKLOAD))]:
            (root / inside[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, root / inside[1:])
        config = {"ociVersion": "1.0.0", "root": {"path": str(root)},
                  "process": {"user": {"uid": 0, "gid": 0}, "cwd": "/", "args": ["/guest", *arguments], "env": ["PATH=/"]},
                  "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
                             {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"}],
                  "linux": {"namespaces": [{"type": kind} for kind in ("pid", "mount", "ipc", "uts", "network", "cgroup")]}}
        if cgroup:
            config["linux"]["cgroupsPath"] = cgroup
        (pathlib.Path(bundle) / "config.json").write_text(json.dumps(config))
        running = recording.Workload(CRUN[0], [*CRUN[1:], "run", f"--bundle={bundle}", name])
        try:
            yield running
        finally:
            running.process.stdin.close()
            subprocess.run([*CRUN, "delete", "--force", name], check=False, capture_output=True)
            running.process.stdout.close()
            running.process.wait()


def tids_inside(cgroup):
    """{tid: its tid in the container} of all threads in the cgroup."""
    tids = {}
    for tgid in pathlib.Path(mount() + cgroup, "cgroup.procs").read_text().split():
        for task in pathlib.Path(f"/proc/{tgid}/task").iterdir():
            tids[int(task.name)] = int(re.search(r"^NSpid:.*\t(\d+)$", (task / "status").read_text(), re.MULTILINE)[1])
    return tids


class ContainerTest(TruthCase):
    def setUp(self):
        if mount() is None:
            self.skipTest("no cgroup v2 here")

    def test_waits_in_a_container(self):
        """The target is the container's cgroup; the workload knows its threads by their tids in the container."""
        name = f"offwait-test-{os.getpid()}"
        with container(name, ["condvar"]) as guest, tempfile.NamedTemporaryFile(suffix=".txt") as file:
            recorder = recording.start_offwait(OFFWAIT, ["dump", "-c", name, "-o", file.name])
            truths = guest.go()
            recorder.send_signal(2)
            _, errors = recorder.communicate()
            self.assertEqual(recorder.returncode, 0, errors)
            dump = recording.Dump(file.name)
        threads = [thread for thread in dump.threads if not thread.outside]
        outside = {thread.ns_tid: thread.tid for thread in threads}
        self.assertEqual(len(outside), len(threads))
        self.assertEqual({thread.tgid for thread in threads}, {outside[1]})
        for truth in truths:
            truth["tid"] = outside[truth["tid"]]
            truth["wakers"] = {f"thread:{outside[int(waker.removeprefix('thread:'))]}": count
                               for waker, count in truth["wakers"].items()}
        self.check(recording.Run(dump, truths, outside[1]))

    def check_report(self, target, cgroup):
        """ping and pong wait for each other in functions of the guest and of its libc."""
        result = subprocess.run([OFFWAIT, *target, "-d", "1", "--json", "-", "-q"], capture_output=True, text=True, check=False)
        tids = tids_inside(cgroup)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(report["recording"]["target"], f"cgroup {cgroup}")
        actors = {actor["name"]: actor for actor in report["actors"]}
        for name in ("ping", "pong"):
            self.assertFalse(actors[name]["outside"])
            self.assertEqual(actors[name]["ns_tids"], [tids[actors[name]["tid"]]])
        self.assertIn({actors["ping"]["id"], actors["pong"]["id"]}, [set(knot["actors"]) for knot in report["knots"]])
        [edge] = [edge for edge in report["edges"] if (edge["from"], edge["to"]) == (actors["ping"]["id"], actors["pong"]["id"])]
        frames = edge["stacks"][0]["wait_stack"]
        user = frames[frames.index("--") + 1:]
        self.assertTrue(any(re.match(r"pthread_cond_wait.* \(libc\.so\.6\)", frame) for frame in user), user)
        self.assertTrue(any("condvar" in frame and "(guest)" in frame for frame in user), user)
        self.assertEqual([frame for frame in user if frame.startswith("[cut:")], [])

    def test_by_cgroup_and_by_name(self):
        name = f"offwait-test-{os.getpid()}"
        with container(name, ["condvar", "--rounds", "100000000"]) as guest:
            guest.begin()
            for target in (["-c", f"/{name}"], ["--container", name]):
                self.check_report(target, f"/{name}")

    def test_by_id(self):
        """The cgroup is named as Docker without systemd names it."""
        parent = f"/offwait-parent-{os.getpid()}"
        with container(ID, ["condvar", "--rounds", "100000000"], cgroup=f"{parent}/docker/{ID}") as guest:
            guest.begin()
            for target in (["--container", ID], ["--container", ID[:-3]]):
                self.check_report(target, f"{parent}/docker/{ID}")
        for directory in (f"{parent}/docker", parent):
            with contextlib.suppress(FileNotFoundError):
                os.rmdir(mount() + directory)

    def test_tids_in_the_text_report(self):
        name = f"offwait-test-{os.getpid()}"
        with container(name, ["condvar", "--rounds", "100000000"]) as guest:
            guest.begin()
            result = subprocess.run([OFFWAIT, "--container", name, "-d", "1"], capture_output=True, text=True, check=True,
                                    env={**os.environ, "LC_ALL": "C.UTF-8"})
            tids = tids_inside(f"/{name}")
        shown = re.findall(r"p[io]ng \(tid (\d+), (\d+) in its namespace\)", result.stdout.replace("\n", " "))
        self.assertTrue(shown, result.stdout)
        for tid, inside in shown:
            self.assertEqual(tids[int(tid)], int(inside))


if __name__ == "__main__":
    sys.exit(runner.run(sys.argv[3:], tools=["crun", "unshare", "ldd"]))
