// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbol/demangle.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <utility>

#define HAVE_DECL_BASENAME 1  // or libiberty.h declares it, unlike <cstring>
#include <libiberty/demangle.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace offwait {
namespace {

constexpr std::size_t kLongestMangled = 1024;  // libiberty itself refuses longer ones
constexpr std::size_t kLongestName = 1024;
constexpr std::size_t kLongestAnswer = kLongestName + 1;  // one more shows that it must be cut
constexpr int kSocketInChild = 0;

std::string cut(std::string_view name) {
  if (name.size() <= kLongestName) {
    return std::string(name);
  }
  std::size_t length = kLongestName;
  // Not inside a UTF-8 sequence, which is at most four bytes long.
  while (length > kLongestName - 3 && (static_cast<unsigned char>(name[length]) & 0xC0U) == 0x80U) {
    --length;
  }
  return std::string(name.substr(0, length)) + "…";
}

struct Answer {
  std::array<char, kLongestAnswer> text;
  std::size_t length;
};

/// Not by exit_group, which seccomp's strict mode forbids.
[[noreturn]] void leave() {
  for (;;) {
    syscall(SYS_exit, 0);
  }
}

void send_answer(const Answer& answer) {
  if (write(kSocketInChild, answer.text.data(), answer.length) < 0) {
    leave();
  }
}

/// libiberty's sink of text. Nothing but the end of the process stops libiberty when there is enough of it.
void take(const char* text, std::size_t length, void* opaque) {
  Answer& answer = *static_cast<Answer*>(opaque);
  const std::size_t kept = std::min(length, answer.text.size() - answer.length);
  std::memcpy(answer.text.data() + answer.length, text, kept);
  answer.length += kept;
  if (answer.length == answer.text.size()) {
    send_answer(answer);
    leave();
  }
}

/// The child. The process that it is a copy of may have had other threads, so that memory cannot be allocated
/// here; libiberty does not with a callback.
[[noreturn]] void serve(int socket) {
  dup2(socket, kSocketInChild);
  close_range(kSocketInChild + 1, ~0U, 0);
  const rlimit cpu = {1, 1};
  setrlimit(RLIMIT_CPU, &cpu);
  prctl(PR_SET_DUMPABLE, 0);  // no core dump
  // A second fence; a container with a filter of its own does not let us have it.
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  std::array<char, kLongestMangled + 1> mangled{};
  Answer answer{};
  for (;;) {
    const ssize_t length = read(kSocketInChild, mangled.data(), kLongestMangled);
    if (length <= 0) {
      leave();
    }
    mangled[static_cast<std::size_t>(length)] = '\0';
    answer.length = 0;
    if (cplus_demangle_v3_callback(mangled.data(), DMGL_PARAMS, &take, &answer) == 0 || answer.length == 0) {
      answer.length = 0;
      take(mangled.data(), static_cast<std::size_t>(length), &answer);
    }
    send_answer(answer);
  }
}

}  // namespace

Demangler::~Demangler() { stop(); }

bool Demangler::start() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return false;
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  child_ = _Fork();  // without what others want done after a fork: thread sanitizer would start a thread
  if (child_ == 0) {
    serve(theirs.get());
  }
  if (child_ < 0) {
    return false;
  }
  socket_ = std::move(ours);
  return true;
}

void Demangler::stop() {
  if (socket_) {
    kill(child_, SIGKILL);
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
    socket_ = UniqueFd();
  }
}

std::string Demangler::ask(std::string_view mangled) {
  std::array<char, kLongestAnswer> answer;
  ssize_t length = send(socket_.get(), mangled.data(), mangled.size(), MSG_NOSIGNAL);
  if (length > 0) {
    do {
      length = recv(socket_.get(), answer.data(), answer.size(), 0);
    } while (length < 0 && errno == EINTR);
  }
  return {answer.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

std::string Demangler::operator()(std::string_view symbol) {
  if (const std::size_t version = symbol.find('@'); version != 0) {
    symbol = symbol.substr(0, version);
  }
  if (!symbol.starts_with("_Z") || symbol.size() > kLongestMangled) {
    return cut(symbol);
  }
  bool fresh = false;
  while (!fresh && !given_up()) {
    fresh = !socket_;
    if (fresh && !start()) {
      break;
    }
    const std::string name = ask(symbol);
    if (name.empty() || name.size() == kLongestAnswer) {
      stop();
    }
    if (!name.empty()) {
      return cut(name);
    }
    // One that has served before may have used up its second for other names.
    lost_ += fresh ? 1 : 0;
  }
  return cut(symbol);
}

}  // namespace offwait
