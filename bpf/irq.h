/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts: notes which one is being served, so that it can be named as a waker (context.h). */
#ifndef OFFWAIT_IRQ_H
#define OFFWAIT_IRQ_H

#include "context.h"
#include "kernel.h"
#include "kernel_differences.h"
#include "offwait/event.h"

SEC("tp_btf/irq_handler_entry")
int on_irq_handler_entry(__u64* ctx) {
  struct cpu_notes* context = cpu_notes();
  if (context) {
    context->irq = (__u32)ctx[0];
    context->irq_disk = 0;
  }
  return 0;
}

SEC("tp_btf/irq_handler_exit")
int on_irq_handler_exit(__u64* ctx) {
  struct cpu_notes* context = cpu_notes();
  if (context) {
    context->irq = OFFWAIT_IRQ_OTHER;
    context->irq_disk = 0;
  }
  return 0;
}

/* The exit of a softirq needs no hook: preempt_count tells whether one is being served, and the last entry
 * tells which. */
SEC("tp_btf/softirq_entry")
int on_softirq_entry(__u64* ctx) {
  struct cpu_notes* context = cpu_notes();
  if (context) {
    context->vector = (__u32)ctx[0];
    context->softirq_disk = 0;
    context->softirq_device = 0;
    context->softirq_packet.skb = 0;
    context->softirq_packet.tid = 0;
  }
  return 0;
}

/* The local timer's interrupt has no irq_handler_entry. Its timers report themselves one by one. */
SEC("tp_btf/hrtimer_expire_entry")
int on_hrtimer_expire_entry(__u64* ctx) {
  struct cpu_notes* context = cpu_notes();
  if (context && preempt_count() & HARDIRQ_OR_NMI) {
    context->irq_timer = 1;
    context->irq_disk = 0;
  }
  return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int on_hrtimer_expire_exit(__u64* ctx) {
  struct cpu_notes* context = cpu_notes();
  if (context) {
    context->irq_timer = 0;
    if (preempt_count() & HARDIRQ_OR_NMI) context->irq_disk = 0;
  }
  return 0;
}

#endif
