/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind tables: what `.eh_frame` says about one ELF file, made small enough to be searched inside the
 * kernel. One table per file, sorted by pc; a row holds from its pc up to that of the next one. Both sides
 * walk by these rules: the BPF programs the current thread, user space a blocked one (src/unwind). */
#ifndef OFFWAIT_UNWIND_H
#define OFFWAIT_UNWIND_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* How the caller's frame is found. CFA is the canonical frame address: the value of sp before the call (DWARF
 * 5 §6.4). Offsets are in words of 8 bytes. On x86_64 the return address is at CFA - 8, sp is rsp and fp rbp;
 * on arm64 fp is x29 and the flags below say where the return address is. */
enum offwait_unwind_kind {
  OFFWAIT_UNWIND_NONE = 0, /* no rule: not covered, or one that does not fit into a row */
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
/* arm64 only, or-ed to the kind. Without either the return address was saved beside fp, at CFA + fp + 1. */
#define OFFWAIT_UNWIND_RA_IN_LR \
  0x20 /* it still is in x30: the leaf's frame, or the one a signal interrupted */
#define OFFWAIT_UNWIND_RA_ALONE 0x40 /* it was saved at CFA + fp, and x29 was not */
/* `fp` counts from the register of the kind, sp or fp, instead of from the CFA, and is an offset even if it
 * is 0. GCC saves x29 and x30 at the low end of the frame, which from the CFA is too far away for a frame of
 * more than a kilobyte (1 % of librocksdb's rows). */
#define OFFWAIT_UNWIND_FP_FROM_BASE 0x80

/* Values of offwait_unwind_row.fp that are no offset. */
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

/* A table in the kernel: rows in blocks of 4 KiB, an index block with the first pc of each before them.
 * Blocks are numbered through all superblocks, the inner maps of `unwind_superblocks`, which user space has
 * mapped. What is not used of an index or of rows has pc OFFWAIT_UNWIND_UNUSED. */
#define OFFWAIT_UNWIND_ROWS 512
#define OFFWAIT_UNWIND_LEAVES 1024
#define OFFWAIT_UNWIND_UNUSED 0xffffffffu
struct offwait_unwind_block {
  union {
    struct offwait_unwind_row rows[OFFWAIT_UNWIND_ROWS];
    __u32 first[OFFWAIT_UNWIND_LEAVES];
  };
};
#define OFFWAIT_UNWIND_SUPERBLOCK 1024 /* blocks of one */
#define OFFWAIT_UNWIND_SUPERBLOCKS 256 /* at most */

/* Executable addresses [begin, end) of a process. */
struct offwait_mapping {
  __u64 begin;
  __u64 end;
  __u64 bias; /* pc - bias is what the table calls pc */
  __u32
      index; /* number of the table's index block, OFFWAIT_UNWIND_UNUSED for none: frame pointers are tried */
  __u32 pad;
};
#define OFFWAIT_MAPPINGS 1024
/* Value of `mappings`, keyed by a number that is never used again for others. Sorted, disjoint. */
struct offwait_mappings {
  __u32 count;
  __u32 pad;
  struct offwait_mapping at[OFFWAIT_MAPPINGS];
};
/* Value of `address_spaces`, keyed by tgid. */
struct offwait_address_space {
  __u32 mappings; /* 0: not known any more */
  __u32 asked;    /* user space has been asked to look at the mappings again */
};

/* Where the frame that the kernel makes for a signal handler has the interrupted registers: from sp, in bytes
 * (arch/x86/include/uapi/asm/sigcontext.h after the return address was taken,
 * arch/arm64/include/uapi/asm/sigcontext.h). */
#define OFFWAIT_SIGNAL_X86_64_FP 120
#define OFFWAIT_SIGNAL_X86_64_SP 160
#define OFFWAIT_SIGNAL_X86_64_PC 168
#define OFFWAIT_SIGNAL_ARM64_FP 544
#define OFFWAIT_SIGNAL_ARM64_LR 552
#define OFFWAIT_SIGNAL_ARM64_SP 560
#define OFFWAIT_SIGNAL_ARM64_PC 568
/* User addresses of arm64 have 48 bits, but for who asks for more; pointer authentication signs above them.
 */
#define OFFWAIT_ARM64_ADDRESS_MASK 0xffffffffffffull
/* `add $8n,%rsp; ret`: code without a table that goes on like this says itself where its frame ends. All of
 * the rest of Python's trampolines (-X perf), which have no frame pointer. */
#define OFFWAIT_X86_64_EPILOGUE 0xc300c48348ull
#define OFFWAIT_X86_64_EPILOGUE_MASK 0xff87ffffffull
#define OFFWAIT_X86_64_EPILOGUE_WORDS(code) ((code) >> 27 & 0xf) /* n */
/* How far above sp a frame pointer may point to be believed, where no table tells. */
#define OFFWAIT_FARTHEST_FP (4 << 20)

/* How the walk of a user stack ended. */
enum offwait_stack_end {
  OFFWAIT_STACK_ROOT = 0,   /* at an outermost frame: complete */
  OFFWAIT_STACK_DEEP,       /* has more frames than are kept */
  OFFWAIT_STACK_NO_MAPPING, /* a return address where nothing executable was known to be mapped */
  OFFWAIT_STACK_NO_RULE,    /* code that its file's table has no rule for */
  OFFWAIT_STACK_NO_FP,      /* code without a table (JIT, no .eh_frame), and no frame pointer either */
  OFFWAIT_STACK_UNREADABLE, /* the stack could not be read: paged out, or its registers were not what they
                               seemed */
  OFFWAIT_STACK_BY_KERNEL,  /* not walked by tables: the kernel followed frame pointers, if there were any */
  OFFWAIT_STACK_ENDS,
};

#endif
