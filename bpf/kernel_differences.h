/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything that differs between kernels. The existence of a field, type or argument decides, never the
 * version. Types with a ___suffix are flavours: libbpf matches them with the kernel's type of the name before
 * it. */
#ifndef OFFWAIT_KERNEL_DIFFERENCES_H
#define OFFWAIT_KERNEL_DIFFERENCES_H

#include "kernel.h"
#include "offwait/event.h"
#include "offwait/unwind.h"

/* Set by user space from the argument counts in the kernel's BTF (btf_trace_NAME), since CO-RE cannot ask for
 * them. sched_switch got prev_state appended in 5.18 (9c2136be0878). */
const volatile bool sched_switch_has_prev_state = true;
/* block_rq_insert and block_rq_issue lost their request_queue argument in 5.11 (a54895fa057c). */
const volatile bool block_rq_has_queue = false;

/* Since 6.2 (a35b9af4ec2c) a program may read any address through a typed pointer: a load with a fault
 * handler, where bpf_probe_read_kernel is a call of some 20 ns. */
const volatile bool kernel_has_rdonly_cast = false;
extern void* bpf_rdonly_cast(const void* address, __u32 type) __weak __ksym;
#define READABLE_AS(type, address) \
  ((type*)bpf_rdonly_cast((const void*)(address), bpf_core_type_id_kernel(type)))

/* A field of any pointer, whose type the verifier need not know. */
#define READ_ANY(type, pointer, field)                               \
  (kernel_has_rdonly_cast ? READABLE_AS(struct type, pointer)->field \
                          : BPF_CORE_READ((struct type*)(pointer), field))

/* For each pointer loaded through a trusted pointer, the verifier (6.3 and later) searches all of the
 * kernel's types several times, which takes two milliseconds. A pointer that needs no trust goes through
 * UNTRUSTED. */
#define UNTRUSTED(type, pointer) (kernel_has_rdonly_cast ? READABLE_AS(type, pointer) : (pointer))

/* Kernel types that begin with an integer, a long integer and a pointer; any such types would do. */
#define FIRST_WORD(address) (READABLE_AS(struct refcount_struct, address)->refs.counter)
#define FIRST_LONG(address) (READABLE_AS(struct timespec64, address)->tv_sec)
#define FIRST_POINTER(address) ((void*)READABLE_AS(struct llist_head, address)->first)

/* task_struct.state became __state in 5.14 (2f064a59a11f). */
struct task_struct___before_5_14 {
  volatile long state;
} __attribute__((preserve_access_index));

static __always_inline __u32 task_state(struct task_struct* task) {
  if (bpf_core_field_exists(task->__state)) return task->__state;
  return (__u32)((struct task_struct___before_5_14*)task)->state;
}

#define TASK_FROZEN_BIT OFFWAIT_TASK_FROZEN
#define PF_FROZEN_BIT 0x00010000u /* until 6.1; later kernels give it to kernel threads alone */

/* The frozen bit of a thread's state. A frozen cgroup of version 2 leaves it in the state of any sleep. */
static __always_inline __u32 frozen_bit(struct task_struct* task, __u32 state) {
  bool frozen = task->flags & PF_FROZEN_BIT;
  if (bpf_core_field_exists(task->frozen)) frozen |= BPF_CORE_READ_BITFIELD(task, frozen);
  return (state & TASK_FROZEN_BIT) | (frozen ? TASK_FROZEN_BIT : 0);
}

/* These flags are signed integers of four bytes, and bytes since 7.2. CO-RE narrows a load only if both types
 * are unsigned, and only through a task pointer that the verifier trusts. ANY_TASK_FLAG reads them of any
 * task. */
struct task_struct___unsigned {
  unsigned int on_rq, on_cpu;
} __attribute__((preserve_access_index));

static __always_inline bool on_run_queue(struct task_struct* task) {
  return ((struct task_struct___unsigned*)task)->on_rq;
}

static __always_inline bool on_some_cpu(struct task_struct* task) {
  return ((struct task_struct___unsigned*)task)->on_cpu;
}

/* task_struct.cpu was there before 5.16 (bcf9033e5449). */
struct task_struct___before_5_16 {
  unsigned int cpu;
} __attribute__((preserve_access_index));

static __always_inline __u32 cpu_of(struct task_struct* task) {
  struct task_struct___before_5_16* old = (void*)task;
  if (bpf_core_field_exists(old->cpu)) return old->cpu;
  return task->thread_info.cpu;
}

#define ANY_TASK_FLAG(task, field) (BPF_CORE_READ_BITFIELD_PROBED(task, field) != 0)

/* Whether sched_switch's prev has left its run queue. Since 6.12 (152e11f6df29) a task that goes to sleep may
 * stay queued with sched_delayed set until it is picked again. The run queue is right where prev_state is
 * not: a task that was preempted after setting its state, or that has a signal pending, is still on it. */
struct sched_entity___since_6_12 {
  unsigned char sched_delayed;
} __attribute__((preserve_access_index));

static __always_inline bool off_run_queue(struct task_struct* task) {
  if (!on_run_queue(task)) return true;
  struct sched_entity___since_6_12* se = (void*)&task->se;
  if (bpf_core_field_exists(se->sched_delayed)) return se->sched_delayed;
  return false;
}

/* The verifier does not allow to read a bit field through a task pointer directly. */
static __always_inline bool in_iowait(struct task_struct* task) {
  return BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait);
}

/* request.rq_disk went away in 5.17 (f3fa33acca9f) in favour of request_queue.disk. */
struct request___before_5_17 {
  struct gendisk* rq_disk;
} __attribute__((preserve_access_index));

static __always_inline struct gendisk* request_disk(struct request* rq) {
  struct request___before_5_17* old = (void*)rq;
  if (bpf_core_field_exists(old->rq_disk)) return old->rq_disk;
  return UNTRUSTED(struct request, rq)->q->disk;
}

/* preempt_count of this CPU. On x86 it is a per-CPU variable: __preempt_count, from 6.2 to 6.14 a member of
 * pcpu_hot (64701838bf04, 46e8fff6d45f). A typed ksym would need CONFIG_KALLSYMS_ALL, so the variable is
 * found by its distance from this CPU's run queue, another variable of the same section. User space reads the
 * distance from the kernel's BTF or symbols, and the task iterator notes the address for each CPU before the
 * recording begins. */
#define MAX_CPUS 4096
#if defined(__TARGET_ARCH_x86)
const volatile __s64 preempt_count_from_run_queue = 0;
__u64 preempt_count_addresses[MAX_CPUS] = {};

static __always_inline void note_cpu_of(struct task_struct* task) {
  struct rq* rq = BPF_CORE_READ(task, se.cfs_rq, rq);
  if (!rq) return;
  __u32 cpu = (__u32)BPF_CORE_READ(rq, cpu);
  if (cpu < MAX_CPUS) preempt_count_addresses[cpu] = (__u64)rq + (__u64)preempt_count_from_run_queue;
}

static __always_inline __u32 preempt_count(void) {
  __u32 count = 0;
  __u32 cpu = bpf_get_smp_processor_id();
  if (cpu >= MAX_CPUS) return 0;
  if (kernel_has_rdonly_cast) return (__u32)FIRST_WORD(preempt_count_addresses[cpu]);
  bpf_probe_read_kernel(&count, sizeof(count), (void*)preempt_count_addresses[cpu]);
  return count;
}
#elif defined(__TARGET_ARCH_arm64)
static __always_inline void note_cpu_of(struct task_struct* task) {}

static __always_inline __u32 preempt_count(void) {
  struct task_struct* task = (void*)bpf_get_current_task();
  return (__u32)BPF_CORE_READ(task, thread_info.preempt_count);
}
#endif

/* The number of the interrupted system call (-1 after an exception or interrupt) and its arguments, from the
 * user registers saved at kernel entry. The helper that finds them came in 5.15 (dd6e10fbd9fb). Before
 * it, they are read from the top of the kernel stack, which has 16 KiB and no padding in every distribution's
 * kernel of that age. */
struct interrupted_call {
  __s64 number; /* of a 32-bit program: with OFFWAIT_CALL_OF_32_BITS */
  __u64 argument;
  __u64 second;
  __u64 third;
};

#if defined(__TARGET_ARCH_x86)
#define TS_COMPAT_BIT 0x2u

/* Whether the call that interrupted the task came in by the entry for 32-bit programs. */
static __always_inline bool in_call_of_32_bits(struct task_struct* task) {
  return task->thread_info.status & TS_COMPAT_BIT;
}
#endif

static __always_inline struct interrupted_call interrupted_call(struct task_struct* task) {
  struct interrupted_call call;
  if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs)) {
    const struct pt_regs* regs = (const struct pt_regs*)bpf_task_pt_regs(task);
#if defined(__TARGET_ARCH_x86)
    call.number = (__s64)regs->orig_ax;
    call.argument = regs->di;
    call.second = regs->si;
    call.third = regs->dx;
    if (in_call_of_32_bits(task)) {
      call.number |= OFFWAIT_CALL_OF_32_BITS;
      call.argument = (__u32)regs->bx;
      call.second = regs->cx;
    }
#elif defined(__TARGET_ARCH_arm64)
    call.number = regs->syscallno;
    call.argument = regs->orig_x0;
    call.second = regs->regs[1];
    call.third = regs->regs[2];
#endif
    return call;
  }
  struct pt_regs* regs = (struct pt_regs*)((char*)task->stack + 16384) - 1;
#if defined(__TARGET_ARCH_x86)
  call.number = (__s64)BPF_CORE_READ(regs, orig_ax);
  call.argument = BPF_CORE_READ(regs, di);
  call.second = BPF_CORE_READ(regs, si);
  call.third = BPF_CORE_READ(regs, dx);
  if (in_call_of_32_bits(task)) {
    call.number |= OFFWAIT_CALL_OF_32_BITS;
    call.argument = (__u32)BPF_CORE_READ(regs, bx);
    call.second = BPF_CORE_READ(regs, cx);
  }
#elif defined(__TARGET_ARCH_arm64)
  call.number = BPF_CORE_READ(regs, syscallno);
  call.argument = BPF_CORE_READ(regs, orig_x0);
  call.second = BPF_CORE_READ(regs, regs[1]);
  call.third = BPF_CORE_READ(regs, regs[2]);
#endif
  return call;
}

/* The registers that a walk of the user stack begins with, as saved at kernel entry. */
struct user_registers {
  __u64 pc; /* 0: the task has no user stack */
  __u64 sp;
  __u64 fp;
  __u64 lr;
};

static __always_inline struct user_registers user_registers_in(const struct pt_regs* regs) {
  struct user_registers user = {};
#if defined(__TARGET_ARCH_x86)
  user.pc = regs->ip;
  user.sp = regs->sp;
  user.fp = regs->bp;
#elif defined(__TARGET_ARCH_arm64)
  user.pc = regs->pc;
  user.sp = regs->sp;
  user.fp = regs->regs[29];
  user.lr = regs->regs[30];
#endif
  return user;
}

static __always_inline struct user_registers current_user_registers(void) {
  /* bpf_task_pt_regs takes only the typed pointer that bpf_get_current_task_btf (5.11) returns. */
  if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
    return user_registers_in((const struct pt_regs*)bpf_task_pt_regs(bpf_get_current_task_btf()));
  struct task_struct* task = (void*)bpf_get_current_task();
  /* Reads them one by one: the callers leave no room on the stack for all of them. */
  const struct pt_regs* regs = (const struct pt_regs*)((char*)BPF_CORE_READ(task, stack) + 16384) - 1;
  struct user_registers user = {};
#if defined(__TARGET_ARCH_x86)
  user.pc = BPF_CORE_READ(regs, ip);
  user.sp = BPF_CORE_READ(regs, sp);
  user.fp = BPF_CORE_READ(regs, bp);
#elif defined(__TARGET_ARCH_arm64)
  user.pc = BPF_CORE_READ(regs, pc);
  user.sp = BPF_CORE_READ(regs, sp);
  user.fp = BPF_CORE_READ(regs, regs[29]);
  user.lr = BPF_CORE_READ(regs, regs[30]);
#endif
  return user;
}

/* Notes the registers of a blocked task, one by one: all of arm64's would take most of the stack that a
 * program has. */
#if defined(__TARGET_ARCH_x86)
#define NOTE_BLOCKED(blocked, READ)     \
  do {                                  \
    (blocked)->pc = READ(ip);           \
    (blocked)->sp = READ(sp);           \
    (blocked)->fp = READ(bp);           \
    (blocked)->arguments[0] = READ(di); \
    (blocked)->arguments[1] = READ(si); \
    (blocked)->arguments[2] = READ(dx); \
  } while (0)
#elif defined(__TARGET_ARCH_arm64)
#define NOTE_BLOCKED(blocked, READ)          \
  do {                                       \
    (blocked)->pc = READ(pc);                \
    (blocked)->sp = READ(sp);                \
    (blocked)->fp = READ(regs[29]);          \
    (blocked)->lr = READ(regs[30]);          \
    (blocked)->arguments[0] = READ(orig_x0); \
    (blocked)->arguments[1] = READ(regs[1]); \
    (blocked)->arguments[2] = READ(regs[2]); \
  } while (0)
#endif

static __always_inline void note_blocked(struct offwait_blocked* blocked, struct task_struct* task) {
  if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs)) {
    const struct pt_regs* regs = (const struct pt_regs*)bpf_task_pt_regs(task);
#define READ_DIRECTLY(field) regs->field
    NOTE_BLOCKED(blocked, READ_DIRECTLY);
    return;
  }
  struct pt_regs* regs = (struct pt_regs*)((char*)task->stack + 16384) - 1;
#define READ_PROBED(field) BPF_CORE_READ(regs, field)
  NOTE_BLOCKED(blocked, READ_PROBED);
}

#if defined(__TARGET_ARCH_x86)
#define SIGNAL_FP OFFWAIT_SIGNAL_X86_64_FP
#define SIGNAL_SP OFFWAIT_SIGNAL_X86_64_SP
#define SIGNAL_PC OFFWAIT_SIGNAL_X86_64_PC
static __always_inline __u64 strip_pointer_authentication(__u64 pc) { return pc; }
#elif defined(__TARGET_ARCH_arm64)
#define SIGNAL_FP OFFWAIT_SIGNAL_ARM64_FP
#define SIGNAL_LR OFFWAIT_SIGNAL_ARM64_LR
#define SIGNAL_SP OFFWAIT_SIGNAL_ARM64_SP
#define SIGNAL_PC OFFWAIT_SIGNAL_ARM64_PC
static __always_inline __u64 strip_pointer_authentication(__u64 pc) {
  return pc & OFFWAIT_ARM64_ADDRESS_MASK;
}
#endif

/* Linux 7 renamed page.compound_head. */
struct page___before_7 {
  unsigned long compound_head;
};
struct page___since_7 {
  unsigned long compound_info;
};

/* Where the field of struct page lies that leads from a page of a folio to the first one. */
static __always_inline __u64 offset_of_compound_info(void) {
  volatile __u64 offset; /* else both are evaluated, and the one that does not exist cannot be */
  if (bpf_core_field_exists(struct page___since_7, compound_info))
    offset = bpf_core_field_offset(struct page___since_7, compound_info);
  else
    offset = bpf_core_field_offset(struct page___before_7, compound_head);
  return offset;
}

/* The first page of the folio, from that field of one of its pages: if bit 0 is set, the field holds the
 * first page's address or, where its upper half is all ones, a mask for this page's. Pages lie in no such
 * addresses. */
static __always_inline __u64 first_page(__u64 page, __u64 compound_info) {
  if (!(compound_info & 1)) return page;
  return compound_info >> 32 == 0xffffffffu ? page & compound_info & ~1ul : compound_info - 1;
}

/* Linux 7 made dentry.d_u an unnamed union. */
struct dentry___before_7 {
  union {
    struct hlist_node d_alias;
  } d_u;
};
struct dentry___since_7 {
  struct hlist_node d_alias;
};

/* Where the field of struct dentry lies that links the names of an inode. */
static __always_inline __u64 offset_of_alias(void) {
  volatile __u64 offset; /* as above */
  if (bpf_core_field_exists(struct dentry___since_7, d_alias))
    offset = bpf_core_field_offset(struct dentry___since_7, d_alias);
  else
    offset = bpf_core_field_offset(struct dentry___before_7, d_u.d_alias);
  return offset;
}

#endif
