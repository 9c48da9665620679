#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Cause: the heap (80 MB) is nearly full of a cache (175,000 rows, 40 MB) of which each page renews 200 rows, so the serial
# collector has to run full collections all the time, and all threads stop for them. Fix: a larger heap (-Xmx1g) or a smaller
# cache: several times as much. Truth: -Xlog:gc or jstat shows most of the time in full collections; people raise -Xmx.
. "$(dirname "$0")/web.sh"
port=$(free_port)
tomcat 8 '<%@ page session="false" import="java.util.concurrent.ThreadLocalRandom" %><%!
  private static final Object[][] rows = new Object[175_000][50];
%><% for (int i = 0; i < 200; ++i) rows[ThreadLocalRandom.current().nextInt(rows.length)] = new Object[50]; %>ok' \
  -Xmx80m -XX:+UseSerialGC
ask 8 "127.0.0.1:$port"
record "$server"
