/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How records are emitted without losing one silently: a record that finds no room is counted, and one that
 * reports an interval of a thread leaves a gap over it. */
#ifndef OFFWAIT_RECORDS_H
#define OFFWAIT_RECORDS_H

#include "kernel.h"
#include "maps.h"
#include "offwait/event.h"

/* User space sets both. Records are clipped to the window afterwards. Sums cannot be clipped: they are
 * counted only while the window is open. */
bool window_begun = false;
bool window_open = false;

/* A ring buffer that several CPUs write is slow: the lock, the position and the header before the record each
 * come from another CPU's cache. So each CPU has its own, and user space restores the order. What becomes of
 * threads has a ring buffer of its own, since the task iterator reports all of them on one CPU. */
static __always_inline void* reserve(__u8 type, const __u64 size) {
  if (type == OFFWAIT_RECORD_THREAD) return bpf_ringbuf_reserve(&thread_events, size, 0);
  __u32 cpu = bpf_get_smp_processor_id();
  void* ring = bpf_map_lookup_elem(&events_by_cpu, &cpu);
  return ring ? bpf_ringbuf_reserve(ring, size, 0) : NULL;
}

/* A new record, empty except for its type and thread; NULL, counted as lost, if the ring buffer is full. */
static __always_inline void* new_record(__u8 type, __u32 tid, const __u64 size) {
  struct offwait_record* record = reserve(type, size);
  if (!record) {
    count_loss(OFFWAIT_LOSS_ringbuf_full);
    return NULL;
  }
  record->type = type;
  __builtin_memset(record->detail, 0, sizeof(record->detail));
  record->tid = tid;
  return record;
}

/* User space reads the ring buffers on a timer: waking it for each record would cost four times as much as
 * the recording itself. */
static __always_inline void emit(void* record) { bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP); }

/* From this time on it is not known what the thread did, until emit_gap() says until when. */
static __always_inline void lose_since(struct offwait_thread* thread, __u64 from_ns) {
  if (!thread->lost_since_ns) thread->lost_since_ns = from_ns ? from_ns : OFFWAIT_LOST_SINCE_BEGIN;
}

/* If records of the thread were lost, emits a gap over the time that they would have covered, which ends at
 * to_ns. False if the gap is lost as well. */
static __always_inline bool emit_gap(struct offwait_thread* thread, __u32 tid, __u64 to_ns) {
  if (!thread->lost_since_ns) return true;
  struct offwait_gap* gap = new_record(OFFWAIT_RECORD_GAP, tid, sizeof(*gap));
  if (!gap) return false;
  gap->from_ns = thread->lost_since_ns == OFFWAIT_LOST_SINCE_BEGIN ? 0 : thread->lost_since_ns;
  gap->to_ns = to_ns;
  emit(gap);
  thread->lost_since_ns = 0;
  return true;
}

/* A new record for an interval of the thread that began at from_ns and ends now, after the gap before it, if
 * there is one; NULL if it is lost. What ends before the window begins is not wanted: until then the ring
 * buffers are not drained. */
static __always_inline void* new_interval(struct offwait_thread* thread, __u8 type, __u32 tid,
                                          const __u64 size, __u64 from_ns) {
  if (!window_begun) {
    thread->lost_since_ns = 0;
    return NULL;
  }
  if (!emit_gap(thread, tid, from_ns)) return NULL;
  void* record = new_record(type, tid, size);
  if (!record) lose_since(thread, from_ns);
  return record;
}

#endif
