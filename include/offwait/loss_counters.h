/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every way to lose an event, each with its own counter: X(NAME, what was lost, in words for the user). A
 * counter's place in this list is its index in the kernel's map. */
#ifndef OFFWAIT_LOSS_COUNTERS_H
#define OFFWAIT_LOSS_COUNTERS_H

#define OFFWAIT_LOSS_COUNTERS(X)                                                               \
  X(ringbuf_full, "records dropped because the ring buffer was full")                          \
  X(thread_table_full, "threads not recorded because the thread table was full")               \
  X(stack_store_full, "stacks not kept because the stack store was full")                      \
  X(stack_collision, "stacks not kept because all their places in the stack store were taken") \
  X(stack_unreadable, "stacks that could not be read")                                         \
  X(request_table_full, "disk requests not followed because the request table was full")       \
  X(program_skipped, "events that the kernel did not deliver to a BPF program")                \
  X(switch_unseen, "context switches that the kernel did not report")                          \
  X(waker_unknown, "waits whose waker was not seen")                                           \
  X(waker_impossible, "waits whose waker was itself blocked and so cannot have ended them")    \
  X(record_invalid, "records that contradict others and were left out")                        \
  X(peer_table_full, "waits without their peer's address because the peer table was full")     \
  X(response_table_full, "responses not counted because a table of connections was full")      \
  X(call_table_full, "calls not counted because the table of threads that call was full")      \
  X(file_table_full, "waits and requests without their file because the file table was full")

enum offwait_loss {
#define X(name, text) OFFWAIT_LOSS_##name,
  OFFWAIT_LOSS_COUNTERS(X)
#undef X
      OFFWAIT_LOSS_COUNT
};

#endif
