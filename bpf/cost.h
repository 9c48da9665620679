/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the programs that run most cost: how often each runs, and how long a sample of these runs takes.
 * Reading the clock costs as much as a look-up, so only this sample is timed. */
#ifndef OFFWAIT_COST_H
#define OFFWAIT_COST_H

#include "kernel.h"
#include "offwait/event.h"

#define COST_EVERY 64

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, OFFWAIT_COST_COUNT);
  __type(key, __u32);
  __type(value, struct offwait_run_cost);
} run_costs SEC(".maps");

/* Begins a run of one of these programs. One run in `every` is timed. When it began is kept in the map: in a
 * register, the verifier would look at all that follows twice. If another thread takes over the CPU and runs
 * such a program meanwhile, the run is not timed, or for a part only. */
static __always_inline void begin_cost(__u32 program, const __u32 every) {
  struct offwait_run_cost* cost = bpf_map_lookup_elem(&run_costs, &program);
  if (cost) cost->begun_ns = ++cost->runs % every ? 0 : bpf_ktime_get_ns();
}

static __always_inline void end_cost(__u32 program) {
  struct offwait_run_cost* cost = bpf_map_lookup_elem(&run_costs, &program);
  __u64 begun_ns = cost ? cost->begun_ns : 0;
  if (!begun_ns) return;
  cost->begun_ns = 0;
  ++cost->timed_runs;
  cost->timed_ns += bpf_ktime_get_ns() - begun_ns;
}

#endif
