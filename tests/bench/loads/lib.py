# SPDX-License-Identifier: GPL-2.0-or-later
"""What the loads beside this file share that are cases like those of predicted_gains.py."""
import contextlib
import os
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import fix_cases  # noqa: E402
import predicted_gains as servers  # noqa: E402

OFFWAIT = os.environ.get("OFFWAIT", fix_cases.ROOT / "build/release/offwait")
OUT = Path(os.environ.get("OUT", "/var/tmp/offwait-loads"))
SECONDS_EACH = int(os.environ.get("SECONDS_EACH", "6"))


class OwnDisk:
    """To be mixed in: the files are on the machine's own disk."""

    def __init__(self, undo, _slow_file, _changed):
        directory = undo.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp"))
        os.chmod(directory, 0o755)
        self.directory = os.path.join(directory, "own")
        os.mkdir(self.directory)
        self.start(undo)


def record(case):
    """Starts the servers of a case, records them under its load, and stops all."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # undoes what was done
    OUT.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as undo:
        directory = undo.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp"))
        slow_file = None if issubclass(case, OwnDisk) else fix_cases.compiled_slow_file(directory)
        file = OUT / f"{Path(sys.argv[0]).stem}.offwait"
        servers.record(OFFWAIT, case(undo, slow_file, False), SECONDS_EACH, file, "record")
