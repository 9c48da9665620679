/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which threads are recorded, from when on, and under which name: the target's threads, and every thread that
 * ends a wait of a recorded thread or uses a disk that does. sched.h records what such a thread does. */
#ifndef OFFWAIT_RECORDED_THREADS_H
#define OFFWAIT_RECORDED_THREADS_H

#include "context.h"
#include "kernel.h"
#include "kernel_differences.h"
#include "known_stacks.h"
#include "maps.h"
#include "offwait/event.h"
#include "records.h"
#include "target.h"
#include "unwind.h"

/* The entry of this task, NULL if it is not recorded. An entry with another start time belongs to another
 * thread: the tid has been reused while its old owner was still dying. */
static __always_inline struct offwait_thread* recorded(struct task_struct* task) {
  __u32 tid = (__u32)task->pid;
  struct offwait_thread* thread = bpf_map_lookup_elem(&threads, &tid);
  if (thread && thread->start_ns == task->start_time) return thread;
  return NULL;
}

/* The task's tid in its own PID namespace, 0 if that is the host's namespace. */
static __always_inline __u32 tid_in_namespace(struct task_struct* task) {
  const struct pid* pid = BPF_CORE_READ(task, thread_pid);
  __u32 level = BPF_CORE_READ(pid, level);
  __u32 tid = 0;
  const char* number = (const char*)pid + bpf_core_field_offset(struct pid, numbers) +
                       level * bpf_core_type_size(struct upid) + bpf_core_field_offset(struct upid, nr);
  if (level) bpf_probe_read_kernel(&tid, sizeof(tid), number);
  return tid;
}

/* An entry for a thread that is not recorded yet, in an unknown state since `since_ns`. `typed`: the verifier
 * knows the type of `task`. */
static __always_inline struct offwait_thread new_thread(struct task_struct* task, const bool typed,
                                                        __u64 since_ns) {
  struct offwait_thread thread = {};
  thread.start_ns = FIELD(typed, task, start_time);
  thread.tgid = (__u32)FIELD(typed, task, tgid);
  thread.ns_tid = tid_in_namespace(task);
  thread.kernel = (FIELD(typed, task, flags) & PF_KTHREAD_BIT) != 0;
  thread.recorder = is_of_recorder(task, typed);
  thread.since_ns = since_ns;
  return thread;
}

/* `detail`: the parent's tid for BORN, whether an exec was the reason for NAMED, else 0. */
static __always_inline void emit_thread(struct offwait_thread* thread, __u32 tid, __u32 event, __u32 detail,
                                        __u64 at_ns, const char* comm) {
  struct offwait_thread_record* record = new_record(OFFWAIT_RECORD_THREAD, tid, sizeof(*record));
  if (!record) return;
  record->event = event;
  record->outside = thread->target     ? OFFWAIT_TARGET
                    : thread->kernel   ? OFFWAIT_OUTSIDE_KERNEL
                    : thread->recorder ? OFFWAIT_OUTSIDE_RECORDER
                                       : OFFWAIT_OUTSIDE;
  record->exec = event == OFFWAIT_THREAD_NAMED && detail;
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
  emit(record);
}

/* The last record of a thread, before its entry is deleted. If records were lost and not even the gap can be
 * emitted, the exit is not emitted either: with an exit but no gap the lost time would look like running,
 * with neither the time since the thread's last record is unknown. */
static __always_inline void emit_exit(struct offwait_thread* thread, __u32 tid, __u64 now) {
  if (!emit_gap(thread, tid, thread->since_ns)) return;
  emit_thread(thread, tid, OFFWAIT_THREAD_EXITED, 0, now, NULL);
}

/* Starts to record a thread. `parent` is as `detail` in emit_thread. */
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

/* The first event of a thread that was alive before it was recorded. */
static __always_inline __u32 first_event(const struct offwait_thread* thread) {
  return target_is_cgroup && thread->target ? OFFWAIT_THREAD_ENTERED : OFFWAIT_THREAD_SEEN;
}

/* The entry of a thread that may have entered or left the target's cgroup since its last switch; NULL if it
 * is not recorded. The time that a thread spends in the target counts as the life of a thread of its own: a
 * thread that leaves is recorded again only if it wakes a recorded one. */
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
  struct offwait_thread fresh = new_thread(task, true, now);
  fresh.state = OFFWAIT_STATE_RUNNING;
  fresh.target = 1;
  record_thread(&fresh, tid, OFFWAIT_THREAD_ENTERED, 0, now, (const char*)&task->comm);
  return recorded(task);
}

/* Records the current thread, whose tid this is: it ends a wait of a recorded thread, or uses a disk that
 * does. */
static __always_inline void record_current(__u32 tid, __u64 now) {
  if (bpf_map_lookup_elem(&threads, &tid)) return;
  struct task_struct* task = (void*)bpf_get_current_task();
  struct offwait_thread fresh = new_thread(task, false, now);
  fresh.state = OFFWAIT_STATE_RUNNING;
  /* It may be a thread of the target that the task iterator has not come to yet. */
  fresh.target = is_target(task, fresh.tgid, tid);
  record_thread(&fresh, tid, first_event(&fresh), 0, now, (const char*)&task->comm);
}

/* Records the sender of a packet; false if it is gone. The sender runs on another CPU or no longer runs: its
 * state is found out as the task iterator finds it (seed.h). */
static __always_inline bool record_sender(const struct sent_packet* packet, __u64 now) {
  __u32 tid = packet->tid;
  struct offwait_thread* thread = bpf_map_lookup_elem(&threads, &tid);
  if (thread) return thread->start_ns <= packet->sent_ns;
  /* Another task may have taken the task's memory since; it is younger than the packet then. */
  struct task_struct* task = (void*)packet->task;
  struct offwait_thread fresh = new_thread(task, false, now);
  if ((__u32)BPF_CORE_READ(task, pid) != tid || fresh.start_ns > packet->sent_ns ||
      BPF_CORE_READ(task, exit_state))
    return false;
  fresh.syscall = OFFWAIT_SYSCALL_UNKNOWN;
  fresh.target = is_target(task, fresh.tgid, tid);
  record_thread(&fresh, tid, first_event(&fresh), 0, now, (const char*)&task->comm);
  thread = bpf_map_lookup_elem(&threads, &tid);
  if (!thread) return false;
  if (ANY_TASK_FLAG(task, on_cpu))
    thread->seeded = OFFWAIT_STATE_RUNNING;
  else
    thread->seeded = ANY_TASK_FLAG(task, on_rq) ? OFFWAIT_STATE_RUNNABLE : OFFWAIT_STATE_BLOCKED;
  return true;
}

/* A fork, before the child can run: the child is runnable from its start on. */
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
  struct offwait_thread fresh = new_thread(child, true, child->start_time);
  fresh.state = OFFWAIT_STATE_RUNNABLE;
  fresh.target = 1;
  record_thread(&fresh, (__u32)child->pid, OFFWAIT_THREAD_BORN, (__u32)parent->pid, bpf_ktime_get_ns(),
                (const char*)&child->comm);
  return 0;
}

/* An exec by a thread that does not lead its group gives it the leader's tid; ctx[1] is the tid it had
 * before. The old leader's entry is overwritten when the tid's new owner is recorded. */
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
