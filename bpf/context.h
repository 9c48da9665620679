/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is calling: the thread, or the device, timer or interrupt that runs on top of it. The current task of
 * an interrupt is an innocent bystander. */
#ifndef OFFWAIT_CONTEXT_H
#define OFFWAIT_CONTEXT_H

#define PF_KTHREAD_BIT 0x00200000u
#define SOFTIRQ_SERVING 0x00000100u
#define HARDIRQ_OR_NMI 0x00ff0000u

enum softirq_vector { VECTOR_TIMER = 1, VECTOR_HRTIMER = 8 };

/* A packet on its way over loopback or veth, and the thread that sent it. */
struct sent_packet {
  __u64 skb; /* struct sk_buff, 0 for none */
  __u64 sent_ns;
  __u64 task; /* struct task_struct of the sender, which may have exited since */
  __u32 tid;  /* 0 if no thread is known to have sent it */
  __u32 pad;
};

/* What the interrupt being served on this CPU has been seen to do. Hard interrupts do not nest, and neither
 * do soft ones; each kind has its own slot because the former interrupt the latter. */
struct cpu_notes {
  __u32 irq;      /* hard: number of the handler that runs, OFFWAIT_IRQ_OTHER for none */
  __u32 irq_disk; /* hard: disk that completed a request in this interrupt, 0 for none */
  __u32 irq_timer;
  __u32 vector; /* soft */
  __u32 softirq_disk;
  __u64 softirq_device;              /* soft: struct net_device of the packet being received, 0 for none */
  struct sent_packet softirq_packet; /* soft: the packet being received */
  struct offwait_peer softirq_peer;  /* soft: who sent it; all zero when not known */
  /* A thread that completes requests itself (loop, FUSE, threaded interrupts): its last one, and its switches
   * so far, which tell whether it is still at it. */
  __u32 thread_tid;
  __u32 thread_disk;
  __u64 thread_switches;
  /* The thread that was last seen to get this CPU, if it is recorded, else 0, and when: saves a look-up when
   * it wakes others. */
  __u32 recorded_tid;
  __u32 peers; /* new ones seen on this CPU */
  __u64 recorded_since_ns;
  __u64 pointer; /* as_number() */
};

/* The verifier forbids arithmetic with pointers; one that has been in a map is a number. */
static __always_inline __u64 as_number(struct cpu_notes* context, const void* pointer) {
  *(const void* volatile*)&context->pointer = pointer;
  return *(volatile __u64*)&context->pointer;
}

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct cpu_notes);
} notes_by_cpu SEC(".maps");

static __always_inline struct cpu_notes* cpu_notes(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&notes_by_cpu, &zero);
}

static __always_inline __u64 current_switches(void) {
  struct task_struct* task = (void*)bpf_get_current_task();
  return BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
}

struct waker {
  __u32 kind;
  __u32 id;
  __u64 sent_ns; /* kind THREAD, not the current one: when it sent the packet that wakes; else 0 */
  __u32 nic;     /* the interface that this packet came through */
};

/* Named by its id alone if there is no room for its name. */
static __always_inline __u32 nic_of(struct net_device* device) {
  struct offwait_nic nic = {};
  nic.index = (__u32)BPF_CORE_READ(device, ifindex);
  nic.namespace_inode = BPF_CORE_READ(device, nd_net.net, ns.inum);
  __u32 id = nic.namespace_inode << 16 | (nic.index & 0xffff);
  if (!bpf_map_lookup_elem(&nics, &id)) {
    BPF_CORE_READ_STR_INTO(&nic.name, device, name);
    bpf_map_update_elem(&nics, &id, &nic, BPF_ANY);
  }
  return id;
}

static __always_inline bool is_softirq_thread(struct task_struct* task) {
  static const char name[8] = "ksoftirq";
  return *(const __u64*)task->comm == *(const __u64*)name && task->flags & PF_KTHREAD_BIT;
}

/* Who wakes `wakee` now. */
static __always_inline struct waker waker_of(const struct cpu_notes* context, struct task_struct* wakee) {
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
    } else if (is_softirq_thread(wakee)) {
      waker.kind = OFFWAIT_WAKER_SOFTIRQ;
      waker.id = OFFWAIT_SOFTIRQ_RAISED;
    } else if (context->softirq_device) {
      waker.kind = OFFWAIT_WAKER_NIC;
      waker.id = nic_of((void*)context->softirq_device);
      const struct sent_packet* packet = &context->softirq_packet;
      /* Who waits for a packet that it sent itself waits for its delivery only. */
      if (packet->tid && packet->tid != (__u32)wakee->pid) {
        waker.kind = OFFWAIT_WAKER_THREAD;
        waker.nic = waker.id;
        waker.id = packet->tid;
        waker.sent_ns = packet->sent_ns;
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
