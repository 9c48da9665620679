// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/forked_analysis.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

#include <poll.h>
#include <unistd.h>

using namespace offwait;

namespace {

ForkedAnalysis::Done wait_for(ForkedAnalysis& analysis) {
  for (;;) {
    pollfd ready{analysis.fd(), POLLIN, 0};
    ::poll(&ready, 1, -1);
    if (std::optional<ForkedAnalysis::Done> done = analysis.look()) return *std::move(done);
  }
}

}  // namespace

TEST_CASE("A forked analysis sends back what it made of the memory at the fork") {
  std::string memory = "before";
  ForkedAnalysis analysis;
  CHECK(analysis.fd() == -1);
  REQUIRE(analysis.start([&memory] { return memory + std::string(300'000, 'x'); }).ok());
  memory = "after";
  CHECK(analysis.runs());
  const ForkedAnalysis::Done done = wait_for(analysis);
  CHECK(done.bytes.size() == 300'006);
  CHECK(done.bytes.starts_with("before"));
  CHECK_FALSE(analysis.runs());
  CHECK_FALSE(analysis.look());
}

TEST_CASE("What an analysis takes of the CPUs is known when it is done") {
  ForkedAnalysis analysis;
  REQUIRE(analysis
              .start([] {
                while (::clock() < CLOCKS_PER_SEC / 20) {
                }
                return std::string("done");
              })
              .ok());
  CHECK(wait_for(analysis).cpu_time > 0);
}

TEST_CASE("An analysis that fails sends nothing, and another one can follow") {
  ForkedAnalysis analysis;
  REQUIRE(analysis.start([]() -> std::string { ::_exit(3); }).ok());
  CHECK(wait_for(analysis).bytes.empty());
  REQUIRE(analysis.start([] { return std::string("again"); }).ok());
  CHECK(wait_for(analysis).bytes == "again");
}

TEST_CASE("An analysis that is stopped is gone") {
  ForkedAnalysis analysis;
  REQUIRE(analysis
              .start([]() -> std::string {
                for (;;) ::pause();
              })
              .ok());
  analysis.stop();
  CHECK_FALSE(analysis.runs());
  CHECK(analysis.fd() == -1);
}
