// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/debug_links.h"

#include <cstddef>
#include <cstring>
#include <string_view>

#include <elfutils/libdwelf.h>

#include "symbol/elf_file.h"

namespace offwait {
namespace {

constexpr std::uint64_t kLargestLink = 8192;
constexpr std::size_t kLongestBuildId = 64;
constexpr std::size_t kLongestFileName = 255;

std::string_view bytes_of(const Elf_Data& data) {
  return {static_cast<const char*>(data.d_buf), data.d_size};
}

/// The section holds a name, its NUL, padding to four bytes, and the checksum.
void read_debuglink(const Elf_Data& data, DebugLinks& links) {
  const std::string_view name = section_text(data, 0, kLongestFileName + 1);
  const std::size_t at = (name.size() + 4) / 4 * 4;
  if (name.empty() || name.size() > kLongestFileName || name.find('/') != std::string_view::npos ||
      name == "." || name == ".." || at + sizeof(links.debuglink_crc) > data.d_size) {
    return;
  }
  links.debuglink = name;
  std::memcpy(&links.debuglink_crc, bytes_of(data).data() + at, sizeof(links.debuglink_crc));
}

void read_supplement(const Elf_Data& data, DebugLinks& links) {
  const std::string_view name = section_text(data, 0);
  const std::string_view bytes = bytes_of(data);
  if (!name.empty() && name.size() < bytes.size()) {
    links.supplement = name;
    links.supplement_build_id = bytes.substr(name.size() + 1).substr(0, kLongestBuildId);
  }
}

}  // namespace

Result<DebugLinks> read_debug_links(int fd) {
  OFFWAIT_TRY(const auto elf, open_elf(fd));
  DebugLinks links;
  for_each_section(elf.get(), [&links](Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
    if (header.sh_type == SHT_NOBITS || header.sh_size == 0) {
      return;
    }
    if (name == ".debug_info" || name == ".zdebug_info") {
      links.has_lines = true;
    } else if (name == ".gnu_debuglink") {
      if (const Elf_Data* data = section_data(section, kLargestLink)) read_debuglink(*data, links);
    } else if (name == ".gnu_debugaltlink") {
      if (const Elf_Data* data = section_data(section, kLargestLink)) read_supplement(*data, links);
    }
  });
  const void* id = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf.get(), &id);
  if (size > 0 && static_cast<std::size_t>(size) <= kLongestBuildId) {
    links.build_id.assign(static_cast<const char*>(id), static_cast<std::size_t>(size));
  }
  return links;
}

}  // namespace offwait
