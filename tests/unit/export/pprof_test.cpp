// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/pprof.h"

#include <catch2/catch.hpp>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

#include <zlib.h>

#include "export/deflate.h"

using namespace offwait;

namespace {

std::string unzipped(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(inflateInit2(&stream, MAX_WBITS + 16) == Z_OK);
  std::string in = bytes;
  std::string out(std::size_t{1} << 24, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(inflate(&stream, Z_FINISH) == Z_STREAM_END);
  CHECK(stream.avail_in == 0);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

Frame frame(const std::string& function, bool inlined = false) {
  Frame out;
  out.function = function;
  out.module = "app";
  out.inlined = inlined;
  return out;
}

/// The names of the functions of each location, by the location's number.
std::map<std::uint64_t, std::vector<std::string>> locations(const std::string& bytes) {
  std::vector<std::string> strings;
  std::map<std::uint64_t, std::uint64_t> functions;
  std::map<std::uint64_t, std::vector<std::uint64_t>> lines;
  protozero::pbf_reader profile(bytes);
  while (profile.next()) {
    if (profile.tag() == 6) {
      strings.push_back(profile.get_string());
    } else if (profile.tag() == 5) {
      protozero::pbf_reader function = profile.get_message();
      REQUIRE(function.next(1));
      const std::uint64_t id = function.get_uint64();
      REQUIRE(function.next(2));
      functions[id] = function.get_uint64();
    } else if (profile.tag() == 4) {
      protozero::pbf_reader location = profile.get_message();
      REQUIRE(location.next(1));
      std::vector<std::uint64_t>& in = lines[location.get_uint64()];
      while (location.next(4)) {
        protozero::pbf_reader line = location.get_message();
        REQUIRE(line.next(1));
        in.push_back(line.get_uint64());
      }
    } else {
      profile.skip();
    }
  }
  std::map<std::uint64_t, std::vector<std::string>> out;
  for (const auto& [id, ids] : lines) {
    for (const std::uint64_t function : ids) out[id].push_back(strings.at(functions.at(function)));
  }
  return out;
}

}  // namespace

TEST_CASE("gzip keeps the bytes, and has no time in its header") {
  std::string bytes;
  for (std::int64_t i = 0; i < 300'000; ++i) bytes += std::to_string(i * i);
  for (const std::string& some : {std::string(), std::string("a"), bytes}) {
    const Result<std::string> zipped = gzip(some);
    REQUIRE(zipped.ok());
    CHECK(unzipped(zipped.value()) == some);
    CHECK(zipped.value().substr(4, 4) == std::string(4, '\0'));
  }
}

TEST_CASE("Inlined functions share a location with the function around them") {
  WaitProfile profile;
  profile.window = {0, 1000};
  profile.frames = {frame("inner()", true), frame("outer(int)"), frame("main")};
  profile.stacks = {{{0, 1, 2}, {}}, {{1, 2}, StackCut::no_rule}};
  profile.waits = {{"t", 0, WaitClass::futex, "w", false, "", 5, 5, 1},
                   {"t", 1, WaitClass::futex, "w", false, "", 7, 7, 1}};
  const Result<std::string> bytes = to_pprof(profile);
  REQUIRE(bytes.ok());
  std::vector<std::vector<std::string>> found;
  for (const auto& [id, names] : locations(unzipped(bytes.value()))) found.push_back(names);
  CHECK(found == std::vector<std::vector<std::string>>{
                     {"inner", "outer"}, {"main"}, {"outer"}, {std::string(cut_frame(StackCut::no_rule))}});
}
