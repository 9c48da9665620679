// SPDX-License-Identifier: GPL-2.0-or-later
// Loads one of the minimal recorders (empty.bpf.o, joined.bpf.o, stackid.bpf.o) and reads the waits that it
// records, if it does, every 20 ms until SIGINT. Prints "recording" to stderr when it has attached, and at
// the end how many waits it has read, and how many were lost.
//
//   waits OBJECT
#include <csignal>
#include <cstdint>
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

// The object has one global variable, the number of records for which there was no room.
std::uint64_t lost_in(const bpf_object* object) {
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, object) {
    size_t size = 0;
    const void* const values = bpf_map__initial_value(map, &size);
    if (values != nullptr && size == sizeof(std::uint64_t)) return *static_cast<const std::uint64_t*>(values);
  }
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
  const int events = bpf_object__find_map_fd_by_name(object, "events");
  ring_buffer* const ring = events < 0 ? nullptr : ring_buffer__new(events, count, nullptr, nullptr);
  if (events >= 0 && ring == nullptr) return 1;
  std::fprintf(stderr, "recording\n");
  while (stopped == 0) {
    const timespec interval{0, 20'000'000};
    ::nanosleep(&interval, nullptr);
    if (ring != nullptr) ring_buffer__consume(ring);
  }
  std::printf("%llu waits, %llu lost\n", waits, static_cast<unsigned long long>(lost_in(object)));
  return 0;
}
