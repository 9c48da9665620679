/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's symbols, for a user who may read kernel memory but not the addresses in /proc/kallsyms. */
#ifndef OFFWAIT_SYMBOLS_H
#define OFFWAIT_SYMBOLS_H

#include "kernel.h"

/* Prints lines like those of /proc/kallsyms. The iterator exists since 6.0 (647cafa22349). */
SEC("iter/ksym")
int list_symbols(struct bpf_iter__ksym* ctx) {
  struct kallsym_iter* symbol = ctx->ksym;
  if (!symbol) return 0;
  if (symbol->module_name[0]) {
    BPF_SEQ_PRINTF(ctx->meta->seq, "%llx %c %s\t[%s]\n", symbol->value, symbol->type, symbol->name,
                   symbol->module_name);
  } else {
    BPF_SEQ_PRINTF(ctx->meta->seq, "%llx %c %s\n", symbol->value, symbol->type, symbol->name);
  }
  return 0;
}

#endif
