// SPDX-License-Identifier: GPL-2.0-or-later
// Signals that would end this process though nobody means to end it.
#pragma once

namespace offwait {

/// To be called when the program starts. From then on SIGUSR1 does not end it (people send it to all
/// processes of its name when they mean a flight recorder), nor does SIGXFSZ: writing then fails with an
/// error that names the file.
void outlive_stray_signals();

/// To be called in a child before it runs another program: these signals do there what they did before
/// outlive_stray_signals().
void restore_stray_signals();

}  // namespace offwait
