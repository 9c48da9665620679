/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which lock a thread waits for, and who has it: futexes of user space and sleeping locks of the kernel. */
#ifndef OFFWAIT_LOCKS_H
#define OFFWAIT_LOCKS_H

#include "kernel.h"
#include "kernel_differences.h"
#include "maps.h"
#include "offwait/event.h"

/* linux/futex.h */
#define FUTEX_OPERATION 0x7fu
#define FUTEX_OF_ONE_PROCESS 0x80u
#define FUTEX_WAIT_OPERATION 0
#define FUTEX_LOCK_PI_OPERATION 6
#define FUTEX_WAIT_BITSET_OPERATION 9
#define FUTEX_LOCK_PI2_OPERATION 13
#define FUTEX_OWNER_BITS 0x3fffffffu

/* What glibc has in a mutex (struct __pthread_mutex_s of 64-bit machines), from its lock word on. */
struct glibc_mutex {
  __u32 lock;
  __u32 count;
  __u32 owner;
  __u32 users;
  __u32 kind;
};
#define GLIBC_LOCKED_WITH_WAITERS 2
#define GLIBC_KIND_BITS 0x3ffu

/* The owner in a mutex of glibc that the current thread waits for, 0 if it does not look like one. Other
 * locks wait with the same value; user space checks that the owner is a thread of the process. */
static __always_inline __u32 owner_of_futex(const struct interrupted_call* call) {
  struct glibc_mutex mutex;
  const void* address = (const void*)call->argument;
  switch (call->second & FUTEX_OPERATION) {
    case FUTEX_WAIT_OPERATION:
    case FUTEX_WAIT_BITSET_OPERATION:
      if ((__u32)call->third != GLIBC_LOCKED_WITH_WAITERS ||
          bpf_probe_read_user(&mutex, sizeof(mutex), address) || mutex.kind & ~GLIBC_KIND_BITS ||
          mutex.lock != GLIBC_LOCKED_WITH_WAITERS)
        return 0;
      return mutex.owner;
    case FUTEX_LOCK_PI_OPERATION:
    case FUTEX_LOCK_PI2_OPERATION:
      if (bpf_probe_read_user(&mutex.lock, sizeof(mutex.lock), address)) return 0;
      return mutex.lock & FUTEX_OWNER_BITS;
    default:
      return 0;
  }
}

/* `current`: the task is the one that runs, so that its memory can be read. */
static __always_inline void note_futex(struct offwait_thread* thread, const struct interrupted_call* call,
                                       const bool current) {
  thread->object = call->argument;
  thread->object_kind =
      call->second & FUTEX_OF_ONE_PROCESS ? OFFWAIT_OBJECT_FUTEX : OFFWAIT_OBJECT_SHARED_FUTEX;
  if (current) thread->owner = owner_of_futex(call);
}

/* Flags of contention_begin (trace/events/lock.h), which all kernels that have it share. */
#define CONTENDED_SPIN 0x01u
#define CONTENDED_READ 0x02u
#define CONTENDED_WRITE 0x04u
#define CONTENDED_RT 0x08u
#define CONTENDED_PERCPU 0x10u
#define CONTENDED_MUTEX 0x20u

/* The low bits of a lock's owner are flags. In a rwsem, the lowest says that readers have it; the task is
 * then one that had it once. */
#define OWNER_FLAGS 7ul
#define OWNER_IS_READER 1ul

static __always_inline __u32 tid_of_owner(__u64 owner) {
  const struct task_struct* task = (const struct task_struct*)(owner & ~OWNER_FLAGS);
  return task ? (__u32)BPF_CORE_READ(task, pid) : 0;
}

static __always_inline __u8 kind_of_lock(__u32 flags) {
  if (flags & CONTENDED_PERCPU) return OFFWAIT_OBJECT_PERCPU_RWSEM;
  if (flags & CONTENDED_RT) return OFFWAIT_OBJECT_RTMUTEX;
  if (flags & CONTENDED_MUTEX) return OFFWAIT_OBJECT_MUTEX;
  return flags & (CONTENDED_READ | CONTENDED_WRITE) ? OFFWAIT_OBJECT_RWSEM : OFFWAIT_OBJECT_KERNEL_LOCK;
}

/* The current thread finds a lock taken, and is about to sleep for it. Since 5.19 (16edd9b511a1); before, and
 * for locks that are not contended, nothing is known and nothing is done. */
SEC("tp_btf/contention_begin")
int on_contention_begin(__u64* ctx) {
  __u64 lock = ctx[0];
  __u32 flags = (__u32)ctx[1];
  if (flags & CONTENDED_SPIN) return 0;
  __u32 tid = (__u32)bpf_get_current_pid_tgid();
  struct offwait_thread* thread = bpf_map_lookup_elem(&threads, &tid);
  if (!thread) return 0;
  __u8 kind = kind_of_lock(flags);
  __u32 owner = 0;
  if (kind == OFFWAIT_OBJECT_MUTEX) {
    owner = tid_of_owner((__u64)BPF_CORE_READ((struct mutex*)lock, owner.counter));
  } else if (kind == OFFWAIT_OBJECT_RWSEM) {
    __u64 of_rwsem = (__u64)BPF_CORE_READ((struct rw_semaphore*)lock, owner.counter);
    if (!(of_rwsem & OWNER_IS_READER)) owner = tid_of_owner(of_rwsem);
    struct task_struct* task = (void*)bpf_get_current_task();
    __u64 mm = (__u64)BPF_CORE_READ(task, mm);
    if (mm && lock == mm + bpf_core_field_offset(struct mm_struct, mmap_lock))
      kind = OFFWAIT_OBJECT_MMAP_LOCK;
  }
  thread->lock = lock;
  thread->lock_kind = kind;
  thread->lock_owner = owner;
  return 0;
}

SEC("tp_btf/contention_end")
int on_contention_end(__u64* ctx) {
  __u64 lock = ctx[0];
  __u32 tid = (__u32)bpf_get_current_pid_tgid();
  struct offwait_thread* thread = bpf_map_lookup_elem(&threads, &tid);
  if (thread && thread->lock == lock) thread->lock = 0;
  return 0;
}

#endif
