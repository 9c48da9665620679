/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads that are alive when the recording starts. */
#ifndef OFFWAIT_SEED_H
#define OFFWAIT_SEED_H

#include "draw.h"
#include "kernel.h"
#include "kernel_differences.h"
#include "known_stacks.h"
#include "maps.h"
#include "offwait/event.h"
#include "recorded_threads.h"
#include "sched.h"
#include "stored_stacks.h"
#include "target.h"

/* How many threads the iterator has added. User space runs it until a pass adds none, since it may meet the
 * children of a target before the target. */
__u64 seeded_threads = 0;

/* Takes the kernel stack of a blocked thread that has waited since `since_ns`. User space walks its user
 * stack. */
static __always_inline void take_stacks_of_blocked(struct task_struct* task, struct offwait_thread* thread,
                                                   __u64 since_ns) {
  __u32 scratch = SCRATCH_ITERATOR;
  struct offwait_stack* stack = bpf_map_lookup_elem(&scratch_stack, &scratch);
  if (stack) {
    long bytes = bpf_get_task_stack(task, stack->pc, sizeof(stack->pc), 0);
    stack->tgid = 0;
    stack->frames = bytes > 0 ? (__u16)((__u32)bytes / 8) : 0;
    thread->wait_kernel = store_scratch_stack(SCRATCH_ITERATOR);
  }
  if (task->mm) leave_to_user_space(task, thread->start_ns, since_ns);
}

/* Runs before the tracepoints are attached, to note the run queue of each CPU: every CPU has kernel threads
 * of its own. The process that reads the iterator is offwait. */
SEC("iter/task")
int note_cpus(struct bpf_iter__task* ctx) {
  struct task_struct* task = ctx->task;
  recorder_tgid = (__u32)(bpf_get_current_pid_tgid() >> 32);
  if (task) note_cpu_of(task);
  return 0;
}

/* Whether the thread has left its CPU for the last time, or is about to: it waits to be reaped by its parent,
 * or for the other threads of the process that it led. */
static __always_inline bool is_dead(struct task_struct* task) {
  return (task_state(task) & TASK_DEAD_BIT) && off_run_queue(task);
}

/* Runs after the tracepoints are attached. It inserts a thread's entry before it reads the thread's state,
 * and the state that it finds counts only until the first switch is seen: the tracepoints record all that
 * happens in between. */
SEC("iter/task")
int seed_threads(struct bpf_iter__task* ctx) {
  struct task_struct* task = ctx->task;
  if (!task) return 0;
  __u32 tid = (__u32)task->pid;
  __u32 tgid = (__u32)task->tgid;
  if (target_is_cgroup) {
    if (!in_target_cgroup(task, true)) return 0;
  } else if (!bpf_map_lookup_elem(&target_tids, &tid) && !bpf_map_lookup_elem(&target_tgids, &tgid)) {
    if (!follow_children) return 0;
    __u32 parent = (__u32)task->real_parent->tgid;
    if (!bpf_map_lookup_elem(&target_tgids, &parent)) return 0;
    __u8 one = 1;
    bpf_map_update_elem(&target_tgids, &tgid, &one, BPF_ANY);
  }
  struct offwait_thread* known = bpf_map_lookup_elem(&threads, &tid);
  if ((known && known->target) || is_dead(task)) return 0;
  if (known) {
    known->target = 1; /* it woke a thread of the target before its turn came */
    emit_thread(known, tid, OFFWAIT_THREAD_NAMED, 0, bpf_ktime_get_ns(), (const char*)&task->comm);
    ++seeded_threads;
    return 0;
  }
  struct offwait_thread fresh = new_thread(task, true, 0);
  fresh.target = 1;
  record_thread(&fresh, tid, OFFWAIT_THREAD_SEEN, 0, bpf_ktime_get_ns(), (const char*)&task->comm);
  ++seeded_threads;
  struct offwait_thread* thread = bpf_map_lookup_elem(&threads, &tid);
  if (!thread) return 0;
  if (is_dead(task)) { /* its last switch may have come before its entry */
    emit_exit(thread, tid, bpf_ktime_get_ns());
    bpf_map_delete_elem(&threads, &tid);
    return 0;
  }
  __u32 state = task_state(task);
  if (off_run_queue(task) && state) {
    note_wait(thread, task, state, false);
    if (record_stacks) take_stacks_of_blocked(task, thread, 0);
    thread->seeded = OFFWAIT_STATE_BLOCKED;
  } else if (on_some_cpu(task)) {
    thread->seeded = OFFWAIT_STATE_RUNNING;
    __u32 cpu = cpu_of(task);
    if (cpu < MAX_CPUS) found_running[cpu] = tid;
  } else {
    thread->seeded = OFFWAIT_STATE_RUNNABLE;
  }
  return 0;
}

/* Takes the stacks of threads that are still blocked, and would have taken their own at the end of the wait.
 */
SEC("iter/task")
int take_open_stacks(struct bpf_iter__task* ctx) {
  struct task_struct* task = ctx->task;
  struct offwait_thread* thread = task ? recorded(task) : NULL;
  if (!thread || thread->state != OFFWAIT_STATE_BLOCKED || !(thread->draw & OFFWAIT_DRAW_CHANCE)) return 0;
  if (thread->wake_ns || thread->wait_kernel || !off_run_queue(task)) return 0;
  take_stacks_of_blocked(task, thread, thread->since_ns);
  return 0;
}

#endif
