#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Cause: 2 clients update different rows, and each commit syncs the log (innodb_flush_log_at_trx_commit=1) to a disk that
needs 2 ms a request. Fix: a faster disk in proportion; flush_log_at_trx_commit=2 or larger transactions gain many times as
much; more clients share a sync. Truth: people set it to 2 where they may lose a second, or buy a disk with a protected
cache."""
import lib


class Load(lib.servers.MariaDb):
    clients = 2


lib.record(Load)
