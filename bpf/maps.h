/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings, maps and the way out: emitting records without losing one silently. */
#ifndef OFFWAIT_MAPS_H
#define OFFWAIT_MAPS_H

/* Settings, fixed before loading. */
const volatile bool record_stacks = true;
const volatile bool follow_children = true;

/* Sizes are set before loading; what stands here is only a default. */
struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 16 << 20);
} events SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, __u32); /* tid */
  __type(value, struct offwait_thread);
} threads SEC(".maps");

/* Processes of the target. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, __u32); /* tgid */
  __type(value, __u8);
} target_tgids SEC(".maps");

/* Threads named as the target one by one. */
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

/* Disks that woke a recorded thread: who issues requests to them is recorded too. */
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

static __always_inline void count_loss(__u32 loss) {
  __u64* count = bpf_map_lookup_elem(&losses, &loss);
  if (count) ++*count; /* per CPU and with interrupts off in every program that can lose something often */
}

/* User space drains on a timer: a wakeup per record would cost four times the recording itself. */
#define EMIT_FLAGS BPF_RB_NO_WAKEUP

/* If records of the thread were lost: a gap over the time that they would have covered, which ends at to_ns.
 * False if not even that could be emitted. */
static __always_inline bool emit_gap(struct offwait_thread* thread, __u32 tid, __u64 to_ns) {
  if (!thread->lost_since_ns) return true;
  struct offwait_gap* gap = bpf_ringbuf_reserve(&events, sizeof(*gap), 0);
  if (!gap) {
    count_loss(OFFWAIT_LOSS_ringbuf_full);
    return false;
  }
  gap->type = OFFWAIT_RECORD_GAP;
  gap->tid = tid;
  gap->from_ns = thread->lost_since_ns == OFFWAIT_LOST_SINCE_BEGIN ? 0 : thread->lost_since_ns;
  gap->to_ns = to_ns;
  bpf_ringbuf_submit(gap, EMIT_FLAGS);
  thread->lost_since_ns = 0;
  return true;
}

/* Room for a record of `thread` whose interval began at from_ns; NULL if it is lost. */
static __always_inline void* reserve(struct offwait_thread* thread, __u32 tid, const __u64 size,
                                     __u64 from_ns) {
  if (!emit_gap(thread, tid, from_ns)) return NULL;
  void* record = bpf_ringbuf_reserve(&events, size, 0);
  if (!record) {
    count_loss(OFFWAIT_LOSS_ringbuf_full);
    thread->lost_since_ns = from_ns ? from_ns : OFFWAIT_LOST_SINCE_BEGIN;
  }
  return record;
}

#endif
