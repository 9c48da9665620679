/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scheduler: a thread's states, joined to one record per wait. */
#ifndef OFFWAIT_SCHED_H
#define OFFWAIT_SCHED_H

#define TASK_UNINTERRUPTIBLE_BIT 0x02u
#define TASK_DEAD_BIT 0x80u

static __always_inline struct offwait_thread* recorded(struct task_struct* task) {
  __u32 tid = (__u32)task->pid;
  struct offwait_thread* thread = bpf_map_lookup_elem(&threads, &tid);
  /* Another start time: the tid has been reused while its old owner was still dying, or the other way round.
   */
  if (thread && thread->start_ns == task->start_time) return thread;
  return NULL;
}

/* What a task is called in its own PID namespace, 0 if that is the host's. */
static __always_inline __u32 tid_in_namespace(struct task_struct* task) {
  const struct pid* pid = BPF_CORE_READ(task, thread_pid);
  __u32 level = BPF_CORE_READ(pid, level);
  __u32 tid = 0;
  const char* number = (const char*)pid + bpf_core_field_offset(struct pid, numbers) +
                       level * bpf_core_type_size(struct upid) + bpf_core_field_offset(struct upid, nr);
  if (level) bpf_probe_read_kernel(&tid, sizeof(tid), number);
  return tid;
}

/* `detail`: the parent of one that was BORN, whether an exec NAMED it, else 0. */
static __always_inline void emit_thread(struct offwait_thread* thread, __u32 tid, __u32 event, __u32 detail,
                                        __u64 at_ns, const char* comm) {
  struct offwait_thread_record* record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
  if (!record) {
    count_loss(OFFWAIT_LOSS_ringbuf_full);
    return;
  }
  record->type = OFFWAIT_RECORD_THREAD;
  record->event = event;
  record->outside = thread->target   ? OFFWAIT_TARGET
                    : thread->kernel ? OFFWAIT_OUTSIDE_KERNEL
                                     : OFFWAIT_OUTSIDE;
  record->exec = event == OFFWAIT_THREAD_NAMED && detail;
  record->tid = tid;
  record->tgid = thread->tgid;
  record->parent = event == OFFWAIT_THREAD_BORN ? detail : 0;
  record->at_ns = at_ns;
  record->start_ns = thread->start_ns;
  if (comm)
    bpf_probe_read_kernel_str(record->comm, sizeof(record->comm), comm);
  else
    record->comm[0] = 0;
  record->ns_tid = thread->ns_tid;
  record->pad = 0;
  bpf_ringbuf_submit(record, EMIT_FLAGS);
}

/* What is known last of a thread, before its entry goes. An exit without the gap before it would make what
 * was lost look like running; without either, all that follows its last record is unknown. */
static __always_inline void emit_exit(struct offwait_thread* thread, __u32 tid, __u64 now) {
  if (!emit_gap(thread, tid, thread->since_ns)) return;
  emit_thread(thread, tid, OFFWAIT_THREAD_EXITED, 0, now, NULL);
}

/* Starts recording a task. `fresh` is what is known of it; `parent` as in emit_thread. */
static __always_inline void record_thread(struct offwait_thread* fresh, __u32 tid, __u32 event, __u32 parent,
                                          __u64 now, const char* comm) {
  if (bpf_map_update_elem(&threads, &tid, fresh, BPF_NOEXIST) == 0) {
    emit_thread(fresh, tid, event, parent, now, comm);
    return;
  }
  struct offwait_thread* old = bpf_map_lookup_elem(&threads, &tid);
  if (!old) {
    count_loss(OFFWAIT_LOSS_thread_table_full);
    return;
  }
  if (old->start_ns == fresh->start_ns) return; /* another CPU was faster */
  emit_exit(old, tid, now);
  *old = *fresh;
  emit_thread(fresh, tid, event, parent, now, comm);
}

/* How a living thread is first heard of. */
static __always_inline __u32 event_of_first(const struct offwait_thread* thread) {
  return target_is_cgroup && thread->target ? OFFWAIT_THREAD_ENTERED : OFFWAIT_THREAD_SEEN;
}

/* The entry of a thread that may have entered the target's cgroup, or left it, since its last switch; NULL if
 * it is not recorded. Its life in the target is one of its own: who leaves is not recorded any more unless it
 * wakes somebody. */
static __always_inline struct offwait_thread* follow_cgroup(struct offwait_thread* thread,
                                                            struct task_struct* task, __u64 now) {
  bool member = in_target_cgroup(task, true);
  if (thread ? thread->target == member : !member) return thread;
  __u32 tid = (__u32)task->pid;
  if (thread) {
    emit_exit(thread, tid, now);
    if (!member) {
      bpf_map_delete_elem(&threads, &tid);
      return NULL;
    }
    thread->target = 1;
    emit_thread(thread, tid, OFFWAIT_THREAD_ENTERED, 0, now, (const char*)&task->comm);
    return thread;
  }
  struct offwait_thread fresh = {};
  fresh.start_ns = task->start_time;
  fresh.tgid = (__u32)task->tgid;
  fresh.ns_tid = tid_in_namespace(task);
  fresh.since_ns = now;
  fresh.state = OFFWAIT_STATE_RUNNING;
  fresh.target = 1;
  record_thread(&fresh, tid, OFFWAIT_THREAD_ENTERED, 0, now, (const char*)&task->comm);
  return recorded(task);
}

/* The closure of the waits-for relation: whoever ends a recorded thread's wait, or uses a disk that does, is
 * recorded too. */
static __always_inline void record_current(__u32 tid, __u64 now) {
  if (bpf_map_lookup_elem(&threads, &tid)) return;
  struct task_struct* task = (void*)bpf_get_current_task();
  struct offwait_thread fresh = {};
  fresh.start_ns = BPF_CORE_READ(task, start_time);
  fresh.tgid = (__u32)BPF_CORE_READ(task, tgid);
  fresh.ns_tid = tid_in_namespace(task);
  fresh.kernel = (BPF_CORE_READ(task, flags) & PF_KTHREAD_BIT) != 0;
  fresh.since_ns = now;
  fresh.state = OFFWAIT_STATE_RUNNING;
  /* A thread of the target that wakes another before the task iterator has come to it. */
  fresh.target = is_target(task, fresh.tgid, tid);
  record_thread(&fresh, tid, event_of_first(&fresh), 0, now, (const char*)&task->comm);
}

/* Likewise for who sent a packet. It runs elsewhere, or no more: what it is doing is found as the task
 * iterator finds it (seed.h). False if it is gone. */
static __always_inline bool record_sender(const struct sent_packet* packet, __u64 now) {
  __u32 tid = packet->tid;
  struct offwait_thread* thread = bpf_map_lookup_elem(&threads, &tid);
  if (thread) return thread->start_ns <= packet->sent_ns;
  /* The task's memory may belong to another one by now, which is then younger than the packet. */
  struct task_struct* task = (void*)packet->task;
  struct offwait_thread fresh = {};
  fresh.start_ns = BPF_CORE_READ(task, start_time);
  if ((__u32)BPF_CORE_READ(task, pid) != tid || fresh.start_ns > packet->sent_ns ||
      BPF_CORE_READ(task, exit_state))
    return false;
  fresh.tgid = (__u32)BPF_CORE_READ(task, tgid);
  fresh.ns_tid = tid_in_namespace(task);
  fresh.since_ns = now;
  fresh.syscall = OFFWAIT_SYSCALL_UNKNOWN;
  fresh.target = is_target(task, fresh.tgid, tid);
  record_thread(&fresh, tid, event_of_first(&fresh), 0, now, (const char*)&task->comm);
  thread = bpf_map_lookup_elem(&threads, &tid);
  if (!thread) return false;
  if (ANY_TASK_FLAG(task, on_cpu))
    thread->seeded = OFFWAIT_STATE_RUNNING;
  else
    thread->seeded = ANY_TASK_FLAG(task, on_rq) ? OFFWAIT_STATE_RUNNABLE : OFFWAIT_STATE_BLOCKED;
  return true;
}

/* Where a task is blocked: what is known of its wait from the waiting side. `task` is blocked or about to be.
 */
static __always_inline void note_wait(struct offwait_thread* thread, struct task_struct* task, __u32 state) {
  thread->task_state = (__u16)state;
  thread->syscall = OFFWAIT_NO_SYSCALL;
  thread->fd_kind = OFFWAIT_FD_NONE;
  thread->object = 0;
  /* Only uninterruptible sleeps are for I/O (io_schedule). */
  thread->flags = state & TASK_UNINTERRUPTIBLE_BIT && in_iowait(task) ? OFFWAIT_WAIT_IOWAIT : 0;
  if (task->flags & PF_KTHREAD_BIT) {
    thread->flags |= OFFWAIT_WAIT_KTHREAD;
    return;
  }
  struct interrupted_call call = interrupted_call(task);
  if (call.number >= 0 && call.number < 0x7fff) {
    thread->syscall = (__s16)call.number;
    if (is_futex(thread->syscall)) {
      thread->object = hash_of_address(call.argument);
    } else if (takes_fd(thread->syscall) || takes_socket(thread->syscall)) {
      struct inode* socket = NULL;
      thread->fd_kind = fd_kind_of(task, (__u32)call.argument, &socket);
      if (socket) thread->object = peer_of_socket(socket);
      if (thread->object) thread->flags |= OFFWAIT_WAIT_PEER;
    }
  }
}

/* When the wait that began at since_ns ended, 0 if its waking was not seen. Each wait ends in exactly one
 * waking. One that is older than the switch-out came while the thread had left the run queue but not yet the
 * CPU; it is the last one before the switch, since later ones find nothing to wake. */
static __always_inline __u64 wake_of(const struct offwait_thread* thread) {
  return thread->wake_ns && thread->wake_ns < thread->since_ns ? thread->since_ns : thread->wake_ns;
}

static __always_inline void emit_wait(struct offwait_thread* thread, __u32 tid, __u64 wake_ns, __u64 run_ns) {
  bool sent = thread->in_flight_ns && thread->waker_kind == OFFWAIT_WAKER_THREAD;
  __u32 object = thread->object ? thread->object : thread->waker_peer;
  bool is_short = !record_stacks && !sent && !object;
  struct offwait_wait* wait =
      reserve(thread, tid, is_short ? OFFWAIT_SHORT_WAIT : sizeof(*wait), thread->since_ns);
  if (!wait) return;
  wait->type = OFFWAIT_RECORD_WAIT;
  wait->waker_kind = thread->waker_kind;
  wait->fd_kind = thread->fd_kind;
  wait->flags =
      thread->flags | (thread->wake_ns && thread->wake_ns < thread->since_ns ? OFFWAIT_WAIT_RACED : 0);
  if (sent) wait->flags |= OFFWAIT_WAIT_SENT;
  if (!thread->object && object) wait->flags |= OFFWAIT_WAIT_PEER;
  wait->tid = tid;
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
    wait->waker_kernel = thread->waker_kernel;
    wait->object = object;
    wait->in_flight_ns = sent ? thread->in_flight_ns : 0;
  }
  bpf_ringbuf_submit(wait, EMIT_FLAGS);
}

/* What the thread did from this time on is not known, until emit_gap() says until when. */
static __always_inline void lose_since(struct offwait_thread* thread, __u64 from_ns) {
  if (!thread->lost_since_ns) thread->lost_since_ns = from_ns ? from_ns : OFFWAIT_LOST_SINCE_BEGIN;
}

/* Another thread leaves the CPU that this one got at since_ns: the kernel did not report that it left. */
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

/* By CPU, threads that the task iterator found running there, until the CPU's next switch. */
__u32 found_running[MAX_CPUS] = {};

/* Is the thread that leaves this CPU the one that was on it? */
static __always_inline void check_who_leaves(struct cpu_notes* context, __u32 leaving) {
  if (context->recorded_tid && context->recorded_tid != leaving)
    note_left_unseen(context->recorded_tid, context->recorded_since_ns);
  __u32 cpu = bpf_get_smp_processor_id();
  if (cpu >= MAX_CPUS || !found_running[cpu]) return;
  if (found_running[cpu] != leaving) note_left_unseen(found_running[cpu], 0);
  found_running[cpu] = 0;
}

/* Of a thread that is on a CPU. */
static __always_inline bool got_cpu_unseen(const struct offwait_thread* thread) {
  if (thread->state == OFFWAIT_STATE_UNKNOWN) return thread->lost_since_ns; /* or it is being seeded */
  return thread->state != OFFWAIT_STATE_RUNNING;
}

/* A thread leaves a CPU without having been seen to get one: the kernel did not report that switch. From its
 * wake on (or, if not even that was seen, from its block on) its state is unknown, until a probe found it
 * running. */
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
  thread->wake_ns = 0;
  thread->waker_kind = OFFWAIT_WAKER_UNKNOWN;
  thread->waker_peer = 0;
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
  /* Still queued though it set its state to sleep: preempted before it could, a signal was pending — or it
   * did leave, and was woken while the balancer had let go of the run queue, which only a waking since it
   * last ran tells apart. */
  bool queued = !off_run_queue(prev);
  if (preempt || (queued && !(sched_switch_has_prev_state && state && thread->wake_ns))) {
    thread->state = OFFWAIT_STATE_RUNNABLE;
    return;
  }
  thread->state = OFFWAIT_STATE_BLOCKED;
  note_wait(thread, prev, state);
  if (record_stacks) {
    thread->wait_user = 0;
    if (UNTRUSTED(struct task_struct, prev)->mm) {
      thread->wait_user = user_stack();
      if (lacked_mapping()) leave_to_user_space(prev, thread->start_ns, now);
    }
    thread->wait_kernel = kernel_stack(ctx, context, thread->wait_user);
  }
}

static __always_inline void switch_in(struct offwait_thread* thread, __u32 tid, __u64 now) {
  __u8 state = thread->state;
  if (state == OFFWAIT_STATE_UNKNOWN) state = thread->seeded;
  if (state == OFFWAIT_STATE_BLOCKED) {
    __u64 wake = wake_of(thread);
    emit_wait(thread, tid, wake ? wake : now, now);
  } else if (state == OFFWAIT_STATE_RUNNABLE) {
    struct offwait_preemption* preemption = reserve(thread, tid, sizeof(*preemption), thread->since_ns);
    if (preemption) {
      preemption->type = OFFWAIT_RECORD_PREEMPTION;
      __builtin_memset(preemption->pad, 0, sizeof(preemption->pad));
      preemption->tid = tid;
      preemption->out_ns = thread->since_ns;
      preemption->run_ns = now;
      bpf_ringbuf_submit(preemption, EMIT_FLAGS);
    }
  } else {
    if (state == OFFWAIT_STATE_RUNNING) count_loss(OFFWAIT_LOSS_switch_unseen); /* it has left a CPU */
    lose_since(thread, thread->since_ns);
    emit_gap(thread, tid, now);
  }
  thread->state = OFFWAIT_STATE_RUNNING;
  thread->since_ns = now;
  thread->wake_ns = 0;
  thread->waker_kind = OFFWAIT_WAKER_UNKNOWN;
  thread->waker_peer = 0;
}

SEC("tp_btf/sched_switch")
int on_sched_switch(__u64* ctx) {
  bool preempt = ctx[0];
  struct task_struct* prev = (void*)ctx[1];
  struct task_struct* next = (void*)ctx[2];
  struct offwait_thread* out = prev->pid ? recorded(prev) : NULL;
  struct offwait_thread* in = next->pid ? recorded(next) : NULL;
  struct cpu_notes* context = cpu_notes();
  if (!context) return 0;
  check_who_leaves(context, (__u32)prev->pid);
  if (!in && !target_is_cgroup) {
    context->recorded_tid = 0;
    barrier_var(out); /* or the compiler tests both at once, or-ed, which the verifier forbids */
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
  if (in) switch_in(in, (__u32)next->pid, now);
  if (target_is_cgroup && next->pid) in = follow_cgroup(in, next, now);
  context->recorded_tid = in ? (__u32)next->pid : 0;
  context->recorded_since_ns = in ? in->since_ns : 0;
  return 0;
}

/* sched_waking, not sched_wakeup: only here is the waker always current. Wakings of one thread are serialised
 * by its pi_lock, and the thread cannot run again before the one that counts has returned. */
SEC("tp_btf/sched_waking")
int on_sched_waking(__u64* ctx) {
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
  bool peer_known = thread->state == OFFWAIT_STATE_BLOCKED && thread->object;
  if ((waker.sent_ns || waker.kind == OFFWAIT_WAKER_NIC) && context->softirq_peer.port && !peer_known) {
    struct offwait_peer from = context->softirq_peer;
    peer = id_of_peer(&from);
  }
  if (waker.sent_ns) {
    __u64 pid_tgid = bpf_get_current_pid_tgid();
    bool on_top = (__u32)pid_tgid == waker.id;
    if (on_top) record_current(waker.id, now);
    waker_kernel = waker.nic;
    if (on_top || record_sender(&context->softirq_packet, now)) {
      __u64 ns = now - waker.sent_ns;
      in_flight = ns > 0xffffffff ? 0xffffffff : ns ? (__u32)ns : 1;
      if (record_stacks && on_top && thread->state != OFFWAIT_STATE_RUNNING) {
        struct task_struct* task = (void*)bpf_get_current_task();
        waker_user = BPF_CORE_READ(task, mm) ? user_stack() : 0;
      }
    } else {
      waker.kind = OFFWAIT_WAKER_NIC;
      waker.id = waker.nic;
      waker_kernel = 0;
    }
  } else if (waker.kind == OFFWAIT_WAKER_THREAD) {
    /* The recorder releases the command that it records, before the window begins. */
    bool release =
        thread->state == OFFWAIT_STATE_UNKNOWN && (__u32)(bpf_get_current_pid_tgid() >> 32) == recorder_tgid;
    if (context->recorded_tid != waker.id && !release) record_current(waker.id, now);
    /* A waking that finds the thread not yet asleep may be raced (emit_wait), but is then without a stack:
     * rarely, and walking one for each futile waking would cost more than it tells. */
    if (record_stacks && thread->state != OFFWAIT_STATE_RUNNING) {
      struct task_struct* task = (void*)bpf_get_current_task();
      waker_user = BPF_CORE_READ(task, mm) ? user_stack() : 0;
      waker_kernel = kernel_stack(ctx, context, waker_user);
    }
  } else if (waker.kind == OFFWAIT_WAKER_DISK) {
    __u8 one = 1;
    if (!bpf_map_lookup_elem(&disks, &waker.id)) bpf_map_update_elem(&disks, &waker.id, &one, BPF_ANY);
  }
  thread->waker_kind = (__u8)waker.kind;
  thread->waker_id = waker.id;
  thread->waker_user = waker_user;
  thread->waker_kernel = waker_kernel;
  thread->waker_peer = peer;
  thread->in_flight_ns = in_flight;
  thread->wake_ns = now;
  return 0;
}

/* Fork, before the child can run: it is runnable from its start on. */
SEC("tp_btf/sched_process_fork")
int on_sched_process_fork(__u64* ctx) {
  struct task_struct* parent = (void*)ctx[0];
  struct task_struct* child = (void*)ctx[1];
  if (target_is_cgroup) {
    if (!in_target_cgroup(child, true)) return 0;
  } else {
    struct offwait_thread* thread = follow_children ? recorded(parent) : NULL;
    if (!thread || !thread->target) return 0;
  }
  inherit_mappings((__u32)parent->tgid, (__u32)child->tgid);
  struct offwait_thread fresh = {};
  fresh.start_ns = child->start_time;
  fresh.tgid = (__u32)child->tgid;
  fresh.ns_tid = tid_in_namespace(child);
  fresh.since_ns = fresh.start_ns;
  fresh.state = OFFWAIT_STATE_RUNNABLE;
  fresh.target = 1;
  record_thread(&fresh, (__u32)child->pid, OFFWAIT_THREAD_BORN, (__u32)parent->pid, bpf_ktime_get_ns(),
                (const char*)&child->comm);
  return 0;
}

/* An exec by a thread that is not its group's leader gives it the leader's tid: old_pid is the one it had.
 * The old leader's entry is overwritten when the new owner of the tid is recorded. */
SEC("tp_btf/sched_process_exec")
int on_sched_process_exec(__u64* ctx) {
  struct task_struct* task = (void*)ctx[0];
  __u32 old_tid = (__u32)ctx[1];
  __u32 tid = (__u32)task->pid;
  __u64 now = bpf_ktime_get_ns();
  __u32 tgid = (__u32)task->tgid;
  bpf_map_delete_elem(&address_spaces, &tgid);
  struct offwait_thread* thread = bpf_map_lookup_elem(&threads, &old_tid);
  if (!thread) return 0;
  if (record_stacks) want_mappings(tgid);
  if (old_tid != tid) {
    struct offwait_thread fresh = *thread;
    emit_exit(thread, old_tid, now);
    bpf_map_delete_elem(&threads, &old_tid);
    fresh.start_ns = task->start_time;
    fresh.ns_tid = tid_in_namespace(task);
    record_thread(&fresh, tid, OFFWAIT_THREAD_SEEN, 0, now, (const char*)&task->comm);
    return 0;
  }
  emit_thread(thread, tid, OFFWAIT_THREAD_NAMED, 1, now, (const char*)&task->comm);
  return 0;
}

SEC("tp_btf/task_rename")
int on_task_rename(__u64* ctx) {
  struct task_struct* task = (void*)ctx[0];
  const char* comm = (const char*)ctx[1];
  struct offwait_thread* thread = recorded(task);
  if (thread) emit_thread(thread, (__u32)task->pid, OFFWAIT_THREAD_NAMED, 0, bpf_ktime_get_ns(), comm);
  return 0;
}

#endif
