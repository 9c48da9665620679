/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often each thread of the target calls the function that the user counts. Only sums are kept: a record
 * for each call would cost more than the call. */
#ifndef OFFWAIT_COUNTED_CALLS_H
#define OFFWAIT_COUNTED_CALLS_H

#include "kernel.h"
#include "maps.h"
#include "offwait/event.h"
#include "records.h"
#include "spin.h"

/* A thread has its own entry, so that no two CPUs change one at once. User space gives it one entry only
 * where no calls are counted. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, struct offwait_calls_key);
  __type(value, struct offwait_calls);
} calls SEC(".maps");

/* Where the function begins. */
SEC("uprobe")
int counted_call(struct pt_regs* ctx) {
  __u64 now = bpf_ktime_get_ns();
  struct offwait_calls_key key = {};
  key.tid = (__u32)bpf_get_current_pid_tgid();
  const struct offwait_thread* thread = probed(key.tid, now);
  if (!thread || !window_open) return 0;
  key.start_ns = thread->start_ns;
  struct offwait_calls* known = bpf_map_lookup_elem(&calls, &key);
  if (known) {
    ++known->count;
    known->last_ns = now;
    return 0;
  }
  struct offwait_calls fresh = {};
  fresh.count = 1;
  fresh.first_ns = now;
  fresh.last_ns = now;
  if (bpf_map_update_elem(&calls, &key, &fresh, BPF_NOEXIST)) count_loss(OFFWAIT_LOSS_call_table_full);
  return 0;
}

#endif
