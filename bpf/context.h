/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is calling: the thread, or the device, timer or interrupt that runs on top of it. The current task of
 * an interrupt is an innocent bystander. */
#ifndef OFFWAIT_CONTEXT_H
#define OFFWAIT_CONTEXT_H

#define PF_KTHREAD_BIT 0x00200000u
#define SOFTIRQ_SERVING 0x00000100u
#define HARDIRQ_OR_NMI 0x00ff0000u

enum softirq_vector { VECTOR_TIMER = 1, VECTOR_HRTIMER = 8 };

/* What the interrupt being served on this CPU has been seen to do. Hard interrupts do not nest, and neither
 * do soft ones; each kind has its own slot because the former interrupt the latter. */
struct cpu_context {
  __u32 irq;      /* hard: number of the handler that runs, OFFWAIT_IRQ_OTHER for none */
  __u32 irq_disk; /* hard: disk that completed a request in this interrupt, 0 for none */
  __u32 irq_timer;
  __u32 vector; /* soft */
  __u32 softirq_disk;
  __u64 softirq_device; /* soft: struct net_device of the packet being received, 0 for none */
  /* A thread that completes requests itself (loop, FUSE, threaded interrupts): its last one, and its switches
   * so far, which tell whether it is still at it. */
  __u32 thread_tid;
  __u32 thread_disk;
  __u64 thread_switches;
  /* The thread that was last seen to get this CPU, if it is recorded, else 0: saves a look-up when it wakes
   * others. */
  __u32 recorded_tid;
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct cpu_context);
} cpu_contexts SEC(".maps");

static __always_inline struct cpu_context* cpu_context(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&cpu_contexts, &zero);
}

static __always_inline __u64 current_switches(void) {
  struct task_struct* task = (void*)bpf_get_current_task();
  return BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
}

struct waker {
  __u32 kind;
  __u32 id;
};

static __always_inline bool is_softirq_thread(struct task_struct* task) {
  static const char name[8] = "ksoftirq";
  return *(const __u64*)task->comm == *(const __u64*)name && task->flags & PF_KTHREAD_BIT;
}

/* Who wakes `wakee` now. */
static __always_inline struct waker waker_of(const struct cpu_context* context, struct task_struct* wakee) {
  struct waker waker = {};
  __u32 count = preempt_count();
  if (count & HARDIRQ_OR_NMI) {
    if (context->irq_disk) {
      waker.kind = OFFWAIT_WAKER_DISK;
      waker.id = context->irq_disk;
    } else if (context->irq_timer) {
      waker.kind = OFFWAIT_WAKER_TIMER;
    } else {
      waker.kind = OFFWAIT_WAKER_IRQ;
      waker.id = context->irq;
    }
    return waker;
  }
  if (count & SOFTIRQ_SERVING) {
    if (context->softirq_disk) {
      waker.kind = OFFWAIT_WAKER_DISK;
      waker.id = context->softirq_disk;
    } else if (context->softirq_device) {
      struct net_device* device = (void*)context->softirq_device;
      waker.kind = OFFWAIT_WAKER_NIC;
      waker.id = (__u32)BPF_CORE_READ(device, ifindex);
      if (!bpf_map_lookup_elem(&nics, &waker.id)) {
        char name[OFFWAIT_NIC_NAME_LEN] = {};
        BPF_CORE_READ_STR_INTO(&name, device, name);
        /* Without it the interface is named by its index. */
        bpf_map_update_elem(&nics, &waker.id, name, BPF_ANY);
      }
    } else if (context->vector == VECTOR_TIMER || context->vector == VECTOR_HRTIMER) {
      waker.kind = OFFWAIT_WAKER_TIMER;
    } else {
      waker.kind = OFFWAIT_WAKER_SOFTIRQ;
      waker.id = context->vector;
    }
    return waker;
  }

  __u32 tid = (__u32)bpf_get_current_pid_tgid();
  /* The end of an interrupt hands what is pending to ksoftirqd, already outside of interrupt context. */
  if (is_softirq_thread(wakee)) {
    waker.kind = OFFWAIT_WAKER_SOFTIRQ;
    waker.id = OFFWAIT_SOFTIRQ_RAISED;
    return waker;
  }
  if (context->thread_disk && context->thread_tid == tid && in_iowait(wakee) &&
      context->thread_switches == current_switches()) {
    waker.kind = OFFWAIT_WAKER_DISK;
    waker.id = context->thread_disk;
  } else if (tid == 0) {
    waker.kind = OFFWAIT_WAKER_IRQ;
    waker.id = OFFWAIT_IRQ_IDLE;
  } else {
    waker.kind = OFFWAIT_WAKER_THREAD;
    waker.id = tid;
  }
  return waker;
}

#endif
