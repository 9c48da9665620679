/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all programs need first: the kernel's types, and libbpf's helpers, which use them. */
#ifndef OFFWAIT_KERNEL_H
#define OFFWAIT_KERNEL_H

/* clang-format off */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
/* clang-format on */

#endif
