// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/served_ports.h"

#include <catch2/catch.hpp>
#include <set>

namespace offwait {
namespace {

using Ports = std::set<std::uint16_t>;

TEST_CASE("TCP ports that are listened to, and none after the first other socket") {
  CHECK(parse_listening(
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n"
            "   0: 0100007F:0CEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0\n"
            "   1: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 0\n"
            "   2: 0100007F:9D78 0100007F:0CEA 01 00000000:00000000 02:000002B2 00000000  0\n"
            "   3: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0\n") ==
        Ports{3306, 80});
}

TEST_CASE("UDP ports count if they were asked for and are not connected") {
  CHECK(parse_unconnected("  sl  local_address rem_address   st\n"
                          "  10: 00000000:0035 00000000:0000 07 0\n"
                          "  11: 00000000:8000 00000000:0000 07 0\n"   // 32768: given by the kernel
                          "  12: 00000000:EE48 00000000:0000 07 0\n"   // 61000: beyond the kernel's range
                          "  13: 0200000A:1388 0500000A:0035 01 0\n",  // connected
                          32768, 60999) == Ports{53, 61000});
}

TEST_CASE("text that is no table of sockets has no ports") {
  CHECK(parse_listening("").empty());
  CHECK(parse_listening("   0: 0100007F 00000000:0000 0A\n   1: 0100007F:12345 00000000:0000 0A\n"
                        "   2: 0100007F:-001 00000000:0000 0A\n   3: :0050 x 0A\n   4:\n")
            .empty());
  CHECK(parse_unconnected("a b c d\n", 0, 65535).empty());
}

TEST_CASE("a process that is gone serves no ports") { CHECK(served_ports(INT32_MAX).empty()); }

}  // namespace
}  // namespace offwait
