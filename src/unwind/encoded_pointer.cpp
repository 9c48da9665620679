// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/encoded_pointer.h"

#include <dwarf.h>

namespace offwait {

std::optional<std::uint64_t> read_pointer(Cursor& cursor, std::uint8_t encoding,
                                          const EhFrameSection& section) {
  const auto place = section.address + static_cast<std::uint64_t>(cursor.position() - section.bytes.data());
  std::uint64_t number = 0;
  switch (encoding & 0x0fU) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      number = cursor.fixed<std::uint64_t>();
      break;
    case DW_EH_PE_uleb128:
      number = cursor.uleb();
      break;
    case DW_EH_PE_sleb128:
      number = static_cast<std::uint64_t>(cursor.sleb());
      break;
    case DW_EH_PE_udata2:
      number = cursor.fixed<std::uint16_t>();
      break;
    case DW_EH_PE_sdata2:
      number = static_cast<std::uint64_t>(std::int64_t{cursor.fixed<std::int16_t>()});
      break;
    case DW_EH_PE_udata4:
      number = cursor.fixed<std::uint32_t>();
      break;
    case DW_EH_PE_sdata4:
      number = static_cast<std::uint64_t>(std::int64_t{cursor.fixed<std::int32_t>()});
      break;
    default:
      return std::nullopt;
  }
  if (cursor.failed()) {
    return std::nullopt;
  }
  switch (encoding & 0xf0U) {
    case DW_EH_PE_absptr:
      return number;
    case DW_EH_PE_pcrel:
      return place + number;
    default:
      return std::nullopt;
  }
}

}  // namespace offwait
