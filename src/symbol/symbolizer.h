// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses → frames (model/frame.h). What no table covers is a place in a module, never the nearest name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
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
#include "symbol/debug_files.h"
#include "symbol/kallsyms.h"

namespace offwait {

struct FrameAddress {
  std::int32_t tgid = 0;  ///< 0: in the kernel
  std::uint64_t pc = 0;
  /// Set for every frame but the leaf and a frame that a signal interrupted. The function is then the one
  /// that holds pc − 1, which is the call: a call that does not return can be the last instruction of its
  /// function. Offsets are those of `pc` itself in any case.
  bool return_address = false;
  friend bool operator==(const FrameAddress&, const FrameAddress&) = default;
  // clang-tidy 14 takes its own 0 for one of ours.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const FrameAddress&, const FrameAddress&) = default;
};

/// Not for several threads at once. All text returned holds hostile bytes: escape in every output.
class Symbolizer {
 public:
  /// `server` is asked for debug files that are not on this host.
  explicit Symbolizer(DebugServer server = {});
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;
  Symbolizer(Symbolizer&&) = delete;
  Symbolizer& operator=(Symbolizer&&) = delete;

  /// Opens the files behind what a process has mapped, so that its addresses have names after it has exited,
  /// has executed another program or its files are deleted. To be called while the process lives, and again
  /// when it has mapped something else; each file is opened once for all processes. Where a later call has
  /// nothing mapped, earlier ones still count. A file that cannot be opened, or is no longer the one that is
  /// mapped, has no names but is still a module.
  void note_mappings(const AddressSpace& space);

  /// Text in the form of /proc/kallsyms, to be used instead of that. Before frames().
  void set_kernel_symbols(std::string text) { kallsyms_ = std::move(text); }

  /// The frames at each address, innermost first: at least one, and before it the functions inlined there.
  /// - A function with a name: module without directory, `[vdso]`, `[kernel]`, `[ext4]`, or `perf-PID.map`,
  ///   code of a JIT compiler that says what it has made; file and line where debug information has them.
  /// - One without a name has a `begin` where .eh_frame says where it begins.
  /// - Where nothing covers the address, `offset` is the virtual address in the file (what addr2line takes),
  ///   or the offset in the file where that is not an ELF file or cannot be read; of module `anon`,
  ///   executable memory without a file, and of `unknown`, where no mapping is known, the address in the
  ///   process; of `kernel` the address itself.
  /// All hostile files are read here, in confined processes; what crashes or takes too long costs its own
  /// names. To be asked for all addresses at once.
  std::vector<std::vector<Frame>> frames(const std::vector<FrameAddress>& addresses);

  /// False when the return address lies where no note_mappings() of the process had anything executable: then
  /// it is none. True when the process was never seen.
  bool is_code(std::int32_t tgid, std::uint64_t return_address) const;

  /// Processes that have a JVM in them, as far as note_mappings() has seen.
  std::vector<std::int32_t> java_processes() const;

  /// What the user should know about names that are missing. May hold names of files.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  class Module;
  class Batch;
  struct Region {
    Mapping mapping;
    std::uint64_t end = 0;           // mapping.end, or less where a later mapping lies over it
    std::shared_ptr<Module> module;  // null: no names
  };
  /// What later notes did not cover again stays: newest first, then older. Key: first address.
  using Regions = std::map<std::uint64_t, Region>;
  struct Process {
    Regions regions;
    std::shared_ptr<ProcessRoot> root;  // null: ours, or unknown
    ProcessStatus status;
  };

  static bool is_java(const Process& process);
  /// The region that holds the address, or null.
  static const Region* region_at(const Regions& regions, std::uint64_t address);
  /// Lays `mapping` over what is known from before.
  void note(std::int32_t tgid, Process& process, const Mapping& mapping);
  void note_identity(std::int32_t tgid, Process& process);
  std::shared_ptr<Module> open_file(std::int32_t tgid, const Process& process, const Mapping& mapping);
  std::shared_ptr<Module> copy_vdso(std::int32_t tgid, const Mapping& mapping);
  const KernelSymbols& kernel();

  DebugServer server_;
  std::optional<ProcessRoot> own_root_;
  std::unordered_map<std::int32_t, Process> processes_;
  std::map<ProcessRoot::Identity, std::shared_ptr<ProcessRoot>> roots_;
  std::map<FileIdentity, std::shared_ptr<Module>> files_;
  std::deque<std::shared_ptr<Module>> open_;    // those that hold a descriptor
  std::vector<std::shared_ptr<Module>> vdsos_;  // one for each ABI
  std::string kallsyms_;
  KernelSymbols kernel_;
  bool kernel_read_ = false;
  std::vector<std::string> warnings_;
};

}  // namespace offwait
