// SPDX-License-Identifier: GPL-2.0-or-later
// Reads frames and peers of the text form: the reverse of to_string() (model/frame.h, model/peer.h).
#pragma once

#include <string_view>

#include "model/frame.h"
#include "model/peer.h"

namespace offwait {

/// The frame whose to_string() is `text`; every text has one. Frame::kind follows from the module: `kernel`
/// for bracketed modules other than the vdso.
Frame frame_of_text(std::string_view text);

/// The peer whose to_string() is `text`; every text has one.
Peer peer_of_text(Peer::Role role, std::string_view text);

}  // namespace offwait
