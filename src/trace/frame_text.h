// SPDX-License-Identifier: GPL-2.0-or-later
// Frames and peers in the text form of a trace: the way back from to_string() (model/frame.h, model/peer.h).
#pragma once

#include <string_view>

#include "model/frame.h"
#include "model/peer.h"

namespace offwait {

/// Every text is a frame, and to_string() of it is `text` again. Frame::kind is what the module says:
/// `kernel` for bracketed ones but the vdso's.
Frame frame_of_text(std::string_view text);

/// Every text is a peer, and to_string() of it is `text` again.
Peer peer_of_text(Peer::Role role, std::string_view text);

}  // namespace offwait
