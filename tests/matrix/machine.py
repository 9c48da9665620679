# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine under qemu that runs only the programs given to it. It is emulated throughout, so that it runs anywhere."""
import io
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import debian

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT_S = 1200  # a machine takes a tenth of it
DISK_BYTES = 64 << 20
RESULT_BYTES = 48 << 20
DISK_IOPS = 2000  # without a limit a request is done before a thread can wait for it

# Newer qemu says that its disk has other paths to it, and the kernel then gives each path a name.
# Guards against attacks on a CPU, and memory that is zeroed when it is allocated, cost much here and change nothing that is
# tested.
KERNEL_OPTIONS = "panic=-1 oops=panic quiet nvme_core.multipath=N mitigations=off init_on_alloc=0"
# The command line of qemu, by Debian's name of the architecture.
QEMU = {
    # qemu 7.2 sometimes executes cmpxchg16b wrongly, which the allocator of Linux 6.12 uses a lot. With erms and fsrm Linux
    # copies by an instruction that qemu executes byte by byte.
    "amd64": ["qemu-system-x86_64", "-cpu", "max,-cx16,-erms,-fsrm", "-append", f"console=ttyS0 {KERNEL_OPTIONS}"],
    "arm64": ["qemu-system-aarch64", "-M", "virt,gic-version=3", "-cpu", "max,pauth-impdef=on", "-append", f"console=ttyAMA0 {KERNEL_OPTIONS}"],
}
# The first qemu without this fault: a CPU translates code while another changes it, and keeps the translation of the old code.
# Linux changes code when a program is attached or detached, and dies of the "Oops: int3" that it had put there meanwhile.
SOUND_QEMU = (8, 1)
BACKPORTS = "bookworm-backports"
PACKAGE = {"amd64": "qemu-system-x86", "arm64": "qemu-system-arm"}
EMULATED = ["-accel", "tcg", "-smp", "2", "-m", "1G", "-nographic", "-no-reboot", "-nodefaults",
            "-serial", "stdio"]


# {name of its test: (Debian's suite, architecture)}
KERNELS = {"Bullseye": ("bullseye", "amd64"), "Bookworm": ("bookworm", "amd64"), "Trixie": ("trixie", "amd64"),
           "Sid": ("sid", "amd64"), "Arm64": ("trixie", "arm64")}


class Failed(Exception):
    """The machine did not finish; the message has the last lines of its console."""


def libraries(program, sysroot):
    """The shared libraries that a program needs, directly or through others, as {path in the machine: file}."""
    found, wanted = {}, [program]
    while wanted:
        headers = subprocess.run(["readelf", "-ldW", wanted.pop()], check=True, capture_output=True, text=True).stdout
        names = re.findall(r"\(NEEDED\).*\[(.*)\]", headers)
        for interpreter in re.findall(r"program interpreter: (\S+)\]", headers):
            found[interpreter] = find_library(os.path.basename(interpreter), sysroot)
        for name in names:
            if not any(os.path.basename(path) == name for path in found):
                found[f"/lib/{name}"] = find_library(name, sysroot)
                wanted.append(found[f"/lib/{name}"])
    return found


def find_library(name, sysroot):
    for directory in ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "lib64", "lib"):
        if (sysroot / directory / name).exists():
            return sysroot / directory / name
    raise FileNotFoundError(f"{name} below {sysroot}")


def initramfs(file, programs, texts, sysroot):
    """Writes the archive: busybox, `programs` ({name: file}) with their libraries, and `texts` ({path: text})."""
    root = file.with_suffix(".root")
    for directory in ("bin", "proc", "sys", "dev", "lib"):
        (root / directory).mkdir(parents=True)
    shutil.copy(HERE / "init", root / "init")
    for name, program in programs.items():
        shutil.copy(program, root / "bin" / name)
        for path, library in libraries(program, sysroot).items():
            target = root / path.lstrip("/")
            target.parent.mkdir(exist_ok=True)
            shutil.copy(library, target)
    for path, text in {**texts, "disk_sectors": f"{DISK_BYTES // 512}\n"}.items():
        (root / path).write_text(text, encoding="ascii")
    names = "\0".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    with open(file, "wb") as archive:
        subprocess.run(["cpio", "--quiet", "-0", "-o", "-H", "newc"], cwd=root, input=names.encode(), stdout=archive, check=True)
    shutil.rmtree(root)


def image(suite, architecture):
    """The kernel in its package's tree. It is in /boot, and since Linux 7 beside its modules."""
    tree = debian.kernel(suite, architecture)
    [found] = [*tree.glob("boot/vmlinuz-*"), *tree.glob("usr/lib/modules/*/vmlinuz")]
    return found


def busybox(architecture):
    """A busybox without shared libraries: this machine's, if it runs there."""
    if architecture == "amd64":
        return "/bin/busybox"
    return debian.tree("bookworm", architecture, ["busybox-static"]) / "bin/busybox"


def emulator(architecture):
    """The command line of qemu: that of Debian's backports, not installed, if the machine's own is too old. They need the same
    libraries."""
    program, *options = QEMU[architecture]
    said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    version = re.search(r"version (\d+)\.(\d+)", said)
    if version and tuple(map(int, version.groups())) >= SOUND_QEMU:
        return QEMU[architecture]
    try:
        tree = debian.tree(BACKPORTS, "amd64", [PACKAGE[architecture]], "qemu-system-(common|data)|seabios")
    except debian.Unavailable:
        return QEMU[architecture]
    return [tree / "usr/bin" / program, "-L", tree / "usr/share/qemu", "-L", tree / "usr/share/seabios", *options]


def run(architecture, kernel, archive, scratch, out):
    """Boots, waits for the end, and unpacks into `out` what the machine left there. Returns what its console said."""
    disk, result = scratch / "disk", scratch / "result"
    for path, size in ((disk, DISK_BYTES), (result, RESULT_BYTES)):
        with open(path, "wb") as file:
            file.truncate(size)
    subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", "-b", "4096", disk], check=True)
    drives = []
    for number, path in enumerate((disk, result)):
        drives += ["-drive", f"if=none,id=d{number},format=raw,cache=unsafe,file={path},throttling.iops-total={DISK_IOPS}",
                   "-device", f"nvme,drive=d{number},serial={number}"]
    command = [*emulator(architecture), *EMULATED, *drives, "-kernel", kernel, "-initrd", archive]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False)
        console, end = done.stdout + done.stderr, f"qemu ended with status {done.returncode}"
    except subprocess.TimeoutExpired as expired:
        console, end = expired.stdout or b"", f"not done after {TIMEOUT_S} s"
    console = console.decode(errors="replace")
    content = result.read_bytes()
    if not content.strip(b"\0"):
        raise Failed(f"{end}; console:\n{console[-8000:]}")
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(out)
    if (out / "failed").exists():
        raise Failed(f"{(out / 'failed').read_text().strip()}; console:\n{console[-8000:]}")
    return console
