// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/what_if.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/exit_status.h"
#include "code/calls.h"
#include "model/called.h"
#include "model/name_patterns.h"
#include "model/outline.h"

namespace offwait {

namespace {

constexpr std::string_view kThreads = "comm:";
constexpr std::string_view kService = "service";
constexpr std::string_view kFunction = "function";
constexpr std::string_view kLock = "lock";
constexpr std::string_view kFree = "free";
constexpr std::string_view kBlanks = " \t\r\n";
constexpr const char* kExamples = "'disk vda /2', 'cpus *2' or 'comm:worker* cpu /2'";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

/// The non-empty parts between separators.
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

/// The text from the beginning of one word of it to the end of another one.
std::string_view from_to(std::string_view first, std::string_view last) {
  return {first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data())};
}

/// `/2` is 0.5, `*2` is 2.
Result<double> parse_factor(std::string_view word) {
  constexpr double kLeast = 0.001;
  constexpr double kMost = 1000;
  if (word[0] != '/' && word[0] != '*') {
    return Error{fmt::format(
        "'{}' stands where a factor is expected: /2 is half of the time, *2 twice as much", word)};
  }
  double number = 0;
  const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size() || !(number >= kLeast && number <= kMost)) {
    return Error{fmt::format("'{}' is no factor: a number from 0.001 to 1000 follows {}, as in {}2", word,
                             word[0], word[0])};
  }
  return word[0] == '/' ? 1 / number : number;
}

constexpr std::array kOfThreads = {Resource::cpu, Resource::sleep, Resource::remote, Resource::io,
                                   Resource::threads};
constexpr std::array kOfFunctions = {Resource::cpu, Resource::io, Resource::sleep, Resource::remote,
                                     Resource::runnable};

std::optional<Resource> resource_named(std::string_view word, std::span<const Resource> resources) {
  const auto found = std::find_if(resources.begin(), resources.end(),
                                  [word](Resource resource) { return word == to_string(resource); });
  return found == resources.end() ? std::nullopt : std::optional(*found);
}

/// What threads spend time on. `words` begin with `comm:PATTERN`; the pattern goes on to the resource.
Result<NamedChange> parse_threads(const std::vector<std::string_view>& words) {
  const std::size_t last = words.size() - 1;
  const bool at_disk = last >= 2 && words[last - 1] == to_string(Resource::io);
  const std::size_t at = at_disk ? last - 1 : last;
  if (at == 0) {
    return Error{fmt::format(
        "'{}' needs cpu, sleep, remote, io DISK or threads behind it, as in 'comm:worker* cpu /2'",
        words[0])};
  }
  const std::optional<Resource> resource = resource_named(words[at], kOfThreads);
  if (!resource) {
    return Error{
        fmt::format("'{}' is nothing that threads spend time on: write cpu, sleep, remote, io DISK "
                    "or threads, as in 'comm:worker* cpu /2'",
                    words[at])};
  }
  if (*resource == Resource::io && !at_disk) {
    return Error{"'io' needs the name of a disk behind it, as in 'comm:worker* io vda /2'"};
  }
  NamedChange out;
  out.resource = *resource;
  out.threads = trimmed(from_to(words[0], words[at - 1]).substr(kThreads.size()));
  out.disk = at_disk ? words[last] : "";
  if (out.threads.empty()) {
    return Error{"'comm:' needs the name of threads behind it, or a pattern, as in 'comm:worker* cpu /2'"};
  }
  return out;
}

/// `words` begin with `function`. The name may have blanks: the resource is the last word, if that is one.
Result<NamedChange> parse_function(const std::vector<std::string_view>& words) {
  NamedChange out;
  const std::optional<Resource> resource = resource_named(words.back(), kOfFunctions);
  const std::size_t names = words.size() - 1 - (resource && words.size() > 2 ? 1 : 0);
  if (names == 0) {
    return Error{"'function' needs the name of a function behind it, as in 'function ns::parse cpu /2'"};
  }
  out.whole_function = !resource || words.size() == 2;
  if (!out.whole_function) out.resource = *resource;
  out.function = from_to(words[1], words[names]);
  return out;
}

/// `words` begin with `lock`.
Result<NamedChange> parse_lock(const std::vector<std::string_view>& words) {
  if (words.size() < 2) {
    return Error{
        "'lock' needs the name of a lock behind it, as in 'lock LOCK_open /2' or 'lock LOCK_open free'"};
  }
  NamedChange out;
  out.resource = Resource::held;
  out.lock = from_to(words[1], words.back());
  return out;
}

/// The words before the factor.
Result<NamedChange> parse_part(const std::vector<std::string_view>& words) {
  if (words[0] == kService) {
    if (words.size() < 2) {
      return Error{"'service' needs where it is asked behind it, as in 'service 10.0.0.5:3306 /2'"};
    }
    NamedChange out{Resource::remote, "", ""};
    out.service = from_to(words[1], words.back());
    return out;
  }
  if (words[0] == kFunction) return parse_function(words);
  if (words[0] == kLock) return parse_lock(words);
  const bool is_cpus = words[0] == to_string(Resource::cpus);
  if (!is_cpus && words[0] != to_string(Resource::disk)) {
    if (words[0].starts_with(kThreads)) {
      return parse_threads(words);
    }
    return Error{fmt::format("'{}' is nothing that can be changed: write {}", words[0], kExamples)};
  }
  const std::size_t expected = is_cpus ? 1 : 2;
  if (words.size() < expected) {
    return Error{"'disk' needs the name of a disk behind it, as in 'disk vda /2'"};
  }
  if (words.size() > expected) {
    return Error{fmt::format("'{}' is one word too many: write {}", words[expected],
                             is_cpus ? "'cpus *2'" : "'disk vda /2'")};
  }
  return NamedChange{is_cpus ? Resource::cpus : Resource::disk, "", std::string(is_cpus ? "" : words[1])};
}

Result<NamedChange> parse_change(std::string_view text) {
  std::vector<std::string_view> words = split(text, kBlanks);
  if (words.size() == 1 && (words[0][0] == '/' || words[0][0] == '*')) {
    return Error{fmt::format("'{}' says how much, but not of what: write {}", words[0], kExamples)};
  }
  const bool frees = words[0] == kLock && words.back() == kFree;
  double factor = 0;
  if (!frees) {
    OFFWAIT_TRY(factor, parse_factor(words.back()));
  }
  words.pop_back();
  OFFWAIT_TRY(NamedChange out, parse_part(words));
  if (frees) out.resource = Resource::waited;
  // Twice as many CPUs, or threads, do the same work in half of the time.
  const bool is_number = out.resource == Resource::cpus || out.resource == Resource::threads;
  out.factor = is_number ? 1 / factor : factor;
  return out;
}

bool is_same_part(const NamedChange& a, const NamedChange& b) {
  return a.resource == b.resource && a.threads == b.threads && a.disk == b.disk && a.service == b.service &&
         a.function == b.function && a.whole_function == b.whole_function && a.lock == b.lock;
}

Error in_option(std::string_view part, const std::string& what) {
  return Error{part.empty() ? "--what-if " + what : fmt::format("--what-if '{}': {}", part, what), kUsage};
}

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

/// `there are 'a' and 'b'`: the names that are part of the one that was asked for, or have it as a part. If
/// there are none of these, all of them.
std::string names_near(const std::string& asked, const std::set<std::string>& names) {
  const std::string wanted = in_small_letters(asked);
  std::set<std::string> near;
  for (const std::string& name : names) {
    const std::string known = in_small_letters(name);
    constexpr std::size_t kSaysSomething = 4;
    const bool is_near = known.find(wanted) != std::string::npos ||
                         (known.size() >= kSaysSomething && wanted.find(known) != std::string::npos);
    if (is_near) near.insert(name);
  }
  return names_there_are(near.empty() ? names : near);
}

/// A name as an answer prints it, `127.0.0.1:7501 (node) and 1 more`, without what follows the first word.
std::string first_word(const std::string& name) { return name.substr(0, name.find(' ')); }

Result<ActorId> disk_called(const Trace& trace, const std::string& name) {
  std::set<std::string> names;
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    if (trace.actors[id].kind != ActorKind::disk) {
      continue;
    }
    if (trace.actors[id].name == name) {
      return id;
    }
    names.insert(trace.actors[id].name);
  }
  return Error{fmt::format("no recorded disk is called '{}'; {}", name, names_near(name, names))};
}

Result<ServiceId> service_called(const Trace& trace, const ThreadGroups& groups, const std::string& name) {
  std::set<std::string> names;
  const Services services = asked_services(trace, groups);
  for (ServiceId id = 0; id < services.all.size(); ++id) {
    for (const Peer& peer : services.all[id].peers) {
      if (to_string(peer) == name || to_string(peer) == first_word(name)) {
        return id;
      }
      names.insert(to_string(peer));
    }
  }
  return Error{fmt::format("the target does not wait for a service '{}'; {}", name, names_near(name, names))};
}

Error no_thread_called(const Trace& trace, const std::string& pattern) {
  std::set<std::string> names;
  for (const Actor& actor : trace.actors) {
    if (actor.kind == ActorKind::thread && !actor.outside) {
      names.insert(called(actor));
    }
  }
  return Error{fmt::format("no recorded thread is called '{}'; {}", pattern, names_near(pattern, names))};
}

/// `worker` of `worker×4`, as reports name threads that are called alike.
std::string without_count(const std::string& name) {
  constexpr std::string_view kTimes = "×";
  const std::size_t at = name.rfind(kTimes);
  if (at == std::string::npos || at == 0 || at + kTimes.size() == name.size()) return name;
  return name.find_first_not_of("0123456789", at + kTimes.size()) == std::string::npos ? name.substr(0, at)
                                                                                       : name;
}

/// The group of the thread that reports name `worker/4711`, with its id, because others are called alike.
std::optional<GroupId> group_of_numbered(const Trace& trace, const ThreadGroups& groups,
                                         const std::string& name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  std::int32_t tid = 0;
  const char* const end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data() + slash + 1, end, tid);
  if (error != std::errc{} || at != end) return std::nullopt;
  for (ActorId id = 0; id < trace.actors.size(); ++id) {
    const Actor& actor = trace.actors[id];
    if (actor.kind == ActorKind::thread && actor.tid == tid && is_called(actor, name.substr(0, slash))) {
      return groups.group_of[id];
    }
  }
  return std::nullopt;
}

/// The groups whose threads all have names that match.
Result<std::vector<GroupId>> groups_called(const Trace& trace, const ThreadGroups& groups,
                                           const std::string& asked) {
  if (const std::optional<GroupId> one = group_of_numbered(trace, groups, asked)) return std::vector{*one};
  std::string pattern = without_count(asked);
  const bool with_others = pattern.ends_with(kAndOthers);
  if (with_others) pattern.resize(pattern.size() - kAndOthers.size());
  std::vector<GroupId> out;
  for (GroupId id = 0; id < groups.groups.size(); ++id) {
    const ThreadGroup& group = groups.groups[id];
    const auto matching = static_cast<std::size_t>(
        std::count_if(group.members.begin(), group.members.end(),
                      [&](ActorId member) { return is_called(trace.actors[member], pattern); }));
    if (matching == group.members.size() || (with_others && matching > 0)) {
      out.push_back(id);
    } else if (matching > 0) {
      return Error{
          fmt::format("'{}' is the name of {} of {} similar threads, one of them '{}', and they are "
                      "changed together: write a pattern that matches all of them",
                      pattern, matching, group.members.size(), group.name)};
    }
  }
  if (out.empty()) {
    return no_thread_called(trace, pattern);
  }
  return out;
}

/// Whether a function may be meant by what the user wrote.
bool is_named(const std::string& asked, const Frame& frame) {
  if (frame.kind == Frame::Kind::boundary) return false;
  if (frame.function.empty()) return asked == to_string(function_of(frame)) || asked == to_string(frame);
  const std::string name = outline(frame.function);
  // What a program calls by no function of libc is named by the system call.
  const bool is_call = frame.kind == Frame::Kind::kernel && asked == call_of(frame);
  return is_call || asked == frame.function || asked == name || name_matches(asked, name) ||
         name_matches(asked, frame.function);
}

/// What the functions of the program are called in which threads of the target waited or were sampled.
std::set<std::string> functions_of_target(const Trace& trace) {
  std::vector<bool> seen(trace.stacks.size());
  const auto see = [&](ActorId thread, StackId stack) {
    if (stack != kNoStack && !trace.actors[thread].outside) seen[stack] = true;
  };
  for (const WaitSite& site : trace.sites) see(site.thread, site.wait_stack);
  for (const CpuSample& sample : trace.cpu_samples) see(sample.thread, sample.stack);
  std::set<std::string> out;
  for (StackId id = 0; id < trace.stacks.size(); ++id) {
    if (!seen[id]) continue;
    for (const FrameId frame_id : trace.stacks[id].frames) {
      const Frame& frame = trace.frames[frame_id];
      if (frame.kind == Frame::Kind::user && !frame.function.empty()) out.insert(outline(frame.function));
    }
  }
  return out;
}

/// The stacks that call the function.
Result<CodeStacks> stacks_with(const Trace& trace, const std::string& asked) {
  std::vector<bool> named;
  for (const Frame& frame : trace.frames) {
    named.push_back(is_named(asked, frame));
  }
  CodeStacks out;
  for (const Stack& stack : trace.stacks) {
    out.push_back(std::any_of(stack.frames.begin(), stack.frames.end(),
                              [&named](FrameId frame) { return named[frame]; }));
  }
  if (std::find(out.begin(), out.end(), true) == out.end()) {
    return Error{fmt::format("no recorded stack has a function '{}'; {}", asked,
                             names_near(asked, functions_of_target(trace)))};
  }
  return out;
}

/// `work_lock` of `app::work_lock (server)`: without the module and what the variable is declared in.
std::string variable_of_lock(const std::string& name) {
  const std::string out = name.ends_with(')') ? name.substr(0, name.rfind(" (")) : name;
  const std::size_t colon = out.rfind(':');
  return colon == std::string::npos ? out : out.substr(colon + 1);
}

/// Whether a lock may be meant by what the user wrote: as reports have it or as the variable alone, as `lock
/// of take` and as `of take` after the word `lock`.
bool is_lock_named(const std::string& asked, const std::string& name) {
  return asked == name || name_matches(asked, name) || name_matches(asked, variable_of_lock(name)) ||
         name_matches("lock " + asked, name);
}

Result<Scenario> scenario_of_lock(const NamedChange& named, std::span<const std::string> locks) {
  Scenario out;
  for (LockId id = 0; id < locks.size(); ++id) {
    if (!is_lock_named(named.lock, locks[id])) continue;
    out.push_back({named.resource, kNoGroup, kNoActor, named.factor, kNoService, id});
  }
  if (out.empty()) {
    return Error{fmt::format("threads waited for no lock '{}'; {}", named.lock,
                             names_near(named.lock, {locks.begin(), locks.end()}))};
  }
  return out;
}

Result<Scenario> scenario_of_function(const NamedChange& named, const Trace& trace,
                                      std::vector<CodeStacks>& code) {
  OFFWAIT_TRY(CodeStacks stacks, stacks_with(trace, named.function));
  const auto id = static_cast<CodeId>(code.size());
  code.push_back(std::move(stacks));
  if (named.whole_function) return changes_of_function(id, named.factor);
  return Scenario{{named.resource, kNoGroup, kNoActor, named.factor, kNoService, kNoLock, id}};
}

Result<Scenario> scenario_of(const NamedChange& named, const Trace& trace, const ThreadGroups& groups,
                             std::span<const std::string> locks, std::vector<CodeStacks>& code) {
  if (!named.lock.empty()) return scenario_of_lock(named, locks);
  if (!named.function.empty()) return scenario_of_function(named, trace, code);
  Change change{named.resource, kNoGroup, kNoActor, named.factor};
  if (!named.disk.empty()) {
    OFFWAIT_TRY(change.device, disk_called(trace, named.disk));
  }
  if (!named.service.empty()) {
    OFFWAIT_TRY(change.service, service_called(trace, groups, named.service));
  }
  if (named.threads.empty()) {
    return Scenario{change};
  }
  Scenario out;
  OFFWAIT_TRY(const std::vector<GroupId> called, groups_called(trace, groups, named.threads));
  for (const GroupId group : called) {
    change.group = group;
    out.push_back(change);
  }
  return out;
}

}  // namespace

Result<WhatIf> parse_what_if(std::string_view text) {
  WhatIf out{std::string(trimmed(text)), {}};
  for (const std::string_view untrimmed : split(text, ",")) {
    const std::string_view part = trimmed(untrimmed);
    if (part.empty()) {
      continue;
    }
    Result<NamedChange> change = parse_change(part);
    if (!change) {
      return in_option(part, change.error().message);
    }
    if (std::any_of(out.changes.begin(), out.changes.end(),
                    [&change](const NamedChange& before) { return is_same_part(before, *change); })) {
      return in_option(part, "this part is changed before already");
    }
    if (out.changes.size() == kMostChanges) {
      return in_option("", fmt::format("takes {} changes at most", kMostChanges));
    }
    out.changes.push_back(std::move(change).value());
  }
  if (out.changes.empty()) {
    return in_option("", fmt::format("names no change: write {}", kExamples));
  }
  return out;
}

Scenario changes_of_function(CodeId code, double factor) {
  Scenario out;
  for (const Resource resource : kOfFunctions) {
    out.push_back({resource, kNoGroup, kNoActor, factor, kNoService, kNoLock, code});
  }
  return out;
}

bool names_a_lock(const WhatIf& what_if) {
  return std::any_of(what_if.changes.begin(), what_if.changes.end(),
                     [](const NamedChange& named) { return !named.lock.empty(); });
}

Result<Scenario> scenario_of(const WhatIf& what_if, const Trace& trace, const ThreadGroups& groups,
                             std::span<const std::string> locks, std::vector<CodeStacks>& code) {
  Scenario out;
  for (const NamedChange& named : what_if.changes) {
    const Result<Scenario> changes = scenario_of(named, trace, groups, locks, code);
    if (!changes) {
      return in_option(what_if.asked, changes.error().message);
    }
    out.insert(out.end(), changes->begin(), changes->end());
  }
  return out;
}

}  // namespace offwait
