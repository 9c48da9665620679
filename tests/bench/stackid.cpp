// SPDX-License-Identifier: GPL-2.0-or-later
// Loads stackid.bpf.o and reads its records every 20 ms until SIGINT. Prints "recording" when it has
// attached.
//
//   stackid OBJECT
#include <csignal>
#include <cstdio>
#include <ctime>

#include <bpf/libbpf.h>

namespace {

volatile std::sig_atomic_t stopped = 0;
unsigned long long waits = 0;

int count(void* /*context*/, void* /*data*/, size_t /*size*/) {
  ++waits;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::signal(SIGINT, [](int) { stopped = 1; });
  libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
  bpf_object* const object = bpf_object__open_file(argv[1], nullptr);
  if (object == nullptr || bpf_object__load(object) != 0) return 1;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object) {
    if (bpf_program__attach(program) == nullptr) return 1;
  }
  ring_buffer* const ring =
      ring_buffer__new(bpf_object__find_map_fd_by_name(object, "events"), count, nullptr, nullptr);
  if (ring == nullptr) return 1;
  std::fprintf(stderr, "recording\n");
  while (stopped == 0) {
    const timespec interval{0, 20'000'000};
    ::nanosleep(&interval, nullptr);
    ring_buffer__consume(ring);
  }
  std::printf("%llu waits\n", waits);
  return 0;
}
