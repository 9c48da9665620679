// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/unwind_tables.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include <bpf/bpf.h>
#include <sys/mman.h>

#include "base/unique_fd.h"
#include "sandbox/confined_batch.h"
#include "sandbox/message.h"

namespace offwait {
namespace {

constexpr std::string_view kVdso = "[vdso]";
constexpr std::size_t kSuperblockBytes = OFFWAIT_UNWIND_SUPERBLOCK * sizeof(offwait_unwind_block);
constexpr std::size_t kRowsOfPiece = std::size_t{OFFWAIT_UNWIND_ROWS} * OFFWAIT_UNWIND_LEAVES;
/// The BPF programs compute signed differences of addresses; only the kernel and [vsyscall] are above this.
constexpr std::uint64_t kEndOfUser = std::uint64_t{1} << 63U;
constexpr std::size_t kMostVdsos = 16;

Error kernel_error(const std::string& what) { return Error{what + ": " + std::strerror(errno)}; }

std::string pack(const Result<UnwindTable>& table) {
  MessageWriter message;
  if (!table) return {};
  message.number(static_cast<std::uint64_t>(table->architecture));
  message.number(table->base);
  for (const std::span<const std::byte> bytes :
       {std::as_bytes(std::span(table->segments)), std::as_bytes(std::span(table->rows))}) {
    message.text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  return std::move(message).take();
}

template <class Item>
std::vector<Item> items_of(std::string_view bytes) {
  std::vector<Item> items(bytes.size() / sizeof(Item));
  if (!items.empty()) std::memcpy(items.data(), bytes.data(), items.size() * sizeof(Item));
  return items;
}

/// Reads the answer of the confined process. A hostile file can only spoil its own table: rows out of order
/// cost stacks of that file and no more.
std::optional<UnwindTable> unpack(std::string_view packed) {
  MessageReader message(packed);
  UnwindTable table;
  table.architecture = message.number() == 0 ? Architecture::x86_64 : Architecture::arm64;
  table.base = message.number();
  table.segments = items_of<CodeSegment>(message.text());
  table.rows = items_of<offwait_unwind_row>(message.text());
  if (message.failed() || table.rows.size() > kMostUnwindRows) return std::nullopt;
  return table;
}

std::uint32_t blocks_for(std::size_t rows) {
  return static_cast<std::uint32_t>((rows + OFFWAIT_UNWIND_ROWS - 1) / OFFWAIT_UNWIND_ROWS);
}

}  // namespace

UnwindTables::~UnwindTables() {
  for (offwait_unwind_block* blocks : superblocks_) ::munmap(blocks, kSuperblockBytes);
}

offwait_unwind_block& UnwindTables::block(std::uint32_t number) {
  return superblocks_[number / OFFWAIT_UNWIND_SUPERBLOCK][number % OFFWAIT_UNWIND_SUPERBLOCK];
}

/// Returns the number of the first of `count` consecutive fresh blocks.
Result<std::uint32_t> UnwindTables::add_blocks(std::uint32_t count) {
  const std::uint32_t first = blocks_;
  while (superblocks_.size() * OFFWAIT_UNWIND_SUPERBLOCK < std::size_t{first} + count) {
    if (superblocks_.size() == OFFWAIT_UNWIND_SUPERBLOCKS) return Error{"the unwind tables are full"};
    bpf_map_create_opts options{};
    options.sz = sizeof(options);
    options.map_flags = BPF_F_MMAPABLE;
    const UniqueFd map(bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_rows", sizeof(std::uint32_t),
                                      sizeof(offwait_unwind_block), OFFWAIT_UNWIND_SUPERBLOCK, &options));
    if (!map) return kernel_error("cannot make room for unwind tables");
    void* const memory = ::mmap(nullptr, kSuperblockBytes, PROT_READ | PROT_WRITE, MAP_SHARED, map.get(), 0);
    if (memory == MAP_FAILED) return kernel_error("cannot map the unwind tables");
    const auto index = static_cast<std::uint32_t>(superblocks_.size());
    const int fd = map.get();
    superblocks_.push_back(static_cast<offwait_unwind_block*>(memory));
    if (bpf_map_update_elem(maps_.superblocks, &index, &fd, BPF_ANY) != 0)
      return kernel_error("cannot add unwind tables");
  }
  blocks_ += count;
  return first;
}

Result<UnwindTables::File> UnwindTables::store(const UnwindTable& table) {
  File file;
  file.base = table.base;
  file.segments = table.segments;
  if (table.rows.empty() || table.architecture != kHostArchitecture) return file;
  std::vector<offwait_unwind_row> rows;
  rows.reserve(table.rows.size() + 1);
  // A search must find at least the first row.
  if (table.rows.front().pc != 0) rows.push_back({0, OFFWAIT_UNWIND_NONE, 0, 0});
  rows.insert(rows.end(), table.rows.begin(), table.rows.end());

  for (std::size_t at = 0; at < rows.size(); at += kRowsOfPiece) {
    const std::size_t count = std::min(kRowsOfPiece, rows.size() - at);
    const std::uint32_t leaves = blocks_for(count);
    OFFWAIT_TRY(const std::uint32_t index, add_blocks(1 + leaves));
    offwait_unwind_block& firsts = block(index);
    std::fill(std::begin(firsts.first), std::end(firsts.first), OFFWAIT_UNWIND_UNUSED);
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
      const std::size_t begin = at + std::size_t{leaf} * OFFWAIT_UNWIND_ROWS;
      const std::size_t end = std::min(begin + OFFWAIT_UNWIND_ROWS, at + count);
      offwait_unwind_block& to = block(index + 1 + leaf);
      offwait_unwind_row* const rest =
          std::copy(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                    rows.begin() + static_cast<std::ptrdiff_t>(end), std::begin(to.rows));
      std::fill(rest, std::end(to.rows),
                offwait_unwind_row{OFFWAIT_UNWIND_UNUSED, OFFWAIT_UNWIND_NONE, 0, 0});
      firsts.first[leaf] = rows[begin].pc;
    }
    file.pieces.push_back({rows[at].pc, index});
  }
  return file;
}

UnwindTables::File UnwindTables::keep(const std::optional<std::string>& packed) {
  const std::optional<UnwindTable> table = packed ? unpack(*packed) : std::nullopt;
  if (!table) return {};
  Result<File> stored = store(*table);
  if (stored) return std::move(stored).value();
  ++left_out_;
  return {};
}

/// Finds the files of those mappings that are not in `known`. All new files are read in one confined process.
void UnwindTables::find_files(std::int32_t tgid, const std::vector<Mapping>& mappings,
                              std::vector<const File*>& files, const std::vector<bool>& known) {
  std::vector<Unread> unread;
  std::map<FileIdentity, std::size_t> opened_before;
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    if (known[i]) continue;
    const Mapping& mapping = mappings[i];
    if (mapping.path == kVdso) {
      std::optional<std::string> image = vdso_image(tgid, mapping);
      if (!image) continue;
      if (const auto found = vdsos_.find(*image); found != vdsos_.end()) {
        files[i] = &found->second;
      } else if (vdsos_.size() < kMostVdsos) {
        unread.push_back({{}, std::move(*image), {i}});
      }
    } else if (is_file(mapping)) {
      std::optional<OpenedFile> opened = open_mapped_file(tgid, mapping);
      if (!opened) continue;
      if (const auto found = files_.find(opened->identity); found != files_.end()) {
        files[i] = &found->second;
      } else if (const auto [same, is_new] = opened_before.try_emplace(opened->identity, unread.size());
                 is_new) {
        unread.push_back({std::move(*opened), {}, {i}});
      } else {
        unread[same->second].mappings.push_back(i);
      }
    }
  }
  if (unread.empty()) return;
  ConfinedBatch batch;
  batch.items = unread.size();
  for (const Unread& one : unread) {
    if (one.file.fd) batch.confinement.descriptors.push_back(one.file.fd.get());
  }
  batch.answer = [&unread](std::size_t index) {
    const Unread& one = unread[index];
    return pack(one.file.fd ? read_unwind_table(one.file.fd.get())
                            : read_unwind_table(std::string_view(one.image)));
  };
  ConfinedAnswers answers = answer_confined(batch);
  for (std::size_t i = 0; i < unread.size(); ++i) {
    Unread& one = unread[i];
    File& file = one.file.fd ? files_[one.file.identity] : vdsos_[std::move(one.image)];
    file = keep(std::exchange(answers.answers[i], std::nullopt));
    for (const std::size_t mapping : one.mappings) files[mapping] = &file;
  }
}

Status UnwindTables::publish(std::int32_t tgid, Published& space) {
  auto to = std::make_unique<offwait_mappings>();
  const auto add = [&to](std::uint64_t begin, std::uint64_t end, std::uint64_t bias, std::uint32_t index) {
    if (begin >= end || to->count == OFFWAIT_MAPPINGS) return;
    offwait_mapping* const last = to->count == 0 ? nullptr : &to->at[to->count - 1];
    if (last != nullptr && last->end == begin && last->bias == bias && last->index == index) {
      last->end = end;
    } else {
      to->at[to->count++] = {begin, end, bias, index, 0};
    }
  };
  for (std::size_t i = 0; i < space.mappings.size(); ++i) {
    const Mapping& mapping = space.mappings[i];
    if (mapping.end > kEndOfUser) continue;
    const File* const file = space.files[i];
    const std::uint64_t offset = mapping.path == kVdso ? 0 : mapping.offset;
    const std::uint64_t size = mapping.end - mapping.begin;
    const CodeSegment* segment = nullptr;
    if (file != nullptr && !file->pieces.empty()) {
      for (const CodeSegment& one : file->segments) {
        if (one.offset < offset + size && offset < one.offset + one.size) segment = &one;
      }
    }
    if (segment == nullptr) {
      add(mapping.begin, mapping.end, 0, OFFWAIT_UNWIND_UNUSED);
      continue;
    }
    const std::uint64_t bias = mapping.begin - (offset - segment->offset + segment->address) + file->base;
    for (std::size_t piece = 0; piece < file->pieces.size(); ++piece) {
      const bool is_last = piece + 1 == file->pieces.size();
      // A segment may begin below its first executable address, because padding fills the page.
      const std::uint64_t begin = piece == 0 ? mapping.begin : bias + file->pieces[piece].first;
      const std::uint64_t end = is_last ? mapping.end : bias + file->pieces[piece + 1].first;
      add(std::max(begin, mapping.begin), std::min(end, mapping.end), bias, file->pieces[piece].index);
    }
  }
  for (std::uint32_t i = to->count; i < OFFWAIT_MAPPINGS; ++i) to->at[i].begin = kEndOfUser - 1;

  const std::uint32_t number = ++last_number_;
  if (bpf_map_update_elem(maps_.mappings, &number, to.get(), BPF_NOEXIST) != 0)
    return kernel_error("cannot note the mappings of process " + std::to_string(tgid));
  const offwait_address_space published{number, 0};
  if (bpf_map_update_elem(maps_.address_spaces, &tgid, &published, BPF_ANY) != 0)
    return kernel_error("cannot note the mappings of process " + std::to_string(tgid));
  if (space.number != 0) bpf_map_delete_elem(maps_.mappings, &space.number);
  space.number = number;
  return success();
}

offwait_unwind_row UnwindTables::row_at(std::uint32_t index, std::uint64_t pc) {
  // A hostile file may have code further above its base than tables reach; a search for it would go beyond
  // the last leaf.
  if (pc >= OFFWAIT_UNWIND_UNUSED) return {};
  const auto& firsts = block(index).first;
  const auto leaf = std::upper_bound(std::begin(firsts), std::end(firsts), pc) - std::begin(firsts);
  if (leaf == 0) return {};
  const auto& rows = block(index + static_cast<std::uint32_t>(leaf)).rows;
  const auto* const after =
      std::upper_bound(std::begin(rows), std::end(rows), pc,
                       [](std::uint64_t at, const offwait_unwind_row& row) { return at < row.pc; });
  return after == std::begin(rows) ? offwait_unwind_row{} : *(after - 1);
}

FindCode UnwindTables::rules_of(std::int32_t tgid) {
  const auto mappings = std::make_shared<offwait_mappings>();
  const auto space = spaces_.find(tgid);
  if (space == spaces_.end() || space->second.number == 0 ||
      bpf_map_lookup_elem(maps_.mappings, &space->second.number, mappings.get()) != 0) {
    mappings->count = 0;
  }
  return [this, mappings](std::uint64_t address) -> std::optional<MappedCode> {
    const auto* const begin = std::begin(mappings->at);
    const auto* const after =
        std::upper_bound(begin, begin + mappings->count, address,
                         [](std::uint64_t at, const offwait_mapping& mapping) { return at < mapping.begin; });
    if (after == begin || address >= (after - 1)->end) return std::nullopt;
    const offwait_mapping& mapping = *(after - 1);
    if (mapping.index == OFFWAIT_UNWIND_UNUSED) return MappedCode{};
    return MappedCode{true, row_at(mapping.index, address - mapping.bias)};
  };
}

void UnwindTables::forget(std::int32_t tgid) {
  bpf_map_delete_elem(maps_.address_spaces, &tgid);  // also removes what a fork has inherited
  const auto space = spaces_.find(tgid);
  if (space == spaces_.end()) return;
  if (space->second.number != 0) bpf_map_delete_elem(maps_.mappings, &space->second.number);
  spaces_.erase(space);
}

Status UnwindTables::update(const AddressSpace& now) {
  const std::int32_t tgid = now.tgid;
  Published& space = spaces_[tgid];
  offwait_address_space published{};
  const bool is_published = space.number != 0 &&
                            bpf_map_lookup_elem(maps_.address_spaces, &tgid, &published) == 0 &&
                            published.mappings == space.number;
  if (is_published && space.mappings == now.mappings) {
    if (published.asked == 0) return success();
    published.asked = 0;
    if (bpf_map_update_elem(maps_.address_spaces, &tgid, &published, BPF_ANY) != 0)
      return kernel_error("cannot note the mappings of process " + std::to_string(tgid));
    return success();
  }
  std::vector<const File*> files(now.mappings.size());
  std::vector<bool> known(now.mappings.size());
  std::size_t old = 0;
  for (std::size_t i = 0; i < now.mappings.size(); ++i) {
    const Mapping& mapping = now.mappings[i];
    while (old < space.mappings.size() && space.mappings[old].begin < mapping.begin) ++old;
    known[i] = old < space.mappings.size() && space.mappings[old] == mapping;
    if (known[i]) files[i] = space.files[old];
  }
  find_files(tgid, now.mappings, files, known);
  space.mappings = now.mappings;
  space.files = std::move(files);
  return publish(tgid, space);
}

}  // namespace offwait
