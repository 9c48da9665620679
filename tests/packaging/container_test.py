# SPDX-License-Identifier: GPL-2.0-or-later
"""The manifests for Kubernetes, run by crun as OCI containers. Their privileges are enough to record processes of the host,
and none of them can be left out. The command line for systemd-run grants the same.

    container_test.py BUILD [test names]"""
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from running import GUARD_S

BUILD = pathlib.Path(sys.argv.pop(1))
KUBERNETES = pathlib.Path(__file__).resolve().parents[2] / "packaging/kubernetes"
MANUAL = KUBERNETES.parent / "man"
CAPABILITIES = ["BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH"]

# crun accepts only cgroups of version 2, and today's nodes have no others. Where both versions are mounted, crun is shown
# version 2 alone.
UNIFIED_CGROUPS = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                   '[ ! -d /sys/fs/cgroup/unified ] || mount --bind /sys/fs/cgroup/unified /sys/fs/cgroup; exec "$@"', "sh"]

# The mounts of containerd for every container that is not privileged.
MOUNTS = [
    {"destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid", "noexec", "nodev"]},
    {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]},
    {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]}]
MASKED = ["/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats",
          "/proc/sched_debug", "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap"]
READ_ONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]


def missing():
    lacks = [tool for tool in ("crun",) if not shutil.which(tool)] + ["root"] * (os.geteuid() != 0)
    try:
        import yaml  # noqa: F401
    except ImportError:
        lacks.append("python3-yaml")
    return lacks


def manifest(name):
    import yaml
    return yaml.safe_load((KUBERNETES / name).read_text())


def entrypoint():
    return json.loads(re.search(r"^ENTRYPOINT (.*)$", (KUBERNETES / "Dockerfile").read_text(), re.MULTILINE)[1])


def bundle_config(pod, container, arguments, capabilities):
    """The OCI configuration that a kubelet makes of this container of the pod, with other arguments and capabilities."""
    security = container["securityContext"]
    names = [f"CAP_{name}" for name in capabilities]
    host_paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod.get("volumes", [])}
    volumes = [{"destination": mount["mountPath"], "type": "bind", "source": host_paths[mount["name"]],
                "options": ["rbind", "ro" if mount["readOnly"] else "rw"]} for mount in container.get("volumeMounts", [])]
    namespaces = ["mount", "ipc", "uts", "network", "cgroup", *([] if pod["hostPID"] else ["pid"])]
    return {
        "ociVersion": "1.0.0",
        "process": {
            "user": {"uid": security["runAsUser"], "gid": 0}, "cwd": "/", "args": [*entrypoint(), *map(str, arguments)],
            "env": ["PATH=/bin"], "noNewPrivileges": not security["allowPrivilegeEscalation"],
            "capabilities": {kind: names for kind in ("bounding", "effective", "permitted")}},
        "root": {"path": "rootfs", "readonly": security["readOnlyRootFilesystem"]},
        "mounts": MOUNTS + volumes,
        "linux": {"namespaces": [{"type": name} for name in namespaces], "maskedPaths": MASKED, "readonlyPaths": READ_ONLY}}


@contextlib.contextmanager
def pods_cgroup(name):
    """The cgroup of a pod, below that of all pods."""
    mount = pathlib.Path("/sys/fs/cgroup/unified" if os.path.isdir("/sys/fs/cgroup/unified") else "/sys/fs/cgroup")
    cgroups = [mount / name, mount / name / "kubepods-pod0.slice"]
    for cgroup in cgroups:
        cgroup.mkdir(exist_ok=True)
    try:
        yield cgroups[-1]
    finally:
        for cgroup in reversed(cgroups):
            cgroup.rmdir()


@contextlib.contextmanager
def workload():
    """A process of the host with two threads that wake each other, for as long as it is used."""
    process = subprocess.Popen([BUILD / "tests/workloads/workload", "condvar", "--rounds", "100000000"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    try:
        json.loads(process.stdout.readline())
        process.stdin.write(b"go\n")
        process.stdin.flush()
        yield process.pid
    finally:
        process.kill()
        process.communicate()


class ContainerTest(unittest.TestCase):
    maxDiff = None

    def run_container(self, name, pod, container, arguments, capabilities=CAPABILITIES):
        with tempfile.TemporaryDirectory(prefix="offwait-container") as bundle:
            bundle = pathlib.Path(bundle)
            (bundle / "rootfs").mkdir(mode=0o755)
            shutil.copy(BUILD / "offwait", bundle / "rootfs/offwait")
            (bundle / "config.json").write_text(json.dumps(bundle_config(pod, container, arguments, capabilities)))
            crun = ["crun", "--cgroup-manager=disabled", f"--root={bundle}/state", "run", f"--bundle={bundle}", f"{name}-{os.getpid()}"]
            return subprocess.run([*UNIFIED_CGROUPS, *crun], capture_output=True, text=True, timeout=GUARD_S,
                                  stdin=subprocess.DEVNULL, check=False)

    def check_container(self, pod, container):
        """Checks what every manifest has to contain."""
        self.assertTrue(pod["hostPID"])
        self.assertEqual(container["securityContext"], {
            "runAsUser": 0, "readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"], "add": CAPABILITIES},
            "seccompProfile": {"type": "Unconfined"}, "appArmorProfile": {"type": "Unconfined"}})

    def check_report(self, out):
        """Checks that ping and pong wait for each other, in functions of the kernel, of libc and of the workload."""
        report = json.loads(out)
        name = {actor["id"]: actor["name"] for actor in report["actors"]}
        edges = {(name[edge["from"]], name[edge["to"]]): edge for edge in report["edges"]}
        for ends in (("ping", "pong"), ("pong", "ping")):
            stack = edges[ends]["stacks"][0]
            self.assertIn("futex", edges[ends]["classes"])
            for kind in ("wait_stack", "waker_stack"):
                kernel, user = stack[kind][:stack[kind].index("--")], stack[kind][stack[kind].index("--") + 1:]
                self.assertRegex(" ".join(kernel), r"futex_\w+\+\S+ \(\[kernel\]\)")
                self.assertTrue([frame for frame in user if frame.endswith("(workload)") or "(workload) at " in frame], user)
                self.assertRegex(" ".join(user), r"pthread_cond_\w+\S* \(libc")
        return report

    def test_pod(self):
        document = manifest("pod.yaml")
        self.assertEqual((document["apiVersion"], document["kind"]), ("v1", "Pod"))
        pod = document["spec"]
        container, = pod["containers"]
        self.check_container(pod, container)
        with workload() as pid:
            arguments = [pid if argument == "PID" else argument for argument in container["args"]]
            arguments[arguments.index("30s")] = "500ms"
            result = self.run_container("pod", pod, container, arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, rf"^offwait \d+\.\d+\.\d+ . pid {pid} \(workload\)")
            self.check_report(self.run_container("pod", pod, container, [*arguments, "--json", "-"]).stdout)

    def test_daemonset(self):
        document = manifest("daemonset.yaml")
        self.assertEqual((document["apiVersion"], document["kind"]), ("apps/v1", "DaemonSet"))
        self.assertEqual(document["spec"]["selector"]["matchLabels"], document["spec"]["template"]["metadata"]["labels"])
        pod = document["spec"]["template"]["spec"]
        container, = pod["initContainers"]
        self.check_container(pod, container)
        arguments = list(container["args"])
        arguments[arguments.index("60s")] = "500ms"
        with pods_cgroup(arguments[arguments.index("-c") + 1]) as pods, workload() as pid:
            (pods / "cgroup.procs").write_text(str(pid))
            result = self.run_container("daemonset", pod, container, [*arguments, "--json", "-"])
            self.assertEqual(result.returncode, 0, result.stderr)
            report = self.check_report(result.stdout)
        inside = {actor["name"] for actor in report["actors"] if not actor["outside"] and actor["kind"] == "thread"}
        self.assertEqual(inside - {"workload"}, {"ping", "pong"})

    def test_no_capability_is_dispensable(self):
        pod = manifest("pod.yaml")["spec"]
        for dropped in CAPABILITIES:
            result = self.run_container("less", pod, pod["containers"][0], ["-p", 1, "-d", "100ms"],
                                        [name for name in CAPABILITIES if name != dropped])
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertEqual(set(re.findall(r"lacks: ([A-Z_, ]+)", result.stderr)), {f"CAP_{dropped}"}, result.stderr)

    def test_systemd_run(self):
        """No systemd runs here, so the command is not run; systemd-analyze checks its properties in a unit."""
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze missing")
        page = (MANUAL / "offwait.1").read_text().replace("\\-", "-")
        line = re.search(r"^systemd-run (.*?[^e])$", page.replace("\\e\n", " "), re.MULTILINE)[1]
        words = shlex.split(line)
        properties = [words[index + 1] for index, word in enumerate(words) if word == "-p" and "=" in words[index + 1]]
        capabilities = " ".join(f"CAP_{name}" for name in CAPABILITIES)
        self.assertEqual(properties, ["DynamicUser=yes", f"CapabilityBoundingSet={capabilities}",
                                      f"AmbientCapabilities={capabilities}", "NoNewPrivileges=yes"])
        with tempfile.TemporaryDirectory() as directory:
            unit = pathlib.Path(directory) / "offwait.service"
            unit.write_text("\n".join(["[Service]", "Type=oneshot", f"ExecStart={BUILD}/offwait -p 1234 -d 30s", *properties, ""]))
            checked = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=GUARD_S,
                                     check=False)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))


if __name__ == "__main__":
    if lacking := missing():
        print(f"skipped: {', '.join(lacking)} missing")
        sys.exit(77)
    unittest.main(verbosity=2)
