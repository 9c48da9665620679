/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU samples: a clock on each CPU records where the running thread is, if it is recorded. The clock's
 * handler runs with interrupts off, as scratch_stack demands. */
#ifndef OFFWAIT_SAMPLE_H
#define OFFWAIT_SAMPLE_H

#include "cost.h"
#include "kernel.h"
#include "known_stacks.h"
#include "maps.h"
#include "offwait/event.h"
#include "records.h"

static __always_inline int note_sample(struct bpf_perf_event_data* ctx) {
  __u32 tid = (__u32)bpf_get_current_pid_tgid();
  if (!tid) return 0;
  struct offwait_thread* thread = bpf_map_lookup_elem(&threads, &tid);
  struct task_struct* task = (void*)bpf_get_current_task();
  if (!thread || thread->start_ns != BPF_CORE_READ(task, start_time)) return 0;
  __u64 now = bpf_ktime_get_ns();
  __u64 pc = PT_REGS_IP(&ctx->regs);
  bool in_kernel = (__s64)pc < 0; /* the upper half of all addresses belongs to the kernel */
  __u32 user = BPF_CORE_READ(task, mm) ? find_user_stack(!in_kernel) : 0;
  __u32 kernel = in_kernel ? walk_kernel_stack(ctx, false) : 0;
  struct offwait_sample* sample = new_record(OFFWAIT_RECORD_SAMPLE, tid, sizeof(*sample));
  if (!sample) return 0;
  sample->at_ns = now;
  sample->user = user;
  sample->kernel = kernel;
  sample->pc = pc;
  sample->tgid = in_kernel ? 0 : (__u32)(bpf_get_current_pid_tgid() >> 32);
  sample->pad2 = 0;
  emit(sample);
  return 0;
}

SEC("perf_event")
int on_cpu_clock(struct bpf_perf_event_data* ctx) {
  begin_cost(OFFWAIT_COST_SAMPLE, 1);
  note_sample(ctx);
  end_cost(OFFWAIT_COST_SAMPLE);
  return 0;
}

#endif
