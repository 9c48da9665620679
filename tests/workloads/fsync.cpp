// SPDX-License-Identifier: GPL-2.0-or-later
// A thread that overwrites and syncs a file on a disk, allocated before: every wait is for the disk.
#include <optional>
#include <thread>

#include <unistd.h>

#include "file.h"
#include "workloads.h"

namespace workload {

void fsync_loop(Options& options) {
  const auto rounds = options.number("rounds", 500);
  const auto bytes = static_cast<std::size_t>(options.number("bytes", 4096));
  const DiskFile file(options.text("dir", "."));
  file.fill((bytes + 4095) / 4096 * 4096);
  ready(options);

  std::optional<ThreadTruth> truth;
  std::thread([&] {
    truth.emplace("syncer");
    const std::vector<char> record(bytes, 'y');
    for (std::int64_t round = 0; round < rounds; ++round) {
      checked(pwrite(file.fd(), record.data(), record.size(), 0), "write");
      truth->wait([&] {
        checked(fdatasync(file.fd()), "fdatasync");
        return file.waker();
      });
    }
    truth->end();
  }).join();
  truth->print();
}

}  // namespace workload
