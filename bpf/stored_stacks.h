/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks, each stored once under an id. bpf_get_stackid drops or merges stacks whose hashes are equal; here
 * an id belongs to exactly one stack: the hash tells where to look first, and the frames decide. */
#ifndef OFFWAIT_STORED_STACKS_H
#define OFFWAIT_STORED_STACKS_H

#include "kernel.h"
#include "maps.h"
#include "offwait/event.h"

#define HASH_FACTOR 0x9e3779b97f4a7c15ull

/* The generation to which new stacks belong; user space sets it. */
__u32 stack_generation = 0;
/* How many stacks have been stored. */
__u64 stacks_stored = 0;

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 2);
  __type(key, __u32);
  __type(value, struct offwait_stack);
} scratch_stack SEC(".maps");

/* Which of this CPU's two stacks in scratch_stack: the one of the tracepoints, which run with interrupts off,
 * or the one of the task iterator, which they may interrupt. */
enum scratch { SCRATCH_TRACEPOINT, SCRATCH_ITERATOR };

#define STACK_PROBES 8

enum stack_match { STACK_ABSENT, STACK_SAME, STACK_OTHER };

/* The verifier checks every round of a loop, but a global function only once however often it is called. So a
 * loop over all frames calls a function for a few of them at a time. These functions take no pointers,
 * because 5.10 does not know pointer arguments. */
#define FRAMES_AT_A_TIME 16

/* Not 0 if one of the FRAMES_AT_A_TIME frames from `begin` on differs from those stored under `key`. */
__noinline __u64 differing_frames(__u32 key, __u32 scratch, __u32 begin) {
  const struct offwait_stack* stack = bpf_map_lookup_elem(&scratch_stack, &scratch);
  const struct offwait_stack* known = bpf_map_lookup_elem(&stacks, &key);
  if (!stack || !known) return 1;
  __u32 frames = stack->frames;
  __u64 difference = 0;
  for (__u32 i = 0; i < FRAMES_AT_A_TIME; ++i) {
    __u32 at = (begin + i) & (OFFWAIT_STACK_FRAMES - 1);
    if (at < frames) difference |= known->pc[at] ^ stack->pc[at];
  }
  return difference;
}

__noinline __u64 hash_frames(__u32 scratch, __u32 begin, __u64 hash) {
  const struct offwait_stack* stack = bpf_map_lookup_elem(&scratch_stack, &scratch);
  if (!stack) return 0;
  __u32 frames = stack->frames;
  for (__u32 i = 0; i < FRAMES_AT_A_TIME; ++i) {
    __u32 at = (begin + i) & (OFFWAIT_STACK_FRAMES - 1);
    if (at >= frames) break;
    hash = (hash ^ stack->pc[at]) * HASH_FACTOR;
    hash ^= hash >> 29;
  }
  return hash;
}

/* Compares the stack stored under `key` with the one in scratch_stack; an enum stack_match. */
__noinline __u32 match_stack(__u32 key, __u32 scratch) {
  const struct offwait_stack* stack = bpf_map_lookup_elem(&scratch_stack, &scratch);
  const struct offwait_stack* known = bpf_map_lookup_elem(&stacks, &key);
  if (!stack || !known) return STACK_ABSENT;
  __u32 frames = stack->frames;
  if (known->tgid != stack->tgid || known->frames != frames || known->end != stack->end) return STACK_OTHER;
  for (__u32 i = 0; i < OFFWAIT_STACK_FRAMES && i < frames; i += FRAMES_AT_A_TIME) {
    if (differing_frames(key, scratch, i)) return STACK_OTHER;
  }
  return STACK_SAME;
}

/* Stores the stack in scratch_stack and returns its id, 0 if it could not be stored. */
__noinline __u32 store_scratch_stack(__u32 scratch) {
  const struct offwait_stack* stack = bpf_map_lookup_elem(&scratch_stack, &scratch);
  if (!stack) return 0;
  __u32 frames = stack->frames;
  if (frames == 0 || frames > OFFWAIT_STACK_FRAMES) return 0;
  __u64 hash = stack->tgid;
  for (__u32 i = 0; i < OFFWAIT_STACK_FRAMES && i < frames; i += FRAMES_AT_A_TIME)
    hash = hash_frames(scratch, i, hash);
  __u32 generation = stack_generation << OFFWAIT_STACK_HASH_BITS;
  __u32 key = generation | (__u32)(hash >> (64 - OFFWAIT_STACK_HASH_BITS));
  for (__u32 probe = 0; probe < STACK_PROBES; ++probe) {
    if (key == 0) key = 1;
    __u32 match = match_stack(key, scratch);
    if (match == STACK_ABSENT) {
      /* Before 6.4 the helper returns an int, whose sign is not extended. */
      int error = (int)bpf_map_update_elem(&stacks, &key, stack, BPF_NOEXIST);
      if (error == 0) {
        __sync_fetch_and_add(&stacks_stored, 1);
        return key;
      }
      if (error != -17 /* EEXIST: another CPU was faster, perhaps with the same stack */) {
        count_loss(OFFWAIT_LOSS_stack_store_full);
        return 0;
      }
      match = match_stack(key, scratch);
    }
    if (match == STACK_SAME) return key;
    key = generation | ((key + 0x9e3779b9u) & ((1u << OFFWAIT_STACK_HASH_BITS) - 1));
  }
  count_loss(OFFWAIT_LOSS_stack_collision);
  return 0;
}

#endif
