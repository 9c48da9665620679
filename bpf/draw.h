/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which waits have their stacks taken. A stack costs more than all else of a record, so when recording
 * costs more than it may, those of a wait are taken with a probability in proportion to its length. Its
 * length is known only when it ends: the waker draws, for both sides. The thread that waited then takes
 * its own stacks when it is back on a CPU, in the same place (after_switch.h). A draw when the wait
 * begins, by the length that it is expected to have, would leave out the stacks of exactly the waits that
 * last longer than usual. */
#ifndef OFFWAIT_DRAW_H
#define OFFWAIT_DRAW_H

#include "kernel.h"
#include "kernel_differences.h"
#include "offwait/event.h"
#include "stored_stacks.h"

/* Whether stacks may be left out; user space sets it before it loads the programs. */
const volatile bool stacks_are_drawn = false;
/* Waits of 2^draw_bits ns and longer have their stacks taken for certain; 0: all have. User space sets it. */
volatile __u32 draw_bits = 0;

/* The first waits of a thread have their stacks for certain, so that rare ones have any. */
#define FIRST_WAITS 8

/* Hash of what is known of a wait at its start without its stacks. Two waits that begin alike often have the
 * same stacks. A fault may happen anywhere in a program, and then waits in the kernel in few places. */
static __always_inline __u32 place_of_wait(struct task_struct* task, const struct offwait_thread* thread) {
  __u64 pc = 0;
  __u64 sp = 0;
  if (thread->syscall >= 0 && bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs)) {
    const struct pt_regs* regs = (const struct pt_regs*)bpf_task_pt_regs(task);
    struct user_registers user = user_registers_in(regs);
    pc = user.pc;
    sp = user.sp & 0xfff; /* all threads of a pool have the same low bits */
  }
  __u64 kind = (__u64)(__u16)thread->syscall << 16 | (__u64)thread->flags << 8 | thread->object_kind;
  __u64 hash = ((pc ^ (__u64)thread->tgid << 40) * HASH_FACTOR ^ sp ^ kind << 16) * HASH_FACTOR;
  return (__u32)(hash >> 40);
}

/* The thread is about to wait. Decides what can be decided now. True if the thread takes its stacks now. */
static __always_inline bool begin_draw(struct task_struct* task, struct offwait_thread* thread) {
  if (!stacks_are_drawn) return true;
  __u32 bits = draw_bits;
  thread->draw = 0;
  if (!bits) return true;
  thread->draw = place_of_wait(task, thread) << OFFWAIT_DRAW_PLACE_SHIFT;
  if (thread->first_waits < FIRST_WAITS) {
    ++thread->first_waits;
    thread->draw |= OFFWAIT_DRAW_TAKEN;
    return true;
  }
  thread->draw |= OFFWAIT_DRAW_CHANCE | (bits & OFFWAIT_DRAW_BITS_MASK) << OFFWAIT_DRAW_BITS_SHIFT;
  return false;
}

/* Ends the wait after this time; true if its stacks are taken. */
static __always_inline bool draw(struct offwait_thread* thread, __u64 length_ns) {
  if (!stacks_are_drawn) return true;
  __u32 draw = thread->draw;
  if (!(draw & OFFWAIT_DRAW_CHANCE)) return true;
  __u64 certain = 1ull << (draw >> OFFWAIT_DRAW_BITS_SHIFT & OFFWAIT_DRAW_BITS_MASK);
  if (length_ns < certain && (bpf_get_prandom_u32() & (certain - 1)) >= length_ns) return false;
  thread->draw = draw | OFFWAIT_DRAW_TAKEN;
  return true;
}

static __always_inline bool drawn(const struct offwait_thread* thread) {
  const __u32 both = OFFWAIT_DRAW_TAKEN | OFFWAIT_DRAW_CHANCE;
  return stacks_are_drawn && (thread->draw & both) == both;
}

#endif
