// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps the unwind tables of the recorded processes in the maps of the BPF programs (offwait/unwind.h): which
// file each process has mapped where, and the rows of each file, once for all processes. Files are told apart
// by device, inode, size and time of change (FileIdentity) and not by build id, which is only what the file
// claims.
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

/// This class is not thread-safe.
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

  /// Takes the present mappings of a process; from then on its stacks are walked with the tables of the new
  /// ones. A file without a usable table is mapped all the same. Returns an Error only if the kernel refuses
  /// an update.
  Status update(const AddressSpace& now);

  /// Forgets a process that is gone.
  void forget(std::int32_t tgid);

  /// The rules of the process as the kernel has them now, for a walk in user space; valid until the next
  /// update. Finds no code if nothing is known of the process.
  FindCode rules_of(std::int32_t tgid);

  /// How many files have a table for which there was no room.
  std::size_t left_out() const { return left_out_; }

 private:
  /// A part of a file's rows, from `first` on: as many as one index block can name.
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
    std::vector<const File*> files;  ///< the file of each mapping; null: none
    std::uint32_t number = 0;        ///< key in the kernel's `mappings`; 0: none yet
  };

  /// A mapped file, or the vdso, whose table has not been read yet.
  struct Unread {
    OpenedFile file;
    std::string image;
    std::vector<std::size_t> mappings;  ///< indices of its mappings
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
