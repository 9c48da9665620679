// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/kernel_names.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace offwait {
namespace {

using Names = std::vector<std::string>;

/// "NUMBER NAMES" for each interrupt, by number.
Names interrupts(std::string_view text) {
  Names all;
  for (const auto& [irq, names] : parse_interrupts(text)) all.push_back(std::to_string(irq) + " " + names);
  return all;
}

// --- /proc/diskstats -------------------------------------------------------------------------------

TEST_CASE("diskstats of Linux 6.x: reads, writes, discards and flushes") {
  const auto disks = parse_diskstats(
      "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
      " 254       0 vda 11832 4066 1019186 2571 62083 40467 2398432 51287 0 30704 56262 1204 7 9831640 112 "
      "12035 2290\n"
      " 254       1 vda1 11700 4066 1011250 2560 60000 40467 2398432 50000 0 30000 55000 1204 7 9831640 112 "
      "0 "
      "0\n"
      " 259       0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n");
  REQUIRE(disks.size() == 4);
  CHECK(disks[0].dev == 7U << 20);
  CHECK(disks[0].name == "loop0");
  CHECK(disks[0].bytes == 0);
  CHECK(disks[0].ios == 0);
  CHECK(disks[1].dev == 254U << 20);
  CHECK(disks[1].name == "vda");
  CHECK(disks[1].bytes == (1019186ULL + 2398432 + 9831640) * 512);
  CHECK(disks[1].ios == 11832U + 62083 + 1204 + 12035);
  CHECK(disks[2].dev == (254U << 20 | 1));
  CHECK(disks[2].name == "vda1");
  CHECK(disks[3].name == "nvme0n1");
  CHECK(disks[3].bytes == (3ULL + 7 + 14) * 512);
  CHECK(disks[3].ios == 1U + 5 + 12 + 16);
  CHECK(disks[3].in_flight == 9);
}

TEST_CASE("diskstats of Linux 4.18, without flushes, and older, without discards") {
  const auto disks = parse_diskstats(
      "   8       0 sda 1000 20 30000 400 500 60 70000 800 0 900 1200 11 0 2200 33\n"
      "   8      16 sdb 1000 20 30000 400 500 60 70000 800 0 900 1200\n");
  REQUIRE(disks.size() == 2);
  CHECK(disks[0].bytes == (30000ULL + 70000 + 2200) * 512);
  CHECK(disks[0].ios == 1000U + 500 + 11);
  CHECK(disks[1].dev == (8U << 20 | 16));
  CHECK(disks[1].bytes == (30000ULL + 70000) * 512);
  CHECK(disks[1].ios == 1000U + 500);
}

TEST_CASE("fields that a later kernel adds do not matter") {
  const auto disks = parse_diskstats("8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20\n");
  REQUIRE(disks.size() == 1);
  CHECK(disks[0].ios == 1U + 5 + 12 + 16);
}

TEST_CASE("lines of another form are left out, the others are not") {
  for (const std::string bad :
       {"", " ", "\t", "8", "8 0", "8 0 sda", "8 0 sda 1 2 3 4 5 6", "x 0 sda 1 2 3 4 5 6 7 8 9 10 11",
        "8 x sda 1 2 3 4 5 6 7 8 9 10 11", "-8 0 sda 1 2 3 4 5 6 7 8 9 10 11",
        "8 0 sda x 2 3 4 5 6 7 8 9 10 11", "8 0 sda 1 2 3 4 5 6 -7 8 9 10 11",
        "8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 99999999999999999999",
        "99999999999999999999 0 sda 1 2 3 4 5 6 7", "\x1b[31m", "8 0 sda 1 2 3 4 5 6 7\r"}) {
    CAPTURE(bad);
    std::string text = bad;
    text.append("\n   8 16 sdb 1 2 3 4 5 6 7 8 9 10 11\n").append(bad);
    const auto disks = parse_diskstats(text);
    REQUIRE(disks.size() == 1);
    CHECK(disks[0].name == "sdb");
  }
  CHECK(parse_diskstats("").empty());
  CHECK(parse_diskstats("\n\n\n").empty());
}

TEST_CASE("the last line may lack its newline, a name may be anything") {
  const auto disks = parse_diskstats("8 0 \xff\x1b 1 2 3 4 5 6 7 8 9 10 11");
  REQUIRE(disks.size() == 1);
  CHECK(disks[0].name == "\xff\x1b");
}

TEST_CASE("this kernel's diskstats is read line by line") {
  std::ifstream file("/proc/diskstats");
  std::size_t lines = 0;
  std::string text;
  for (std::string line; std::getline(file, line); ++lines) text += line + "\n";
  CHECK(parse_diskstats(text).size() == lines);
}

// --- /proc/stat ------------------------------------------------------------------------------------

TEST_CASE("stat: time of all CPUs, stolen time counted as busy and guests counted once") {
  const auto ticks = parse_cpu_ticks(
      "cpu  100 20 3 4000 500 6 7 80 90 9\n"
      "cpu0 1 2 3 4 5 6 7 8 9 10\n");
  REQUIRE(ticks);
  CHECK(ticks->busy == 100 + 20 + 3 + 6 + 7 + 80);
  CHECK(ticks->idle == 4000 + 500);
  CHECK(ticks->steal == 80);
}

TEST_CASE("stat: time of each CPU that is online") {
  const auto each = parse_each_cpu_ticks(
      "cpu  100 20 3 4000 500 6 7 80 90 9\n"
      "cpu0 1 2 3 40 5 6 7 8 9 10\n"
      "cpux 1 2 3 4 5 6 7\n"
      "cpu2 1 2\n"
      "cpu17 10 0 0 1 2\n"
      "intr 5 6 7\n"
      "cpu3 1 2 3 4 5 6 7 8\n");
  REQUIRE(each.size() == 2);
  CHECK(each.at(0).busy == 1 + 2 + 3 + 6 + 7 + 8);
  CHECK(each.at(0).idle == 40 + 5);
  CHECK(each.at(0).steal == 8);
  CHECK(each.at(17).busy == 10);
  CHECK(each.at(17).steal == 0);
  CHECK(parse_each_cpu_ticks("").empty());
}

TEST_CASE("stat without its first line, or with something else in it, says nothing") {
  CHECK_FALSE(parse_cpu_ticks(""));
  CHECK_FALSE(parse_cpu_ticks("cpu0 1 2 3 4 5 6 7\n"));
  CHECK_FALSE(parse_cpu_ticks("cpu 1 2 3 4\n"));
  CHECK_FALSE(parse_cpu_ticks("cpu 1 2 x 4 5 6 7 8\n"));
  CHECK_FALSE(parse_cpu_ticks("cpu 1 2 99999999999999999999 4 5 6 7 8\n"));
}

// --- /proc/interrupts ------------------------------------------------------------------------------

TEST_CASE("interrupts of an x86 machine with two CPUs") {
  CHECK(interrupts(R"(            CPU0       CPU1       
   0:         41          0   IO-APIC   2-edge      timer
   1:          9          0   IO-APIC   1-edge      i8042
   9:          0          0   IO-APIC   9-fasteoi   acpi
  16:          0       1203   IO-APIC  16-fasteoi   ehci_hcd:usb1, i801_smbus
  24:          0      16434  PCI-MSIX-0000:00:03.0   0-edge      virtio0-config
  25:     512000          3  PCI-MSI 524288-edge      xhci_hcd
  26:          0          0  PCI-MSI 65536-edge    
 120:          7          0  IR-PCI-MSI-0000:00:1f.2    0-edge      ahci[0000:00:1f.2]
 NMI:          4          3   Non-maskable interrupts
 LOC:     812345     798765   Local timer interrupts
 ERR:          0
 MIS:          0
)") == Names{"0 timer", "1 i8042", "9 acpi", "16 ehci_hcd:usb1, i801_smbus", "24 virtio0-config",
             "25 xhci_hcd", "120 ahci[0000:00:1f.2]"});
}

TEST_CASE("interrupts of one CPU, and under Xen without a hardware number") {
  CHECK(interrupts(R"(           CPU0       
  4:        523   IO-APIC   4-edge      ttyS0
 48:       1234   xen-percpu    -virq      timer0
 54:        321   xen-dyn    -event     eth0-q0-tx
)") == Names{"4 ttyS0", "48 timer0", "54 eth0-q0-tx"});
}

TEST_CASE("interrupts of an ARM GIC have the trigger in a word of its own") {
  CHECK(interrupts(R"(           CPU0       CPU1       CPU2       CPU3       
  9:          0          0          0          0     GICv3  25 Level     vgic
 11:     132890     112355     116161     110233     GICv3  30 Level     arch_timer
 14:         19          0          0          0     GICv3  34 Level     DMA IRQ
 23:        112          0          0          0   ITS-MSI 16384 Edge      virtio1-req.0
 30:          0          0          0          0  pl061   3 Edge      ACPI:Event
 31:          0          0          0          0     GICv3  48 Level   
IPI0:      5120       4096       4000       3999       Rescheduling interrupts
Err:          0
)") == Names{"9 vgic", "11 arch_timer", "14 DMA IRQ", "23 virtio1-req.0", "30 ACPI:Event"});
}

TEST_CASE("hostile lines of interrupts are left out") {
  CHECK(interrupts("").empty());
  CHECK(interrupts("\n").empty());
  CHECK(interrupts("CPU0").empty());
  for (const std::string bad :
       {":", "1", "1 :", "x: 1 IO-APIC 1-edge a", "-1: 1 IO-APIC 1-edge a", "1:", "1: 1", "1: 1 IO-APIC",
        "1: 1 IO-APIC 1-edge", "99999999999999999999: 1 a b c", "4294967296: 1 IO-APIC 1-edge a",
        "\x1b:", ""}) {
    CAPTURE(bad);
    CHECK(interrupts(" CPU0\n" + bad + "\n 7: 5 IO-APIC 7-edge parport0") == Names{"7 parport0"});
  }
}

TEST_CASE("bytes of interfaces are read, lines of another form are left out") {
  const std::vector<NicStats> nics = parse_net_dev(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo\n"
      "    lo: 100 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0\n"
      "a:b:18446744073709551615 1 0 0 0 0 0 0 3 1 0 0 0 0 0 0\n"
      " cut: 1 2 3\n"
      " bad: x 1 0 0 0 0 0 0 3 1 0 0 0 0 0 0\n");
  REQUIRE(nics.size() == 2);
  CHECK(nics[0].name == "lo");
  CHECK(nics[0].received == 100);
  CHECK(nics[0].sent == 200);
  CHECK(nics[1].name == "a:b");
  CHECK(nics[1].received == UINT64_MAX);
  CHECK(nics[1].sent == 3);
}

}  // namespace
}  // namespace offwait
