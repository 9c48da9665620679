/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stacks of the current thread, recognised instead of walked if possible. A walk costs a microsecond, and
 * most threads wait in few places. A stack is taken for one seen before if it begins at the same place and
 * each return address still stands where it stood, counted from sp. That is no proof, since a word of data
 * may equal the return address that was there before. So one recognised stack in VERIFY_EVERY is walked all
 * the same, and the wrong ones are counted. */
#ifndef OFFWAIT_KNOWN_STACKS_H
#define OFFWAIT_KNOWN_STACKS_H

#include "context.h"
#include "kernel.h"
#include "kernel_differences.h"
#include "maps.h"
#include "offwait/event.h"
#include "offwait/unwind.h"
#include "stored_stacks.h"
#include "unwind.h"

#define KNOWN_STACKS 2048 /* for each CPU, a power of two; user space sets the map's size before loading */
#define VERIFY_EVERY 256

/* User space forgets the stacks of old generations by writing their ids. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, KNOWN_STACKS);
  __type(key, __u32);
  __type(value, struct offwait_known_stack);
} known_stacks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct offwait_stack_reuse);
} stack_reuse SEC(".maps");

static __always_inline struct offwait_stack_reuse* this_stack_reuse(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&stack_reuse, &zero);
}

/* Counts a walk that found the stack `id` after `known` had been recalled (0: no stack had). In another
 * generation the same stack has another id. */
static __always_inline void count_walk(struct offwait_stack_reuse* reuse, __u32 known, __u32 id) {
  ++reuse->walked;
  if (!known || known >> OFFWAIT_STACK_HASH_BITS != id >> OFFWAIT_STACK_HASH_BITS) return;
  ++reuse->verified;
  if (known != id) ++reuse->wrong;
}

/* How many stacks that begin alike are known at once, each in a `way` of its own: syscall(2) is called from
 * many places, and one system call may wait in several places. */
#define WAYS 8

/* The place in `known_stacks` of this CPU for a stack that begins like this. */
static __always_inline __u32 known_stack_place(__u64 pc, __u64 lr, __u32 tgid, __u32 sp, __u32 way) {
  __u64 hash = ((pc ^ lr << 20 ^ (__u64)tgid << 40) * HASH_FACTOR ^ sp ^ way << 16) * HASH_FACTOR;
  return bpf_get_smp_processor_id() * KNOWN_STACKS + (__u32)(hash >> 40) % KNOWN_STACKS;
}

static __always_inline struct offwait_known_stack* known_stack_at(__u32 place) {
  return bpf_map_lookup_elem(&known_stacks, &place);
}

/* The id of the known stack if `hash`, of what stands in its slots now, is the hash of its return addresses;
 * else 0. */
static __always_inline __u32 id_if_same(struct walk* walk, const struct offwait_known_stack* known,
                                        __u64 hash, __u32 way) {
  if (hash != known->hash) return 0;
  walk->way = way;
  return known->id;
}

/* The way in which to note a stack that has been walked. */
static __always_inline __u32 way_to_note(const struct walk* walk, const struct offwait_stack_reuse* reuse) {
  return walk->way < WAYS ? walk->way : (__u32)reuse->walked % WAYS;
}

/* --- The user stack --- */

static __always_inline __u32 page_offset(__u64 sp) { return (__u32)sp & 0xfff; }

static __always_inline __u32 place_of_user_stack(const struct walk* walk, __u32 way) {
  return known_stack_place(walk->first_pc, walk->first_lr, walk->tgid, page_offset(walk->first_sp), way);
}

/* A call that reads the stack costs about as much as copying this many words. */
#define NEAR_WORDS 64
#define MOST_NEAR 32

/* How many bytes of the stack hold the slot `at` of the known stack and those after it that are near. The
 * frames of a server may lie kilobytes apart. */
__noinline __u32 bytes_of_near_slots(__u32 place, __u32 at) {
  const struct offwait_known_stack* known = known_stack_at(place);
  if (!known) return 0;
  __u32 count = known->count;
  __u32 first = known->slots[at & (OFFWAIT_STACK_FRAMES - 1)];
  __u32 last = first;
  for (__u32 i = 1; i < MOST_NEAR && at + i < count; ++i) {
    __u32 next = known->slots[(at + i) & (OFFWAIT_STACK_FRAMES - 1)];
    if (next - last > NEAR_WORDS) break;
    last = next;
  }
  return (last - first + 1) * 8;
}

/* Continues `hash` with what stands in FRAMES_AT_A_TIME slots from `begin` on; 0 if they cannot be read. */
__noinline __u64 hash_user_slots(__u32 place, __u32 begin, __u64 hash) {
  struct walk* walk = this_walk();
  const struct offwait_known_stack* known = known_stack_at(place);
  if (!walk || !known) return 0;
  __u32 count = known->count;
  for (__u32 i = 0; i < FRAMES_AT_A_TIME; ++i) {
    __u32 at = (begin + i) & (OFFWAIT_STACK_FRAMES - 1);
    if (at >= count) break;
    __u64 address = walk->first_sp + (__u64)known->slots[at] * 8;
    __u64 word = 0;
    if (address - walk->window_at >= walk->window_bytes &&
        !move_window(address, bytes_of_near_slots(place, at)))
      return 0;
    if (!read_word(walk, address, &word)) return 0;
    hash = (hash ^ word) * HASH_FACTOR;
  }
  return hash;
}

/* Called before the walk begins. The id of the stack that the walk would find, if it is the one known in this
 * way; else 0. */
__noinline __u32 recall_user_stack(__u32 way) {
  struct walk* walk = this_walk();
  if (!walk) return 0;
  __u32 place = place_of_user_stack(walk, way);
  const struct offwait_known_stack* known = known_stack_at(place);
  if (!known) return 0;
  if (known->pc != walk->first_pc || known->tgid != walk->tgid || known->lr != walk->first_lr ||
      known->sp != page_offset(walk->first_sp) || known->way != way) {
    walk->way = way;
    return 0;
  }
  __u64 hash = 0;
  __u32 count = known->count;
  for (__u32 i = 0; i < OFFWAIT_STACK_FRAMES && i < count; i += FRAMES_AT_A_TIME)
    hash = hash_user_slots(place, i, hash);
  return id_if_same(walk, known, hash, way);
}

static __always_inline void remember(struct offwait_known_stack* known, const struct walk* walk, __u64 pc,
                                     __u64 lr, __u32 tgid, __u32 sp, __u32 way, __u32 id) {
  known->pc = pc;
  known->lr = lr;
  known->hash = walk->slots_hash;
  known->tgid = tgid;
  known->sp = sp;
  known->way = (__u16)way;
  known->id = id;
  known->count = (__u16)walk->slot_count;
  __builtin_memcpy(known->slots, walk->slots, sizeof(known->slots));
}

static __always_inline bool want_mappings(__u32 tgid) {
  struct offwait_mappings_wanted* wanted = bpf_ringbuf_reserve(&mappings_wanted, sizeof(*wanted), 0);
  if (!wanted) return false;
  wanted->tgid = tgid;
  wanted->pad = 0;
  bpf_ringbuf_submit(wanted, 0);
  return true;
}

/* Asks user space to look at the mappings of a process again because one was missing: once, until user space
 * has answered. If that fails, the next stack asks again. */
static __always_inline void ask_for_mappings(__u32 tgid) {
  struct offwait_address_space* space = bpf_map_lookup_elem(&address_spaces, &tgid);
  if (space && !space->asked && want_mappings(tgid)) space->asked = 1;
}

/* Blocked threads whose user stack user space walks. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, 65536);
  __type(key, __u32); /* tid */
  __type(value, struct offwait_blocked);
} unwalked SEC(".maps");

__u64 left_unwalked = 0; /* how many were left to user space; other CPUs count as well */

static __always_inline void leave_to_user_space(struct task_struct* task, __u64 start_ns, __u64 since_ns) {
  __u32 tid = (__u32)task->pid;
  struct offwait_blocked blocked = {};
  blocked.start_ns = start_ns;
  blocked.since_ns = since_ns;
  note_blocked(&blocked, task);
  bpf_map_update_elem(&unwalked, &tid, &blocked, BPF_ANY);
  __sync_fetch_and_add(&left_unwalked, 1);
}

/* Whether the last user_stack() ended at an address in no known mapping. */
static __always_inline bool lacked_mapping(void) {
  const struct walk* walk = this_walk();
  return walk && walk->ended == 1 + OFFWAIT_STACK_NO_MAPPING;
}

/* The id of the current thread's user stack; 0 if it has none or it could not be stored. Without its leaf it
 * is not recalled, which begins with the leaf. */
__noinline __u32 find_user_stack(__u32 without_leaf) {
  __u32 scratch = SCRATCH_TRACEPOINT;
  struct walk* walk = this_walk();
  struct offwait_stack* stack = bpf_map_lookup_elem(&scratch_stack, &scratch);
  struct offwait_stack_reuse* reuse = this_stack_reuse();
  if (!walk || !stack || !reuse) return 0;
  struct user_registers user = current_user_registers();
  __u32 tgid = (__u32)(bpf_get_current_pid_tgid() >> 32);
  if (!user.pc) return 0; /* a kernel thread that uses the process's memory */
  walk->first_pc = user.pc;
  walk->first_sp = user.sp;
  walk->first_lr = user.lr;
  walk->tgid = tgid;
  walk->window_bytes = 0; /* it holds another thread's stack, or one that has changed since */
  walk->ended = 0;
  walk->way = WAYS;
  __u32 known = 0;
  for (__u32 way = 0; !without_leaf && way < WAYS && walk->way == WAYS; ++way) known = recall_user_stack(way);
  if (known && ++reuse->recalled % VERIFY_EVERY) return known;

  walk->pc = user.pc;
  walk->sp = user.sp;
  walk->fp = user.fp;
  walk->lr = user.lr;
  walk->exact = 1;
  walk->far = 0;
  walk->begin = 0;
  walk->end = 0;
  walk->slot_count = 0;
  walk->slots_hash = 0;
  const struct offwait_address_space* space = bpf_map_lookup_elem(&address_spaces, &tgid);
  walk->mappings = space ? space->mappings : 0;
  stack->tgid = tgid;
  stack->frames = 0;
  for (__u32 i = 0; i <= OFFWAIT_STACK_FRAMES / FRAMES_PER_CALL; ++i) {
    if (!walk_on()) break;
  }
  __u8 end = walk->ended - 1;
  if (end == OFFWAIT_STACK_NO_MAPPING) {
    ask_for_mappings(tgid);
    /* Nothing is known about the process: at least the place where it is makes a frame. */
    if (stack->frames == 0) {
      stack->pc[0] = user.pc;
      stack->frames = 1;
    }
  }
  stack->end = end;
  if (without_leaf) stack->pc[0] = 0;
  __u32 id = store_scratch_stack(SCRATCH_TRACEPOINT);
  count_walk(reuse, known, id);
  if (without_leaf) return id;
  /* A stack that ended because a mapping was missing may be complete the next time. */
  if (id && !walk->far && end != OFFWAIT_STACK_NO_MAPPING && end != OFFWAIT_STACK_UNREADABLE) {
    __u32 way = way_to_note(walk, reuse);
    struct offwait_known_stack* to = known_stack_at(place_of_user_stack(walk, way));
    if (to) remember(to, walk, user.pc, user.lr, tgid, page_offset(user.sp), way, id);
  }
  return id;
}

static __always_inline __u32 user_stack(void) { return find_user_stack(0); }

/* --- The kernel stack --- */

/* The kernel's own walk takes two microseconds. It tells the return addresses but not where they stand: they
 * are searched for on the stack, each above the one before. */

#define KERNEL_STACK_BYTES 16384 /* its size and its alignment */
#define KERNEL_WORDS 1024        /* how many of its words are searched, at most */

struct kernel_words {
  __u64 at[KERNEL_WORDS];
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct kernel_words);
} kernel_words SEC(".maps");

static __always_inline __u64 kernel_stack_end(__u64 sp) { return (sp | (KERNEL_STACK_BYTES - 1)) + 1; }

/* Below the entry to the kernel each system call leaves a gap of random size
 * (CONFIG_RANDOMIZE_KSTACK_OFFSET). Slots above the gap are counted from the stack's end instead of from sp;
 * they are numbered from TOP_SLOT on. */
#define TOP_SLOT 0xf000u
#if defined(__TARGET_ARCH_x86)
#define TOP_WORDS 24
#elif defined(__TARGET_ARCH_arm64)
#define TOP_WORDS 64
#endif

static __always_inline __u32 place_of_kernel_stack(__u32 user, __u32 way) {
  return known_stack_place(user, 0, 0, 0, way);
}

__noinline __u64 hash_kernel_slots(__u32 place, __u32 begin, __u64 hash) {
  const struct walk* walk = this_walk();
  const struct offwait_known_stack* known = known_stack_at(place);
  if (!walk || !known) return 0;
  __u64 sp = walk->first_sp;
  __u64 end = kernel_stack_end(sp);
  __u32 count = known->count;
  for (__u32 i = 0; i < FRAMES_AT_A_TIME; ++i) {
    __u32 at = (begin + i) & (OFFWAIT_STACK_FRAMES - 1);
    if (at >= count) break;
    __u32 slot = known->slots[at];
    __u64 address = slot >= TOP_SLOT ? end - (__u64)(slot - TOP_SLOT) * 8 : sp + (__u64)slot * 8;
    __u64 word = 0;
    if (kernel_has_rdonly_cast)
      word = (__u64)FIRST_LONG(address);
    else
      bpf_probe_read_kernel(&word, sizeof(word), (void*)address);
    hash = (hash ^ word) * HASH_FACTOR;
  }
  return hash;
}

/* The id of the kernel stack that begins at the walk's first_sp, if it is the one known in this way; else 0.
 */
__noinline __u32 recall_kernel_stack(__u32 user, __u32 way) {
  struct walk* walk = this_walk();
  if (!walk) return 0;
  __u32 place = place_of_kernel_stack(user, way);
  const struct offwait_known_stack* known = known_stack_at(place);
  if (!known) return 0;
  if (known->pc != user || known->tgid || known->way != way) {
    walk->way = way;
    return 0;
  }
  __u64 hash = 0;
  __u32 count = known->count;
  for (__u32 i = 0; i < OFFWAIT_STACK_FRAMES && i < count; i += FRAMES_AT_A_TIME)
    hash = hash_kernel_slots(place, i, hash);
  return id_if_same(walk, known, hash, way);
}

/* The innermost frames of the kernel's walk are below ctx: the program's, and that of its caller, which holds
 * the arguments that ctx points to: bpf_trace_run at a tracepoint, a trampoline at a function. */
#define BPF_FRAMES 2
#define WORDS_PER_CALL 32

/* Searches WORDS_PER_CALL words of kernel_words from `begin` on for the stack's return addresses; 0 when all
 * are found. It searches only a few because the verifier checks every round of the loop. */
__noinline __u32 find_slots(__u32 begin) {
  __u32 zero = 0;
  struct walk* walk = this_walk();
  const struct offwait_stack* stack = bpf_map_lookup_elem(&scratch_stack, &zero);
  const struct kernel_words* words = bpf_map_lookup_elem(&kernel_words, &zero);
  if (!walk || !stack || !words) return 0;
  __u32 all = (__u32)(kernel_stack_end(walk->first_sp) - walk->first_sp) / 8;
  for (__u32 i = 0; i < WORDS_PER_CALL; ++i) {
    __u32 at = begin + i;
    __u64 word = words->at[at & (KERNEL_WORDS - 1)];
    __u32 count = walk->slot_count;
    if (word != stack->pc[(count + BPF_FRAMES) & (OFFWAIT_STACK_FRAMES - 1)]) continue;
    __u32 from_end = TOP_SLOT + all - at;
    __u32 is_top = if_not_above(all - at, TOP_WORDS);
    walk->slots[count & (OFFWAIT_STACK_FRAMES - 1)] = (__u16)(at ^ ((at ^ from_end) & is_top));
    walk->slots_hash = (walk->slots_hash ^ word) * HASH_FACTOR;
    walk->slot_count = count + 1;
  }
  return walk->slot_count + BPF_FRAMES < stack->frames;
}

/* Notes the stack in scratch_stack as known, if its return addresses are found on the kernel stack. */
__noinline __u32 remember_kernel_stack(__u32 user, __u32 way, __u32 id) {
  __u32 zero = 0;
  struct walk* walk = this_walk();
  const struct offwait_stack* stack = bpf_map_lookup_elem(&scratch_stack, &zero);
  struct kernel_words* words = bpf_map_lookup_elem(&kernel_words, &zero);
  if (!walk || !stack || !words) return 0;
  __u32 bytes = KERNEL_STACK_BYTES - ((__u32)walk->first_sp & (KERNEL_STACK_BYTES - 1));
  if (bytes > sizeof(words->at)) bytes = sizeof(words->at);
  if (bpf_probe_read_kernel(words->at, bytes, (const void*)walk->first_sp)) return 0;
  walk->slot_count = 0;
  walk->slots_hash = 0;
  for (__u32 i = 0; i < KERNEL_WORDS && i * 8 < bytes; i += WORDS_PER_CALL) {
    if (!find_slots(i)) break;
  }
  struct offwait_known_stack* known = known_stack_at(place_of_kernel_stack(user, way));
  if (!known || walk->slot_count + BPF_FRAMES != stack->frames) return 0;
  remember(known, walk, user, 0, 0, 0, way, id);
  return 0;
}

/* The id of the kernel stack as the kernel's own walk finds it, in scratch_stack; without the leaf, in which
 * the thread was interrupted, if so asked. */
static __always_inline __u32 walk_kernel_stack(void* ctx, const bool with_leaf) {
  __u32 scratch = SCRATCH_TRACEPOINT;
  struct offwait_stack* stack = bpf_map_lookup_elem(&scratch_stack, &scratch);
  if (!stack) return 0;
  long bytes = bpf_get_stack(ctx, stack->pc, sizeof(stack->pc), 0);
  if (bytes <= 0) {
    count_loss(OFFWAIT_LOSS_stack_unreadable);
    return 0;
  }
  stack->tgid = 0;
  stack->frames = (__u16)((__u32)bytes / 8);
  stack->end = 0;
  if (!with_leaf) stack->pc[0] = 0;
  return store_scratch_stack(scratch);
}

/* The id of the current thread's kernel stack in a program at a tracepoint or function. `user` is the id of
 * its user stack. */
static __always_inline __u32 kernel_stack(void* ctx, struct cpu_notes* context, __u32 user) {
  struct walk* walk = this_walk();
  struct offwait_stack_reuse* reuse = this_stack_reuse();
  if (!walk || !reuse || !context) return 0;
  walk->first_sp = as_number(context, ctx); /* the BPF program's own stack may be elsewhere */
  walk->way = WAYS;
  __u32 known = 0;
  for (__u32 way = 0; way < WAYS && walk->way == WAYS; ++way) known = recall_kernel_stack(user, way);
  if (known && ++reuse->recalled % VERIFY_EVERY) return known;
  __u32 id = walk_kernel_stack(ctx, true);
  count_walk(reuse, known, id);
  if (id && id != known) remember_kernel_stack(user, way_to_note(walk, reuse), id);
  return id;
}

#endif
