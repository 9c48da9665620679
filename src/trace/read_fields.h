// SPDX-License-Identifier: GPL-2.0-or-later
// Reads lines of the text form into values by the table in trace/records.h.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/nanos.h"
#include "base/result.h"
#include "model/trace_builder.h"
#include "trace/lines.h"
#include "trace/percent.h"
#include "trace/records.h"

namespace offwait {

/// The text that is read, the current line, and the first error.
struct ReadPosition {
  std::string name;        ///< the error begins with it
  std::uint32_t line = 0;  ///< from 1 on
  Error error;

  /// These return false after they have set the error.
  bool fail_at(std::uint32_t at, std::string_view message);
  template <class... Parts>
  bool fail(fmt::format_string<Parts...> message, Parts&&... parts) {
    return fail_at(line, fmt::format(message, std::forward<Parts>(parts)...));
  }
};

/// Takes the first word off `rest`; empty if there is none. Words are separated by spaces and tabs.
std::string_view next_word(std::string_view& rest);

// For messages: a time, or `-` for kNever; and `[begin, end)`.
std::string time_text(Nanos at);
std::string span_text(Nanos begin, Nanos end);

/// Reads the part of a line after the record's name. It adds frames, stacks, peers and devices to the
/// builder, and the line gets their ids.
class FieldReader {
 public:
  FieldReader(ReadPosition& position, TraceBuilder& builder) : position_(position), builder_(builder) {}

  /// Returns false after it has set the position's error.
  template <class Line>
  bool read(std::string_view rest, Line& line);
  bool read(std::string_view rest, Window& window);
  bool read(std::string_view rest, LossCounts& loss);

 private:
  template <class Line, std::size_t kIndex, class Values>
  bool field(const Values& values, Line& line);
  template <class Line>
  bool nothing_else(std::string_view rest);

  /// Splits `rest` into KEY=VALUE. For a key that is absent the value's data() is nullptr.
  bool keys(std::string_view record, std::string_view rest, std::span<const Key> known,
            std::span<std::string_view> values);
  bool in_order(std::string_view record, std::string_view first, Nanos a, std::string_view second, Nanos b);

  // The subject is the word before the keys. A number is read before the keys, a device after them.
  template <class Line>
  bool tid_subject(const NoSubject&, std::string_view&, Line&) {
    return true;
  }
  template <class Line, class Of>
  bool tid_subject(const TidSubject<Of>& subject, std::string_view& rest, Line& line) {
    const std::string_view word = next_word(rest);
    return (subject.or_dash && word == "-") ||
           value(kTid, RecordForm<Line>::kName, word, line.*subject.member);
  }
  template <class Line, class Of>
  bool tid_subject(const ObjectSubject<Of>& subject, std::string_view& rest, Line& line) {
    return value(kObjectNumber, RecordForm<Line>::kName, next_word(rest), line.*subject.member);
  }
  template <class Line, class Of>
  bool tid_subject(const ActorSubject<Of>& subject, std::string_view& rest, Line&) {
    subject_ = subject.kind == ActorKind::timer ? std::string_view() : next_word(rest);
    return true;
  }
  template <class Line, class Subject>
  bool actor_subject(const Subject&, Line&) {
    return true;
  }
  template <class Line, class Of>
  bool actor_subject(const ActorSubject<Of>& subject, Line& line) {
    return subject.declared ? declare(subject.kind, subject_, line.*subject.member)
                            : actor(subject.kind, subject_, line.*subject.member);
  }

  // Each reads a value of one form; `what` names the value in messages.
  template <class Whole>
  bool value(const NumberForm& form, std::string_view what, std::string_view text, Whole& out) {
    std::uint64_t number = 0;
    if (!number_between(form, what, text, false, number)) return false;
    out = static_cast<Whole>(number);
    return true;
  }
  template <class Choice, class Enum, std::size_t kCount>
  bool value(const ChoiceForm<Enum, kCount>& form, std::string_view what, std::string_view text,
             Choice& out) {
    for (const Enum choice : form.values) {
      if (text == to_string(choice)) {
        out = choice;
        return true;
      }
    }
    std::array<std::string_view, kCount> names;
    for (std::size_t i = 0; i < kCount; ++i) names.at(i) = to_string(form.values.at(i));
    return not_one_of(what, text, names);
  }
  bool value(const TimeForm& form, std::string_view what, std::string_view text, Nanos& out);
  bool value(const TimeOrNeverForm& form, std::string_view what, std::string_view text, Nanos& out);
  template <class Real>
  bool value(const RateForm&, std::string_view what, std::string_view text, Real& out) {
    const char* const end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data(), end, out);
    return (error == std::errc() && parsed == end && std::isfinite(out) && out > 0) ||
           position_.fail("{} {}: expected a number > 0", what, quoted(text));
  }
  bool value(const TextForm& form, std::string_view what, std::string_view text, std::string& out);
  bool value(const TextsForm& form, std::string_view what, std::string_view text,
             std::vector<std::string>& out);
  bool value(const YesNoForm& form, std::string_view what, std::string_view text, bool& out);
  template <class Number>
  bool value(const HexForm& form, std::string_view what, std::string_view text, Number& out) {
    std::uint64_t number = 0;
    if (!hex_number(form, what, text, number)) return false;
    out = static_cast<Number>(number);
    return true;
  }
  bool value(const DeviceForm& form, std::string_view what, std::string_view text, DeviceNumber& out);
  bool value(const DayForm& form, std::string_view what, std::string_view text, std::string& out);
  bool value(const CpuListForm& form, std::string_view what, std::string_view text, CpuList& out);
  bool value(const StackForm& form, std::string_view what, std::string_view text, StackId& out);
  bool value(const PeerForm& form, std::string_view what, std::string_view text, PeerId& out);
  bool value(const WakerForm& form, std::string_view what, std::string_view text, NamedWaker& out);
  bool value(const ActorForm& form, std::string_view what, std::string_view text, ActorId& out);

  bool number_between(const NumberForm& form, std::string_view what, std::string_view text, bool or_dash,
                      std::uint64_t& out);
  bool hex_number(const HexForm& form, std::string_view what, std::string_view text, std::uint64_t& out);
  bool not_measured(std::string_view what, std::string_view text);
  bool not_one_of(std::string_view what, std::string_view text, std::span<const std::string_view> names);

  // Checks of a line as a whole, in addition to the form of each value.
  using Texts = std::span<const std::string_view>;  ///< as written, by the table's index
  template <class Line>
  bool consistent(const Line&, Texts) {
    return true;
  }
  bool consistent(const ThreadLine& line, Texts);
  bool consistent(const DiskLine& line, Texts texts);
  bool consistent(const NicLine& line, Texts);
  bool consistent(const ObjectLine& line, Texts);
  bool consistent(const WaitLine& line, Texts texts);
  bool consistent(const ResponsesLine& line, Texts);
  bool consistent(const CallsLine& line, Texts);

  /// Finds the actor of this kind and (encoded) name, or adds it.
  bool named_actor(std::string_view what, ActorKind kind, std::string_view text, ActorId& out);
  bool actor(ActorKind kind, std::string_view text, ActorId& out) {
    static const std::array<std::string, 7> kWhat = [] {
      std::array<std::string, 7> what;
      for (std::size_t i = 0; i < what.size(); ++i)
        what.at(i) = fmt::format("name of {}", to_string(static_cast<ActorKind>(i)));
      return what;
    }();
    return named_actor(kWhat.at(static_cast<std::size_t>(kind)), kind, text, out);
  }
  /// The line of its own that an actor may have once.
  bool declare(ActorKind kind, std::string_view text, ActorId& out);

  struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  template <class Value>
  using ByName = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

  FrameId frame(const std::string& text, Frame::Kind kind);
  Stack stack_of(std::span<const std::string> texts);

  ReadPosition& position_;
  TraceBuilder& builder_;
  std::array<ByName<ActorId>, 7> actors_;  ///< by ActorKind, without threads
  std::unordered_set<ActorId> declared_;   ///< actors with a line of their own
  std::array<ByName<FrameId>, 3> frames_;  ///< by Frame::Kind and text
  ByName<StackId> written_stacks_;         ///< stacks by their text
  std::size_t written_stack_bytes_ = 0;
  std::string_view subject_;  ///< the subject of the current line
  // Kept for their memory:
  std::string decoded_;
  std::vector<std::string> frame_texts_;
};

// ---- by the table

template <class Line>
bool FieldReader::read(std::string_view rest, Line& line) {
  using Form = RecordForm<Line>;
  if (!tid_subject(Form::kSubject, rest, line)) return false;
  std::array<std::string_view, kFieldCount<Line>> values;
  if constexpr (kFieldCount<Line> == 0) {
    if (!nothing_else<Line>(rest)) return false;
  } else {
    if (!keys(Form::kName, rest, kKeys<Line>, values)) return false;
  }
  if (!actor_subject(Form::kSubject, line)) return false;
  const bool all_read = [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    return (field<Line, kIndex>(values, line) && ...);
  }
  (std::make_index_sequence<kFieldCount<Line>>());
  return all_read && consistent(line, Texts(values));
}

template <class Line, std::size_t kIndex, class Values>
bool FieldReader::field(const Values& values, Line& line) {
  constexpr auto kField = std::get<kIndex>(RecordForm<Line>::kFields);
  const std::string_view text = std::get<kIndex>(values);
  if (!kField.required && text.data() == nullptr) return true;
  if (!value(kField.form, kField.key, text, line.*kField.member)) return false;
  if constexpr (!kField.not_before.empty()) {
    constexpr auto kEarlier = std::get<index_of<Line>(kField.not_before)>(RecordForm<Line>::kFields);
    return in_order(RecordForm<Line>::kName, kEarlier.key, line.*kEarlier.member, kField.key,
                    line.*kField.member);
  }
  return true;
}

template <class Line>
bool FieldReader::nothing_else(std::string_view rest) {
  if (next_word(rest).empty()) return true;
  const bool named = RecordForm<Line>::kSubject.kind != ActorKind::timer;
  return position_.fail("expected '{}{}' and nothing else", RecordForm<Line>::kName, named ? " NAME" : "");
}

}  // namespace offwait
