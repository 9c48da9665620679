# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetches packages of any Debian suite and architecture with apt, which checks the archive's signatures, and unpacks them
without installing them. They are kept in $OFFWAIT_CACHE or ~/.cache/offwait.

    debian.py SUITE ARCHITECTURE PACKAGE...    unpacks the packages and prints the directory"""
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

CACHE = pathlib.Path(os.environ.get("OFFWAIT_CACHE") or pathlib.Path.home() / ".cache/offwait")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
MIRROR = "http://deb.debian.org/debian"
FRESH_S = 24 * 3600


class Unavailable(Exception):
    """Something was not fetched before and cannot be fetched now; the message says what."""


class Suite:
    def __init__(self, name, architecture):
        self.name, self.architecture = name, architecture
        self.directory = CACHE / f"{name}-{architecture}"
        for part in ("lists/partial", "archives/partial", "trees"):
            (self.directory / part).mkdir(parents=True, exist_ok=True)
        self.lock = open(self.directory / "lock", "w", encoding="ascii")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        sources = self.directory / "sources.list"
        sources.write_text(f"deb [signed-by={KEYRING}] {MIRROR} {name} main\n", encoding="ascii")
        self.options = [f"-o{key}={value}" for key, value in {
            "Dir::State": self.directory, "Dir::State::Lists": self.directory / "lists", "Dir::State::status": "/dev/null",
            "Dir::Cache": self.directory, "Dir::Etc::SourceList": sources, "Dir::Etc::SourceParts": "/dev/null",
            "APT::Architecture": architecture, "APT::Architectures": architecture, "APT::Sandbox::User": "root",
            "APT::Update::Error-Mode": "any", "Acquire::Languages": "none", "Acquire::Retries": 2}.items()]
        self.update()

    def close(self):
        self.lock.close()

    def apt(self, *command, cwd=None):
        return subprocess.run([command[0], *self.options, *command[1:]], cwd=cwd, capture_output=True, text=True, check=False)

    def update(self):
        stamp = self.directory / "updated"
        if stamp.exists() and time.time() - stamp.stat().st_mtime < FRESH_S:
            return
        result = self.apt("apt-get", "-q", "update")
        if result.returncode == 0:
            stamp.touch()
        elif not stamp.exists():
            raise Unavailable(f"Debian {self.name}: {(result.stderr.strip().splitlines() or ['no list of packages'])[-1]}")

    def fields(self, package):
        """The fields of the package's newest version."""
        text = self.apt("apt-cache", "show", "--no-all-versions", package).stdout
        return dict(re.findall(r"^([A-Za-z-]+): (.*)$", text, re.MULTILINE))

    def with_dependencies(self, packages, pattern):
        """The packages, and those they depend on whose names match."""
        wanted, found = list(packages), {}
        while wanted:
            package = wanted.pop()
            if package in found:
                continue
            found[package] = self.fields(package)
            if "Version" not in found[package]:
                raise Unavailable(f"Debian {self.name} has no package {package}")
            first = [alternatives.split("|")[0] for alternatives in found[package].get("Depends", "").split(",")]
            names = [re.split(r"[ (:]", name.strip())[0] for name in first]
            wanted += [name for name in names if re.fullmatch(pattern, name)]
        return {name: fields["Version"] for name, fields in found.items()}

    def tree(self, packages, pattern="(?!)"):
        """A directory into which these packages are unpacked."""
        tree = self.directory / "trees" / packages[0]
        stamp = tree / ".packages"
        asked = f"# {' '.join(packages)} {pattern}\n"
        # To ask apt takes seconds. Its answer is the same until there are new lists.
        if stamp.exists() and stamp.stat().st_mtime > (self.directory / "updated").stat().st_mtime:
            if stamp.read_text(encoding="ascii").startswith(asked):
                return tree
        versions = [f"{name}={version}" for name, version in sorted(self.with_dependencies(packages, pattern).items())]
        wanted = asked + "".join(f"{version}\n" for version in versions)
        if stamp.exists() and stamp.read_text(encoding="ascii") == wanted:
            stamp.touch()
            return tree
        result = self.apt("apt-get", "-q", "download", *versions, cwd=self.directory / "archives/partial")
        if result.returncode != 0:
            if stamp.exists():  # an older version
                return tree
            raise Unavailable(f"Debian {self.name}: {(result.stderr.strip().splitlines() or ['no packages'])[-1]}")
        shutil.rmtree(tree, ignore_errors=True)
        for archive in (self.directory / "archives/partial").glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", archive, tree], check=True)
            archive.unlink()
        stamp.write_text(wanted, encoding="ascii")
        return tree


def tree(suite, architecture, packages, pattern="(?!)"):
    fetched = Suite(suite, architecture)
    try:
        return fetched.tree(packages, pattern)
    finally:
        fetched.close()


def kernel(suite, architecture):
    """A directory with boot/vmlinuz-* and the modules of the suite's cloud kernel."""
    return tree(suite, architecture, [f"linux-image-cloud-{architecture}"], "linux-(image|binary|modules)-.*")


if __name__ == "__main__":
    try:
        print(tree(sys.argv[1], sys.argv[2], sys.argv[3:]))
    except Unavailable as unavailable:
        sys.exit(f"debian.py: {unavailable}")
