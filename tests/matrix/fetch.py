#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetches what the machines, and the build for arm64, need of Debian, so that these need not wait for it. It names what cannot
be had, which is no error here: what needs it is skipped."""
import pathlib
import subprocess

import debian
import machine


HERE = pathlib.Path(__file__).resolve().parent


def fetch(what, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except (debian.Unavailable, OSError, subprocess.CalledProcessError) as error:
        print(f"not fetched: {what}: {error}", flush=True)


def main():
    for suite, architecture in machine.KERNELS.values():
        fetch(f"the kernel of {suite} for {architecture}", machine.image, suite, architecture)
    for architecture in machine.QEMU:
        fetch(f"busybox for {architecture}", machine.busybox, architecture)
        fetch(f"qemu for {architecture}", machine.emulator, architecture)
    fetch("libraries for arm64", subprocess.run, [HERE / "arm64_sysroot.sh"], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
