// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/proc_maps.h"

#include <catch2/catch.hpp>
#include <string>

using namespace offwait;

namespace {

Mapping only(std::string_view line) {
  const Maps maps = parse_maps(line);
  REQUIRE(maps.malformed == 0);
  REQUIRE(maps.mappings.size() == 1);
  return maps.mappings[0];
}

}  // namespace

TEST_CASE("a line of maps has all its fields") {
  const Mapping mapping = only(
      "7fdecae75000-7fdecae7f000 r-xp 00027000 fe:1f 332383                     "
      "/usr/lib/ld-linux-x86-64.so.2\n");
  CHECK(mapping.begin == 0x7fdecae75000);
  CHECK(mapping.end == 0x7fdecae7f000);
  CHECK(mapping.offset == 0x27000);
  CHECK(mapping.dev_major == 0xfe);
  CHECK(mapping.dev_minor == 0x1f);
  CHECK(mapping.inode == 332383);
  CHECK(mapping.executable);
  CHECK(mapping.path == "/usr/lib/ld-linux-x86-64.so.2");
  CHECK(is_file(mapping));
  CHECK_FALSE(mapping.shared);
}

TEST_CASE("memory is shared if it is mapped so and writable") {
  CHECK(only("1000-2000 rw-s 00000000 00:01 7 /dev/zero (deleted)\n").shared);
  CHECK(only("1000-2000 -w-s 00000000 00:01 7 /dev/zero (deleted)\n").shared);
  CHECK_FALSE(only("1000-2000 r--s 00000000 00:01 7 /a\n").shared);
  CHECK_FALSE(only("1000-2000 rw-p 00000000 00:01 7 /a\n").shared);
}

TEST_CASE("memory without a file") {
  CHECK(only("7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n").path.empty());
  CHECK(only("7f0000000000-7f0000001000 rw-p 00000000 00:00 0\n").executable == false);
  CHECK(only("7f0000000000-7f0000001000 r-xp 00000000 00:00 0      [vdso]").path == "[vdso]");
  CHECK_FALSE(is_file(only("7f0000000000-7f0000001000 r-xp 00000000 00:00 0      [vdso]")));
  CHECK_FALSE(is_file(only("1000-2000 r-xp 00000000 00:00 0 [anon:/tmp/x]")));
  CHECK_FALSE(is_file(only("1000-2000 r-xp 00000000 00:0e 9 anon_inode:[perf_event]")));
  CHECK(only("ffffffffff600000-ffffffffffffffff --xp 0 0:0 0 [vsyscall]").end == UINT64_MAX);
}

TEST_CASE("names with blanks, escapes and marks stay as they are written") {
  CHECK(only("1000-2000 r-xp 0 fe:00 5      /tmp/a b  c ").path == "/tmp/a b  c ");
  CHECK(only("1000-2000 r-xp 0 fe:00 5      /tmp/a\\012b (deleted)").path == "/tmp/a\\012b (deleted)");
  const std::string bytes = "/tmp/\x1b[31m\xff\t";
  CHECK(only("1000-2000 r-xp 0 fe:00 5 " + bytes).path == bytes);
  const std::string with_nul("/tmp/a\0b", 8);
  CHECK(only("1000-2000 r-xp 0 fe:00 5 " + with_nul).path == with_nul);
  const std::string huge = "/" + std::string(1U << 20U, 'x');
  CHECK(only("1000-2000 r-xp 0 fe:00 5 " + huge).path == huge);
}

TEST_CASE("lines that are no mappings are counted and skipped") {
  for (const std::string bad :
       {"", "x", "1000", "1000-", "1000-2000", "1000-2000 r-xp", "1000-2000 r-xp 0 fe:00",
        "1000-2000 r-xp 0 fe:00 ", "1000-2000 r-x 0 fe:00 5 /x", "1000-2000 r-xp 0 fe-00 5 /x",
        "1000-2000 r-xp 0 fe:00 5/x", "2000-1000 r-xp 0 0:0 0", "1000-1000 r-xp 0 0:0 0",
        "-1000-2000 r-xp 0 0:0 0", "10000000000000000-2 r-xp 0 0:0 0", "1000-2000 r-xp 0 100000000:0 0",
        "1000-2000 r-xp 0 0:0 99999999999999999999999"}) {
    INFO(bad);
    const Maps maps = parse_maps(bad + "\n1000-2000 r-xp 0 0:0 0 [vdso]\n");
    CHECK(maps.malformed == 1);
    REQUIRE(maps.mappings.size() == 1);
    CHECK(maps.mappings[0].path == "[vdso]");
  }
  CHECK(parse_maps("").mappings.empty());
  CHECK(parse_maps("").malformed == 0);
}

TEST_CASE("every prefix of a text is read without surprise") {
  const std::string text = "1000-2000 r-xp 00000010 fe:00 5      /tmp/a\n3000-4000 rw-p 00000000 00:00 0 \n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const Maps maps = parse_maps(std::string_view(text).substr(0, size));
    INFO(size);
    CHECK(maps.mappings.size() + maps.malformed == (size == 0 ? 0U : size <= text.find('\n') + 1 ? 1U : 2U));
  }
}

TEST_CASE("the module is the last component without the mark") {
  CHECK(module_name("/usr/lib/libc.so.6") == "libc.so.6");
  CHECK(module_name("/tmp/a b (deleted)") == "a b");
  CHECK(module_name("/tmp/x (deleted) (deleted)") == "x (deleted)");
  CHECK(module_name("/memfd:jit (deleted)") == "memfd:jit");
  CHECK(module_name("/tmp/a\\012b") == "a\\012b");
  CHECK(module_name("[vdso]") == "[vdso]");
  CHECK(module_name("").empty());
}

TEST_CASE("a mapped file is looked for under each name it may have") {
  CHECK(candidate_paths("/bin/true") == std::vector<std::string>{"/bin/true"});
  CHECK(candidate_paths("/a\\012b (deleted)") ==
        std::vector<std::string>{"/a\nb", "/a\\012b", "/a\nb (deleted)", "/a\\012b (deleted)"});
  CHECK(candidate_paths("") == std::vector<std::string>{""});
}
