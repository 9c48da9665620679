// SPDX-License-Identifier: GPL-2.0-or-later
// What this process changes of what it has inherited.
#pragma once

namespace offwait {

/// To be called when the program starts. From then on SIGUSR1 does not end it (people send it to all
/// processes of its name when they mean a flight recorder), nor does SIGXFSZ: writing then fails with an
/// error that names the file. SIGINT ends it even if it was ignored: shells ignore it for programs in the
/// background, but there only a user who means this program sends it. It may have as many open files as its
/// hard limit allows.
void set_own_state();

/// To be called in a child before it runs another program, which inherits what set_own_state() found.
void restore_inherited_state();

}  // namespace offwait
