// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/libbpf_calls.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include <sys/resource.h>
#include <unistd.h>

namespace offwait {
namespace {

/// The first complaint of libbpf: return values alone do not say what was wrong, and later complaints are
/// consequences of the first.
std::string& libbpf_complaint() {
  static std::string complaint;
  return complaint;
}

int keep_complaint(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN || !libbpf_complaint().empty()) return 0;
  std::array<char, 512> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  std::string line(text.data());
  while (!line.empty() && line.back() == '\n') line.pop_back();
  libbpf_complaint() = line;
  return 0;
}

}  // namespace

void keep_libbpf_complaints() {
  libbpf_complaint().clear();
  libbpf_set_print(keep_complaint);
}

Error libbpf_error(const std::string& what, int error) {
  const int number = error < 0 ? -error : error;
  std::string message = what + ": " + std::strerror(number);
  if (!libbpf_complaint().empty()) message += " (" + libbpf_complaint() + ")";
  rlimit locked{};
  if (number == EPERM && ::getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur != RLIM_INFINITY) {
    message +=
        "; before Linux 5.11 BPF maps are locked memory, and its limit is too low here: ulimit -l unlimited, "
        "LimitMEMLOCK=infinity";
  }
  return Error{message};
}

Result<UniqueFd> open_iterator(const bpf_program* program) {
  const std::string name = bpf_program__name(program);
  bpf_link* const link = bpf_program__attach_iter(program, nullptr);
  if (link == nullptr) return libbpf_error("cannot attach the iterator " + name, errno);
  UniqueFd iterator(bpf_iter_create(bpf_link__fd(link)));
  const int error = errno;
  bpf_link__destroy(link);
  if (!iterator) return libbpf_error("cannot run the iterator " + name, error);
  return iterator;
}

Status run_iterator(const bpf_program* program) {
  OFFWAIT_TRY(const UniqueFd iterator, open_iterator(program));
  std::array<char, 64> ignored{};
  ssize_t got = 0;
  while ((got = ::read(iterator.get(), ignored.data(), ignored.size())) > 0 || (got < 0 && errno == EINTR)) {
  }
  if (got < 0) return libbpf_error("cannot run the task iterator", errno);
  return success();
}

}  // namespace offwait
