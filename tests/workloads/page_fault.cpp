// SPDX-License-Identifier: GPL-2.0-or-later
// A thread that reads a mapped file whose pages were dropped from the cache: every wait is a major fault,
// ended by the disk.
#include <optional>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "file.h"
#include "workloads.h"

namespace workload {

void page_fault(Options& options) {
  const auto faults = static_cast<std::size_t>(options.number("faults", 1000));
  constexpr std::size_t kStride = 16UL * 4096;
  const DiskFile file(options.text("dir", "."));
  file.fill(faults * kStride);
  checked(-posix_fadvise(file.fd(), 0, 0, POSIX_FADV_DONTNEED), "posix_fadvise");
  void* const mapping = mmap(nullptr, faults * kStride, PROT_READ, MAP_SHARED, file.fd(), 0);
  if (mapping == MAP_FAILED) fail("mmap");
  checked(madvise(mapping, faults * kStride, MADV_RANDOM), "madvise");
  ready(options);

  std::optional<ThreadTruth> truth;
  std::int64_t major_faults = 0;
  std::thread([&] {
    truth.emplace("reader");
    const auto* const bytes = static_cast<const volatile char*>(mapping);
    for (std::size_t i = 0; i < faults; ++i) {
      truth->wait([&] {
        static_cast<void>(bytes[i * kStride]);
        return file.waker();
      });
    }
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    major_faults = usage.ru_majflt;
    truth->end();
  }).join();
  truth->print();
  print_truth("page_fault", {{"tid", truth->tid()}, {"major_faults", major_faults}});
}

}  // namespace workload
