/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A minimal recorder of waits with stacks, to compare with. It joins each wait in the kernel and writes one
 * record for it; user and kernel stacks come from bpf_get_stackid, whose ids can collide. WITHOUT_STACKS
 * leaves the stacks out. */
/* clang-format off */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
/* clang-format on */

struct blocked {
  __u64 block_ns;
  __u64 wake_ns;
  __s32 user;
  __s32 kernel;
  __u32 waker;
  __u32 pad;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, __u32);
  __type(value, struct blocked);
} blocked_threads SEC(".maps");

#ifndef WITHOUT_STACKS
struct {
  __uint(type, BPF_MAP_TYPE_STACK_TRACE);
  __uint(max_entries, 16384);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, 127 * sizeof(__u64));
} stacks SEC(".maps");
#endif

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 16 << 20);
} events SEC(".maps");

/* Waits for which the ring buffer had no room. */
__u64 lost = 0;

struct wait {
  __u32 tid;
  __u32 waker;
  __u64 block_ns;
  __u64 wake_ns;
  __u64 run_ns;
  __s32 user;
  __s32 kernel;
  __u64 pad;
};

SEC("tp_btf/sched_switch")
int on_switch(__u64* ctx) {
  struct task_struct* prev = (void*)ctx[1];
  struct task_struct* next = (void*)ctx[2];
  __u64 now = bpf_ktime_get_ns();
  __u32 tid = (__u32)prev->pid;
  if (tid && !ctx[0] && prev->__state) {
    struct blocked fresh = {.block_ns = now};
#ifndef WITHOUT_STACKS
    fresh.user = prev->mm ? (__s32)bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK) : 0;
    fresh.kernel = (__s32)bpf_get_stackid(ctx, &stacks, 0);
#endif
    bpf_map_update_elem(&blocked_threads, &tid, &fresh, BPF_ANY);
  }
  tid = (__u32)next->pid;
  struct blocked* known = bpf_map_lookup_elem(&blocked_threads, &tid);
  if (!known || !known->wake_ns) return 0;
  struct wait* wait = bpf_ringbuf_reserve(&events, sizeof(*wait), 0);
  if (wait) {
    wait->tid = tid;
    wait->waker = known->waker;
    wait->block_ns = known->block_ns;
    wait->wake_ns = known->wake_ns;
    wait->run_ns = now;
    wait->user = known->user;
    wait->kernel = known->kernel;
    wait->pad = 0;
    bpf_ringbuf_submit(wait, BPF_RB_NO_WAKEUP);
  } else {
    __sync_fetch_and_add(&lost, 1);
  }
  known->wake_ns = 0;
  return 0;
}

SEC("tp_btf/sched_waking")
int on_waking(__u64* ctx) {
  struct task_struct* wakee = (void*)ctx[0];
  __u32 tid = (__u32)wakee->pid;
  struct blocked* known = bpf_map_lookup_elem(&blocked_threads, &tid);
  if (!known) return 0;
  known->wake_ns = bpf_ktime_get_ns();
  known->waker = (__u32)bpf_get_current_pid_tgid();
  return 0;
}

char LICENSE[] SEC("license") = "GPL";
