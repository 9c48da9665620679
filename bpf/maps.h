/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings, the maps that several subjects use, and the counters of what is lost. */
#ifndef OFFWAIT_MAPS_H
#define OFFWAIT_MAPS_H

#include "kernel.h"
#include "offwait/event.h"
#include "offwait/loss_counters.h"

/* User space sets these before it loads the programs. */
const volatile bool record_stacks = true;
const volatile bool follow_children = true;

/* User space sets most sizes before it loads the programs; these are defaults. The records of
 * offwait/event.h (records.h): */
struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 8 << 20); /* enough for all entries of `threads` */
} thread_events SEC(".maps");

struct ring_of_cpu {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 65536); /* a multiple of any page size; user space chooses the real size */
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, 1);
  __type(key, __u32); /* CPU */
  __array(values, struct ring_of_cpu);
} events_by_cpu SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, __u32); /* tid */
  __type(value, struct offwait_thread);
} threads SEC(".maps");

/* Processes that belong to the target. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, __u32); /* tgid */
  __type(value, __u8);
} target_tgids SEC(".maps");

/* Threads that the user named one by one as the target. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, __u32); /* tid */
  __type(value, __u8);
} target_tids SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, __u32); /* stack id, never 0 */
  __type(value, struct offwait_stack);
} stacks SEC(".maps");

/* Disks that woke a recorded thread. Threads that submit requests to them are recorded too. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, __u32); /* dev_t */
  __type(value, __u8);
} disks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, __u32); /* interface id */
  __type(value, struct offwait_nic);
} nics SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, struct offwait_peer);
  __type(value, __u32); /* its id */
} peers SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, OFFWAIT_LOSS_COUNT);
  __type(key, __u32);
  __type(value, __u64);
} losses SEC(".maps");

/* Each CPU has its own counter, and every program that can lose something often runs with interrupts off. */
static __always_inline void count_loss(__u32 loss) {
  __u64* count = bpf_map_lookup_elem(&losses, &loss);
  if (count) ++*count;
}

#endif
