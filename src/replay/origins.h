// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that appear during the recording, and whose pace they take over.
#pragma once

#include <vector>

#include "model/trace.h"

namespace offwait {

/// By ActorId: the thread at whose time this one begins to be replayed; kNoActor for those that are recorded
/// from the window's start on, and for those of which no such thread is known. It is the parent, if the birth
/// was recorded. Else it is the other side of the first wait that the thread ended, or that a thread ended
/// for it: a server may start a thread for each connection, and is recorded from its first answer on.
std::vector<ActorId> origins_of(const Trace& trace);

}  // namespace offwait
