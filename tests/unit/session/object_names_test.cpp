// SPDX-License-Identifier: GPL-2.0-or-later
// The tests look at variables of this process.
#include "session/object_names.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "process/address_spaces.h"

namespace planted {

// Not static, so that the compiler keeps them.
std::array<std::uint64_t, 4> in_data = {1, 2, 3, 4};
std::array<std::uint64_t, 512> in_bss;

}  // namespace planted

namespace offwait {
namespace {

std::uint64_t address_of(const void* place) {
  return reinterpret_cast<std::uintptr_t>(place);  // NOLINT(*-reinterpret-cast)
}

Object futex_at(const void* place) {
  Object object;
  object.tgid = ::getpid();
  object.address = address_of(place);
  return object;
}

Object kernel_lock_at(std::uint64_t address) {
  Object object;
  object.kind = Object::Kind::kernel_lock;
  object.address = address;
  return object;
}

/// The objects after they have got their names.
std::vector<Object> named(std::vector<Object> objects) {
  AddressSpaces spaces;
  REQUIRE(spaces.look_at(::getpid()) != nullptr);
  Symbolizer symbols;
  for (const AddressSpace& space : spaces.take_changed()) symbols.note_mappings(space);
  symbols.set_kernel_symbols(
      "ffffffff81000000 T first\n"
      "ffffffff82000100 D some_mutex\n"
      "ffffffff82000200 b next\n"
      "ffffffffc0000000 d module_lock\t[ext4]\n");
  Trace trace;
  trace.objects = std::move(objects);
  name_objects(trace, data_names(nameless_objects(trace), symbols));
  return trace.objects;
}

TEST_CASE("a futex in a variable has the variable's name") {
  const std::vector<Object> found = named(
      {futex_at(&planted::in_data[1]), futex_at(planted::in_bss.data()), futex_at(&planted::in_bss[511])});
  REQUIRE(found.size() == 3);
  for (const Object& object : found) {
    CHECK(object.module == "unit_session");
    CHECK(object.tgid == ::getpid());
  }
  CHECK(found[0].symbol == "planted::in_data");
  CHECK(found[0].symbol_offset == 8);
  CHECK(found[1].symbol == "planted::in_bss");
  CHECK(found[1].symbol_offset == 0);
  CHECK(found[2].symbol == "planted::in_bss");
  CHECK(found[2].symbol_offset == 511 * 8);
}

TEST_CASE("a variable of a library has the library's name") {
  const Object found = named({futex_at(stdout)}).front();
  CHECK(found.module == "libc.so.6");
  CHECK(found.symbol.find("stdout") != std::string::npos);
}

TEST_CASE("what lies in no variable has no name") {
  const auto on_heap = std::make_unique<std::uint64_t>(0);
  const std::uint64_t on_stack = 0;
  Object gone = futex_at(on_heap.get());
  gone.tgid = 1 << 30;
  const std::vector<Object> objects = {futex_at(on_heap.get()),
                                       futex_at(&on_stack),
                                       gone,
                                       {.hash = 7},
                                       {.kind = Object::Kind::file, .path = "/a"}};
  CHECK(named(objects) == objects);
}

TEST_CASE("locks of the kernel have the names of variables that the kernel lists") {
  const std::vector<Object> found =
      named({kernel_lock_at(0xffffffff82000108), kernel_lock_at(0xffffffffc0000000),
             kernel_lock_at(0xffff888100000000), kernel_lock_at(0xffffffff81000000)});
  REQUIRE(found.size() == 4);
  CHECK(found[0].symbol == "some_mutex");
  CHECK(found[0].symbol_offset == 8);
  CHECK(found[0].module == "[kernel]");
  CHECK(found[1].symbol == "module_lock");
  CHECK(found[1].module == "[ext4]");
  CHECK(found[2] == kernel_lock_at(0xffff888100000000));
  CHECK(found[3] == kernel_lock_at(0xffffffff81000000));
}

TEST_CASE("futexes at one place of a shared file are one object, wherever it is mapped") {
  constexpr std::size_t kSize = 8192;
  const UniqueFd memory(::memfd_create("planted", MFD_CLOEXEC));
  REQUIRE(memory);
  REQUIRE(::ftruncate(memory.get(), kSize) == 0);
  const auto map = [&](off_t offset, int flags) {
    void* const place = ::mmap(nullptr, kSize - static_cast<std::size_t>(offset), PROT_READ | PROT_WRITE,
                               flags, memory.get(), offset);
    REQUIRE(place != MAP_FAILED);
    return static_cast<char*>(place);
  };
  char* const first = map(0, MAP_SHARED);
  char* const second = map(4096, MAP_SHARED);
  char* const own = map(4096, MAP_PRIVATE);

  Trace trace;
  trace.objects = {futex_at(first + 4096 + 64), futex_at(own + 64), futex_at(second + 64)};
  trace.waits = {{0, 0, 1, 2, 2}, {0, 1, 3, 4, 4}, {0, 2, 5, 6, 6}, {0, kNoObject, 7, 8, 8}};
  trace.disk_ios = {{kNoActor, 0, 1, 2, 3, kNoObject}};
  AddressSpaces spaces;
  REQUIRE(spaces.look_at(::getpid()) != nullptr);
  Symbolizer symbols;
  for (const AddressSpace& space : spaces.take_changed()) symbols.note_mappings(space);
  name_objects(trace, data_names(nameless_objects(trace), symbols));

  struct stat status {};
  REQUIRE(::fstat(memory.get(), &status) == 0);
  REQUIRE(trace.objects.size() == 2);
  const Object& shared = trace.objects[0];
  CHECK(shared.kind == Object::Kind::futex);
  CHECK(shared.inode == status.st_ino);
  CHECK(shared.device == DeviceNumber{major(status.st_dev), minor(status.st_dev)});
  CHECK(shared.file_offset == 4096 + 64);
  CHECK(shared.path == "/memfd:planted");
  CHECK(shared.deleted);
  CHECK(shared.tgid == 0);
  CHECK_FALSE(fault_of(shared));
  CHECK(trace.objects[1] == futex_at(own + 64));
  CHECK(std::array{trace.waits[0].object, trace.waits[1].object, trace.waits[2].object,
                   trace.waits[3].object} == std::array<ObjectId, 4>{0, 1, 0, kNoObject});
  for (char* const place : {first}) ::munmap(place, kSize);
  for (char* const place : {second, own}) ::munmap(place, kSize - 4096);
}

}  // namespace
}  // namespace offwait
