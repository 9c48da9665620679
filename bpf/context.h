/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runs on this CPU, and so wakes others: the current thread, or a device, timer or interrupt on top of
 * it. An interrupt has nothing to do with the thread that it interrupts. */
#ifndef OFFWAIT_CONTEXT_H
#define OFFWAIT_CONTEXT_H

#include "kernel.h"
#include "kernel_differences.h"
#include "maps.h"
#include "offwait/event.h"

#define PF_KTHREAD_BIT 0x00200000u
#define SOFTIRQ_SERVING 0x00000100u
#define HARDIRQ_OR_NMI 0x00ff0000u

enum softirq_vector { VECTOR_TIMER = 1, VECTOR_HRTIMER = 8 };

/* A packet on its way over loopback or veth, and its sender. */
struct sent_packet {
  __u64 skb; /* address of its struct sk_buff, 0: no packet */
  __u64 sent_ns;
  __u64 task; /* address of the sender's task_struct; the sender may have exited since */
  __u32 tid;  /* the sender's, 0: not known to have been sent by a thread */
  __u32 pad;
};

/* What the interrupt that this CPU serves has done so far. Hard interrupts do not nest, and neither do soft
 * ones. Each of the two has fields of its own because a hard interrupt may interrupt a soft one. */
struct cpu_notes {
  /* The hard interrupt: */
  __u32 irq;       /* number of the handler that runs, OFFWAIT_IRQ_OTHER for none */
  __u32 irq_disk;  /* the disk that completed a request in it, 0 for none */
  __u32 irq_timer; /* 1: a timer expires in it */
  /* The soft interrupt: */
  __u32 vector;
  __u32 softirq_disk;                /* the disk that completed a request in it, 0 for none */
  __u64 softirq_device;              /* struct net_device of the packet that it receives, 0 for none */
  struct sent_packet softirq_packet; /* the packet that it receives */
  struct offwait_peer softirq_peer;  /* the packet's sender; all zero if not known */
  /* The last thread that completed a request itself (loop, FUSE, threaded interrupts), the request's disk,
   * and how often the thread had been switched by then: if it has not been switched since, it is still
   * completing that request. */
  __u32 thread_tid;
  __u32 thread_disk;
  __u64 thread_switches;
  /* The thread that was last seen to get this CPU, 0 if it is not recorded, and when it got it. It saves a
   * look-up when that thread wakes others. */
  __u32 recorded_tid;
  __u32 peers;          /* how many peer ids this CPU has given out */
  __u32 unix_addresses; /* how many ids of unix addresses */
  __u32 files;          /* how many ids of files */
  __u64 recorded_since_ns;
  __u64 pointer;    /* for as_number() */
  __u32 stacks_due; /* the thread that got the CPU at recorded_since_ns and takes its stacks now, 0: none */
  __u32 nic;        /* the interface that this CPU needed last: it is in `nics`, if there was room. 0: none */
};

/* The verifier forbids arithmetic with pointers. To it, a pointer read back from a map is a number. */
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
  __u32 kind; /* enum offwait_waker_kind */
  __u32 id;
  __u64 sent_ns; /* not 0: the waker is the thread that sent a packet at this time, whose delivery wakes */
  __u32 nic;     /* the interface that delivered the packet */
};

/* The interface's id. If `nics` has no room for its name, the id alone stands for it. */
static __always_inline __u32 nic_of(struct cpu_notes* context, const struct net_device* device) {
  const struct net* net = READ_ANY(net_device, device, nd_net.net);
  struct offwait_nic nic = {};
  nic.index = (__u32)READ_ANY(net_device, device, ifindex);
  nic.namespace_inode = READ_ANY(net, net, ns.inum);
  __u32 id = nic.namespace_inode << 16 | (nic.index & 0xffff);
  if (id == context->nic) return id;
  context->nic = id;
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

/* The actor that wakes `wakee` now. */
static __always_inline struct waker waker_of(struct cpu_notes* context, struct task_struct* wakee) {
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
      waker.id = nic_of(context, (const void*)context->softirq_device);
      const struct sent_packet* packet = &context->softirq_packet;
      /* A thread that waits for a packet of its own waits for the delivery alone. */
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
  /* The end of an interrupt wakes ksoftirqd to serve pending softirqs; preempt_count no longer tells that it
   * is an interrupt. */
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
