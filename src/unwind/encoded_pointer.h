// SPDX-License-Identifier: GPL-2.0-or-later
// Pointers in .eh_frame, each in an encoding of its own (LSB 5.0 core §10.5.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "unwind/cursor.h"

namespace offwait {

/// The section .eh_frame and its address, because pointers in it may be relative to their own place.
struct EhFrameSection {
  std::string_view bytes;
  std::uint64_t address = 0;  ///< virtual
};

/// A pointer in one of the DW_EH_PE_* encodings; nothing if it is cut short, or relative to something that
/// .eh_frame of these architectures does not use (function, text, GOT, memory).
std::optional<std::uint64_t> read_pointer(Cursor& cursor, std::uint8_t encoding,
                                          const EhFrameSection& section);

}  // namespace offwait
