#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: 16 threads of Tomcat call a synchronized method that waits 5 ms for a slow service, so one works and 15 wait for the
# monitor. Fix: no lock around the call (16 times as much, until a CPU is full), or a lock for each key. Truth: a thread dump
# shows BLOCKED threads and who has the monitor; people move the call out of it.
. "$(dirname "$0")/web.sh"
port=$(free_port)
tomcat 16 '<%@ page session="false" %><%!
  private static synchronized void nextNumber() throws InterruptedException { Thread.sleep(5); }
%><% nextNumber(); %>ok' -Xmx128m
ask 16 "127.0.0.1:$port"
record "$server"
