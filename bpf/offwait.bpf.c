/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder's kernel side: one header for each subject, which includes those that it uses. They are one
 * translation unit, so that the settings are constants everywhere. */
/* clang-format off */
#include "kernel.h"

#include "kernel_differences.h"
#include "maps.h"
#include "records.h"
#include "cost.h"
#include "stored_stacks.h"
#include "unwind.h"
#include "context.h"
#include "known_stacks.h"
#include "peer.h"
#include "files.h"
#include "calls.h"
#include "target.h"
#include "recorded_threads.h"
#include "locks.h"
#include "draw.h"
#include "sched.h"
#include "after_switch.h"
#include "block.h"
#include "irq.h"
#include "net.h"
#include "responses.h"
#include "seed.h"
#include "symbols.h"
#include "spin.h"
#include "counted_calls.h"
#include "sample.h"
/* clang-format on */

char LICENSE[] SEC("license") = "GPL";
