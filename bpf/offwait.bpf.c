/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder's kernel side. One header a subject; one translation unit, so that settings are constants
 * everywhere. */
#include "vmlinux.h"
/* clang-format off: vmlinux.h has to come first */
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "block.h"
#include "calls.h"
#include "context.h"
#include "irq.h"
#include "kernel_differences.h"
#include "maps.h"
#include "net.h"
#include "offwait/event.h"
#include "offwait/loss_counters.h"
#include "sched.h"
#include "seed.h"
#include "stack.h"
/* clang-format on */

char LICENSE[] SEC("license") = "GPL";
