// SPDX-License-Identifier: GPL-2.0-or-later
// Turns addresses into frames (model/frame.h). Where no table covers an address the frame is a place in a
// module, never the nearest name. Reading the tables of a file takes at most 5 s of CPU time, and all files
// together a minute; a note says where that was not enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/frame.h"
#include "process/address_spaces.h"
#include "process/mapped_files.h"
#include "process/proc_maps.h"
#include "process/process_root.h"
#include "symbol/code_file.h"
#include "symbol/debug_files.h"
#include "symbol/module_frames.h"
#include "symbol/reading_ahead.h"
#include "symbol/running_kernel.h"

namespace offwait {

struct FrameAddress {
  std::int32_t tgid = 0;  ///< 0: in the kernel
  std::uint64_t pc = 0;
  /// Set for every frame but the leaf and a frame that a signal interrupted. The function is then the one
  /// that contains pc − 1, which is the call: a call that does not return can be the last instruction of its
  /// function. Offsets are always those of `pc` itself.
  bool return_address = false;
  friend bool operator==(const FrameAddress&, const FrameAddress&) = default;
  // clang-tidy 14 takes a 0 that it generates itself for one written here.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const FrameAddress&, const FrameAddress&) = default;
};

/// Where data of a process or of the kernel lie.
struct DataName {
  std::string symbol;  ///< the variable, demangled; empty: none is known
  /// The file that has the variable, as module names of frames; empty: the data are in no file's variables.
  std::string module;
  std::uint64_t offset = 0;  ///< from the variable's start; without one, the virtual address in the file
  std::optional<Mapping> shared{};  ///< the mapping that other processes may share, if it lies in one
};

struct DataAddress {
  std::int32_t tgid = 0;  ///< 0: in the kernel
  std::uint64_t address = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const DataAddress&, const DataAddress&) = default;
};

/// This class is not thread-safe. All text returned holds hostile bytes: escape it in every output.
class Symbolizer {
 public:
  /// `server` is asked for debug files that are not on this host.
  explicit Symbolizer(DebugServer server = {});
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;
  Symbolizer(Symbolizer&&) = delete;
  Symbolizer& operator=(Symbolizer&&) = delete;

  /// Opens the files behind the mappings of a process, so that its addresses have names even after it exits,
  /// executes another program or deletes its files. Call it while the process lives, and again when its
  /// mappings change; each file is opened once for all processes. Where a later call has no mapping, earlier
  /// calls still count. A copy (AddressSpace::copied_from) has the names of its original until it is noted
  /// again. A file that cannot be opened, or is no longer the one that is mapped, has no names but is still a
  /// module.
  void note_mappings(const AddressSpace& space);

  /// Forgets processes that have exited, and the files that only they had mapped.
  void forget(const std::vector<std::int32_t>& tgids);

  /// Reads the symbol tables of the kernel and of noted files, the largest first, in processes beside this
  /// one and while a recording goes on (reading_ahead.h). Call it between drains: it begins with one table or
  /// takes what was read of one, in some milliseconds, and often does nothing.
  void read_ahead(Nanos now);

  /// Sets text in the form of /proc/kallsyms to use instead of that file. Call it before frames().
  void set_kernel_symbols(std::string text) { kernel_.set_text(std::move(text)); }

  /// The frames at each address, innermost first: at least one, after the functions inlined there.
  /// - A function with a name has a module: a file name without directory, `[vdso]`, `[kernel]`, `[ext4]`, or
  ///   `perf-PID.map` for code that a JIT compiler lists there. It has a file and a line where debug
  ///   information has them.
  /// - A function without a name has a `begin` if .eh_frame says where it begins.
  /// - Where nothing covers the address, `offset` is the virtual address in the file (the number that
  ///   addr2line takes), or the offset in the file if that is not ELF or cannot be read. The module `anon` is
  ///   executable memory without a file and `unknown` is memory with no known mapping; there, and for
  ///   `kernel`, `offset` is the address itself.
  /// All hostile files are read here, in confined processes; a file that crashes its reader or takes too long
  /// costs only its own names. Ask for all addresses in one call.
  std::vector<std::vector<Frame>> frames(const std::vector<FrameAddress>& addresses);

  /// What is known of each address. Ask for all in one call, as of frames().
  std::vector<DataName> data_names(const std::vector<DataAddress>& addresses);

  /// The build ids, in hexadecimal digits, of the files that note_mappings() has opened, by their paths in
  /// the mappings. Nothing else of the files is read.
  std::map<std::string, std::string> build_ids();

  /// False if note_mappings() has seen the process but no executable mapping for the return address, which
  /// then is not one. True if the process was never seen.
  bool is_code(std::int32_t tgid, std::uint64_t return_address) const;
  /// Whether the process ran a program of 32 bits when its mappings were noted last.
  bool is_32_bit(std::int32_t tgid) const;

  /// The processes with a JVM, as far as note_mappings() has seen.
  std::vector<std::int32_t> java_processes() const;

  /// Sentences for the user about missing names. May hold names of files.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  class Batch;
  struct Region {
    Mapping mapping;
    std::uint64_t end = 0;             // mapping.end, or less where a later mapping lies over it
    std::shared_ptr<CodeFile> module;  // null: no names
  };
  /// By first address. What a later note does not cover stays as earlier notes left it.
  using Regions = std::map<std::uint64_t, Region>;
  struct Process {
    Regions regions;
    std::map<std::uint64_t, Mapping> shared;  // by begin; disjoint
    std::shared_ptr<ProcessRoot> root;        // null: ours, or unknown
    ProcessStatus status;
    bool is_32_bit = false;
  };

  static bool is_java(const Process& process);
  /// The process whose mappings count for this one.
  std::int32_t original_of(std::int32_t tgid) const;
  /// The shared mapping that holds the address, or null.
  static const Mapping* shared_at(const Process& process, std::uint64_t address);
  /// The region that holds the address, or null.
  static const Region* region_at(const Regions& regions, std::uint64_t address);
  /// Puts `mapping` in place of what was known for its range.
  void note(std::int32_t tgid, Process& process, const Mapping& mapping);
  void note_identity(std::int32_t tgid, Process& process);
  std::shared_ptr<CodeFile> open_file(std::int32_t tgid, const Process& process, const Mapping& mapping);
  std::shared_ptr<CodeFile> copy_vdso(std::int32_t tgid, const Mapping& mapping);
  std::shared_ptr<CodeFile> largest_unread() const;
  void begin_tables_of(const std::shared_ptr<CodeFile>& file);
  void warn_of_kernel();
  void warn_once(std::string warning);
  /// Calls use(module, files) for each module whose file can be read, with its debug files open.
  void with_debug_files(const std::vector<CodeFile*>& modules,
                        const std::function<void(CodeFile&, const ModuleFiles&)>& use);

  DebugServer server_;
  std::optional<ProcessRoot> own_root_;
  std::unordered_map<std::int32_t, Process> processes_;
  std::unordered_map<std::int32_t, std::int32_t> copies_;  // their originals (AddressSpace::copied_from)
  std::map<ProcessRoot::Identity, std::shared_ptr<ProcessRoot>> roots_;
  std::map<FileIdentity, std::shared_ptr<CodeFile>> files_;
  std::deque<std::shared_ptr<CodeFile>> open_;    // those that hold a descriptor
  std::vector<std::shared_ptr<CodeFile>> vdsos_;  // one for each ABI
  ReadingAhead ahead_;
  RunningKernel kernel_;
  std::vector<std::string> warnings_;
};

}  // namespace offwait
