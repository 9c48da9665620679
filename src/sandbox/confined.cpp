// SPDX-License-Identifier: GPL-2.0-or-later
#include "sandbox/confined.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/capabilities.h"
#include "base/monotonic.h"
#include "base/read_file.h"
#include "base/unique_fd.h"

namespace offwait {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

constexpr int kNobody = 65534;

enum ExitCode { kDone = 0, kThrew = 1, kOutOfMemory = 2, kNotConfined = 3 };

/// Calls that are allowed with any arguments: they only read from open descriptors and manage this process.
/// Any other call of a library is in `kRefused` or ends the process.
constexpr std::array kAllowed = {
    SYS_read,
    SYS_pread64,
    SYS_readv,
    SYS_preadv,
    SYS_lseek,
    SYS_fstat,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_close,
    SYS_futex,
    SYS_clock_gettime,
    SYS_getpid,
    SYS_sysinfo,
    SYS_getrandom,
    SYS_gettid,
    SYS_sched_yield,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_sigaltstack,
    SYS_rt_sigreturn,
    SYS_restart_syscall,
    SYS_exit,
    SYS_exit_group,
};

/// Calls that fail with EACCES.
constexpr std::array kRefused = {
#if defined(SYS_open)
    SYS_open,   SYS_stat,      SYS_lstat,      SYS_access,     SYS_readlink,
#endif
    SYS_openat, SYS_faccessat, SYS_faccessat2, SYS_readlinkat,
};

class Filter {
 public:
  explicit Filter(int output) {
    load(offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
    answer(SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
    for (const long number : kAllowed) on_call(number, SECCOMP_RET_ALLOW);
    for (const long number : kRefused) on_call(number, SECCOMP_RET_ERRNO | EACCES);
    on_call_with(SYS_write, 0, static_cast<std::uint32_t>(output));
    on_call_with(SYS_tgkill, 0, static_cast<std::uint32_t>(::getpid()));  // abort() calls it
    on_call_with(SYS_fcntl, 1, F_GETFD);  // libelf checks whether its descriptor is open
    // The fstat() of newer C libraries. Called with a path, it can tell that such a file exists.
    on_call_with(SYS_newfstatat, 3, AT_EMPTY_PATH);
    answer(SECCOMP_RET_KILL_PROCESS);
  }

  /// Cannot be undone.
  bool install() {
    const sock_fprog program{static_cast<unsigned short>(size_), instructions_.data()};
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

 private:
  void add(unsigned code, std::uint32_t k, unsigned char if_true = 0, unsigned char if_false = 0) {
    instructions_[size_++] = {static_cast<std::uint16_t>(code), if_true, if_false, k};
  }
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  void answer(std::uint32_t action) { add(BPF_RET | BPF_K, action); }
  void on_call(long number, std::uint32_t action) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1);
    answer(action);
  }
  /// Allows the call if the lower 32 bits of this argument are equal to `argument`.
  void on_call_with(long number, std::size_t index, std::uint32_t argument) {
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the lower half of an argument is elsewhere"
#endif
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 4);
    load(offsetof(seccomp_data, args) + index * sizeof(seccomp_data::args[0]));
    add(BPF_JMP | BPF_JEQ | BPF_K, argument, 0, 1);
    answer(SECCOMP_RET_ALLOW);
    answer(SECCOMP_RET_KILL_PROCESS);
  }

  std::array<sock_filter, 32 + 2 * (kAllowed.size() + kRefused.size())> instructions_{};
  std::size_t size_ = 0;
};

void close_all_but(std::vector<int> kept) {
  std::erase_if(kept, [](int fd) { return fd < 0; });
  std::sort(kept.begin(), kept.end());
  unsigned first = 0;
  for (const int fd : kept) {
    const auto number = static_cast<unsigned>(fd);
    if (number > first) ::close_range(first, number - 1, 0);
    first = std::max(first, number + 1);
  }
  ::close_range(first, ~0U, 0);
}

bool drop_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  // These calls need capabilities that offwait may lack; then it has less to drop.
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0;) ++capability;
  // The functions of the C library would also try to change other threads.
  ::syscall(SYS_setgroups, 0, nullptr);
  ::syscall(SYS_setresgid, kNobody, kNobody, kNobody);
  ::syscall(SYS_setresuid, kNobody, kNobody, kNobody);
  return set_capabilities(0);
}

/// Bytes of address space that this process has already: a sanitizer reserves terabytes.
std::uint64_t address_space() {
  const UniqueFd file(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  std::array<char, 128> text{};
  unsigned long long pages = 0;
  if (!file || ::read(file.get(), text.data(), text.size() - 1) <= 0 ||
      std::sscanf(text.data(), "%llu", &pages) != 1)
    return 0;
  return std::uint64_t{pages} * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void limit(decltype(RLIMIT_CPU) resource, std::uint64_t soft, std::uint64_t hard) {
  rlimit old{};
  ::getrlimit(resource, &old);
  const rlimit value = {std::min<rlim_t>(soft, old.rlim_max), std::min<rlim_t>(hard, old.rlim_max)};
  ::setrlimit(resource, &value);
}

void set_limits(const Confinement& confinement) {
  const auto seconds = static_cast<std::uint64_t>(confinement.cpu_time.count());
  limit(RLIMIT_CPU, seconds, seconds + 1);
  const std::uint64_t memory = address_space() + confinement.memory;
  limit(RLIMIT_AS, memory, memory);
  limit(RLIMIT_CORE, 0, 0);
}

/// The parent's signal handlers must not run in the child. Ctrl-C is left to the parent, which ends the child
/// when it decides to.
void reset_signals() {
  for (const int signal :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGXCPU, SIGXFSZ, SIGPIPE, SIGTERM})
    ::signal(signal, SIG_DFL);
  for (const int signal : {SIGINT, SIGQUIT, SIGHUP}) ::signal(signal, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Hostile input may keep the child busy, so it must not be real-time. It has its parent's nice value.
void leave_real_time() {
  const sched_param parameter{};
  ::sched_setscheduler(0, SCHED_OTHER, &parameter);
}

bool confine(const Confinement& confinement, int output, pid_t parent) {
  leave_real_time();
  reset_signals();
  set_limits(confinement);
  std::vector<int> kept = confinement.descriptors;
  kept.push_back(output);
  close_all_but(std::move(kept));
  if (!drop_privileges()) return false;
  ::prctl(PR_SET_DUMPABLE, 0);
  // The change of ids clears the death signal, so it is set afterwards. The parent may have died before.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return false;
  return Filter(output).install();
}

[[noreturn]] void be_child(const std::function<void(const ConfinedOutput&)>& work,
                           const Confinement& confinement, int output, pid_t parent) {
  // No exception may leave this function: its caller is code of the parent.
  try {
    if (!confine(confinement, output, parent)) ::_exit(kNotConfined);
    work(ConfinedOutput(output));
  } catch (const std::bad_alloc&) {
    ::_exit(kOutOfMemory);
  } catch (...) {
    ::_exit(kThrew);
  }
  ::_exit(kDone);
}

Nanos in_nanos(std::chrono::nanoseconds time) { return time.count(); }

/// For how long the process was ready to run without a CPU; 0 if the kernel does not tell.
Nanos queued_ns(pid_t process) {
  const std::string text = read_file("/proc/" + std::to_string(process) + "/schedstat");
  long long running = 0;
  long long queued = 0;
  return std::sscanf(text.c_str(), "%lld %lld", &running, &queued) == 2 ? Nanos{queued} : 0;
}

/// Reads the child's output to its end, or until time or output exceeds its limit; returns which of these it
/// was.
ConfinedEnd read_output(int fd, pid_t child, const Confinement& confinement, std::string& output) {
  const Nanos deadline = monotonic_now() + in_nanos(confinement.wall_time);
  constexpr std::size_t kPiece = std::size_t{64} << 10U;
  for (;;) {
    Nanos left = deadline - monotonic_now();
    if (left <= 0) left += queued_ns(child);
    if (left <= 0) return ConfinedEnd::out_of_time;
    pollfd waits = {fd, POLLIN, 0};
    constexpr Nanos kMillisecond = 1'000'000;
    const int ready = ::poll(&waits, 1, static_cast<int>(std::min<Nanos>(left / kMillisecond + 1, 60'000)));
    if (ready <= 0) continue;
    const std::size_t filled = output.size();
    output.resize(filled + kPiece);
    const ssize_t got = ::read(fd, output.data() + filled, kPiece);
    output.resize(filled + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0 || (got < 0 && errno != EINTR)) return ConfinedEnd::done;
    if (output.size() > confinement.output) {
      output.resize(confinement.output);
      return ConfinedEnd::too_much_output;
    }
  }
}

ConfinedEnd end_of(int status) {
  if (WIFEXITED(status)) {
    return WEXITSTATUS(status) == kDone          ? ConfinedEnd::done
           : WEXITSTATUS(status) == kOutOfMemory ? ConfinedEnd::out_of_memory
                                                 : ConfinedEnd::crashed;
  }
  const int signal = WTERMSIG(status);
  return signal == SIGSYS    ? ConfinedEnd::forbidden
         : signal == SIGXCPU ? ConfinedEnd::out_of_time
                             : ConfinedEnd::crashed;
}

}  // namespace

void ConfinedOutput::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

ConfinedBeside::~ConfinedBeside() {
  // The process ends with this one in any case. It does not end at once while a file system keeps it.
  if (!process_ || !kill()) return;
  pollfd ends = {process_.get(), POLLIN, 0};
  constexpr int kMillisecondsToEnd = 1000;
  while (::poll(&ends, 1, kMillisecondsToEnd) < 0 && errno == EINTR) {
  }
  ::waitpid(child_, nullptr, WNOHANG);
}

bool ConfinedBeside::kill() const {
  return ::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0) == 0;
}

Result<ConfinedBeside> ConfinedBeside::start(const std::function<void(const ConfinedOutput&)>& work,
                                             const Confinement& confinement) {
  ConfinedBeside beside;
  beside.output_ = UniqueFd(::memfd_create("confined", MFD_CLOEXEC));
  if (!beside.output_)
    return Error{std::string("cannot make a file in memory for a confined process: ") + std::strerror(errno)};
  beside.deadline_ = monotonic_now() + in_nanos(confinement.wall_time);
  const pid_t parent = ::getpid();
  beside.child_ = ::fork();
  if (beside.child_ == 0) {
    limit(RLIMIT_FSIZE, confinement.output, confinement.output);
    if (::getpriority(PRIO_PROCESS, 0) < 0) ::setpriority(PRIO_PROCESS, 0, 0);
    be_child(work, confinement, beside.output_.get(), parent);
  }
  if (beside.child_ < 0) return Error{std::string("cannot make a confined process: ") + std::strerror(errno)};
  beside.process_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, beside.child_, 0)));
  if (beside.process_) return beside;
  const Error error{std::string("cannot watch a confined process: ") + std::strerror(errno)};
  ::kill(beside.child_, SIGKILL);
  ::waitpid(beside.child_, nullptr, 0);
  return error;
}

std::optional<Confined> ConfinedBeside::take() {
  int status = 0;
  // A forked copy of this object has no child of that number (-1) and must leave the process alone.
  const pid_t ended = ::waitpid(child_, &status, WNOHANG);
  if (ended == 0 && !late_ && monotonic_now() > deadline_ + queued_ns(child_)) {
    late_ = true;
    kill();
  }
  if (ended != child_) return std::nullopt;
  process_ = UniqueFd();
  const bool too_large = WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ;
  Confined confined{{},
                    late_       ? ConfinedEnd::out_of_time
                    : too_large ? ConfinedEnd::too_much_output
                                : end_of(status)};
  struct stat file {};
  if (confined.end != ConfinedEnd::done || ::fstat(output_.get(), &file) != 0) return confined;
  confined.output.resize(static_cast<std::size_t>(file.st_size));
  if (::pread(output_.get(), confined.output.data(), confined.output.size(), 0) != file.st_size)
    confined = {{}, ConfinedEnd::crashed};
  return confined;
}

Result<Confined> run_confined(const std::function<void(const ConfinedOutput&)>& work,
                              const Confinement& confinement) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{std::string("cannot make a pipe to a confined process: ") + std::strerror(errno)};
  }
  const UniqueFd from_child(ends[0]);
  UniqueFd to_parent(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) be_child(work, confinement, to_parent.get(), parent);
  if (child < 0) {
    return Error{std::string("cannot make a confined process: ") + std::strerror(errno)};
  }
  to_parent = UniqueFd();
  Confined confined;
  const ConfinedEnd cut = read_output(from_child.get(), child, confinement, confined.output);
  // The child may have closed its output and still be running. If it is about to exit, this signal comes too
  // late to change its status.
  ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotConfined) {
    return Error{"cannot confine a process that reads the target's files (no seccomp filters here?)"};
  }
  confined.end = cut != ConfinedEnd::done ? cut : end_of(status);
  return confined;
}

}  // namespace offwait
