// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses → the text of a frame, as design.md §5 has it. Names come from symbol tables; what they do
// not cover is shown as a place in a module, never as the nearest name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "process/mapped_files.h"
#include "process/proc_maps.h"
#include "symbol/demangle.h"
#include "symbol/kallsyms.h"

namespace offwait {

/// Not for several threads at once. All text returned holds hostile bytes: escape in every output.
class Symbolizer {
 public:
  Symbolizer();
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;
  Symbolizer(Symbolizer&&) = delete;
  Symbolizer& operator=(Symbolizer&&) = delete;

  /// Notes what the process has mapped executable and opens the files behind it, so that its addresses have
  /// names after it has exited, has executed another program or its files are deleted. To be called about
  /// once a second for each process: what has not changed costs one read of /proc/TGID/maps, and each file is
  /// opened and (at the first lookup) parsed once for all processes. Where a later snapshot has nothing
  /// mapped, earlier ones still count. False when the process does not exist or may not be looked at. A file
  /// that cannot be opened, or is no longer the one that is mapped, has no names but is still a module.
  bool snapshot(std::int32_t tgid);

  /// A frame in user space:
  ///   `function+0xoff (module)`  demangled, module without directory; `([vdso])` for the vdso
  ///   `[module+0xoff]`           no name covers it; the offset is the virtual address in the file (what
  ///   addr2line
  ///                              takes), or the offset in the file where that is not an ELF file or cannot
  ///                              be read
  ///   `[anon+0xADDR]`            executable memory without a file (JIT); the address in the process
  ///   `[unknown+0xADDR]`         no mapping seen there
  /// `return_address` (every frame but the leaf, and but the one a signal interrupted): the function is
  /// the one that holds pc − 1, the call; a call that does not return can be the last instruction
  /// of its function. The offset is that of `pc` itself in any case.
  std::string user_frame(std::int32_t tgid, std::uint64_t pc, bool return_address);

  /// False when the return address lies where no snapshot of the process had anything executable: then it is
  /// none. True when the process was never seen.
  bool is_code(std::int32_t tgid, std::uint64_t return_address) const;

  /// A frame in the kernel: `function+0xoff ([kernel])`, `function+0xoff ([ext4])`, or `[kernel+0xADDR]`
  /// with the address itself. /proc/kallsyms is read at the first call.
  std::string kernel_frame(std::uint64_t pc, bool return_address);

  /// What the user should know about names that are missing; complete after the last frame was asked for.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  class Module;
  struct Region {
    Mapping mapping;
    std::uint64_t end = 0;           // mapping.end, or less where a later mapping lies over it
    std::shared_ptr<Module> module;  // null: no names
  };
  /// What later snapshots did not cover again stays: newest first, then older. Key: first address.
  using Regions = std::map<std::uint64_t, Region>;

  std::string demangled(std::string_view symbol);
  /// The region that holds the address, or null.
  static const Region* region_at(const Regions& regions, std::uint64_t address);
  /// Lays `mapping` over what earlier snapshots say.
  void note(std::int32_t tgid, Regions& regions, Mapping mapping);
  std::shared_ptr<Module> open_file(std::int32_t tgid, const Mapping& mapping);
  std::shared_ptr<Module> copy_vdso(std::int32_t tgid, const Mapping& mapping);

  std::unordered_map<std::int32_t, Regions> processes_;
  std::map<FileIdentity, std::shared_ptr<Module>> files_;
  std::deque<std::shared_ptr<Module>> unparsed_;  // each holds a descriptor
  std::vector<std::shared_ptr<Module>> vdsos_;    // one for each ABI
  Demangler demangle_;
  KernelSymbols kernel_;
  bool kernel_read_ = false;
  std::vector<std::string> warnings_;
};

}  // namespace offwait
