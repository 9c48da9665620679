/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The states of recorded threads, joined from switches and wakings to one record for each wait. A thread that
 * wakes one of them becomes one itself (recorded_threads.h). */
#ifndef OFFWAIT_SCHED_H
#define OFFWAIT_SCHED_H

#include "calls.h"
#include "context.h"
#include "cost.h"
#include "draw.h"
#include "kernel.h"
#include "kernel_differences.h"
#include "known_stacks.h"
#include "locks.h"
#include "maps.h"
#include "offwait/event.h"
#include "peer.h"
#include "recorded_threads.h"
#include "records.h"
#include "target.h"

#define TASK_UNINTERRUPTIBLE_BIT 0x02u
#define TASK_STOPPED_BITS 0x0cu /* by a signal or a debugger */
#define TASK_DEAD_BIT 0x80u

/* What the interrupted system call waits on: a futex or what a file descriptor refers to. `current` is as in
 * note_futex(). */
static __always_inline void note_call(struct offwait_thread* thread, struct task_struct* task,
                                      const bool current) {
  struct interrupted_call call = interrupted_call(task);
  if (call.number < 0 || call.number >= 0x7fff) return;
  thread->syscall = (__s16)call.number;
  if (is_futex(thread->syscall)) {
    note_futex(thread, &call, current);
  } else if (takes_fd(thread->syscall) || takes_socket(thread->syscall)) {
    note_file(thread, task, (__u32)call.argument);
  }
}

/* Notes all that the waiting side knows about its wait. The task is blocked or about to be. A lock of the
 * kernel that the thread sleeps for counts before what its system call is for, which has to wait for the lock
 * as well. */
static __always_inline void note_wait(struct offwait_thread* thread, struct task_struct* task, __u32 state,
                                      const bool current) {
  thread->task_state = (__u16)state;
  thread->syscall = OFFWAIT_NO_SYSCALL;
  thread->fd_kind = OFFWAIT_FD_NONE;
  thread->object = 0;
  thread->object_kind = OFFWAIT_OBJECT_NONE;
  thread->owner = 0;
  /* Only an uninterruptible sleep can be for I/O (io_schedule). */
  thread->flags = state & TASK_UNINTERRUPTIBLE_BIT && in_iowait(task) ? OFFWAIT_WAIT_IOWAIT : 0;
  if (task->flags & PF_KTHREAD_BIT)
    thread->flags |= OFFWAIT_WAIT_KTHREAD;
  else {
    thread->task_state |= (__u16)frozen_bit(task, state);
    /* A thread that is stopped or frozen does not wait for what its call is for. */
    if (!(thread->task_state & (TASK_STOPPED_BITS | TASK_FROZEN_BIT))) note_call(thread, task, current);
  }
  if (!thread->lock) return;
  thread->object = thread->lock;
  thread->object_kind = thread->lock_kind;
  thread->owner = thread->lock_owner;
}

/* The thread runs again: the next wait ends in a waking of its own. */
static __always_inline void forget_waking(struct offwait_thread* thread) {
  thread->wake_ns = 0;
  thread->waker_kind = OFFWAIT_WAKER_UNKNOWN;
  thread->waker_peer = 0;
}

/* A waking older than the switch-out came while the thread had left the run queue but not yet the CPU. It is
 * the last waking before the switch, since later ones find nothing to wake. The wait that the switch begins
 * is then empty, and what follows is runnable time. */
static __always_inline bool woken_before_switch(const struct offwait_thread* thread) {
  return thread->wake_ns && thread->wake_ns < thread->since_ns;
}

/* When the wait that began at since_ns ended, 0 if its waking was not seen. Each wait ends in exactly one
 * waking. */
static __always_inline __u64 wake_of(const struct offwait_thread* thread) {
  return woken_before_switch(thread) ? thread->since_ns : thread->wake_ns;
}

static __always_inline void emit_wait(struct offwait_thread* thread, __u32 tid, __u64 wake_ns, __u64 run_ns) {
  bool sent = thread->in_flight_ns && thread->waker_kind == OFFWAIT_WAKER_THREAD;
  __u64 object = thread->object;
  __u8 kind = thread->object_kind;
  if (!kind && thread->waker_peer) {
    object = thread->waker_peer;
    kind = OFFWAIT_OBJECT_PEER;
  }
  __u32 last = sent ? thread->in_flight_ns : thread->owner;
  bool is_short = !record_stacks && !last && !kind; /* without stacks nothing is drawn */
  struct offwait_wait* wait = new_interval(thread, OFFWAIT_RECORD_WAIT, tid,
                                           is_short ? OFFWAIT_SHORT_WAIT : sizeof(*wait), thread->since_ns);
  if (!wait) return;
  wait->waker_kind = thread->waker_kind;
  wait->fd_kind = thread->fd_kind;
  wait->flags = thread->flags | (woken_before_switch(thread) ? OFFWAIT_WAIT_RACED : 0);
  if (sent) wait->flags |= OFFWAIT_WAIT_SENT;
  wait->flags |= (__u8)(kind << OFFWAIT_OBJECT_SHIFT);
  wait->block_ns = thread->since_ns;
  wait->wake_ns = wake_ns;
  wait->run_ns = run_ns;
  wait->waker_id = thread->waker_id;
  wait->syscall = thread->syscall;
  wait->task_state = thread->task_state;
  if (!is_short) {
    wait->wait_user = thread->wait_user;
    wait->wait_kernel = thread->wait_kernel;
    wait->waker_user = thread->waker_user;
    wait->waker_kernel = thread->waker_kernel; /* or, with SENT, waker_nic */
    wait->object = object;
    wait->in_flight_ns = last; /* or, without SENT, owner */
    wait->draw = thread->draw;
  }
  emit(wait);
}

static __always_inline void emit_preemption(struct offwait_thread* thread, __u32 tid, __u64 run_ns) {
  struct offwait_preemption* preemption =
      new_interval(thread, OFFWAIT_RECORD_PREEMPTION, tid, sizeof(*preemption), thread->since_ns);
  if (!preemption) return;
  preemption->out_ns = thread->since_ns;
  preemption->run_ns = run_ns;
  emit(preemption);
}

/* The kernel does not report every switch. What it left out shows when a switch does not fit what is known:
 * another thread leaves the CPU than the one that was last seen to get it, or a thread leaves a CPU that it
 * was not seen to get. What the threads did meanwhile is then unknown. So no CPU is ever busy with two
 * threads at once. */

/* The thread that got a CPU at since_ns has left it unseen. */
static __always_inline void note_left_unseen(__u32 tid, __u64 since_ns) {
  struct offwait_thread* thread = bpf_map_lookup_elem(&threads, &tid);
  if (!thread || thread->since_ns != since_ns) return;
  bool found_running = thread->state == OFFWAIT_STATE_UNKNOWN && thread->seeded == OFFWAIT_STATE_RUNNING;
  if (thread->state != OFFWAIT_STATE_RUNNING && !found_running) return;
  count_loss(OFFWAIT_LOSS_switch_unseen);
  lose_since(thread, since_ns);
  thread->state = OFFWAIT_STATE_UNKNOWN;
  thread->seeded = OFFWAIT_STATE_UNKNOWN;
}

/* The thread that the task iterator found running on each CPU, until the CPU's next switch; else 0. */
__u32 found_running[MAX_CPUS] = {};

/* Compares the thread that leaves this CPU with the one that was last seen to get it. */
static __always_inline void check_who_leaves(struct cpu_notes* context, __u32 leaving) {
  if (context->recorded_tid && context->recorded_tid != leaving)
    note_left_unseen(context->recorded_tid, context->recorded_since_ns);
  __u32 cpu = bpf_get_smp_processor_id();
  if (cpu >= MAX_CPUS || !found_running[cpu]) return;
  if (found_running[cpu] != leaving) note_left_unseen(found_running[cpu], 0);
  found_running[cpu] = 0;
}

/* Whether a thread that is on a CPU was not seen to get it. */
static __always_inline bool got_cpu_unseen(const struct offwait_thread* thread) {
  if (thread->state == OFFWAIT_STATE_UNKNOWN) return thread->lost_since_ns; /* else it is being seeded */
  return thread->state != OFFWAIT_STATE_RUNNING;
}

/* A thread leaves a CPU that it was not seen to get. Its state is unknown from its waking on (from its block
 * on if the waking was not seen either), at most until a probe found it running. */
static __always_inline void bridge_unseen_switch(struct offwait_thread* thread, __u32 tid, __u64 now) {
  __u64 from = thread->since_ns;
  count_loss(OFFWAIT_LOSS_switch_unseen);
  if (thread->state == OFFWAIT_STATE_BLOCKED && thread->wake_ns) {
    from = wake_of(thread);
    emit_wait(thread, tid, from, from);
  }
  lose_since(thread, from);
  if (thread->ran_ns > from) emit_gap(thread, tid, thread->ran_ns);
  thread->since_ns = now;
  forget_waking(thread);
}

static __always_inline void switch_out(void* ctx, struct cpu_notes* context, struct offwait_thread* thread,
                                       struct task_struct* prev, bool preempt, __u32 state, __u64 now) {
  if (state & TASK_DEAD_BIT) {
    __u32 tid = (__u32)prev->pid;
    emit_exit(thread, tid, now);
    bpf_map_delete_elem(&threads, &tid);
    return;
  }
  thread->since_ns = now;
  /* A thread that set its state to sleep and is still queued was preempted before it could sleep, or a signal
   * was pending. Or it did leave the queue and was woken while the balancer had let go of the run queue: only
   * then has it been woken since it last ran. */
  bool queued = !off_run_queue(prev);
  if (preempt || (queued && !(sched_switch_has_prev_state && state && thread->wake_ns))) {
    thread->state = OFFWAIT_STATE_RUNNABLE;
    return;
  }
  thread->state = OFFWAIT_STATE_BLOCKED;
  note_wait(thread, prev, state, true);
  if (record_stacks && !begin_draw(prev, thread)) {
    thread->wait_user = 0;
    thread->wait_kernel = 0;
  } else if (record_stacks) {
    thread->wait_user = 0;
    if (UNTRUSTED(struct task_struct, prev)->mm) {
      thread->wait_user = user_stack();
      if (lacked_mapping()) leave_to_user_space(prev, thread->start_ns, now);
    }
    thread->wait_kernel = kernel_stack(ctx, context, thread->wait_user);
  }
}

static __always_inline void switch_in(struct cpu_notes* context, struct offwait_thread* thread, __u32 tid,
                                      __u64 now) {
  __u8 state = thread->state;
  if (state == OFFWAIT_STATE_UNKNOWN) state = thread->seeded;
  if (state == OFFWAIT_STATE_BLOCKED) {
    __u64 wake = wake_of(thread);
    if (!wake) draw(thread, now - thread->since_ns);
    emit_wait(thread, tid, wake ? wake : now, now);
    if (drawn(thread)) context->stacks_due = tid;
  } else if (state == OFFWAIT_STATE_RUNNABLE) {
    emit_preemption(thread, tid, now);
  } else {
    if (state == OFFWAIT_STATE_RUNNING) count_loss(OFFWAIT_LOSS_switch_unseen); /* it left a CPU unseen */
    lose_since(thread, thread->since_ns);
    emit_gap(thread, tid, now);
  }
  thread->state = OFFWAIT_STATE_RUNNING;
  thread->since_ns = now;
  forget_waking(thread);
}

static __always_inline int note_switch(__u64* ctx) {
  bool preempt = ctx[0];
  struct task_struct* prev = (void*)ctx[1];
  struct task_struct* next = (void*)ctx[2];
  struct offwait_thread* out = prev->pid ? recorded(prev) : NULL;
  struct offwait_thread* in = next->pid ? recorded(next) : NULL;
  struct cpu_notes* context = cpu_notes();
  if (!context) return 0;
  context->stacks_due = 0;
  check_who_leaves(context, (__u32)prev->pid);
  if (!in && !target_is_cgroup) {
    context->recorded_tid = 0;
    barrier_var(out); /* or the compiler tests both pointers at once, or-ed, which the verifier forbids */
    if (!out) return 0;
  }

  __u64 now = bpf_ktime_get_ns();
  __u32 state;
  if (sched_switch_has_prev_state)
    state = (__u32)ctx[3];
  else
    state = task_state(prev);
  if (out && !(state & TASK_DEAD_BIT) && got_cpu_unseen(out))
    bridge_unseen_switch(out, (__u32)prev->pid, now);
  if (target_is_cgroup && prev->pid && !(state & TASK_DEAD_BIT)) out = follow_cgroup(out, prev, now);
  if (out) switch_out(ctx, context, out, prev, preempt, state, now);
  if (in) switch_in(context, in, (__u32)next->pid, now);
  if (target_is_cgroup && next->pid) in = follow_cgroup(in, next, now);
  context->recorded_tid = in ? (__u32)next->pid : 0;
  context->recorded_since_ns = in ? in->since_ns : 0;
  return 0;
}

SEC("tp_btf/sched_switch")
int on_sched_switch(__u64* ctx) {
  begin_cost(OFFWAIT_COST_SWITCH, COST_EVERY);
  note_switch(ctx);
  end_cost(OFFWAIT_COST_SWITCH);
  return 0;
}

/* The user stack of the current thread, 0 if it has none. */
static __always_inline __u32 current_user_stack(void) {
  struct task_struct* task = (void*)bpf_get_current_task();
  return BPF_CORE_READ(task, mm) ? user_stack() : 0;
}

/* sched_waking instead of sched_wakeup, because only here is the waker always the current thread. Wakings of
 * one thread are serialised by its pi_lock, and the thread cannot run again before the waking that counts has
 * returned. */
static __always_inline int note_waking(__u64* ctx) {
  struct task_struct* wakee = (void*)ctx[0];
  struct offwait_thread* thread = recorded(wakee);
  if (!thread) return 0;
  __u64 now = bpf_ktime_get_ns();
  struct cpu_notes* context = cpu_notes();
  if (!context) return 0;
  struct waker waker = waker_of(context, wakee);
  __u32 peer = 0;
  __u32 waker_user = 0;
  __u32 waker_kernel = 0;
  __u32 in_flight = 0;
  bool take = record_stacks && thread->state != OFFWAIT_STATE_RUNNING;
  if (take && thread->state == OFFWAIT_STATE_BLOCKED) take = draw(thread, now - thread->since_ns);
  bool knows_object = thread->state == OFFWAIT_STATE_BLOCKED && thread->object_kind;
  if ((waker.sent_ns || waker.kind == OFFWAIT_WAKER_NIC) && context->softirq_peer.port && !knows_object) {
    struct offwait_peer from = context->softirq_peer;
    peer = id_of_peer(&from);
  }
  if (waker.sent_ns) {
    __u64 pid_tgid = bpf_get_current_pid_tgid();
    bool on_top = (__u32)pid_tgid == waker.id;
    if (on_top && context->recorded_tid != waker.id) record_current(waker.id, now);
    if (on_top || record_sender(&context->softirq_packet, now)) {
      __u64 ns = now - waker.sent_ns;
      in_flight = ns > 0xffffffff ? 0xffffffff : ns ? (__u32)ns : 1;
      if (take && on_top) waker_user = current_user_stack();
    } else {
      waker.kind = OFFWAIT_WAKER_NIC;
      waker.id = waker.nic;
    }
  } else if (waker.kind == OFFWAIT_WAKER_THREAD) {
    /* The recorder releases the command that it records before the window begins. */
    bool release =
        thread->state == OFFWAIT_STATE_UNKNOWN && (__u32)(bpf_get_current_pid_tgid() >> 32) == recorder_tgid;
    if (context->recorded_tid != waker.id && !release) record_current(waker.id, now);
    /* A waking that finds the thread not yet asleep takes no stacks, though it may turn out to end the wait
     * (woken_before_switch): that is rare, and a walk for each futile waking would cost more than it tells.
     */
    if (take) {
      waker_user = current_user_stack();
      waker_kernel = kernel_stack(ctx, context, waker_user);
    }
  } else if (waker.kind == OFFWAIT_WAKER_DISK) {
    __u8 one = 1;
    if (!bpf_map_lookup_elem(&disks, &waker.id)) bpf_map_update_elem(&disks, &waker.id, &one, BPF_ANY);
  }
  thread->waker_kind = (__u8)waker.kind;
  thread->waker_id = waker.id;
  thread->waker_user = waker_user;
  if (in_flight)
    thread->waker_nic = waker.nic;
  else
    thread->waker_kernel = waker_kernel;
  thread->waker_peer = peer;
  thread->in_flight_ns = in_flight;
  thread->wake_ns = now;
  /* The freezer of version 1 takes threads while they sleep, and wakes them when it lets them go. */
  thread->task_state |= (__u16)(task_state(wakee) & TASK_FROZEN_BIT);
  return 0;
}

SEC("tp_btf/sched_waking")
int on_sched_waking(__u64* ctx) {
  begin_cost(OFFWAIT_COST_WAKING, COST_EVERY);
  note_waking(ctx);
  end_cost(OFFWAIT_COST_WAKING);
  return 0;
}

#endif
