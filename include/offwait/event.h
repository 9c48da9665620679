/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contract between the BPF programs and user space: the records in the ring buffer and the values of the
 * maps that user space reads. The structs have the same layout on both sides. All times are CLOCK_MONOTONIC
 * in ns (bpf_ktime_get_ns); a time of 0 means "before the recording". There is no version number: both sides
 * are built together. Recording files have a form of their own (src/recording_file), but the numbers that
 * enumerators have here: an enumerator never changes its number, and new ones are appended. */
#ifndef OFFWAIT_EVENT_H
#define OFFWAIT_EVENT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define OFFWAIT_COMM_LEN 16
#define OFFWAIT_NIC_NAME_LEN 16
#define OFFWAIT_STACK_FRAMES 128

/* The kinds of record in the order of their numbers, from 1: X(NAME, struct). Each record begins like
 * `offwait_record`. To add a kind, append it to this table, define its struct below, emit it in bpf/, and
 * give it a place in the assembler (src/event), in the recording file (src/recording_file) and in the text
 * form (src/trace: the table in records.h, collect_lines.{h,cpp}, text_write.cpp, text_checks.cpp). */
#define OFFWAIT_RECORD_KINDS(X)     \
  X(WAIT, offwait_wait)             \
  X(PREEMPTION, offwait_preemption) \
  X(GAP, offwait_gap)               \
  X(THREAD, offwait_thread_record)  \
  X(IO, offwait_io)                 \
  X(SPIN, offwait_spin)             \
  X(FALSE_MARK, offwait_false_mark) \
  X(SAMPLE, offwait_sample)         \
  X(FILE, offwait_file)

enum offwait_record_type {
  OFFWAIT_RECORD_NONE = 0,
#define X(name, record) OFFWAIT_RECORD_##name,
  OFFWAIT_RECORD_KINDS(X)
#undef X
      OFFWAIT_RECORD_COUNT
};

/* The beginning of every record. */
struct offwait_record {
  __u8 type; /* enum offwait_record_type */
  __u8 detail[3];
  __u32 tid; /* the thread that the record is about */
};

/* What ended a wait. The kind says what `waker_id` is. */
enum offwait_waker_kind {
  OFFWAIT_WAKER_UNKNOWN = 0,
  OFFWAIT_WAKER_THREAD,  /* its tid */
  OFFWAIT_WAKER_DISK,    /* its dev_t in the kernel's encoding: major << 20 | minor */
  OFFWAIT_WAKER_NIC,     /* the interface's id (offwait_nic) */
  OFFWAIT_WAKER_TIMER,   /* 0 */
  OFFWAIT_WAKER_IRQ,     /* the interrupt's number or OFFWAIT_IRQ_* */
  OFFWAIT_WAKER_SOFTIRQ, /* the softirq's vector or OFFWAIT_SOFTIRQ_* */
};
#define OFFWAIT_IRQ_OTHER 0xffffffffu      /* a hard interrupt without a handler of its own: IPI, irq_work */
#define OFFWAIT_IRQ_IDLE 0xfffffffeu       /* the idle loop did work for another CPU */
#define OFFWAIT_SOFTIRQ_RAISED 0xffffffffu /* an interrupt's end handed pending softirqs to ksoftirqd */

/* What the file descriptor of the interrupted system call refers to. */
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
  OFFWAIT_WAIT_KTHREAD = 1 << 1, /* a kernel thread waits: there is no system call */
  OFFWAIT_WAIT_RACED = 1 << 2,   /* the waking came after the thread left the run queue, before it left the
                                    CPU */
  OFFWAIT_WAIT_SENT = 1 << 3,    /* the thread `waker_id` sent the packet whose delivery ended the wait: the
                                    wait was for that thread until the send, for the interface after it */
};

/* What a wait is for, and what its `object` is then. The bits of a wait's `flags` from
 * OFFWAIT_OBJECT_SHIFT on. */
enum offwait_object {
  OFFWAIT_OBJECT_NONE = 0, /* not known; `object` is 0 */
  /* The id in `peers` of the other end of the socket that is waited on or, if it is not known which socket
   * that is, of the sender of the packet that ended the wait. */
  OFFWAIT_OBJECT_PEER,
  OFFWAIT_OBJECT_FUTEX,        /* its address, in the process's own memory */
  OFFWAIT_OBJECT_SHARED_FUTEX, /* its address, which may lie in a mapping that processes share */
  /* Locks of the kernel, by their addresses: */
  OFFWAIT_OBJECT_KERNEL_LOCK, /* of a kind without a name here */
  OFFWAIT_OBJECT_MUTEX,
  OFFWAIT_OBJECT_RWSEM,
  OFFWAIT_OBJECT_MMAP_LOCK, /* the rwsem that guards the process's own address space */
  OFFWAIT_OBJECT_PERCPU_RWSEM,
  OFFWAIT_OBJECT_RTMUTEX,
  OFFWAIT_OBJECT_FILE, /* the id of an offwait_file */
  OFFWAIT_OBJECT_PIPE, /* the inode number of a pipe without a name */
};
#define OFFWAIT_OBJECT_SHIFT 4
/* Part of a task_state: the thread's cgroup was frozen. In Linux 6.1 and newer this is TASK_FROZEN. */
#define OFFWAIT_TASK_FROZEN 0x8000
#define OFFWAIT_NO_SYSCALL (-1)
#define OFFWAIT_SYSCALL_UNKNOWN (-2)
/* Added to the number of a call that came in by the entry for 32-bit programs, which have their own numbers.
 */
#define OFFWAIT_CALL_OF_32_BITS 0x1000

/* One blocked interval [block, wake), emitted when the thread runs again. block_ns is 0 if the thread was
 * blocked before it was recorded. Stack ids are keys of the map `stacks`, 0 for none. The record is cut to
 * OFFWAIT_SHORT_WAIT bytes when all that follows them is 0. */
struct offwait_wait {
  __u8 type;
  __u8 waker_kind; /* enum offwait_waker_kind */
  __u8 fd_kind;    /* enum offwait_fd_kind */
  __u8 flags;      /* enum offwait_wait_flag */
  __u32 tid;
  __u64 block_ns;
  __u64 wake_ns;
  __u64 run_ns;
  __u32 waker_id;
  __s16 syscall;    /* its number, OFFWAIT_NO_SYSCALL or OFFWAIT_SYSCALL_UNKNOWN */
  __u16 task_state; /* TASK_* bits when the thread was switched out, and OFFWAIT_TASK_FROZEN */
  __u32 wait_user;
  __u32 wait_kernel;
  __u32 waker_user; /* with OFFWAIT_WAIT_SENT: 0 unless the packet was delivered on top of its sender */
  union {
    __u32 waker_kernel; /* without OFFWAIT_WAIT_SENT */
    __u32 waker_nic;    /* with OFFWAIT_WAIT_SENT: the interface that delivered the packet */
  };
  __u64 object; /* as enum offwait_object says */
  union {
    /* With OFFWAIT_WAIT_SENT: from the send to the wake, at least 1, UINT32_MAX for that or longer. */
    __u32 in_flight_ns;
    /* Else the tid of the thread that had the lock when the wait began, 0 for none. A futex's is in the PID
     * namespace of the process, and is what its memory says: it need not be true. */
    __u32 owner;
  };
  __u32 draw; /* OFFWAIT_DRAW_*: which stacks were taken, and why; 0: all that there are */
};

#define OFFWAIT_SHORT_WAIT 40

/* When stacks cost too much, those of a wait are taken with a probability in proportion to its length
 * (bpf/draw.h): the bits of offwait_wait::draw. */
#define OFFWAIT_DRAW_TAKEN (1u << 0)  /* the wait has its stacks */
#define OFFWAIT_DRAW_CHANCE (1u << 1) /* it had them, or not, by chance; else they were certain */
/* With CHANCE: the probability was 1 for a wait of 2^BITS ns or longer, and its length divided by that for a
 * shorter one. */
#define OFFWAIT_DRAW_BITS_SHIFT 2
#define OFFWAIT_DRAW_BITS_MASK 0x3fu
/* A hash of where the thread waits: waits of one process with the same place often have the same stack. */
#define OFFWAIT_DRAW_PLACE_SHIFT 8

/* Not one of the kinds above: the stacks of the thread that waited, which were taken when it ran again. It
 * follows the record of the wait, which is of the same thread and has the same run_ns, and the recorder adds
 * the stacks to that. */
#define OFFWAIT_RECORD_WAIT_STACKS 0xf0
struct offwait_wait_stacks {
  __u8 type;
  __u8 pad[3];
  __u32 tid;
  __u64 run_ns;
  __u32 wait_user;
  __u32 wait_kernel;
};

/* The thread was runnable in [out, run): it was switched out while runnable, or forked and had not run yet.
 */
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
  OFFWAIT_THREAD_SEEN = 1, /* recorded from here on; it was born earlier */
  OFFWAIT_THREAD_BORN,
  OFFWAIT_THREAD_NAMED,   /* it called exec, was renamed, or turned out to belong to the target */
  OFFWAIT_THREAD_EXITED,  /* it exited, or entered or left the target's cgroup: one life ends there and the
                             next one begins */
  OFFWAIT_THREAD_ENTERED, /* recorded as one of the target's from here on; it was born earlier */
};

/* Whether a thread belongs to the target. */
enum offwait_outside {
  OFFWAIT_TARGET = 0,
  OFFWAIT_OUTSIDE,
  OFFWAIT_OUTSIDE_KERNEL,   /* a kernel thread */
  OFFWAIT_OUTSIDE_RECORDER, /* a thread of offwait itself, or of a process that it started */
};

struct offwait_thread_record {
  __u8 type;
  __u8 event;   /* enum offwait_thread_event */
  __u8 outside; /* enum offwait_outside */
  __u8 exec;    /* NAMED: 1 if by an exec */
  __u32 tid;
  __u32 tgid;
  __u32 parent; /* BORN: tid of the thread that called fork or clone; else 0 */
  __u64 at_ns;
  __u64 start_ns; /* task_struct.start_time */
  char comm[OFFWAIT_COMM_LEN];
  __u32 ns_tid; /* its tid in its own PID namespace, 0 if that is the host's namespace */
  __u32 pad;
};

/* What a request asks of a disk. OTHER: a flush of its cache, a discard. */
enum offwait_io_operation {
  OFFWAIT_IO_UNKNOWN = 0,
  OFFWAIT_IO_READ,
  OFFWAIT_IO_WRITE,
  OFFWAIT_IO_OTHER,
};

/* A request to a disk, emitted at its completion. */
struct offwait_io {
  __u8 type;
  __u8 pad[3];
  __u32 tid; /* the thread that submitted it, 0 if it was submitted in no thread's context */
  __u32 dev; /* dev_t, as in OFFWAIT_WAKER_DISK */
  __u32 bytes;
  __u64 issue_ns;
  __u64 complete_ns;
  __u32 file; /* the id of an offwait_file, 0: not known */
  __u8 operation;
  __u8 pad2[3];
};

enum offwait_file_kind {
  OFFWAIT_FILE_OF_PATH = 0, /* a file or directory */
  OFFWAIT_FILE_JOURNAL,     /* the journal of the file system on `dev` */
  OFFWAIT_FILE_METADATA,    /* what else is read and written on `dev` itself */
};

enum offwait_file_flag {
  OFFWAIT_FILE_DELETED = 1 << 0, /* no directory has the file any more */
  /* How far `parts` reach. Neither: not to the end, the path is longer. */
  OFFWAIT_FILE_TO_ROOT = 1 << 1, /* to the root directory of the thread */
  OFFWAIT_FILE_TO_FILE_SYSTEM =
      1 << 2, /* to the root of the file system; it is not known where it is mounted */
};

/* A file for which a thread waited, or whose data a request carries. There is one at first sight, before any
 * record that has its id, and another when it was seen under another name, or deleted. */
#define OFFWAIT_PATH_BYTES 1024
#define OFFWAIT_PATH_PART 256 /* the longest name in a directory, with a zero */
struct offwait_file {
  __u8 type;
  __u8 kind;  /* enum offwait_file_kind */
  __u8 flags; /* enum offwait_file_flag */
  __u8 pad;
  __u32 tid; /* the thread that ran */
  __u32 id;  /* never 0 */
  __u32 dev; /* dev_t, as in OFFWAIT_WAKER_DISK */
  __u64 inode;
  __u64 at_ns; /* when it was seen */
  __u32 generation;
  __u32 length;                   /* of `parts` */
  char parts[OFFWAIT_PATH_BYTES]; /* the path's names from the last to the first, with a zero after each */
};

/* Key of `files`, whose values are the ids. */
struct offwait_file_key {
  __u64 inode; /* 0: none, but the kind of `generation` */
  __u32 dev;
  __u32 generation; /* or enum offwait_file_kind */
};

/* Value of `requests`, keyed by the request's address: a request that was submitted and is not complete. What
 * the map holds at the end of the recording is still in flight. */
struct offwait_request {
  __u64 issue_ns; /* when it was issued to the device, 0 if it is still in a queue of the kernel */
  __u32 tid;
  __u32 bytes;
  __u32 dev;
  __u32 file; /* as in offwait_io, like `operation` */
  __u8 operation;
  __u8 pad[7];
};

/* Busy waiting that the program declared, emitted when the thread gets through: it waited from begin_ns until
 * the thread `waker` let go at end_ns. */
#define OFFWAIT_SPIN_FRAMES 16
struct offwait_spin {
  __u8 type;
  __u8 pad[3];
  __u32 tid;
  __u32 tgid;
  __u32 waker; /* a tid */
  __u64 begin_ns;
  __u64 end_ns;
  __u32 frames;
  __u32 pad2;
  __u64 pc[OFFWAIT_SPIN_FRAMES]; /* the spinning thread's user stack, leaf first */
};

/* The thread declares that its last wakeup was false. */
struct offwait_false_mark {
  __u8 type;
  __u8 pad[3];
  __u32 tid;
  __u64 at_ns;
};

/* The thread was running at at_ns, at this place. Stack ids are as in offwait_wait, with one exception: the
 * leaf of the innermost stack (the kernel's if the thread was in the kernel, else the user's) is stored in
 * `pc`, and is 0 in the stack. Otherwise hardly two sampled stacks would be equal, because each instruction
 * would make a stack of its own. */
struct offwait_sample {
  __u8 type;
  __u8 pad[3];
  __u32 tid;
  __u64 at_ns;
  __u32 user;
  __u32 kernel; /* 0: it was in user mode */
  __u64 pc;     /* the leaf; 0: the stack has it (in recording files of earlier versions) */
  __u32 tgid;   /* the address space of `pc`, 0 for the kernel's */
  __u32 pad2;
};

/* Not in `events` but in a ring buffer of its own, `mappings_wanted`, which wakes its reader at once, because
 * stacks of the process are cut until user space has read its mappings. The process called exec, or a walk
 * met an address of it that is in no known mapping. */
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

/* Value of `threads`, keyed by tid: the present state of a recorded thread. User space reads what the map
 * holds at the end of the recording to account for waits that are still open. Fields without a comment are as
 * in offwait_wait. */
struct offwait_thread {
  __u64 start_ns; /* task_struct.start_time: identifies the thread together with its tid */
  __u64 since_ns; /* when the present state began, 0: before the thread was recorded */
  __u8 state;     /* enum offwait_state: unknown until the first switch is seen */
  __u8 seeded;    /* the state that the task iterator found; valid while `state` is unknown */
  __u8 target;    /* 1: it belongs to the target */
  __u8 fd_kind;
  __u8 flags;
  __u8 waker_kind;
  __s16 syscall;
  __u16 task_state;
  __u8 kernel;      /* 1: a kernel thread */
  __u8 object_kind; /* enum offwait_object */
  __u32 tgid;
  __u32 owner;
  __u32 wait_user;
  __u32 wait_kernel;
  /* The waker writes these, on its own CPU: */
  __u32 waker_id;
  __u32 waker_user;
  union {
    __u32 waker_kernel; /* if in_flight_ns is 0 */
    __u32 waker_nic;    /* else */
  };
  __u32 in_flight_ns; /* not 0: `waker_id` sent the packet that ended the wait */
  __u32 waker_peer;   /* the sender of the packet that ended the wait, by its id in `peers`, 0: not known */
  __u64 wake_ns;      /* the last waking since the thread ran, 0: none */
  /* The thread that waits writes these: */
  __u64 lost_since_ns; /* its records have been lost since then, 0: none, OFFWAIT_LOST_SINCE_BEGIN: since
                          before it was recorded */
  __u64 object;
  __u64 lock; /* the address of the kernel's lock that it sleeps for, from the start of contention to its end,
                 0: none */
  __u32 lock_owner; /* who had the lock at the start of contention: a tid, 0: not known */
  __u8 lock_kind;   /* enum offwait_object */
  __u8 first_waits; /* how many of its first waits had their stacks taken for certain */
  __u8 recorder;    /* 1: a thread of offwait itself, or of a process that it started */
  __u8 pad;
  __u32 ns_tid; /* as in offwait_thread_record */
  __u32 draw;   /* OFFWAIT_DRAW_* of the present wait; the waker draws */
  __u64 ran_ns; /* a probe found the thread running although no switch to it was seen, 0: never; without
                   meaning if older than the present state */
};
#define OFFWAIT_LOST_SINCE_BEGIN 1

/* Value of `unwalked`, keyed by tid: the registers, as saved when it entered the kernel, of a blocked thread
 * whose user stack user space walks. The task iterator found the thread blocked, or its own walk met a
 * mapping that was not known yet. */
struct offwait_blocked {
  __u64 start_ns;
  __u64 since_ns; /* 0: blocked before the recording began */
  __u64 pc;
  __u64 sp;
  __u64 fp;
  __u64 lr;           /* arm64 */
  __u64 arguments[3]; /* the first three of its system call */
};

/* Value of `nics`, keyed by the interface's id. Interface indices and names are unique in one network
 * namespace only, so the id is made of the low halves of the namespace's inode number and of the index. */
struct offwait_nic {
  __u32 namespace_inode;
  __u32 index;
  char name[OFFWAIT_NIC_NAME_LEN];
};

/* Key of `peers`, whose values are the ids, never 0. */
struct offwait_peer {
  __u32 address[4]; /* in network order; IPv4 as ::ffff:a.b.c.d */
  __u16 port;       /* in host order; 0: not known, or there was no room to tell this host's ports apart */
  /* The port of this side, in host order: it tells whether this side is the client or the server. 0 where
   * that is known. */
  __u16 local_port;
  __u8 accepted; /* 1: the peer connected to this side, which listened */
  __u8 pad[3];
};

/* Key of `responses`. */
struct offwait_responses_key {
  __u64 start_ns; /* task_struct.start_time of the thread that responded */
  __u32 tid;
  __u32 address; /* of this side: a port, or OFFWAIT_UNIX_ADDRESS and an id, a value of `unix_addresses` */
};
#define OFFWAIT_UNIX_ADDRESS 0x80000000u

/* Value of `responses`: how often a thread responded to clients at an address in the window. */
struct offwait_responses {
  __u64 count;
  __u64 connections; /* those that nobody had responded to before */
  __u64 first_ns;
  __u64 last_ns;
  __u64 first_jiffies; /* the kernel's time at first_ns and last_ns, in ticks */
  __u64 last_jiffies;
  __u64 under_way_ns;   /* the sum, over the responses, of the time since data was received to respond to */
  __u64 unread_jiffies; /* the sum of how long that data was in the socket before, at least; TCP only */
};

/* Key of `calls`. */
struct offwait_calls_key {
  __u64 start_ns; /* task_struct.start_time of the thread that called */
  __u32 tid;
  __u32 pad;
};

/* Value of `calls`: how often a thread called the function whose calls are counted, in the window. */
struct offwait_calls {
  __u64 count;
  __u64 first_ns;
  __u64 last_ns;
};

/* Key of `unix_addresses`. */
#define OFFWAIT_UNIX_PATH_LEN 108
struct offwait_unix_address {
  __u32 length;                     /* of `path`, with the zero at the end of a file's path */
  char path[OFFWAIT_UNIX_PATH_LEN]; /* zero beyond `length`; begins with a zero if it is no file's path */
};

/* Value of `known_stacks`: where a stack stands that a CPU has walked (bpf/known_stacks.h). */
struct offwait_known_stack {
  __u64 pc;    /* kernel stack: the id of the user stack below it */
  __u64 lr;    /* kernel stack: 0 */
  __u64 hash;  /* hash of the return addresses */
  __u32 tgid;  /* kernel stack: 0 */
  __u32 sp;    /* low bits of sp, which all threads of a pool share; kernel stack: 0 */
  __u32 id;    /* 0: no stack is known here */
  __u16 count; /* number of slots */
  __u16 way;
  __u16 slots[OFFWAIT_STACK_FRAMES]; /* where the return addresses stand, in words from sp */
};

/* How often stacks were recognised instead of walked (bpf/known_stacks.h). One of these for each CPU. */
struct offwait_stack_reuse {
  __u64 walked;
  __u64 recalled; /* recognised */
  __u64 verified; /* recognised and walked all the same */
  __u64 wrong;    /* verified, and the walk found another stack */
};

/* Keys and value of `run_costs`: how often programs ran, how many of the runs were timed, and how long these
 * took. One value for each CPU. */
enum offwait_costed_program {
  OFFWAIT_COST_SWITCH = 0,
  OFFWAIT_COST_WAKING,
  OFFWAIT_COST_EXIT,
  OFFWAIT_COST_SOCKETS, /* what a thread sends and receives */
  OFFWAIT_COST_PACKETS, /* on their way between sockets of this host */
  OFFWAIT_COST_SAMPLE,
  OFFWAIT_COST_COUNT,
};
struct offwait_run_cost {
  __u64 runs;
  __u64 timed_runs;
  __u64 timed_ns;
  __u64 begun_ns; /* when the present run began, 0: it is not timed */
};

/* A stack id, never 0, is a number of OFFWAIT_STACK_HASH_BITS bits below the generation in which the stack
 * was stored. User space begins a generation when the map is nearly full, and then takes the stacks of
 * earlier ones out of the map. Within a generation an id belongs to exactly one stack. */
#define OFFWAIT_STACK_HASH_BITS 24
#define OFFWAIT_STACK_GENERATIONS 256

/* Value of `stacks`, keyed by stack id. A user stack belongs to an address space, hence the tgid. */
struct offwait_stack {
  __u32 tgid; /* 0 for a kernel stack */
  __u16 frames;
  __u16 end;                      /* enum offwait_stack_end (unwind.h), of a user stack */
  __u64 pc[OFFWAIT_STACK_FRAMES]; /* leaf first, 0 for one that is not part of it; zero beyond `frames` */
};

#ifdef __cplusplus
#define OFFWAIT_ASSERT static_assert
#else
#define OFFWAIT_ASSERT _Static_assert
#endif
#define X(name, record)                                                                            \
  OFFWAIT_ASSERT(                                                                                  \
      __builtin_offsetof(struct record, type) == 0 && __builtin_offsetof(struct record, tid) == 4, \
      #record " begins like offwait_record");
OFFWAIT_RECORD_KINDS(X)
#undef X
#undef OFFWAIT_ASSERT

#endif
