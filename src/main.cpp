// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/freed_memory.h"
#include "cli/run.h"

int main(int argc, char** argv) {
  offwait::keep_freed_memory();
  return offwait::run(argc, argv);
}
