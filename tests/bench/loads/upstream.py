#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A service that sleeps for each answer, as that of predicted_gains.py.

    upstream.py PORT SECONDS
"""
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import predicted_gains  # noqa: E402

predicted_gains.Nginx.answer(socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=256), float(sys.argv[2]))
