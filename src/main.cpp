// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/run.h"

int main(int argc, char** argv) { return offwait::run(argc, argv); }
