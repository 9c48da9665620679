/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where recorded threads run: a clock on each CPU looks at who is there. Its timer runs with interrupts off,
 * as whatever uses this CPU's stack has to. */
#ifndef OFFWAIT_SAMPLE_H
#define OFFWAIT_SAMPLE_H

SEC("perf_event")
int on_cpu_clock(struct bpf_perf_event_data* ctx) {
  __u32 tid = (__u32)bpf_get_current_pid_tgid();
  if (!tid) return 0;
  struct offwait_thread* thread = bpf_map_lookup_elem(&threads, &tid);
  struct task_struct* task = (void*)bpf_get_current_task();
  if (!thread || thread->start_ns != BPF_CORE_READ(task, start_time)) return 0;
  __u64 now = bpf_ktime_get_ns();
  bool in_kernel = (__s64)PT_REGS_IP(&ctx->regs) < 0; /* the upper half of all addresses is the kernel's */
  __u32 user = BPF_CORE_READ(task, mm) ? user_stack() : 0;
  __u32 kernel = in_kernel ? walk_kernel_stack(ctx) : 0;
  struct offwait_sample* sample = bpf_ringbuf_reserve(&events, sizeof(*sample), 0);
  if (!sample) {
    count_loss(OFFWAIT_LOSS_ringbuf_full);
    return 0;
  }
  sample->type = OFFWAIT_RECORD_SAMPLE;
  __builtin_memset(sample->pad, 0, sizeof(sample->pad));
  sample->tid = tid;
  sample->at_ns = now;
  sample->user = user;
  sample->kernel = kernel;
  bpf_ringbuf_submit(sample, EMIT_FLAGS);
  return 0;
}

#endif
