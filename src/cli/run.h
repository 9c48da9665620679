// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace offwait {

/// The whole program. Returns the exit status: 0 done, 1 failed, 2 wrong command line.
int run(int argc, const char* const* argv);

}  // namespace offwait
