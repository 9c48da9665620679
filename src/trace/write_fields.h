// SPDX-License-Identifier: GPL-2.0-or-later
// Writes lines of the text form by the table in trace/records.h.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/nanos.h"
#include "base/result.h"
#include "model/stack_cut.h"
#include "model/trace.h"
#include "trace/lines.h"
#include "trace/records.h"

namespace offwait {

/// Writes lines into a file through a buffer. The ids in the lines are those of `trace`.
class LineWriter {
 public:
  LineWriter(const Trace& trace, std::FILE* file);

  void header(std::string_view text);
  template <class Line>
  void write(const Line& line);
  void write(const Window& window);
  void write(const LossCounts& loss);

  /// Writes the rest of the buffer. Returns the first error of all writing, if there was one.
  std::optional<Error> finish();

 private:
  template <class Line, class OneField>
  void field(const OneField& key, const Line& line);

  void text(std::string_view plain) { buffer_ += plain; }
  template <class Number>
  void number(Number value, auto... base) {
    std::array<char, 32> digits{};
    const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value, base...);
    buffer_.append(digits.data(), result.ptr);
  }
  void end_line();
  void flush();

  // The subject is the word before the keys.
  template <class Line>
  void subject(const NoSubject&, const Line&) {}
  template <class Line, class Of>
  void subject(const TidSubject<Of>& form, const Line& line) {
    text(" ");
    if (form.or_dash && line.*form.member == kNoTid) return text("-");
    number(line.*form.member);
  }
  template <class Line, class Of>
  void subject(const ObjectSubject<Of>& form, const Line& line) {
    text(" ");
    number(line.*form.member);
  }
  template <class Line, class Of>
  void subject(const ActorSubject<Of>& form, const Line& line) {
    if (form.kind == ActorKind::timer) return;
    text(" ");
    value(ActorForm{form.kind}, line.*form.member);
  }

  // Each writes a value of one form.
  template <class Number>
  void value(const NumberForm&, Number count) {
    number(count);
  }
  template <class Enum, std::size_t kCount>
  void value(const ChoiceForm<Enum, kCount>&, Enum choice) {
    text(to_string(choice));
  }
  template <class Enum, std::size_t kCount>
  void value(const ChoiceForm<Enum, kCount>&, const std::optional<Enum>& choice) {
    if (choice) text(to_string(*choice));
  }
  /// Times before 0 are written as 0, kNever as `-`.
  void value(const TimeOrNeverForm&, Nanos at);
  void value(const TimeForm&, Nanos at) { value(TimeOrNeverForm{}, at); }
  template <class Real>
  void value(const RateForm&, Real rate) {
    number(rate);
  }
  void value(const TextForm&, const std::string& bytes);
  void value(const TextsForm&, const std::vector<std::string>& texts);
  void value(const YesNoForm&, bool yes) { text(yes ? "yes" : "no"); }
  void value(const HexForm&, std::uint64_t number_in_hex) { number(number_in_hex, 16); }
  void value(const DeviceForm&, const DeviceNumber& device) { text(to_string(device)); }
  void value(const DayForm&, const std::string& day) { text(day); }
  void value(const CpuListForm&, const CpuList& cpus) { text(to_string(cpus)); }
  void value(const StackForm&, StackId stack);
  void value(const PeerForm&, PeerId peer);
  void value(const WakerForm&, const NamedWaker& waker);
  void value(const ActorForm&, ActorId actor);

  const Trace& trace_;
  std::FILE* file_;
  std::string buffer_;
  int write_error_ = 0;
  std::vector<std::string> frame_text_;  ///< the frames as they are written, parallel to Trace::frames
  std::array<std::string, kStackCuts> cut_text_;  ///< cut_frame() as it is written
  std::vector<std::string_view> stack_texts_;     ///< kept for their memory
};

template <class Line>
void LineWriter::write(const Line& line) {
  text(RecordForm<Line>::kName);
  subject(RecordForm<Line>::kSubject, line);
  std::apply([&](const auto&... key) { (field(key, line), ...); }, RecordForm<Line>::kFields);
  end_line();
}

template <class Line, class OneField>
void LineWriter::field(const OneField& key, const Line& line) {
  static const Line kUnset{};
  if (!key.required && line.*key.member == kUnset.*key.member) return;
  text(" ");
  text(key.key);
  text("=");
  value(key.form, line.*key.member);
}

}  // namespace offwait
