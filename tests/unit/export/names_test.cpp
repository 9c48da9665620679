// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "export/actor_names.h"
#include "export/formats.h"

using namespace offwait;

TEST_CASE("Actors are called by their names, devices with their kind") {
  Actor thread;
  thread.name = "redis-server";
  CHECK(actor_name(thread) == "redis-server");
  thread.name.clear();
  thread.tid = 12;
  CHECK(actor_name(thread) == "tid 12");
  Actor disk;
  disk.kind = ActorKind::disk;
  disk.name = "vda";
  CHECK(actor_name(disk) == "disk vda");
  Actor timer;
  timer.kind = ActorKind::timer;
  CHECK(actor_name(timer) == "timer");
}

namespace {

std::string object_name(const Object& object) {
  Trace trace;
  trace.objects = {object};
  return ObjectNames(trace)(0);
}

}  // namespace

TEST_CASE("Locks are called by their variable, else by where they lie") {
  Object futex;
  futex.tgid = 10;
  futex.address = 0x7f00'1234'5678;
  CHECK(object_name(futex) == "futex 0x7f0012345678 of pid 10");
  futex.module = "mariadbd";
  futex.symbol = "LOCK_log";
  CHECK(object_name(futex) == "LOCK_log (mariadbd)");
  Object hashed;
  hashed.hash = 0xab;
  CHECK(object_name(hashed) == "futex 000000ab");
  Object lock;
  lock.kind = Object::Kind::kernel_lock;
  lock.lock = KernelLock::rwsem;
  lock.address = 0xffff'8880'0000'0000;
  CHECK(object_name(lock) == "kernel rwsem 0xffff888000000000");
  lock.lock = KernelLock::unknown;
  CHECK(object_name(lock) == "kernel lock 0xffff888000000000");
}

TEST_CASE("Files are called as in reports") {
  Object file;
  file.kind = Object::Kind::file;
  file.inode = 12;
  file.device = {259, 1};
  CHECK(object_name(file) == "inode 12 on 259:1");
  file.path = "/var/lib/db/WAL";
  file.deleted = true;
  CHECK(object_name(file) == "/var/lib/db/WAL (deleted)");
}

TEST_CASE("Formats have names") {
  for (const ExportFormat format : kExportFormats) CHECK(export_format(to_string(format)) == format);
  CHECK_FALSE(export_format("svg"));
  CHECK_FALSE(export_format(""));
}
