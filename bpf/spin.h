/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Busy waiting and false wakeups that the program declares (offwait/annotate.h) or that the user named
 * functions for: probes in user space, each attached to all places that user space found for it. They can be
 * preempted, so they use no data of a CPU. */
#ifndef OFFWAIT_SPIN_H
#define OFFWAIT_SPIN_H

#include "context.h"
#include "kernel.h"
#include "maps.h"
#include "offwait/event.h"
#include "records.h"

/* A spin that is shorter than this is no wait: getting a free lock takes as long as the two probes, some 2
 * µs. */
#define SPIN_FLOOR_NS 3000

struct spinning {
  __u64 since_ns;
  __u64 object;
  __u64 pc;
};

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 16384);
  __type(key, __u32); /* tid */
  __type(value, struct spinning);
} spinning SEC(".maps");

struct spin_object {
  __u64 address;
  __u64 tgid;
};

struct spin_holder {
  __u64 released_ns; /* when the object was last released, 0: no release was seen */
  __u32 releaser;    /* the thread that released it, a tid */
  __u32 passed;      /* the thread that got through last, a tid */
};

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 16384);
  __type(key, struct spin_object);
  __type(value, struct spin_holder);
} spin_objects SEC(".maps");

/* A probe of this thread was hit. Returns its entry, NULL if it does not belong to the target. The probe
 * shows that the thread runs, even if no switch to it was seen. That is noted because a spinning thread is
 * seldom switched: all it does until its next switch would be unknown. */
static __always_inline const struct offwait_thread* probed(__u32 tid, __u64 now) {
  struct offwait_thread* thread = bpf_map_lookup_elem(&threads, &tid);
  if (!thread || !thread->target) return NULL;
  if (thread->state != OFFWAIT_STATE_RUNNING && thread->ran_ns <= thread->since_ns) thread->ran_ns = now;
  return thread;
}

SEC("uprobe")
int spin_begin(struct pt_regs* ctx) {
  __u64 now = bpf_ktime_get_ns();
  __u32 tid = (__u32)bpf_get_current_pid_tgid();
  if (!probed(tid, now)) return 0;
  struct spinning begun = {};
  begun.object = PT_REGS_PARM1(ctx);
  begun.pc = PT_REGS_IP(ctx);
  begun.since_ns = now;
  bpf_map_update_elem(&spinning, &tid, &begun, BPF_ANY);
  return 0;
}

/* At the return of the function or at the probe behind the loop. The object is the one that spin_begin noted.
 */
SEC("uprobe")
int spin_end(struct pt_regs* ctx) {
  __u64 now = bpf_ktime_get_ns();
  __u64 pid_tgid = bpf_get_current_pid_tgid();
  __u32 tid = (__u32)pid_tgid;
  if (!probed(tid, now)) return 0;
  struct spinning* found = bpf_map_lookup_elem(&spinning, &tid);
  if (!found) return 0;
  struct spinning spun = *found;
  bpf_map_delete_elem(&spinning, &tid);

  struct spin_object object = {};
  object.address = spun.object;
  object.tgid = pid_tgid >> 32;
  struct spin_holder* known = bpf_map_lookup_elem(&spin_objects, &object);
  struct spin_holder before = {};
  if (known) {
    before = *known;
    known->passed = tid;
  } else {
    before.passed = 0;
    struct spin_holder fresh = {};
    fresh.passed = tid;
    bpf_map_update_elem(&spin_objects, &object, &fresh, BPF_NOEXIST);
  }
  __u32 waker = before.released_ns ? before.releaser : before.passed;
  __u64 end = before.released_ns ? before.released_ns : now;
  /* The object was released before the thread came, or no thread is known that could have held it. */
  if (end < spun.since_ns + SPIN_FLOOR_NS || !waker || waker == tid) return 0;

  struct offwait_spin* record = new_record(OFFWAIT_RECORD_SPIN, tid, sizeof(*record));
  if (!record) return 0;
  record->tgid = (__u32)(pid_tgid >> 32);
  record->waker = waker;
  record->begin_ns = spun.since_ns;
  record->end_ns = end;
  record->frames = 0;
  record->pad2 = 0;
  if (record_stacks) {
    record->pc[0] = spun.pc;
    long bytes =
        bpf_get_stack(ctx, &record->pc[1], sizeof(record->pc) - sizeof(record->pc[0]), BPF_F_USER_STACK);
    record->frames = bytes > 0 ? 1 + (__u32)bytes / 8 : 1;
  }
  emit(record);
  return 0;
}

SEC("uprobe")
int spin_release(struct pt_regs* ctx) {
  __u64 now = bpf_ktime_get_ns();
  __u64 pid_tgid = bpf_get_current_pid_tgid();
  __u32 tid = (__u32)pid_tgid;
  if (!probed(tid, now)) return 0;
  struct spin_object object = {};
  object.address = PT_REGS_PARM1(ctx);
  object.tgid = pid_tgid >> 32;
  struct spin_holder holder = {};
  holder.released_ns = now;
  holder.releaser = tid;
  holder.passed = tid;
  bpf_map_update_elem(&spin_objects, &object, &holder, BPF_ANY);
  return 0;
}

SEC("uprobe")
int false_wakeup(struct pt_regs* ctx) {
  __u64 now = bpf_ktime_get_ns();
  __u32 tid = (__u32)bpf_get_current_pid_tgid();
  if (!probed(tid, now)) return 0;
  struct offwait_false_mark* record = new_record(OFFWAIT_RECORD_FALSE_MARK, tid, sizeof(*record));
  if (!record) return 0;
  record->at_ns = now;
  emit(record);
  return 0;
}

#endif
