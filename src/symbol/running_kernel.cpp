// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/running_kernel.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/read_file.h"
#include "sandbox/message.h"

namespace offwait {
namespace {

constexpr const char* kSymbols = "/proc/kallsyms";
constexpr const char* kModules = "/proc/modules";

}  // namespace

void RunningKernel::set_text(std::string text) {
  text_ = std::move(text);
  ahead_.reset();
  ++texts_set_;
}

bool RunningKernel::begin_ahead(ReadingAhead& ahead) {
  if (std::exchange(ahead_begun_, true)) return false;
  modules_ahead_ = loaded_modules(read_file(kModules));
  const UniqueFd file(::open(kSymbols, O_RDONLY | O_CLOEXEC));
  Confinement confinement;
  confinement.descriptors = {file.get()};
  confinement.output = std::size_t{64} << 20U;
  const auto read = [&](const ConfinedOutput& out) {
    MessageWriter message;
    KernelSymbols::parse(text_.empty() ? read_all(file.get()) : text_).write(message);
    out.write(message.bytes());
  };
  ahead.begin(ConfinedBeside::start(read, confinement), [this, texts = texts_set_](const Confined& confined) {
    if (texts != texts_set_) return;
    MessageReader message(confined.output);
    ahead_ = KernelSymbols::read(message);
    if (ahead_ && (ahead_->empty() || ahead_->restricted())) ahead_.reset();
  });
  return true;
}

const KernelSymbols& RunningKernel::symbols() {
  if (read_) return symbols_;
  if (ahead_ && (!text_.empty() || loaded_modules(read_file(kModules)) == modules_ahead_)) {
    read_ = true;
    was_read_ahead_ = text_.empty();
    symbols_ = *std::exchange(ahead_, std::nullopt);
  } else {
    read();
  }
  return symbols_;
}

void RunningKernel::read() {
  read_ = true;
  was_read_ahead_ = false;
  symbols_ = KernelSymbols::parse(text_.empty() ? read_file(kSymbols) : text_);
}

std::optional<KernelFunction> RunningKernel::find(std::uint64_t address) {
  const auto found = symbols().find(address);
  if (found || !was_read_ahead_) return found;
  read();  // a BPF program may have been loaded since
  return symbols_.find(address);
}

std::optional<KernelFunction> RunningKernel::find_data(std::uint64_t address) {
  return symbols().find_data(address);
}

std::string RunningKernel::complaint() const {
  if (!read_) return {};
  if (symbols_.restricted())
    return "kernel frames have no names: /proc/kallsyms hides their addresses; give offwait CAP_SYSLOG, too, "
           "and set kernel.kptr_restrict to 0 or 1 if it is 2";
  return symbols_.empty() ? "kernel frames have no names: /proc/kallsyms cannot be read" : std::string();
}

std::string loaded_modules(std::string_view text) {
  std::string modules;
  // `NAME SIZE USES USERS STATE ADDRESS`, and perhaps more
  constexpr std::size_t kAddress = 5;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    for (std::size_t field = 0; !line.empty(); ++field) {
      const std::string_view word = line.substr(0, line.find(' '));
      line.remove_prefix(std::min(word.size() + 1, line.size()));
      if (field == 0 || field == kAddress) modules.append(word).push_back(' ');
    }
  }
  return modules;
}

}  // namespace offwait
