// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/write_fields.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "model/backtrace.h"
#include "trace/percent.h"
#include "trace/text.h"

namespace offwait {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
constexpr std::size_t kMaxWrittenStack = std::size_t{256} << 10;
constexpr std::string_view kCut = "[cut]";

}  // namespace

LineWriter::LineWriter(const Trace& trace, std::FILE* file) : trace_(trace), file_(file) {
  frame_text_.reserve(trace_.frames.size());
  for (const Frame& frame : trace_.frames) {
    const std::string text = to_string(frame);
    std::string& encoded = frame_text_.emplace_back();
    if (text.size() <= kMaxTextValue) {
      append_percent_encoded(encoded, text);
    } else {
      append_percent_encoded(encoded, std::string_view(text).substr(0, kMaxTextValue - kCut.size()));
      encoded += kCut;
    }
  }
  for (std::size_t i = 0; i < kStackCuts; ++i) {
    append_percent_encoded(cut_text_.at(i), cut_frame(static_cast<StackCut>(i)));
  }
}

void LineWriter::flush() {
  if (write_error_ == 0 && std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) {
    write_error_ = errno;
  }
  buffer_.clear();
}

void LineWriter::end_line() {
  buffer_ += '\n';
  if (buffer_.size() >= kBufferBytes) {
    flush();
  }
}

std::optional<Error> LineWriter::finish() {
  flush();
  if (write_error_ == 0 && std::fflush(file_) != 0) {
    write_error_ = errno;
  }
  if (write_error_ != 0) {
    return Error{"cannot write: " + std::generic_category().message(write_error_)};
  }
  return std::nullopt;
}

void LineWriter::header(std::string_view line) {
  text(line);
  end_line();
}

void LineWriter::write(const Window& window) {
  text(RecordForm<Window>::kName);
  text(" ");
  value(TimeForm{}, window.begin);
  text(" ");
  value(TimeForm{}, window.end);
  end_line();
}

void LineWriter::write(const LossCounts& loss) {
  text(RecordForm<LossCounts>::kName);
  for (const auto& [name, count] : loss) {
    text(" ");
    value(TextForm{}, name);
    text("=");
    number(count);
  }
  end_line();
}

void LineWriter::value(const TimeOrNeverForm&, Nanos at) {
  if (at == kNever) {
    text("-");
  } else {
    number(std::max<Nanos>(at, 0));
  }
}

void LineWriter::value(const TextForm&, const std::string& bytes) { append_percent_encoded(buffer_, bytes); }

void LineWriter::value(const TextsForm&, const std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) text(";");
    value(TextForm{}, texts[i]);
  }
}

void LineWriter::value(const ActorForm&, ActorId actor) { value(TextForm{}, trace_.actors[actor].name); }

void LineWriter::value(const PeerForm&, PeerId id) {
  const Peer& peer = trace_.peers[id];
  text(to_string(peer.role));
  text(":");
  value(TextForm{}, to_string(peer));
}

void LineWriter::value(const WakerForm&, const NamedWaker& waker) {
  if (waker.tid != kNoTid) {
    text(to_string(ActorKind::thread));
    text(":");
    return number(waker.tid);
  }
  if (waker.device == kNoActor) {
    return text("-");
  }
  const ActorKind kind = trace_.actors[waker.device].kind;
  text(to_string(kind));
  if (kind != ActorKind::timer) {
    text(":");
    value(ActorForm{kind}, waker.device);
  }
}

void LineWriter::value(const StackForm&, StackId id) {
  const Stack& stack = trace_.stacks[id];
  stack_texts_.clear();
  bool in_kernel = false;
  for (const FrameId frame : stack.frames) {
    const Frame::Kind kind = trace_.frames[frame].kind;
    if (in_kernel && kind == Frame::Kind::user) {
      stack_texts_.push_back(kKernelUserBoundary);
    }
    in_kernel = kind == Frame::Kind::kernel;
    stack_texts_.push_back(frame_text_[frame]);
  }
  if (stack.cut) {
    if (in_kernel) {
      stack_texts_.push_back(kKernelUserBoundary);
    }
    stack_texts_.push_back(cut_text_.at(static_cast<std::size_t>(*stack.cut)));
  }
  const std::size_t begin = buffer_.size();
  for (std::size_t i = 0; i < stack_texts_.size(); ++i) {
    if (i > 0) {
      buffer_ += ';';
    }
    const std::string_view frame = stack_texts_[i];
    const bool last = i + 1 == stack_texts_.size();
    if ((i + 1 == kMaxTextFrames && !last) || buffer_.size() - begin + frame.size() > kMaxWrittenStack) {
      buffer_ += kCut;
      return;
    }
    buffer_ += frame;
  }
}

}  // namespace offwait
