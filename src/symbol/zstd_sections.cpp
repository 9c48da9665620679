// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/zstd_sections.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <gelf.h>
#include <zstd.h>

#include "symbol/elf_file.h"

namespace offwait {
namespace {

constexpr std::uint64_t kMostUnpacked = std::uint64_t{1} << 30U;
constexpr std::uint32_t kZstd = 2;  // ELFCOMPRESS_ZSTD, which older headers lack

/// The plain bytes of a section's; nothing if it is not compressed with zstd, or is damaged.
std::optional<std::vector<char>> unpacked(std::string_view section, std::uint64_t most) {
  Elf64_Chdr header{};
  if (section.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, section.data(), sizeof(header));
  if (header.ch_type != kZstd || header.ch_size == 0 || header.ch_size > most) return std::nullopt;
  const std::string_view packed = section.substr(sizeof(header));
  std::vector<char> out(header.ch_size);
  if (ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size()) != out.size())
    return std::nullopt;
  return out;
}

}  // namespace

std::vector<std::vector<char>> unpack_zstd_sections(Elf* elf) {
  std::vector<std::vector<char>> out;
  if (gelf_getclass(elf) != ELFCLASS64) return out;
  std::uint64_t left = kMostUnpacked;
  for_each_section(elf, [&](Elf_Scn* section, const GElf_Shdr& header, std::string_view) {
    if ((header.sh_flags & SHF_COMPRESSED) == 0 || header.sh_type == SHT_NOBITS) return;
    Elf_Data* const data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return;
    std::optional<std::vector<char>> bytes =
        unpacked({static_cast<const char*>(data->d_buf), data->d_size}, left);
    if (!bytes) return;
    GElf_Shdr plain = header;
    plain.sh_flags &= ~GElf_Xword{SHF_COMPRESSED};
    plain.sh_size = bytes->size();
    if (gelf_update_shdr(section, &plain) == 0) return;
    left -= bytes->size();
    out.push_back(*std::move(bytes));
    // libdw asks for the section in one of these two forms.
    for (Elf_Data* const form : {data, elf_getdata(section, nullptr)}) {
      if (form == nullptr) continue;
      form->d_buf = out.back().data();
      form->d_size = out.back().size();
      form->d_type = ELF_T_BYTE;
    }
  });
  return out;
}

}  // namespace offwait
