// SPDX-License-Identifier: GPL-2.0-or-later
// The unwind tables of the recorded processes in the maps of the BPF programs (offwait/unwind.h): which
// process has which file mapped where, and the rows of each file, once for all processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "offwait/unwind.h"
#include "process/address_spaces.h"
#include "process/mapped_files.h"
#include "unwind/eh_frame.h"
#include "unwind/walk.h"

namespace offwait {

/// Not for several threads at once.
class UnwindTables {
 public:
  /// Descriptors of the loaded maps; they stay the caller's.
  struct Maps {
    int superblocks = -1;
    int mappings = -1;
    int address_spaces = -1;
  };

  explicit UnwindTables(Maps maps) : maps_(maps) {}
  ~UnwindTables();
  UnwindTables(const UnwindTables&) = delete;
  UnwindTables& operator=(const UnwindTables&) = delete;
  UnwindTables(UnwindTables&&) = delete;
  UnwindTables& operator=(UnwindTables&&) = delete;

  /// What a process has mapped now: what is new gets a table, and stacks are walked by it from then on. A
  /// file without a usable table is mapped all the same. An Error only if the kernel refuses an update.
  Status update(const AddressSpace& now);

  /// The process is gone.
  void forget(std::int32_t tgid);

  /// The rules of the process as the kernel has them now, for a walk in user space: until the next update.
  /// Without any where nothing is known of the process.
  FindCode rules_of(std::int32_t tgid);

  /// Files whose table did not fit any more.
  std::size_t left_out() const { return left_out_; }

 private:
  /// The rows of a file from `first` on, as many as one index block can name.
  struct Piece {
    std::uint32_t first = 0;
    std::uint32_t index = 0;
  };
  struct File {
    std::uint64_t base = 0;
    std::vector<CodeSegment> segments;
    std::vector<Piece> pieces;  ///< empty: no table
  };
  struct Published {
    std::vector<Mapping> mappings;
    std::vector<const File*> files;  ///< of each mapping; null: none
    std::uint32_t number = 0;        ///< key in the kernel's `mappings`; 0: none yet
  };

  /// A mapping's file, or the vdso, whose table has not been read yet.
  struct Unread {
    OpenedFile file;
    std::string image;
    std::vector<std::size_t> mappings;  ///< by index
  };

  void find_files(std::int32_t tgid, const std::vector<Mapping>& mappings, std::vector<const File*>& files,
                  const std::vector<bool>& known);
  File keep(const std::optional<std::string>& packed);
  Result<File> store(const UnwindTable& table);
  Result<std::uint32_t> add_blocks(std::uint32_t count);
  offwait_unwind_block& block(std::uint32_t number);
  offwait_unwind_row row_at(std::uint32_t index, std::uint64_t pc);
  Status publish(std::int32_t tgid, Published& space);

  Maps maps_;
  std::map<FileIdentity, File> files_;
  std::map<std::string, File> vdsos_;  // by image
  std::unordered_map<std::int32_t, Published> spaces_;
  std::vector<offwait_unwind_block*> superblocks_;
  std::uint32_t blocks_ = 0;
  std::uint32_t last_number_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace offwait
