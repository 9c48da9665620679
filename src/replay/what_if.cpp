// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/what_if.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>

#include <fnmatch.h>

namespace offwait {

namespace {

constexpr std::string_view kThreads = "comm:";

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> out;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find_first_of(separators, from), text.size());
    if (to > from) {
      out.push_back(text.substr(from, to - from));
    }
    from = to + 1;
  }
  return out;
}

/// `/2` is 0.5, `*2` is 2.
std::optional<double> factor_of(std::string_view word) {
  if (word.size() < 2 || (word[0] != '/' && word[0] != '*')) {
    return std::nullopt;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(number) || number <= 0) {
    return std::nullopt;
  }
  const double factor = word[0] == '/' ? 1 / number : number;
  return std::isfinite(factor) && factor > 0 ? std::optional(factor) : std::nullopt;
}

std::optional<Resource> resource_of_threads(std::string_view word) {
  for (const Resource resource : {Resource::cpu, Resource::sleep, Resource::remote, Resource::io}) {
    if (word == to_string(resource)) {
      return resource;
    }
  }
  return std::nullopt;
}

/// The words before the factor.
std::optional<WhatIf> part_of(const std::vector<std::string_view>& words) {
  WhatIf out;
  if (words.size() == 1 && words[0] == "cpus") {
    out.resource = Resource::cpus;
    return out;
  }
  if (words.size() == 2 && words[0] == "disk") {
    out.resource = Resource::disk;
    out.disk = words[1];
    return out;
  }
  if (words.size() < 2 || !words[0].starts_with(kThreads) || words[0].size() == kThreads.size()) {
    return std::nullopt;
  }
  const std::optional<Resource> resource = resource_of_threads(words[1]);
  if (!resource || words.size() != (*resource == Resource::io ? 3U : 2U)) {
    return std::nullopt;
  }
  out.resource = *resource;
  out.threads = words[0].substr(kThreads.size());
  if (*resource == Resource::io) {
    out.disk = words[2];
  }
  return out;
}

std::optional<WhatIf> parse_one(std::string_view text) {
  std::vector<std::string_view> words = split(text, " \t");
  if (words.empty()) {
    return std::nullopt;
  }
  const std::optional<double> factor = factor_of(words.back());
  words.pop_back();
  std::optional<WhatIf> out = part_of(words);
  if (!factor || !out) {
    return std::nullopt;
  }
  // Twice as many CPUs do the same work in half of the time.
  out->factor = out->resource == Resource::cpus ? 1 / *factor : *factor;
  return out;
}

std::optional<ActorId> disk_called(const Trace& trace, const std::string& name) {
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    if (trace.actors[id].kind == ActorKind::disk && trace.actors[id].name == name) {
      return id;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<WhatIf>> parse_what_if(std::string_view text) {
  std::vector<WhatIf> out;
  for (const std::string_view part : split(text, ",")) {
    const std::optional<WhatIf> one = parse_one(part);
    if (!one) {
      return Error{"--what-if: '" + std::string(part) +
                       "' is none of 'disk NAME /N', 'cpus *N', 'comm:PATTERN cpu|sleep|remote /N' and "
                       "'comm:PATTERN io DISK /N'",
                   2};
    }
    out.push_back(*one);
  }
  if (out.empty()) {
    return Error{"--what-if names no change; 'disk NAME /2' is one", 2};
  }
  return out;
}

Result<Scenario> scenario_of(const std::vector<WhatIf>& what_ifs, const Trace& trace,
                             const ThreadGroups& groups) {
  Scenario out;
  for (const WhatIf& one : what_ifs) {
    Change change{one.resource, kNoGroup, kNoActor, one.factor};
    if (!one.disk.empty()) {
      const std::optional<ActorId> disk = disk_called(trace, one.disk);
      if (!disk) {
        return Error{"--what-if: nobody waited for a disk called " + one.disk};
      }
      change.device = *disk;
    }
    if (one.threads.empty()) {
      out.push_back(change);
      continue;
    }
    const std::size_t before = out.size();
    for (change.group = 0; change.group < groups.groups.size(); ++change.group) {
      if (::fnmatch(one.threads.c_str(), groups.groups[change.group].name.c_str(), 0) == 0) {
        out.push_back(change);
      }
    }
    if (out.size() == before) {
      return Error{"--what-if: no thread's name matches " + one.threads};
    }
  }
  return out;
}

}  // namespace offwait
