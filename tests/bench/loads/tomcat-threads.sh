#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: Tomcat has two threads for requests (maxThreads), and each page waits 20 ms for a slow service; 16 clients queue,
# CPUs are idle. Fix: more threads, in proportion; or a faster service. Truth: a thread dump shows all http-nio-*-exec threads
# in the page, and people raise maxThreads.
. "$(dirname "$0")/web.sh"
port=$(free_port)
tomcat 2 '<%@ page session="false" %><% Thread.sleep(20); %>ok' -Xmx128m
ask 16 "127.0.0.1:$port"
record "$server"
