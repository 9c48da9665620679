# SPDX-License-Identifier: GPL-2.0-or-later
"""Root file systems to run commands in: an empty one, or clean installations of Debian suites. The installations are kept
beside the packages of ../matrix/debian.py."""
import fcntl
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "matrix"))
import debian  # noqa: E402
from debian import Unavailable  # noqa: E402,F401

# The mounts are in their own namespace, so that they disappear with the command, however it ends.
ENTER = """set -e
scratch=$1 lower=$2; shift 2
mount -t overlay overlay -o "lowerdir=$lower,upperdir=$scratch/changes,workdir=$scratch/work" "$scratch/root"
while [ "$1" != -- ]; do mkdir -p "$scratch/root$1"; mount --rbind "$1" "$scratch/root$1"; shift; done; shift
exec chroot "$scratch/root" "$@"
"""


def installation(suite):
    """A directory in which the suite's essential packages and apt are installed. It is made if it does not exist, and must not be
    written to."""
    kept = debian.CACHE / "roots" / suite
    kept.parent.mkdir(parents=True, exist_ok=True)
    with open(kept.with_suffix(".lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            if not shutil.which("mmdebstrap"):
                raise Unavailable("mmdebstrap missing")
            made = kept.with_suffix(".new")
            shutil.rmtree(made, ignore_errors=True)
            result = subprocess.run(["mmdebstrap", "--variant=apt", suite, made, debian.MIRROR],
                                    capture_output=True, text=True, check=False)
            if result.returncode != 0:
                shutil.rmtree(made, ignore_errors=True)
                errors = [line for line in result.stderr.splitlines() if line.startswith("E:")]
                raise Unavailable(f"no clean Debian {suite} is kept, and none could be made: {(errors or ['mmdebstrap failed'])[0]}")
            made.rename(kept)
    return kept


class Root:
    """An empty root, or that of a Debian suite. The directory `changes` lies over it: files put there appear in the root, and
    what a command changes in the root is found there. A `with` removes it at its end."""

    def __init__(self, suite=None):
        installed = installation(suite) if suite else None
        self.scratch = tempfile.TemporaryDirectory(prefix="offwait-root")
        scratch = pathlib.Path(self.scratch.name)
        self.changes, nothing = scratch / "changes", scratch / "nothing"
        for path in (self.changes, nothing, scratch / "work", scratch / "root"):
            path.mkdir(mode=0o755)
        self.lower = installed or nothing

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.scratch.cleanup()

    def inside(self, *command, mounts=()):
        """The command line that runs a command with this root, and with these directories of the host in it."""
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER, "sh", self.scratch.name, str(self.lower),
                *mounts, "--", *map(str, command)]
