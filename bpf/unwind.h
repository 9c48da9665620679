/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks the current thread's user stack by the unwind tables of its files (offwait/unwind.h). */
#ifndef OFFWAIT_BPF_UNWIND_H
#define OFFWAIT_BPF_UNWIND_H

#include "kernel.h"
#include "kernel_differences.h"
#include "offwait/event.h"
#include "offwait/unwind.h"
#include "stored_stacks.h"

struct unwind_superblock {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, OFFWAIT_UNWIND_SUPERBLOCK);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, sizeof(struct offwait_unwind_block)); /* BTF has no type that only an inner map names */
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, OFFWAIT_UNWIND_SUPERBLOCKS);
  __type(key, __u32);
  __array(values, struct unwind_superblock);
} unwind_superblocks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, 65536);
  __type(key, __u32);
  __type(value, struct offwait_mappings);
} mappings SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, __u32); /* tgid */
  __type(value, struct offwait_address_space);
} address_spaces SEC(".maps");

/* A forked process has its parent's mappings until user space has looked at its own. */
static __always_inline void inherit_mappings(__u32 parent, __u32 child) {
  if (parent == child) return;
  const struct offwait_address_space* space = bpf_map_lookup_elem(&address_spaces, &parent);
  if (!space) return;
  struct offwait_address_space inherited = *space;
  bpf_map_update_elem(&address_spaces, &child, &inherited, BPF_NOEXIST);
}

/* struct offwait_mappings_wanted; its size is set before loading, to a page. */
struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096);
} mappings_wanted SEC(".maps");

#define WINDOW_WORDS 256 /* how many words of the stack are read at a time, at most */
#define WINDOW_STEP 512  /* how many bytes are read when it is not known how many will be needed */
#define FRAMES_PER_CALL 4

/* A walk under way. Its frames are collected in scratch_stack. */
struct walk {
  __u64 pc;
  __u64 sp;
  __u64 fp;
  __u64 lr;
  __u64 first_pc; /* the registers that the walk began with */
  __u64 first_sp;
  __u64 first_lr;
  /* The mapping that holds the last address: */
  __u64 begin;
  __u64 end;
  __u64 bias;
  __u32 index;
  __u32 mappings;
  __u32 tgid;
  __u8 exact; /* `pc` is where the thread was, not where a call returns to */
  __u8 ended; /* 1 + enum offwait_stack_end; 0: the walk goes on */
  __u8 far;   /* 1: a return address is too far from first_sp for a slot */
  __u32 way;  /* where the stack is known or may be noted (known_stacks.h) */
  /* The places in which return addresses were read, in words from first_sp, and the hash of what was read: */
  __u32 slot_count;
  __u64 slots_hash;
  /* The part of the stack that was read last: */
  __u32 window_bytes;
  __u64 window_at;
  __u64 window[WINDOW_WORDS];
  __u16 slots[OFFWAIT_STACK_FRAMES];
};
#define FARTHEST_SLOT 0xffffu

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct walk);
} walks SEC(".maps");

static __always_inline struct walk* this_walk(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&walks, &zero);
}

/* Reads the part of the stack at this address into the window; 0 if it cannot be read. */
__noinline __u32 move_window(__u64 address, __u32 bytes) {
  struct walk* walk = this_walk();
  if (!walk) return 0;
  walk->window_at = address;
  if (bytes > sizeof(walk->window)) bytes = sizeof(walk->window);
  walk->window_bytes = bytes;
  if (bpf_probe_read_user(walk->window, bytes, (const void*)address) == 0) return 1;
  /* The stack may end within the window. */
  walk->window_bytes = sizeof(walk->window[0]);
  if (bpf_probe_read_user(walk->window, sizeof(walk->window[0]), (const void*)address) == 0) return 1;
  walk->window_bytes = 0;
  return 0;
}

static __always_inline bool read_word(struct walk* walk, __u64 address, __u64* word) {
  if (address & 7) return false;
  __u64 distance = address - walk->window_at;
  if (distance >= walk->window_bytes) {
    if (!move_window(address, WINDOW_STEP)) return false;
    distance = 0;
  }
  *word = walk->window[distance / 8 & (WINDOW_WORDS - 1)];
  return true;
}

/* All ones if a <= b, else 0. Searches use it instead of branches, because the verifier follows both ways of
 * a branch. */
static __always_inline __u32 if_not_above(__u32 a, __u32 b) {
  __s64 difference = (__s64)(__u64)a - (__s64)(__u64)b - 1;
  return (__u32)(difference >> 63);
}

static __always_inline const struct offwait_unwind_block* unwind_block(__u32 number) {
  __u32 superblock = number / OFFWAIT_UNWIND_SUPERBLOCK;
  void* blocks = bpf_map_lookup_elem(&unwind_superblocks, &superblock);
  if (!blocks) return NULL;
  __u32 block = number % OFFWAIT_UNWIND_SUPERBLOCK;
  return bpf_map_lookup_elem(blocks, &block);
}

/* The row that holds for `pc` in the table with this index block. */
static __always_inline struct offwait_unwind_row row_at(__u32 index, __u32 pc) {
  struct offwait_unwind_row none = {};
  const struct offwait_unwind_block* block = unwind_block(index);
  if (!block) return none;
  __u32 leaf = 0;
#pragma unroll
  for (__u32 step = OFFWAIT_UNWIND_LEAVES / 2; step; step /= 2) {
    leaf += step & if_not_above(block->first[leaf + step], pc);
    barrier_var(leaf); /* or the compiler uses |, whose bounds verifiers before 6.12 do not track */
  }
  block = unwind_block(index + 1 + leaf);
  if (!block) return none;
  __u32 row = 0;
#pragma unroll
  for (__u32 step = OFFWAIT_UNWIND_ROWS / 2; step; step /= 2) {
    row += step & if_not_above(block->rows[row + step].pc, pc);
    barrier_var(row);
  }
  return block->rows[row];
}

/* The last mapping that begins at `address` or below it; the first mapping if none does. */
static __always_inline const struct offwait_mapping* mapping_below(const struct offwait_mappings* all,
                                                                   __u64 address) {
  __u32 low = 0;
#pragma unroll
  for (__u32 step = OFFWAIT_MAPPINGS / 2; step; step /= 2) {
    /* No branch. Unused entries begin at the end of all addresses. Addresses are less than 2^63. */
    low += step & (__u32)((__s64)(all->at[low + step].begin - address - 1) >> 63);
    barrier_var(low);
  }
  return &all->at[low & (OFFWAIT_MAPPINGS - 1)];
}

/* Makes the mapping that holds `address` the walk's mapping; 0 if there is none. It is a global function so
 * that the verifier checks the search only once. */
__noinline __u32 find_mapping(__u64 address) {
  struct walk* walk = this_walk();
  if (!walk) return 0;
  __u32 number = walk->mappings;
  const struct offwait_mappings* all = bpf_map_lookup_elem(&mappings, &number);
  if (!all) return 0;
  const struct offwait_mapping* mapping = mapping_below(all, address);
  if (address < mapping->begin || address >= mapping->end) return 0;
  walk->begin = mapping->begin;
  walk->end = mapping->end;
  walk->bias = mapping->bias;
  walk->index = mapping->index;
  return 1;
}

/* The kernel has chosen the place of a new mapping. If code of a known mapping was there, that mapping is
 * gone and the process's mappings are no longer known: the next walk asks for them. */
SEC("tp_btf/vm_unmapped_area")
int on_vm_unmapped_area(__u64* ctx) {
  const struct vm_unmapped_area_info* wanted = (void*)ctx[1];
  __u64 begin = ctx[0];
  __u64 end = begin + wanted->length;
  __u32 tgid = (__u32)(bpf_get_current_pid_tgid() >> 32);
  struct offwait_address_space* space = bpf_map_lookup_elem(&address_spaces, &tgid);
  if (!space || !space->mappings || end <= begin) return 0; /* an error is an address near 2^64 */
  __u32 number = space->mappings;
  const struct offwait_mappings* all = bpf_map_lookup_elem(&mappings, &number);
  if (!all) return 0;
  const struct offwait_mapping* mapping = mapping_below(all, end - 1);
  if (mapping->begin < end && begin < mapping->end) space->mappings = 0;
  return 0;
}

/* Notes where a return address was read, so that the stack can be recognised by it (known_stacks.h). */
static __always_inline void note_slot(struct walk* walk, __u64 address, __u64 word) {
  __u64 slot = (address - walk->first_sp) / 8;
  __u32 count = walk->slot_count;
  if (slot > FARTHEST_SLOT || count >= OFFWAIT_STACK_FRAMES) {
    walk->far = 1;
    return;
  }
  walk->slots[count] = (__u16)slot;
  walk->slots_hash = (walk->slots_hash ^ word) * HASH_FACTOR;
  walk->slot_count = count + 1;
}

/* The functions step_… go from the frame of walk->pc to the caller's frame. False: the walk has ended, and
 * walk->ended tells how. A frame pointer is believed only if it points up the stack and the return address
 * beside it lies in mapped code. Believed without a check, it turned one call of fdatasync in Redis into 775
 * stacks. */
static __always_inline bool step_by_frame_pointer(struct walk* walk) {
  walk->ended = 1 + OFFWAIT_STACK_NO_FP;
  __u64 fp = walk->fp;
  __u64 above = fp - walk->sp;
  if (fp < walk->sp || above > OFFWAIT_FARTHEST_FP) return false;
  __u64 caller = 0;
  __u64 pc = 0;
  if (!read_word(walk, fp, &caller) || !read_word(walk, fp + 8, &pc)) return false;
  note_slot(walk, fp + 8, pc);
  pc = strip_pointer_authentication(pc);
  if (!pc) {
    walk->ended = 1 + OFFWAIT_STACK_ROOT;
    return false;
  }
  if ((pc - 1 < walk->begin || pc - 1 >= walk->end) && !find_mapping(pc - 1)) return false;
  walk->ended = 0;
  walk->pc = pc;
  walk->sp = fp + 16;
  walk->fp = caller;
  walk->exact = 0;
  return true;
}

static __always_inline bool step_over_signal(struct walk* walk) {
  __u64 saved = walk->sp;
  __u64 sp = 0;
  walk->ended = 1 + OFFWAIT_STACK_UNREADABLE;
  if (!read_word(walk, saved + SIGNAL_FP, &walk->fp)) return false;
#if defined(__TARGET_ARCH_arm64)
  if (!read_word(walk, saved + SIGNAL_LR, &walk->lr)) return false;
#endif
  if (!read_word(walk, saved + SIGNAL_SP, &sp)) return false;
  if (!read_word(walk, saved + SIGNAL_PC, &walk->pc)) return false;
  walk->ended = 0;
  note_slot(walk, saved + SIGNAL_PC, walk->pc);
  walk->sp = sp;
  walk->exact = 1;
  return true;
}

static __always_inline bool step_by_row(struct walk* walk, struct offwait_unwind_row row) {
  __u32 kind = row.kind & OFFWAIT_UNWIND_KIND_MASK;
  if (kind == OFFWAIT_UNWIND_SIGNAL) return step_over_signal(walk);
  if (kind == OFFWAIT_UNWIND_STOP) {
    walk->ended = 1 + OFFWAIT_STACK_ROOT;
    return false;
  }
  if (kind == OFFWAIT_UNWIND_NONE || kind >= OFFWAIT_UNWIND_KINDS) {
    /* Code that was generated when the file was built (node's builtins) has frame pointers. */
    if (step_by_frame_pointer(walk)) return true;
    if (walk->ended == 1 + OFFWAIT_STACK_NO_FP) walk->ended = 1 + OFFWAIT_STACK_NO_RULE;
    return false;
  }
  bool from_fp =
      kind == OFFWAIT_UNWIND_FP || kind == OFFWAIT_UNWIND_DEREF_FP || kind == OFFWAIT_UNWIND_DEREF_FP_PLUS;
  __u64 base = from_fp ? walk->fp : walk->sp;
  __u64 cfa = base;
  walk->ended = 1 + OFFWAIT_STACK_UNREADABLE;
  if (kind == OFFWAIT_UNWIND_PLT) {
    cfa += (walk->pc & 15) >= row.cfa ? 16 : 8;
  } else if (kind == OFFWAIT_UNWIND_SP || kind == OFFWAIT_UNWIND_FP) {
    cfa += (__u64)row.cfa * 8;
  } else {
    if (!read_word(walk, cfa + (__u64)((__s64)(__s16)row.cfa * 8), &cfa)) return false;
    if (kind == OFFWAIT_UNWIND_DEREF_SP_PLUS || kind == OFFWAIT_UNWIND_DEREF_FP_PLUS) cfa += 8;
  }
  if (cfa < walk->sp) return false;

  __u64 pc = 0;
  __u64 beside = (row.kind & OFFWAIT_UNWIND_FP_FROM_BASE ? base : cfa) + (__u64)((__s64)row.fp * 8);
#if defined(__TARGET_ARCH_x86)
  __u64 return_address = cfa - 8;
  bool has_fp = row.fp != OFFWAIT_UNWIND_FP_SAME;
#elif defined(__TARGET_ARCH_arm64)
  bool alone = row.kind & OFFWAIT_UNWIND_RA_ALONE;
  __u64 return_address = alone ? beside : beside + 8;
  bool has_fp = !alone && (row.fp != OFFWAIT_UNWIND_FP_SAME || row.kind & OFFWAIT_UNWIND_FP_FROM_BASE);
  if (row.kind & OFFWAIT_UNWIND_RA_IN_LR) {
    if (!walk->exact) return false; /* only the leaf's return address is still in its register */
    pc = walk->lr;
    return_address = 0;
  }
#endif
  /* Reads fp first: it lies below the return address, and the window extends upwards. */
  if (row.fp == OFFWAIT_UNWIND_FP_AT_FP) beside = walk->fp;
  if (row.fp == OFFWAIT_UNWIND_FP_LOST) {
    walk->fp = 0;
  } else if (has_fp) {
    if (!read_word(walk, beside, &walk->fp)) return false;
  }
  if (return_address) {
    if (!read_word(walk, return_address, &pc)) return false;
    note_slot(walk, return_address, pc);
  }
  walk->pc = strip_pointer_authentication(pc);
  walk->ended = 0;
  walk->sp = cfa;
  walk->exact = 0;
  if (!walk->pc) {
    walk->ended = 1 + OFFWAIT_STACK_ROOT;
    return false;
  }
  return true;
}

/* The rule for code without a table, if its instructions tell it; else NONE. */
static __always_inline struct offwait_unwind_row row_of_code(const struct walk* walk) {
  struct offwait_unwind_row row = {};
#if defined(__TARGET_ARCH_x86)
  __u64 code = 0;
  if (walk->exact || bpf_probe_read_user(&code, sizeof(code), (const void*)walk->pc)) return row;
  if ((code & OFFWAIT_X86_64_EPILOGUE_MASK) != OFFWAIT_X86_64_EPILOGUE) return row;
  row.kind = OFFWAIT_UNWIND_SP;
  row.cfa = (__u16)(OFFWAIT_X86_64_EPILOGUE_WORDS(code) + 1);
#endif
  return row;
}

/* Adds the frame of walk->pc to the stack and goes to its caller. */
static __always_inline bool step(struct walk* walk, struct offwait_stack* stack) {
  __u64 address = walk->pc - !walk->exact;
  if (address - walk->begin >= walk->end - walk->begin && !find_mapping(address)) {
    walk->ended = 1 + OFFWAIT_STACK_NO_MAPPING;
    return false;
  }
  __u32 frame = stack->frames;
  if (frame >= OFFWAIT_STACK_FRAMES) {
    walk->ended = 1 + OFFWAIT_STACK_DEEP;
    return false;
  }
  stack->pc[frame] = walk->pc;
  stack->frames = (__u16)(frame + 1);
  bool has_table = walk->index != OFFWAIT_UNWIND_UNUSED;
  if (step_by_row(walk, has_table ? row_at(walk->index, (__u32)(address - walk->bias)) : row_of_code(walk)))
    return true;
  if (!has_table && walk->ended == 1 + OFFWAIT_STACK_NO_RULE) walk->ended = 1 + OFFWAIT_STACK_NO_FP;
  return false;
}

/* Walks FRAMES_PER_CALL frames; 0 when the walk has ended. It is a global function without arguments so that
 * the verifier checks it only once. */
__noinline __u32 walk_on(void) {
  __u32 zero = 0;
  struct walk* walk = this_walk();
  struct offwait_stack* stack = bpf_map_lookup_elem(&scratch_stack, &zero);
  if (!walk || !stack) return 0;
  for (__u32 i = 0; i < FRAMES_PER_CALL; ++i) {
    if (!step(walk, stack)) return 0;
  }
  return 1;
}

#endif
