// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/kallsyms.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

namespace offwait {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kLargestVariable = std::uint64_t{64} << 10U;
constexpr std::string_view kCore = "[kernel]";

struct Line {
  std::uint64_t address = 0;
  char type = 0;
  std::string_view name;
  std::string_view module;
};

/// `ffffffff81000000 T name` or `ffffffffc0201000 t name\t[module]`.
std::optional<Line> parse_line(std::string_view text) {
  Line line;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), line.address, 16);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.size() < 4 || text[0] != ' ' || text[2] != ' ') {
    return std::nullopt;
  }
  line.type = text[1];
  text.remove_prefix(3);
  const std::size_t tab = text.find('\t');
  line.name = text.substr(0, tab);
  line.module = tab == std::string_view::npos ? kCore : text.substr(tab + 1);
  if (line.name.empty() || line.module.empty()) {
    return std::nullopt;
  }
  return line;
}

bool is_data(char type) { return std::string_view("dDbBgGrR").find(type) != std::string_view::npos; }

bool is_code(char type) { return type == 't' || type == 'T' || type == 'w' || type == 'W'; }

}  // namespace

KernelSymbols KernelSymbols::parse(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    if (const auto line = parse_line(one)) {
      lines.push_back(*line);
    }
  }
  // Modules and BPF programs come after the kernel, not in order of address.
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.address < b.address; });

  KernelSymbols symbols;
  symbols.restricted_ = !lines.empty() && lines.back().address == 0;
  std::vector<FunctionSymbol> functions;
  std::vector<FunctionSymbol> variables;
  for (std::size_t i = 0, next = 0; i < lines.size() && !symbols.restricted_; ++i) {
    const Line& line = lines[i];
    const bool code = is_code(line.type);
    if (!code && !is_data(line.type)) {
      continue;
    }
    while (next < lines.size() && lines[next].address <= line.address) {
      ++next;
    }
    const std::uint64_t page_rest = kPage - line.address % kPage;
    const bool followed = next < lines.size() && lines[next].module == line.module;
    const std::uint64_t room = next < lines.size() ? lines[next].address - line.address : page_rest;
    const std::uint64_t most = code ? page_rest : kLargestVariable;
    const std::uint64_t size = followed && code ? room : std::min(room, most);
    const std::uint64_t end = size > UINT64_MAX - line.address ? UINT64_MAX : line.address + size;
    (code ? functions : variables)
        .push_back({line.address, size, end, static_cast<std::uint32_t>(symbols.names_.size()), 0});
    symbols.names_.append(line.name).push_back('\0');
    symbols.names_.append(line.module).push_back('\0');
  }
  symbols.ranges_ = FunctionRanges(std::move(functions));
  symbols.data_ = FunctionRanges(std::move(variables));
  symbols.names_.shrink_to_fit();
  return symbols;
}

void KernelSymbols::write(MessageWriter& message) const {
  message.text(names_);
  ranges_.write(message);
  data_.write(message);
  message.number(restricted_ ? 1 : 0);
}

std::optional<KernelSymbols> KernelSymbols::read(MessageReader& message) {
  KernelSymbols symbols;
  symbols.names_ = message.text();
  std::optional<FunctionRanges> ranges = FunctionRanges::read(message, symbols.names_.size());
  std::optional<FunctionRanges> data = FunctionRanges::read(message, symbols.names_.size());
  symbols.restricted_ = message.number() != 0;
  if (!ranges || !data || message.failed()) return std::nullopt;
  symbols.ranges_ = *std::move(ranges);
  symbols.data_ = *std::move(data);
  return symbols;
}

std::optional<KernelFunction> KernelSymbols::find(std::uint64_t address) const {
  return named(ranges_.find(address));
}

std::optional<KernelFunction> KernelSymbols::find_data(std::uint64_t address) const {
  return named(data_.find(address));
}

std::optional<KernelFunction> KernelSymbols::named(const std::optional<FunctionHit>& hit) const {
  if (!hit) {
    return std::nullopt;
  }
  const std::string_view rest = std::string_view(names_).substr(hit->name);
  const std::string_view name = rest.substr(0, rest.find('\0'));
  const std::string_view module = rest.substr(name.size() + 1);
  return KernelFunction{hit->begin, name, module.substr(0, module.find('\0'))};
}

}  // namespace offwait
