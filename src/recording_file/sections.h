// SPDX-License-Identifier: GPL-2.0-or-later
// A recording file as a sequence of sections, whose contents are bytes (format.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "recording_file/format.h"

struct ZSTD_DCtx_s;

namespace offwait {

struct Section {
  SectionKind kind = SectionKind::end;
  std::string content;
};

/// Appends to a file.
class SectionWriter {
 public:
  /// The file is empty, and is and stays the caller's. Errors begin with `name`.
  SectionWriter(int fd, std::string name);

  Status write_header();
  /// Compresses the content, if that makes it shorter, and appends the section. If that fails, the file is
  /// cut to the sections before as far as it can be, and nothing more may be written. Fails, too, if another
  /// program has removed or cut the file.
  Status write(SectionKind kind, std::string_view content);
  /// Waits until what was written is on the disk; does nothing for what is no file on a disk.
  Status sync();
  /// Fails if another program has removed or cut the file.
  Status check() const;
  /// Bytes written.
  std::uint64_t size() const { return size_; }

 private:
  Status write_all(std::string_view bytes);

  int fd_;
  std::string name_;
  std::uint64_t size_ = 0;
  bool was_in_directory_;
};

/// Whether a file that begins with `head` (8 bytes are enough) is a recording file.
bool looks_like_recording(std::string_view head);

/// Reads the sections of a file one after the other, in memory that is bounded whatever the file says.
class SectionReader {
 public:
  /// Skipped sections of records have no content, are not checked, and take no time. It needs a file that can
  /// be sought in.
  enum class Records { read, skipped };

  /// `head` has bytes that were already read from `fd`, the first ones of the file. Errors begin with `name`.
  SectionReader(int fd, std::string head, std::string name, Records records = Records::read);

  /// To be called first. Fails for what is no recording file, or one of another version.
  Status read_header();
  /// The next section; none where the file ends or cannot be understood, which fault() then tells apart.
  /// Skips optional sections of unknown kinds. Fails for other unknown kinds, and if reading fails.
  Result<std::optional<Section>> next();

  /// Why there was no next section, in the form of `it ends inside a section`; empty if the file ends there.
  const std::string& fault() const { return fault_; }
  /// Bytes that the contents of skipped sections have, uncompressed.
  std::uint64_t skipped() const { return skipped_; }

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  /// Up to `size` bytes; fewer only at the end of the file.
  Result<std::string> read(std::size_t size);
  /// False if the file ends before that.
  Result<bool> skip(std::size_t size);
  /// The content of a zstd frame, which must have exactly this size.
  std::optional<std::string> uncompressed(std::string_view stored, std::uint64_t size);
  std::optional<Section> none(std::string fault);

  int fd_;
  std::string head_;
  std::string name_;
  Records records_;
  std::unique_ptr<ZSTD_DCtx_s, Free>
      decompression_;  ///< one for all: to make one takes longer than to use it
  std::string fault_;
  std::uint64_t stored_ = 0;    ///< bytes of sections
  std::uint64_t contents_ = 0;  ///< bytes of their contents, uncompressed
  std::uint64_t skipped_ = 0;
};

}  // namespace offwait
