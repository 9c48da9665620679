/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stacks of threads whose waits have been drawn, taken by themselves when they run again. They are still
 * in the function that switched away, so that these are the stacks that they waited in. */
#ifndef OFFWAIT_AFTER_SWITCH_H
#define OFFWAIT_AFTER_SWITCH_H

#include "context.h"
#include "cost.h"
#include "kernel.h"
#include "known_stacks.h"
#include "maps.h"
#include "offwait/event.h"
#include "records.h"

/* Since 6.14. */
extern void bpf_local_irq_save(unsigned long* flags) __weak __ksym;
extern void bpf_local_irq_restore(unsigned long* flags) __weak __ksym;

static __always_inline void take_due_stacks(void* ctx, struct cpu_notes* context) {
  __u32 tid = context->stacks_due;
  context->stacks_due = 0;
  if (tid != (__u32)bpf_get_current_pid_tgid()) return;
  struct task_struct* task = (void*)bpf_get_current_task();
  __u32 user = BPF_CORE_READ(task, mm) ? user_stack() : 0;
  __u32 kernel = kernel_stack(ctx, context, user);
  if (!user && !kernel) return;
  /* Without room nothing is lost: the wait counts as one that was not drawn. */
  struct offwait_wait_stacks* stacks = reserve(OFFWAIT_RECORD_WAIT_STACKS, sizeof(*stacks));
  if (!stacks) return;
  stacks->type = OFFWAIT_RECORD_WAIT_STACKS;
  __builtin_memset(stacks->pad, 0, sizeof(stacks->pad));
  stacks->tid = tid;
  stacks->run_ns = context->recorded_since_ns;
  stacks->wait_user = user;
  stacks->wait_kernel = kernel;
  emit(stacks);
}

/* The end of the function that switches, in the thread that runs now. Since 6.17. */
SEC("tp_btf/sched_exit_tp")
int on_sched_exit(__u64* ctx) {
  struct cpu_notes* context = cpu_notes();
  if (!context || !context->stacks_due) return 0;
  begin_cost(OFFWAIT_COST_EXIT, 1);
  unsigned long flags;
  bpf_local_irq_save(&flags); /* interrupts take samples, with the same scratch memory */
  take_due_stacks(ctx, context);
  bpf_local_irq_restore(&flags);
  end_cost(OFFWAIT_COST_EXIT);
  return 0;
}

/* Before 6.17: here the thread that runs now lets its performance events count again, with interrupts off.
 * The kernel comes here while any thread has such an event, so offwait opens one that counts nothing. The
 * kernel then calls this function at every switch of every thread, which takes some ns that the budget does
 * not count. */
SEC("fentry/__perf_event_task_sched_in")
int on_event_sched_in(__u64* ctx) {
  struct cpu_notes* context = cpu_notes();
  if (!context || !context->stacks_due) return 0;
  begin_cost(OFFWAIT_COST_EXIT, 1);
  take_due_stacks(ctx, context);
  end_cost(OFFWAIT_COST_EXIT);
  return 0;
}

#endif
