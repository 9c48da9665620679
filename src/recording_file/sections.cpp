// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording_file/sections.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/private_file.h"
#include "recording_file/bytes.h"

namespace offwait {
namespace {

/// A level that costs little time; the next ones make a recording a few percent smaller.
constexpr int kZstdLevel = 1;
constexpr std::size_t kReadBytes = std::size_t{1} << 20;
/// How many times as long as the stored bytes all contents may be. Those of real recordings are ten times as
/// long.
constexpr std::uint64_t kMostExpansion = 200;
constexpr std::uint64_t kAlwaysAllowed = kMostSectionBytes;

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()),
                                              bytes.size()));  // NOLINT(*-reinterpret-cast)
}

struct SectionHeader {
  std::uint32_t kind = 0;
  std::uint32_t flags = 0;
  std::uint64_t stored_size = 0;
  std::uint64_t content_size = 0;
  std::uint32_t content_checksum = 0;
  std::uint32_t checksum = 0;
};

std::string compressed(std::string_view content) {
  std::string out(::ZSTD_compressBound(content.size()), '\0');
  const std::size_t size =
      ::ZSTD_compress(out.data(), out.size(), content.data(), content.size(), kZstdLevel);
  out.resize(::ZSTD_isError(size) != 0 ? 0 : size);
  return out;
}

}  // namespace

// ---- writing

Status SectionWriter::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Error{fmt::format("cannot write {}: {}", name_, std::strerror(errno))};
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return success();
}

SectionWriter::SectionWriter(int fd, std::string name)
    : fd_(fd), name_(std::move(name)), was_in_directory_(is_in_directory(fd)) {}

Status SectionWriter::check() const { return check_unchanged(fd_, name_, size_, was_in_directory_); }

Status SectionWriter::write_header() {
  std::string header(kMagic);
  ByteWriter out(header);
  out(kFormatVersion);
  out(checksum(header));
  OFFWAIT_TRY_STATUS(write_all(header));
  size_ = header.size();
  return success();
}

Status SectionWriter::write(SectionKind kind, std::string_view content) {
  OFFWAIT_TRY_STATUS(check());
  const std::string shorter = compressed(content);
  const bool is_shorter = !shorter.empty() && shorter.size() < content.size();
  const std::string_view stored = is_shorter ? std::string_view(shorter) : content;
  std::string header;
  ByteWriter out(header);
  out(kind, is_shorter ? kZstdSection : 0U, std::uint64_t{stored.size()}, std::uint64_t{content.size()},
      checksum(stored));
  out(checksum(header));
  Status written = write_all(header);
  if (written) written = write_all(stored);
  if (!written) {
    // What is left of the section would be taken for damage.
    [[maybe_unused]] const int cut = ::ftruncate(fd_, static_cast<off_t>(size_));
    return written;
  }
  size_ += header.size() + stored.size();
  return success();
}

Status SectionWriter::sync() {
  if (::fdatasync(fd_) != 0 && errno != EINVAL && errno != EROFS)
    return Error{fmt::format("cannot write {}: {}", name_, std::strerror(errno))};
  return success();
}

// ---- reading

bool looks_like_recording(std::string_view head) { return head.substr(0, kMagic.size()) == kMagic; }

void SectionReader::Free::operator()(ZSTD_DCtx_s* context) const { ::ZSTD_freeDCtx(context); }

SectionReader::SectionReader(int fd, std::string head, std::string name, Records records)
    : fd_(fd),
      head_(std::move(head)),
      name_(std::move(name)),
      records_(records),
      decompression_(::ZSTD_createDCtx()) {}

std::optional<std::string> SectionReader::uncompressed(std::string_view stored, std::uint64_t size) {
  std::string out(static_cast<std::size_t>(size), '\0');
  const std::size_t got =
      ::ZSTD_decompressDCtx(decompression_.get(), out.data(), out.size(), stored.data(), stored.size());
  if (::ZSTD_isError(got) != 0 || got != size) return std::nullopt;
  return out;
}

/// What the header of a section claims is not allocated before it has been read.
Result<std::string> SectionReader::read(std::size_t size) {
  std::string bytes = head_.substr(0, size);
  head_.erase(0, bytes.size());
  while (bytes.size() < size) {
    const std::size_t before = bytes.size();
    bytes.resize(before + std::min(size - before, kReadBytes));
    const ssize_t got = ::read(fd_, bytes.data() + before, bytes.size() - before);
    if (got < 0 && errno != EINTR)
      return Error{fmt::format("{}: cannot read: {}", name_, std::strerror(errno))};
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) break;
  }
  return bytes;
}

Result<bool> SectionReader::skip(std::size_t size) {
  const std::size_t from_head = std::min(size, head_.size());
  head_.erase(0, from_head);
  struct stat file {};
  const off_t to = ::lseek(fd_, static_cast<off_t>(size - from_head), SEEK_CUR);
  if (to < 0 || ::fstat(fd_, &file) != 0)
    return Error{fmt::format("{}: cannot read: {}", name_, std::strerror(errno))};
  return to <= file.st_size;
}

std::optional<Section> SectionReader::none(std::string fault) {
  fault_ = std::move(fault);
  return std::nullopt;
}

Status SectionReader::read_header() {
  OFFWAIT_TRY(const std::string header, read(kHeaderBytes));
  if (!looks_like_recording(header)) return Error{name_ + ": not a recording of offwait"};
  if (header.size() < kHeaderBytes)
    return Error{name_ + ": nothing was recorded yet (it ends inside its header)"};
  ByteReader in(std::string_view(header).substr(kMagic.size()));
  std::uint32_t version = 0;
  std::uint32_t sum = 0;
  in(version, sum);
  if (sum != checksum(std::string_view(header).substr(0, header.size() - sizeof(sum))))
    return Error{name_ + ": the header of the recording is damaged"};
  if (version != kFormatVersion)
    return Error{fmt::format(
        "{}: this recording has version {} of the format, and this offwait reads version {}: a newer offwait "
        "has written it",
        name_, version, kFormatVersion)};
  return success();
}

Result<std::optional<Section>> SectionReader::next() {
  for (;;) {
    OFFWAIT_TRY(const std::string bytes, read(kSectionHeaderBytes));
    if (bytes.empty()) return none("");
    if (bytes.size() < kSectionHeaderBytes) return none("it ends inside a section");
    SectionHeader header;
    ByteReader in(bytes);
    in(header.kind, header.flags, header.stored_size, header.content_size, header.content_checksum,
       header.checksum);
    if (header.checksum != checksum(std::string_view(bytes).substr(0, bytes.size() - sizeof(std::uint32_t))))
      return none("a section is damaged");
    const bool is_compressed = (header.flags & kZstdSection) != 0;
    if (header.stored_size > kMostSectionBytes || header.content_size > kMostSectionBytes ||
        (!is_compressed && header.stored_size != header.content_size))
      return none("the size of a section is impossible");
    const auto kind = static_cast<SectionKind>(header.kind);
    if (records_ == Records::skipped &&
        (kind == SectionKind::records || kind == SectionKind::linked_records ||
         kind == SectionKind::drawn_records)) {
      OFFWAIT_TRY(const bool whole, skip(static_cast<std::size_t>(header.stored_size)));
      if (!whole) return none("it ends inside a section");
      skipped_ += header.content_size;
      return std::optional<Section>({kind, {}});
    }
    OFFWAIT_TRY(std::string stored, read(static_cast<std::size_t>(header.stored_size)));
    if (stored.size() < header.stored_size) return none("it ends inside a section");
    if (header.content_checksum != checksum(stored)) return none("a section is damaged");
    if (header.kind < 1 || kind > SectionKind::drawn_records) {
      if ((header.flags & kOptionalSection) != 0) continue;
      return Error{fmt::format(
          "{}: the recording has a section of kind {}, which this offwait does not know: a newer one has "
          "written it",
          name_, header.kind)};
    }
    stored_ += bytes.size() + stored.size();
    contents_ += header.content_size;
    if (contents_ > kAlwaysAllowed + kMostExpansion * stored_)
      return none("its sections are longer than those of any recording");
    Section section{kind, {}};
    if (!is_compressed) {
      section.content = std::move(stored);
    } else if (std::optional<std::string> content = uncompressed(stored, header.content_size)) {
      section.content = *std::move(content);
    } else {
      return none("a section is damaged");
    }
    return std::optional<Section>(std::move(section));
  }
}

}  // namespace offwait
