/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract between the BPF programs and user space: the records of the ring buffer, and the values of
 * the maps that user space reads. Plain structs, the same layout on both sides; all times are
 * CLOCK_MONOTONIC ns (bpf_ktime_get_ns), a time of 0 means "before the recording". A live recording is
 * the only user, so there is no version: both sides are built together. */
#ifndef OFFWAIT_EVENT_H
#define OFFWAIT_EVENT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define OFFWAIT_COMM_LEN 16
#define OFFWAIT_NIC_NAME_LEN 16
#define OFFWAIT_STACK_FRAMES 128

enum offwait_record_type {
  OFFWAIT_RECORD_WAIT = 1,
  OFFWAIT_RECORD_PREEMPTION,
  OFFWAIT_RECORD_GAP,
  OFFWAIT_RECORD_THREAD,
  OFFWAIT_RECORD_IO,
  OFFWAIT_RECORD_SPIN,
  OFFWAIT_RECORD_FALSE_MARK,
  OFFWAIT_RECORD_SAMPLE,
};

/* What ended a wait. `waker_id` is the tid, the disk's dev_t (kernel encoding: major << 20 | minor), the
 * interface's id (offwait_nic), the interrupt number (or OFFWAIT_IRQ_*) or the softirq vector (or
 * OFFWAIT_SOFTIRQ_*). */
enum offwait_waker_kind {
  OFFWAIT_WAKER_UNKNOWN = 0,
  OFFWAIT_WAKER_THREAD,
  OFFWAIT_WAKER_DISK,
  OFFWAIT_WAKER_NIC,
  OFFWAIT_WAKER_TIMER,
  OFFWAIT_WAKER_IRQ,
  OFFWAIT_WAKER_SOFTIRQ,
};
#define OFFWAIT_IRQ_OTHER 0xffffffffu      /* hard interrupt without a handler of its own: IPI, irq_work */
#define OFFWAIT_IRQ_IDLE 0xfffffffeu       /* work that the idle loop did for another CPU */
#define OFFWAIT_SOFTIRQ_RAISED 0xffffffffu /* end of an interrupt: pending softirqs handed to ksoftirqd */

/* What the file descriptor of an interrupted read, write or the like is. */
enum offwait_fd_kind {
  OFFWAIT_FD_NONE = 0,
  OFFWAIT_FD_FILE, /* regular file, directory, block device */
  OFFWAIT_FD_PIPE,
  OFFWAIT_FD_SOCKET,
  OFFWAIT_FD_CHAR,
  OFFWAIT_FD_ANON, /* eventfd, timerfd, epoll, … */
};

enum offwait_wait_flag {
  OFFWAIT_WAIT_IOWAIT = 1 << 0,  /* task_struct.in_iowait: the kernel itself calls it a wait for I/O */
  OFFWAIT_WAIT_KTHREAD = 1 << 1, /* a kernel thread: there is no system call */
  OFFWAIT_WAIT_RACED = 1 << 2,   /* woken between leaving the run queue and switching out */
  OFFWAIT_WAIT_SENT = 1 << 3,    /* waker_id sent what the waking delivered: it was waited for until the send,
                                    the interface after it */
  OFFWAIT_WAIT_PEER = 1 << 4,    /* `object` is a peer's id */
};
#define OFFWAIT_NO_SYSCALL (-1)
#define OFFWAIT_SYSCALL_UNKNOWN (-2)

/* One per blocked interval [block, wake), emitted when the thread runs again. block_ns is 0 if it was
 * blocked before it was recorded. Stack ids are keys of the stack store, 0 for none. Cut to
 * OFFWAIT_SHORT_WAIT bytes when all that follows is 0. */
struct offwait_wait {
  __u8 type;
  __u8 waker_kind;
  __u8 fd_kind;
  __u8 flags;
  __u32 tid;
  __u64 block_ns;
  __u64 wake_ns;
  __u64 run_ns;
  __u32 waker_id;
  __s16 syscall;
  __u16 task_state; /* TASK_* bits at the switch */
  __u32 wait_user;
  __u32 wait_kernel;
  __u32 waker_user; /* with OFFWAIT_WAIT_SENT: only if the packet was delivered on top of its sender */
  union {
    __u32 waker_kernel;
    __u32 waker_nic; /* with OFFWAIT_WAIT_SENT: the interface that the packet came through */
  };
  /* What is waited on. A futex: 32 bits of a hash of the word's address, never 0. With OFFWAIT_WAIT_PEER: the
   * id of who is at the other end of the socket or, where it is not known which socket is waited on, of who
   * sent the packet that ended the wait. Else 0. */
  __u32 object;
  __u32 in_flight_ns; /* with OFFWAIT_WAIT_SENT: from the send to the wake, 1 or more, UINT32_MAX for more;
                         else 0 */
};

#define OFFWAIT_SHORT_WAIT 40

/* Switched out while runnable, or forked and not yet run: runnable in [out, run). */
struct offwait_preemption {
  __u8 type;
  __u8 pad[3];
  __u32 tid;
  __u64 out_ns;
  __u64 run_ns;
};

/* Records of the thread were lost: its state in [from, to) is unknown. */
struct offwait_gap {
  __u8 type;
  __u8 pad[3];
  __u32 tid;
  __u64 from_ns;
  __u64 to_ns;
};

enum offwait_thread_event {
  OFFWAIT_THREAD_SEEN = 1, /* recorded from here on, born earlier */
  OFFWAIT_THREAD_BORN,
  OFFWAIT_THREAD_NAMED,   /* exec or rename, or found to belong to the target after all */
  OFFWAIT_THREAD_EXITED,  /* or entered or left the target's cgroup, which ends one life and begins another */
  OFFWAIT_THREAD_ENTERED, /* of the target, and recorded as such, from here on; born earlier */
};

enum offwait_outside {
  OFFWAIT_TARGET = 0,
  OFFWAIT_OUTSIDE,
  OFFWAIT_OUTSIDE_KERNEL, /* a kernel thread */
};

struct offwait_thread_record {
  __u8 type;
  __u8 event;
  __u8 outside; /* enum offwait_outside */
  __u8 exec;    /* NAMED by an exec */
  __u32 tid;
  __u32 tgid;
  __u32 parent; /* BORN: tid of the thread that called fork or clone; else 0 */
  __u64 at_ns;
  __u64 start_ns; /* task_struct.start_time */
  char comm[OFFWAIT_COMM_LEN];
  __u32 ns_tid; /* what its own PID namespace calls it, 0 if that is the host's */
  __u32 pad;
};

/* A request to a disk, emitted at its completion. tid is 0 if it was submitted in no thread's context. */
struct offwait_io {
  __u8 type;
  __u8 pad[3];
  __u32 tid;
  __u32 dev;
  __u32 bytes;
  __u64 issue_ns;
  __u64 complete_ns;
};

/* Value of `requests`, keyed by the request's address: submitted and not complete. What is left at the end is
 * still in flight. */
struct offwait_request {
  __u64 issue_ns; /* to the device, 0 if it is still in a queue of the kernel */
  __u32 tid;
  __u32 bytes;
  __u32 dev;
  __u32 pad;
};

/* Busy waiting that was declared, emitted when the thread got through: from begin_ns until `waker`, a tid,
 * let go at end_ns. Its user stack, leaf first, comes with it. */
#define OFFWAIT_SPIN_FRAMES 16
struct offwait_spin {
  __u8 type;
  __u8 pad[3];
  __u32 tid;
  __u32 tgid;
  __u32 waker;
  __u64 begin_ns;
  __u64 end_ns;
  __u32 frames;
  __u32 pad2;
  __u64 pc[OFFWAIT_SPIN_FRAMES];
};

/* The thread says that its last wakeup was false. */
struct offwait_false_mark {
  __u8 type;
  __u8 pad[3];
  __u32 tid;
  __u64 at_ns;
};

/* The thread was running at at_ns, and where. Stack ids as in offwait_wait. */
struct offwait_sample {
  __u8 type;
  __u8 pad[3];
  __u32 tid;
  __u64 at_ns;
  __u32 user;
  __u32 kernel; /* 0: it was in user mode */
};

/* In a ring buffer of its own, which wakes its reader: the process has exec'ed, or a walk met an address of
 * it that is in no mapping known. To be looked at at once, for until then its stacks are cut. */
struct offwait_mappings_wanted {
  __u32 tgid;
  __u32 pad;
};

enum offwait_state {
  OFFWAIT_STATE_UNKNOWN = 0,
  OFFWAIT_STATE_RUNNING,
  OFFWAIT_STATE_RUNNABLE,
  OFFWAIT_STATE_BLOCKED,
};

/* Value of `threads`, keyed by tid: what is known of a recorded thread now. User space reads what is left at
 * the end to account for waits that are still open. */
struct offwait_thread {
  __u64 start_ns; /* identity together with the tid */
  __u64 since_ns; /* the present state's begin, 0 = before it was recorded */
  __u8 state;     /* unknown until the first switch seen */
  __u8 seeded;    /* state that the task iterator found, valid while `state` is unknown */
  __u8 target;
  __u8 fd_kind;
  __u8 flags;
  __u8 waker_kind;
  __s16 syscall;
  __u16 task_state;
  __u8 kernel; /* a kernel thread */
  __u8 pad;
  __u32 tgid;
  __u32 object;
  __u32 wait_user;
  __u32 wait_kernel;
  /* Written by the waker, on its own CPU: */
  __u32 waker_id;
  __u32 waker_user;
  union {
    __u32 waker_kernel;
    __u32 waker_nic;
  };
  __u32 in_flight_ns;  /* as in offwait_wait; not 0: the waker is who sent the packet */
  __u64 wake_ns;       /* the last waking since the thread ran, 0 = none */
  __u64 lost_since_ns; /* records lost since then, 0 = none, OFFWAIT_LOST_SINCE_BEGIN = since before it was
                          recorded */
  __u32 waker_peer;    /* written by the waker: who sent the packet, by id, else 0 */
  __u32 ns_tid;        /* as in offwait_thread_record */
  __u64 ran_ns; /* a probe found it running although no switch to it was seen, 0 = never; one older than
                   the present state says nothing */
};
#define OFFWAIT_LOST_SINCE_BEGIN 1

/* Value of `unwalked`, keyed by tid: a blocked thread with memory of its own whose user stack is left to user
 * space, because the task iterator found it so, or because nothing was known yet of a mapping that its walk
 * met. As it entered the kernel. */
struct offwait_blocked {
  __u64 start_ns;
  __u64 since_ns; /* 0: before the recording began */
  __u64 pc;
  __u64 sp;
  __u64 fp;
  __u64 lr;           /* arm64 */
  __u64 arguments[3]; /* of its system call */
};

/* Value of `nics`, keyed by the interface's id. Interface indices, and names, are unique in one network
 * namespace only: the id is the low halves of the namespace's inode number and of the index. */
struct offwait_nic {
  __u32 namespace_inode;
  __u32 index;
  char name[OFFWAIT_NIC_NAME_LEN];
};

/* Key of `peers`, whose values are ids; never 0. Network order, IPv4 as ::ffff:a.b.c.d; ports are numbers. */
struct offwait_peer {
  __u32 address[4];
  __u16 port; /* 0: not known, or there was no room to tell the ports of this host apart */
  /* The port of this side, which tells whether it was asked or has asked; 0 where that is known. */
  __u16 local_port;
  __u8 accepted; /* the peer connected to this side, which listened */
  __u8 pad[3];
};

/* How many stacks were not walked because they were known (bpf/known_stacks.h), and how many of those that
 * were walked all the same turned out to be others. Per CPU. */
struct offwait_stack_reuse {
  __u64 walked;
  __u64 recalled;
  __u64 verified;
  __u64 wrong;
};

/* Value of `stacks`, keyed by stack id. A user stack belongs to an address space, hence the tgid. */
struct offwait_stack {
  __u32 tgid; /* 0 for a kernel stack */
  __u16 frames;
  __u16 end;                      /* enum offwait_stack_end (unwind.h), of a user stack */
  __u64 pc[OFFWAIT_STACK_FRAMES]; /* leaf first; zero beyond `frames` */
};

#endif
