// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/deflate.h"

#include <algorithm>
#include <array>

#include <zlib.h>

namespace offwait {
namespace {

/// `window` is the size of the window, and says which header the stream has (zlib.h).
Result<std::string> deflated(std::string_view bytes, int window) {
  constexpr int kDefaultMemory = 8;
  z_stream stream{};
  // The best compression takes seven times as long for 1 % less.
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, kDefaultMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return Error{"there is not enough memory to compress"};
  std::string out;
  std::array<unsigned char, std::size_t{1} << 16> piece{};
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0) {
      // A stream counts what is left in 32 bits.
      const std::size_t next = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
      // zlib reads the input, though not by a pointer to const.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // NOLINT(*-cast)
      stream.avail_in = static_cast<uInt>(next);
      bytes.remove_prefix(next);
    }
    stream.next_out = piece.data();
    stream.avail_out = static_cast<uInt>(piece.size());
    status = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    out.append(piece.begin(), piece.end() - stream.avail_out);
  }
  deflateEnd(&stream);
  return out;
}

}  // namespace

Result<std::string> gzip(std::string_view bytes) {
  constexpr int kGzip = 16;
  return deflated(bytes, MAX_WBITS + kGzip);
}

Result<std::string> deflate_raw(std::string_view bytes) { return deflated(bytes, -MAX_WBITS); }

}  // namespace offwait
