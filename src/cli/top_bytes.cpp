// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top_bytes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sandbox/message.h"

namespace offwait::cli {
namespace {

// Each type's fields are listed once: to write them and to read them.

class Writing {
 public:
  void operator()(const std::string& text) { message_.text(text); }
  void operator()(double value) { message_.number(std::bit_cast<std::uint64_t>(value)); }
  void operator()(std::uint64_t value) { message_.number(value); }
  void operator()(bool value) { message_.number(value ? 1 : 0); }
  void operator()(const std::vector<std::int32_t>& values) { message_.values(values); }
  template <class Value>
  void operator()(const std::vector<Value>& values) {
    message_.number(values.size());
    for (const Value& value : values) (*this)(value);
  }
  template <class Value>
  void operator()(const Value& value) {
    fields(*this, value);
  }
  std::string take() { return std::move(message_).take(); }

 private:
  MessageWriter message_;
};

class Reading {
 public:
  explicit Reading(std::string_view bytes) : message_(bytes) {}

  void operator()(std::string& text) { text = message_.text(); }
  /// Numbers that no clock and no counter gives are taken as 0.
  void operator()(double& value) {
    constexpr double kMost = 1e15;
    value = std::bit_cast<double>(message_.number());
    if (!(std::abs(value) <= kMost)) value = 0;
  }
  void operator()(std::uint64_t& value) { value = message_.number(); }
  void operator()(bool& value) { value = message_.number() != 0; }
  void operator()(std::vector<std::int32_t>& values) { values = message_.values<std::int32_t>(); }
  template <class Value>
  void operator()(std::vector<Value>& values) {
    const std::uint64_t count = message_.number();
    // A message that has no more such values ends the loop.
    for (std::uint64_t i = 0; i < count && !message_.failed(); ++i) {
      values.emplace_back();
      (*this)(values.back());
    }
  }
  template <class Value>
  void operator()(Value& value) {
    fields(*this, value);
  }
  bool is_whole() const { return !message_.failed() && message_.at_end(); }

 private:
  MessageReader message_;
};

template <class Do, class... Fields>
void each(Do& act, Fields&... values) {
  (act(values), ...);
}

template <class Do>
void fields(Do& act, auto& value) requires requires {
  value.kernel;
}
{ each(act, value.kernel, value.frames); }
template <class Do>
void fields(Do& act, auto& value) requires requires {
  value.change;
}
{
  each(act, value.change, value.gain, value.mark, value.evidence, value.advice, value.has_number, value.most,
       value.low, value.high, value.sure, value.code);
}
template <class Do>
void fields(Do& act, auto& value) requires requires {
  value.tids;
}
{ each(act, value.name, value.tids, value.thread, value.outside, value.in_knot); }
template <class Do>
void fields(Do& act, auto& value) requires requires {
  value.waits_in;
}
{ each(act, value.share, value.waits_in, value.woken_in); }
template <class Do>
void fields(Do& act, auto& value) requires requires {
  value.classes;
}
{
  each(act, value.from, value.to, value.idle, value.in_knot, value.aside, value.weight, value.waited,
       value.waits, value.each_s, value.classes, value.meanwhile, value.stacks);
}
template <class Do>
void fields(Do& act, auto& value) requires requires {
  value.title;
}
{ each(act, value.title, value.kind); }
template <class Do>
void fields(Do& act, auto& value) requires requires {
  value.longest_s;
}
{ each(act, value.name, value.waited, value.waits, value.longest_s, value.who, value.code); }
template <class Do>
void fields(Do& act, auto& value) requires requires {
  value.use;
}
{ each(act, value.name, value.use, value.files); }
template <class Do>
void fields(Do& act, auto& value) requires requires {
  value.verdict;
}
{
  each(act, value.window_s, value.with_answers, value.progress, value.progress_tids, value.said,
       value.answers, value.others, value.verdict, value.cpus, value.actors, value.edges, value.knots,
       value.locks, value.files, value.disks);
}

}  // namespace

std::string to_bytes(const TopFindings& findings) {
  Writing writing;
  fields(writing, findings);
  return writing.take();
}

Result<TopFindings> top_findings_of(std::string_view bytes) {
  Reading reading(bytes);
  TopFindings findings;
  fields(reading, findings);
  const std::size_t actors = findings.actors.size();
  const bool refers_right =
      std::all_of(findings.edges.begin(), findings.edges.end(),
                  [actors](const TopEdge& edge) { return edge.from < actors && edge.to < actors; });
  if (!reading.is_whole() || !refers_right) return Error{"an analysis sent something else than findings"};
  return findings;
}

}  // namespace offwait::cli
