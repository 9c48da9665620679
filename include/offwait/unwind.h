/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind tables: the `.eh_frame` of an ELF file, made small enough to be searched inside the kernel. There is
 * one table for each file, sorted by pc; a row holds from its pc up to that of the next row. Both sides walk
 * by these rules: the BPF programs walk the current thread's stack, user space that of a blocked thread
 * (src/unwind). */
#ifndef OFFWAIT_UNWIND_H
#define OFFWAIT_UNWIND_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* How the caller's frame is found. CFA is the canonical frame address: the value of sp before the call (DWARF
 * 5 §6.4). Offsets are in words of 8 bytes. On x86_64 sp is rsp, fp is rbp, and the return address is at CFA
 * - 8; on arm64 fp is x29, and the flags below tell where the return address is. */
enum offwait_unwind_kind {
  OFFWAIT_UNWIND_NONE = 0, /* no rule, or one that does not fit into a row */
  OFFWAIT_UNWIND_SP,       /* CFA = sp + cfa */
  OFFWAIT_UNWIND_FP,       /* CFA = fp + cfa */
  OFFWAIT_UNWIND_PLT, /* CFA = sp + 8, + 8 more if (pc & 15) >= cfa (in bytes): a lazily bound PLT entry */
  OFFWAIT_UNWIND_DEREF_SP,      /* CFA = *(sp + cfa) */
  OFFWAIT_UNWIND_DEREF_SP_PLUS, /* CFA = *(sp + cfa) + 8 */
  OFFWAIT_UNWIND_DEREF_FP,      /* CFA = *(fp + cfa) */
  OFFWAIT_UNWIND_DEREF_FP_PLUS, /* CFA = *(fp + cfa) + 8 */
  OFFWAIT_UNWIND_STOP,          /* the return address is undefined: the outermost frame */
  OFFWAIT_UNWIND_SIGNAL,        /* sp points to the frame that the kernel made for a signal handler */
  OFFWAIT_UNWIND_KINDS,
};
#define OFFWAIT_UNWIND_KIND_MASK 0x1f
/* Flags for arm64, or-ed to the kind. Without either of the two the return address was saved beside fp, at
 * CFA + fp + 1. */
#define OFFWAIT_UNWIND_RA_IN_LR \
  0x20 /* it still is in x30: the leaf's frame, or the one a signal interrupted */
#define OFFWAIT_UNWIND_RA_ALONE 0x40 /* it was saved at CFA + fp, and x29 was not */
/* `fp` counts from the register of the kind, sp or fp, instead of from the CFA, and is an offset even if it
 * is 0. GCC saves x29 and x30 at the low end of the frame, which from the CFA is too far away for a frame of
 * more than a kilobyte (1 % of librocksdb's rows). */
#define OFFWAIT_UNWIND_FP_FROM_BASE 0x80

/* Values of offwait_unwind_row.fp that are not offsets. */
#define OFFWAIT_UNWIND_FP_SAME 0
#define OFFWAIT_UNWIND_FP_AT_FP 127   /* the caller's fp is at *fp (frames that align their stack) */
#define OFFWAIT_UNWIND_FP_LOST (-128) /* not known from here on */

struct offwait_unwind_row {
  __u32 pc; /* first virtual address in the file, less the table's base; the last row of a table is NONE and
               its end */
  __u8 kind;
  __s8 fp;   /* the caller's fp is at CFA + fp, or one of the above */
  __u16 cfa; /* signed (__s16) with the DEREF kinds */
};

/* A table in the kernel: an index block with the first pc of each block of rows, then these blocks, of 4 KiB
 * each. Blocks are numbered through all superblocks, the inner maps of `unwind_superblocks`, which user space
 * has mapped. Unused entries of an index and unused rows have the pc OFFWAIT_UNWIND_UNUSED. */
#define OFFWAIT_UNWIND_ROWS 512
#define OFFWAIT_UNWIND_LEAVES 1024
#define OFFWAIT_UNWIND_UNUSED 0xffffffffu
struct offwait_unwind_block {
  union {
    struct offwait_unwind_row rows[OFFWAIT_UNWIND_ROWS];
    __u32 first[OFFWAIT_UNWIND_LEAVES];
  };
};
#define OFFWAIT_UNWIND_SUPERBLOCK 1024 /* blocks in a superblock */
#define OFFWAIT_UNWIND_SUPERBLOCKS 256 /* superblocks, at most */

/* Executable addresses [begin, end) of a process. */
struct offwait_mapping {
  __u64 begin;
  __u64 end;
  __u64 bias; /* pc - bias is the pc in the table */
  __u32
      index; /* number of the table's index block, OFFWAIT_UNWIND_UNUSED for none: frame pointers are tried */
  __u32 pad;
};
#define OFFWAIT_MAPPINGS 1024
/* Value of `mappings`, keyed by a number that is never used again for other mappings. Sorted by address; they
 * do not overlap. */
struct offwait_mappings {
  __u32 count;
  __u32 pad;
  struct offwait_mapping at[OFFWAIT_MAPPINGS];
};
/* Value of `address_spaces`, keyed by tgid. */
struct offwait_address_space {
  __u32 mappings; /* key in `mappings`, 0: no longer known */
  __u32 asked;    /* 1: user space has been asked to look at the mappings again */
};

/* Where the interrupted registers are in the frame that the kernel makes for a signal handler, in bytes from
 * sp (arch/x86/include/uapi/asm/sigcontext.h, after the return address has been popped;
 * arch/arm64/include/uapi/asm/sigcontext.h). */
#define OFFWAIT_SIGNAL_X86_64_FP 120
#define OFFWAIT_SIGNAL_X86_64_SP 160
#define OFFWAIT_SIGNAL_X86_64_PC 168
#define OFFWAIT_SIGNAL_ARM64_FP 544
#define OFFWAIT_SIGNAL_ARM64_LR 552
#define OFFWAIT_SIGNAL_ARM64_SP 560
#define OFFWAIT_SIGNAL_ARM64_PC 568
/* User addresses of arm64 have 48 bits unless a program asks for more; pointer authentication uses the bits
 * above them. */
#define OFFWAIT_ARM64_ADDRESS_MASK 0xffffffffffffull
/* `add $8n,%rsp; ret`: code without a table that continues like this tells itself where its frame ends. That
 * is how Python's trampolines (-X perf) end, which have no frame pointer. */
#define OFFWAIT_X86_64_EPILOGUE 0xc300c48348ull
#define OFFWAIT_X86_64_EPILOGUE_MASK 0xff87ffffffull
#define OFFWAIT_X86_64_EPILOGUE_WORDS(code) ((code) >> 27 & 0xf) /* n */
/* How far above sp, in bytes, a frame pointer may point to be believed where there is no table. */
#define OFFWAIT_FARTHEST_FP (4 << 20)

/* How the walk of a user stack ended. Recording files have these numbers: they stay, and new ones are
 * appended. */
enum offwait_stack_end {
  OFFWAIT_STACK_ROOT = 0,   /* at an outermost frame: complete */
  OFFWAIT_STACK_DEEP,       /* after OFFWAIT_STACK_FRAMES frames; it has more */
  OFFWAIT_STACK_NO_MAPPING, /* at a return address in no known executable mapping */
  OFFWAIT_STACK_NO_RULE,    /* in code that its file's table has no rule for */
  OFFWAIT_STACK_NO_FP,      /* in code without a table (JIT, no .eh_frame) and without a frame pointer */
  OFFWAIT_STACK_UNREADABLE, /* where the stack could not be read: it is paged out, or a register does not
                               point to it */
  OFFWAIT_STACK_ENDS,
};

#endif
