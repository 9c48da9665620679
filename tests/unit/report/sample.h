// SPDX-License-Identifier: GPL-2.0-or-later
// A report made by hand, with something of everything: B ⇄ vda is the knot, A → B the longest wait, outside
// of it.
#pragma once

#include <string>

#include "analysis/findings.h"
#include "stacks.h"

namespace offwait {

inline FoundActor sample_thread(const std::string& name, int tid, double running_s, double blocked_s) {
  FoundActor actor;
  actor.name = name;
  actor.tid = tid;
  actor.tgid = 10;
  actor.tids = {tid};
  actor.time = {running_s, 0, blocked_s, 0, running_s + blocked_s};
  return actor;
}

inline FoundActor sample_device(ActorKind kind, const std::string& name) {
  FoundActor actor;
  actor.kind = kind;
  actor.name = name;
  return actor;
}

/// B waits for vda, in two places.
inline FoundEdge sample_disk_wait() {
  FoundEdge b_disk;
  b_disk.from = 1;
  b_disk.to = 2;
  b_disk.waits = 1000;
  b_disk.wait_s = 5;
  b_disk.weight_s = 9.5;
  b_disk.each_s = 0.005;
  b_disk.classes = {{WaitClass::disk, 5}};
  b_disk.stacks = {{WaitClass::disk,
                    6.5,
                    3,
                    600,
                    stack_of({"io_schedule+0x1", "--", "fdatasync+0x1b (libc.so.6)",
                              "sync_it()+0x2 (server) at src/log.cc:7"}),
                    {}},
                   {WaitClass::disk, 3, 2, 400, stack_of({"--", "pwrite+0x2 (libc.so.6)"}), {}}};
  return b_disk;
}

/// A waits for B, which answers two peers.
inline FoundEdge sample_thread_wait() {
  FoundEdge a_b;
  a_b.from = 0;
  a_b.to = 1;
  a_b.waits = 800;
  a_b.wait_s = 8;
  a_b.weight_s = 8;
  a_b.each_s = 0.01;
  a_b.classes = {{WaitClass::futex, 6}, {WaitClass::pipe, 2}};
  a_b.waker_running_s = 3.9;
  a_b.waker_runnable_s = 0.1;
  a_b.waker_blocked_s = 4.0;
  a_b.stacks = {{WaitClass::futex, 8, 8, 800, stack_of({"pthread_cond_wait"}),
                 stack_of({"pthread_cond_signal", "dequeue"})}};
  a_b.peers_known = 70;
  a_b.peers = {{{Peer::Role::service, "10.0.0.5", 3306}, 500, 5},
               {{Peer::Role::client, "10.0.0.9", 40312}, 300, 3}};
  return a_b;
}

/// vda is idle while B runs.
inline FoundEdge sample_idle_disk() {
  FoundEdge disk_b;
  disk_b.from = 2;
  disk_b.to = 1;
  disk_b.idle = true;
  disk_b.waits = 2000;
  disk_b.wait_s = 5;
  disk_b.weight_s = 5;
  return disk_b;
}

inline FoundKnot sample_knot() {
  FoundKnot knot;
  knot.actors = {1, 2};
  knot.edges = {0, 2};
  knot.pattern = Pattern::blocking_io;
  knot.threads = 1;
  knot.weight_s = 14.5;
  knot.cpu_s = 5;
  return knot;
}

inline FoundDisk sample_disk() {
  return {2,
          1'000'000'000,
          2000,
          5,
          5,
          500e6,
          400,
          CapacitySource::assumed,
          true,
          1e8,
          200,
          FoundDiskActivity{DiskKind::latency_bound, 6, 0.75, 1.25, 0.00375, 2000, 1'000'000'000, 200, 1e8},
          1,
          {{1, 750'000'000, 1500, 0.003, 0.45}, {std::nullopt, 250'000'000, 500, 0.001, 0.05}},
          {},
          0,
          FoundDiskCheck{2000, 1'000'000'000, 1999, 1'000'000'000, false}};
}

inline Findings sample_findings() {
  Findings findings;
  findings.recording = {"pid 10", "2026-01-01T00:00:00Z", "6.1.0", 2, "0.1.0", 15, 5};
  findings.window_s = 10;
  findings.loss = {{"ringbuf_full", 0}, {"stack_store_full", 0}};
  findings.totals.threads = 3;
  findings.totals.waits = 2800;
  findings.totals.target = {7, 0.5, 22.5, 0, 30};
  findings.totals.waits_for = {{BlockedBy::disk, 5}, {BlockedBy::nobody, 10}, {BlockedBy::thread, 7.5}};
  findings.options = {2, 0.1, true};
  findings.verdict.rule = Verdict::Rule::knots;
  findings.verdict.knots = 1;
  findings.actors = {sample_thread("A", 11, 2, 8), sample_thread("B", 12, 5, 5),
                     sample_device(ActorKind::disk, "vda"), sample_thread("idler", 13, 0, 10)};
  findings.actors[0].time = {2, 0.5, 7.5, 0, 10};
  findings.actors[3].open_wait_s = 10;

  findings.edges = {sample_disk_wait(), sample_thread_wait(), sample_idle_disk()};

  findings.knots = {sample_knot()};
  findings.sinks = {{3, false, 0, 0, 0}};
  findings.refinement = {{RefinementStep::Reason::noise, 1, std::nullopt, 0.01},
                         {RefinementStep::Reason::background_sink, std::nullopt, 3, 0}};
  findings.disks = {sample_disk()};
  findings.open_waits = {{3, 13, 10, true, WaitClass::poll, stack_of({"epoll_wait"})}};
  findings.excluded_waits = {{1, ExcludedWait::Reason::leads_in, std::nullopt, std::nullopt, 0}};
  return findings;
}

/// As renderers do that neither escape nor cut.
inline ActorNames raw_names(const Findings& findings) {
  return {findings, [](std::string_view name) { return std::string(name); }};
}

/// The sample report: B answers 1,762 times a second, and a faster disk vda would gain most of that.
inline Findings answered_findings() {
  Findings findings = sample_findings();
  findings.progress = {{{{"B", 1}}, Progress::How::clients, {1}, 1762.4, 0.9}};
  FoundAnswer disk;
  disk.gain = 0.82;
  disk.low = 0.77;
  disk.high = 0.88;
  disk.what = Resource::disk;
  disk.device = 2;
  disk.evidence = {5, 1000, 1, 1, findings.edges[0].stacks[0].wait_stack, 3, {5, 0, 0, 0}, {}, 0, {}};
  FoundAnswer requests = disk;
  requests.what = Resource::io;
  requests.actor = 1;
  FoundAnswer cpu;
  cpu.gain = 0.03;
  cpu.low = cpu.high = 0.03;
  cpu.actor = 1;
  cpu.evidence.time_s = 5;
  cpu.evidence.threads = 1;
  cpu.evidence.actor = 1;
  FoundAnswer sleep;
  sleep.gain = 0.004;
  sleep.what = Resource::sleep;
  sleep.actor = 0;
  findings.answers = {disk, requests, cpu, sleep};
  return findings;
}

}  // namespace offwait
