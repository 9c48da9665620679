/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder's kernel side. One header a subject; one translation unit, so that settings are constants
 * everywhere. Each header uses those above it. */
/* clang-format off */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "offwait/event.h"
#include "offwait/loss_counters.h"
#include "offwait/unwind.h"

#include "kernel_differences.h"
#include "maps.h"
#include "stack.h"
#include "unwind.h"
#include "context.h"
#include "known_stacks.h"
#include "peer.h"
#include "calls.h"
#include "target.h"
#include "sched.h"
#include "block.h"
#include "irq.h"
#include "net.h"
#include "seed.h"
#include "symbols.h"
#include "spin.h"
#include "sample.h"
/* clang-format on */

char LICENSE[] SEC("license") = "GPL";
