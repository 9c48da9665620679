/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that do nothing, where recorders of waits attach theirs: what any such recorder costs at least. */
/* clang-format off */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
/* clang-format on */

SEC("tp_btf/sched_switch")
int on_switch(__u64* ctx) { return 0; }

SEC("tp_btf/sched_waking")
int on_waking(__u64* ctx) { return 0; }

char LICENSE[] SEC("license") = "GPL";
