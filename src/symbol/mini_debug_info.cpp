// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/mini_debug_info.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <lzma.h>

namespace offwait {

Result<std::string> unpack_mini_debug_info(std::string_view packed) {
  constexpr std::uint64_t kDecoderMemory = std::uint64_t{128} << 20U;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kDecoderMemory, 0) != LZMA_OK) {
    return Error{"cannot set up the xz decoder"};
  }
  // lzma reads the input as bytes.
  stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  stream.avail_in = packed.size();

  std::string image;
  std::size_t filled = 0;
  lzma_ret state = LZMA_OK;
  while (state == LZMA_OK) {
    if (filled == image.size()) {
      if (filled == kLargestMiniDebugInfo) {
        break;
      }
      image.resize(std::min(kLargestMiniDebugInfo, std::max<std::size_t>(filled * 2, 64U << 10U)));
    }
    stream.next_out = reinterpret_cast<std::uint8_t*>(image.data()) + filled;
    stream.avail_out = image.size() - filled;
    state = lzma_code(&stream, LZMA_FINISH);
    filled = image.size() - stream.avail_out;
  }
  lzma_end(&stream);
  if (state == LZMA_OK) {
    return Error{"mini debug info is larger than 128 MiB unpacked"};
  }
  if (state != LZMA_STREAM_END) {
    return Error{"mini debug info is damaged"};
  }
  image.resize(filled);
  return image;
}

}  // namespace offwait
