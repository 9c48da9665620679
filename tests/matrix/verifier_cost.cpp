// SPDX-License-Identifier: GPL-2.0-or-later
// verifier_cost FILE COMMAND...: becomes COMMAND, which loads BPF programs, and writes a line "NAME
// INSTRUCTIONS" to FILE for each program: how many instructions the verifier went through. Kernels
// before 5.16 say that only in the verifier's log, which COMMAND does not ask for. So a child traces the
// system calls of COMMAND's threads, adds the request for the log, and lets COMMAND go when programs are
// attached and one thread is left.
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr std::uint32_t kLogStatistics = 4;  // BPF_LOG_STATS of the kernel's bpf_verifier.h
constexpr std::size_t kLogBytes = 4096;
constexpr std::uint64_t kBelowStack = 64 << 10;  // so far below the stack pointer COMMAND keeps nothing

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::_Exit(1);
}

void check(bool succeeded, const char* what) {
  if (!succeeded) fail(what);
}

/// The fields of bpf_attr for BPF_PROG_LOAD, up to the program's name.
using Load = std::array<std::byte, offsetof(bpf_attr, prog_name) + BPF_OBJ_NAME_LEN>;

template <class Field>
Field field(const Load& load, std::size_t offset) {
  Field value{};
  std::memcpy(&value, load.data() + offset, sizeof(value));
  return value;
}

template <class Field>
void set_field(Load& load, std::size_t offset, Field value) {
  std::memcpy(load.data() + offset, &value, sizeof(value));
}

class Tracer {
 public:
  Tracer(pid_t command, FILE* out) : command_(command), out_(out) {}

  void run() {
    std::set<pid_t> threads{command_};
    for (;;) {
      int status = 0;
      const pid_t thread = ::waitpid(-1, &status, __WALL);
      check(thread > 0, "waitpid");
      if (!WIFSTOPPED(status)) {
        threads.erase(thread);
        if (threads.empty()) return;
        continue;
      }
      threads.insert(thread);
      int signal = WSTOPSIG(status);
      if (signal == (SIGTRAP | 0x80)) {
        signal = 0;
        if (at_system_call(thread) && threads.size() == 1) {
          check(::ptrace(PTRACE_DETACH, thread, 0, 0) == 0, "detach");
          return;
        }
      } else if (status >> 16 != 0) {
        signal = 0;  // ptrace reports an event; there is no signal to deliver
      }
      check(::ptrace(PTRACE_SYSCALL, thread, 0, signal) == 0 || errno == ESRCH, "continue");
    }
  }

 private:
  /// Whether all programs are loaded.
  bool at_system_call(pid_t thread) {
    __ptrace_syscall_info info{};
    check(::ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info) > 0, "PTRACE_GET_SYSCALL_INFO");
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_bpf) {
      const auto what = info.entry.args[0];
      if (what == BPF_RAW_TRACEPOINT_OPEN || what == BPF_LINK_CREATE) return true;
      if (what == BPF_PROG_LOAD && info.entry.args[2] >= sizeof(Load)) {
        ask_for_log(info);
        loading_ = thread;
      }
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && log_ != 0 && thread == loading_) {
      write_cost(info.exit.rval >= 0);
    }
    return false;
  }

  void ask_for_log(const __ptrace_syscall_info& info) {
    attributes_ = info.entry.args[1];
    before_ = copy_in<Load>(attributes_);
    if (field<std::uint32_t>(before_, offsetof(bpf_attr, log_level)) != 0) return;
    Load load = before_;
    log_ = (info.stack_pointer - kBelowStack) & ~std::uint64_t{15};
    set_field(load, offsetof(bpf_attr, log_level), kLogStatistics);
    set_field(load, offsetof(bpf_attr, log_size), static_cast<std::uint32_t>(kLogBytes));
    set_field(load, offsetof(bpf_attr, log_buf), log_);
    copy_out(load, attributes_);
  }

  void write_cost(bool loaded) {
    copy_out(before_, attributes_);
    if (loaded) {
      auto log = copy_in<std::array<char, kLogBytes>>(log_);
      log.back() = 0;
      auto name = field<std::array<char, BPF_OBJ_NAME_LEN>>(before_, offsetof(bpf_attr, prog_name));
      name.back() = 0;
      const char* const said = std::strstr(log.data(), "processed ");
      if (said != nullptr && name[0] != 0)
        std::fprintf(out_, "%s %ld\n", name.data(),
                     std::strtol(said + std::strlen("processed "), nullptr, 10));
    }
    log_ = 0;
  }

  template <class Value>
  Value copy_in(std::uint64_t from) const {
    Value value{};
    const iovec here{&value, sizeof(value)};
    const iovec there{reinterpret_cast<void*>(from), sizeof(value)};
    check(::process_vm_readv(command_, &here, 1, &there, 1, 0) == sizeof(value), "process_vm_readv");
    return value;
  }

  void copy_out(Load& load, std::uint64_t to) const {
    const iovec here{load.data(), sizeof(load)};
    const iovec there{reinterpret_cast<void*>(to), sizeof(load)};
    check(::process_vm_writev(command_, &here, 1, &there, 1, 0) == sizeof(load), "process_vm_writev");
  }

  pid_t command_;
  FILE* out_;
  Load before_{};
  std::uint64_t attributes_ = 0;
  std::uint64_t log_ = 0;  ///< 0 while no load with an added log is under way
  pid_t loading_ = 0;      ///< the thread that loads; there is one at a time
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: verifier_cost FILE COMMAND...\n", stderr);
    return 2;
  }
  std::array<int, 2> attached{};
  check(::pipe2(attached.data(), O_CLOEXEC) == 0, "pipe");
  const pid_t command = ::getpid();
  const pid_t tracer = ::fork();
  check(tracer >= 0, "fork");
  if (tracer == 0) {
    FILE* const out = std::fopen(argv[1], "w");
    check(out != nullptr, argv[1]);
    check(::ptrace(PTRACE_SEIZE, command, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE) == 0,
          "PTRACE_SEIZE");
    check(::ptrace(PTRACE_INTERRUPT, command, 0, 0) == 0, "PTRACE_INTERRUPT");
    check(::write(attached[1], "", 1) == 1, "write");
    Tracer(command, out).run();
    return std::fclose(out) == 0 ? 0 : 1;
  }
  char byte = 0;
  check(::read(attached[0], &byte, 1) == 1, "the tracer");
  ::execvp(argv[2], argv + 2);
  fail(argv[2]);
}
