/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder of stackid.bpf.c without stacks. */
#define WITHOUT_STACKS
#include "stackid.bpf.c"
