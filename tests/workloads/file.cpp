// SPDX-License-Identifier: GPL-2.0-or-later
#include "file.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "truth.h"

namespace workload {

DiskFile::DiskFile(const std::string& directory) {
  std::string path = directory + "/workload-XXXXXX";
  fd_ = checked(mkostemp(path.data(), O_CLOEXEC), "cannot create a file in the directory");
  unlink(path.c_str());
  struct stat status {};
  checked(fstat(fd_, &status), "fstat");
  const std::filesystem::path device =
      "/sys/dev/block/" + std::to_string(major(status.st_dev)) + ":" + std::to_string(minor(status.st_dev));
  std::error_code error;
  std::filesystem::path disk = std::filesystem::canonical(device, error);
  if (error) skip(directory + " is not on a block device");
  if (std::filesystem::exists(disk / "partition", error)) disk = disk.parent_path();
  waker_ = "disk:" + disk.filename().string();
}

DiskFile::~DiskFile() { close(fd_); }

void DiskFile::fill(std::size_t bytes) const {
  const std::vector<char> page(4096, 'x');
  for (std::size_t offset = 0; offset < bytes; offset += page.size())
    checked(pwrite(fd_, page.data(), page.size(), static_cast<off_t>(offset)), "write");
  checked(fsync(fd_), "fsync");
}

}  // namespace workload
