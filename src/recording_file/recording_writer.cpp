// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording_file/recording_writer.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "process/priority.h"
#include "recording_file/frame_addresses.h"

namespace offwait {
namespace {

/// Parts that wait to be written take no more memory than this; about 10 s of a million waits a second.
constexpr std::size_t kMostWaiting = std::size_t{96} << 20;

}  // namespace

RecordingWriter::RecordingWriter(UniqueFd file, std::string name)
    : file_(std::move(file)), name_(std::move(name)), sections_(file_.get(), name_) {}

RecordingWriter::~RecordingWriter() {
  if (thread_.joinable()) static_cast<void>(stop());
}

Status RecordingWriter::begin(const AboutRecording& about) {
  // The file keeps its old content until there is something to put in its place. A pipe cannot be emptied.
  if (::ftruncate(file_.get(), 0) != 0 && errno != EINVAL)
    return Error{fmt::format("cannot write {}: {}", name_, std::strerror(errno))};
  OFFWAIT_TRY_STATUS(sections_.write_header());
  rows_.add(about);
  OFFWAIT_TRY_STATUS(write_rows());
  return sections_.sync();
}

void RecordingWriter::read_with(StackSource stacks, KernelNames kernel_names) {
  stacks_ = std::move(stacks);
  kernel_names_ = std::move(kernel_names);
}

void RecordingWriter::start() {
  thread_ = std::thread([this] { run(); });
}

void RecordingWriter::add(RecordingPart part) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_bytes_ < kMostWaiting || error_; });
  if (error_) return;
  waiting_bytes_ += part.kernel.records.bytes();
  waiting_.push_back(std::move(part));
  changed_.notify_all();
}

std::vector<std::int32_t> RecordingWriter::take_nameless() {
  const std::lock_guard lock(mutex_);
  return std::exchange(nameless_, {});
}

bool RecordingWriter::failed() const {
  const std::lock_guard lock(mutex_);
  return error_.has_value();
}

Status RecordingWriter::stop() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  stacks_ = nullptr;
  if (error_) return *error_;
  return success();
}

void RecordingWriter::run() {
  Priority priority;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !waiting_.empty() || ends_; });
    if (waiting_.empty()) return;
    const RecordingPart part = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    priority.patient();
    Status written = write(part);
    std::vector<std::int32_t> nameless = part.gone;
    std::erase_if(nameless, [this](std::int32_t tgid) { return needs(tgid); });
    lock.lock();
    nameless_.insert(nameless_.end(), nameless.begin(), nameless.end());
    waiting_bytes_ -= part.kernel.records.bytes();
    if (!written) {
      error_ = std::move(written).error();
      waiting_.clear();
    }
    changed_.notify_all();
    if (error_) return;
  }
}

/// All stacks are in the last part as well: some are found only then.
std::vector<std::pair<std::uint32_t, offwait_stack>> RecordingWriter::new_stacks() {
  std::vector<std::uint32_t> wanted;
  for (const std::uint32_t id : std::exchange(references_.stacks, {})) {
    if (id != 0 && asked_stacks_.insert(id).second) wanted.push_back(id);
  }
  return stacks_ ? stacks_(wanted) : std::vector<std::pair<std::uint32_t, offwait_stack>>();
}

bool RecordingWriter::needs(std::int32_t tgid) const {
  const auto process = static_cast<std::uint32_t>(tgid);
  const auto spin = references_.in_records.lower_bound({process, {}});
  return stack_processes_.contains(process) ||
         (spin != references_.in_records.end() && spin->tgid == process) || references_.locks.is_in(tgid);
}

void RecordingWriter::add_kernel_names(const offwait_stack& stack, std::vector<FrameAddress>& nameless) {
  if (stack.tgid != 0) return;
  for (const FrameAddress& address : frame_addresses(stack.tgid, pcs_of(stack))) {
    if (named_.insert(address).second) nameless.push_back(address);
  }
}

/// Records come before the tables that were read with them: a window counts with the records before it.
Status RecordingWriter::write(const RecordingPart& part) {
  for (const Section& section : records_sections(part.kernel.records, references_))
    OFFWAIT_TRY_STATUS(sections_.write(section.kind, section.content));
  waits_ += part.kernel.records.count(OFFWAIT_RECORD_WAIT);
  for (const AddressSpace& space : part.mappings) rows_.add(space);
  // A waker may have exited before its stack is referred to: the record of the wait is written only when the
  // woken thread runs.
  if (part.has_tables) {
    for (const auto& [tid, thread] : part.kernel.threads) references_.stacks.insert(thread.waker_user);
  }
  const std::vector<std::pair<std::uint32_t, offwait_stack>> stacks = new_stacks();
  for (const auto& [id, stack] : stacks) stack_processes_.insert(stack.tgid);
  rows_.add(stacks);
  rows_.add_new(part.kernel);
  std::vector<FrameAddress> nameless;
  for (const auto& [id, stack] : stacks) add_kernel_names(stack, nameless);
  for (const auto& [id, stack] : part.kernel.stacks) add_kernel_names(stack, nameless);
  for (auto leaf = references_.in_records.lower_bound({0, {}});
       leaf != references_.in_records.end() && leaf->tgid == 0; ++leaf) {
    if (leaf->pcs.empty()) continue;
    const FrameAddress address{0, leaf->pcs.front(), false};
    if (named_.insert(address).second) nameless.push_back(address);
  }
  if (kernel_names_ && !nameless.empty()) rows_.add(nameless, kernel_names_(nameless));
  if (part.has_tables) {
    references_.locks.add_threads(part.kernel);
    rows_.add_tables(part.kernel);
  }
  OFFWAIT_TRY_STATUS(write_rows());
  return sections_.sync();
}

Status RecordingWriter::finish(const NamedStacks& stacks, const std::map<DataAddress, DataName>& data,
                               const KnownDevices& devices) {
  rows_.add(stacks);
  rows_.add(data);
  rows_.add(devices);
  OFFWAIT_TRY_STATUS(write_rows());
  OFFWAIT_TRY_STATUS(sections_.write(SectionKind::end, ""));
  OFFWAIT_TRY_STATUS(sections_.sync());
  return sections_.check();
}

Status RecordingWriter::write_rows() {
  for (const std::string& content : rows_.take_sections())
    OFFWAIT_TRY_STATUS(sections_.write(SectionKind::rows, content));
  return success();
}

}  // namespace offwait
