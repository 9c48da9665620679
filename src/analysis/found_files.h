// SPDX-License-Identifier: GPL-2.0-or-later
// The part of the findings that says which files threads waited for, and which ones requests to disks were
// for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "code/calls.h"
#include "model/backtrace.h"
#include "model/object.h"

namespace offwait {

/// What a thread does at a file while it waits: `sync` until what was written is on the disk; `read` also for
/// pages of memory that the file is behind; `other` where one system call serves for all of them (io_uring),
/// and where none of them is known.
std::string_view to_string(FileAction action);

/// Time waited, by what for.
struct ActionTimes {
  double sync_s = 0;
  double write_s = 0;
  double read_s = 0;
  double other_s = 0;

  void add(FileAction action, double time_s);
  /// The one with most time; `other` if there is no time.
  FileAction longest() const;
  /// Most of the time is in syncs, or in writes that are mostly synced afterwards.
  bool are_syncs() const;
};

/// What an object of Trace::objects is called that a request to a disk can be for.
struct FoundFileName {
  Object::Kind kind = Object::Kind::file;  ///< file, journal or metadata
  std::string path{};  ///< as the process that used it sees it; empty: not known; hostile bytes
  bool deleted = false;
  DeviceNumber device{};
  std::uint64_t inode = 0;
  std::string disk{};  ///< the disk that most of its bytes went to or came from; empty: there was no request
  friend bool operator==(const FoundFileName&, const FoundFileName&) = default;
};

/// Waits and requests of one file, or of what a file system writes on its own behalf. Waits are those of the
/// target's threads, requests anybody's; a request counts if it was complete in the window.
struct FoundFile {
  /// A system call without its variants (`pwrite64` is `pwrite`), or `page fault`; empty: not known. A call
  /// that is synced at once is another one than the same call that is not.
  struct Call {
    std::string name;
    FileAction action = FileAction::other;
    std::uint64_t waits = 0;
    double wait_s = 0;
  };
  /// Threads that are called alike.
  struct Threads {
    std::string name;  ///< hostile bytes
    std::size_t count = 0;
    double wait_s = 0;
  };

  FoundFileName name;
  std::uint64_t waits = 0;  ///< that ended in the window
  double wait_s = 0;
  double longest_s = 0;     ///< the longest wait, inside the window
  std::uint64_t ios = 0;    ///< requests to disks
  std::uint64_t bytes = 0;  ///< of all of them
  // Parts of `bytes`, 0 in recordings that do not say:
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  std::vector<Call> calls{};       ///< by wait_s, the longest first
  std::vector<Threads> threads{};  ///< likewise, the first kMostFileThreads
  Backtrace stack{};               ///< where most of the waiting was; empty when unknown
  double stack_s = 0;              ///< the part of wait_s waited there
};
inline constexpr std::size_t kMostFileThreads = 16;

/// The most files that have rows.
inline constexpr std::size_t kMostFiles = 1000;

struct FoundFiles {
  std::vector<FoundFile> rows;  ///< by wait_s, the longest first; then by bytes
  std::uint64_t files = 0;      ///< how many there were: `rows` has the first kMostFiles
  double wait_s = 0;            ///< of all files
  std::uint64_t ios = 0;        ///< likewise, and of requests whose file is not known
  std::uint64_t bytes = 0;
  std::uint64_t unknown_ios = 0;  ///< part of `ios`: the file is not known, or it is a flush of the disk
  std::uint64_t unknown_bytes = 0;
  double unknown_s = 0;  ///< waited by the target for disks and pages of files, for which file is not known
};

}  // namespace offwait
