// SPDX-License-Identifier: GPL-2.0-or-later
// Sentences about what a disk did, what it could do, and what to ask of it instead.
#pragma once

#include <string>

#include "analysis/findings.h"

namespace offwait {

/// A share of a capacity that is only assumed is no fact, and in no sentence.
bool has_known_capacity(const FoundDisk& disk);

/// `busy 93% (something under way)`; `idle: nothing under way`.
std::string busy_text(const Findings& findings, const FoundDisk& disk);
/// `one request at a time, 2.50 ms each: latency-bound`; empty if nothing was under way.
std::string requests_text(const FoundDisk& disk);
/// `200 IO/s, 100 MB/s`, of the same requests as requests_text() where they are known.
std::string rate_text(const FoundDisk& disk);
/// `assumed`, `measured 2026-11-21`
std::string capacity_source(const FoundDisk& disk);
/// `9.2% of its capacity used: 500 MB/s, 50,000 IO/s (given)`; `capacity assumed: 500 MB/s, 50,000 IO/s …`
std::string capacity_text(const Findings& findings, const FoundDisk& disk);
/// How many requests were left out; empty for none.
std::string unseen_text(const FoundDisk& disk);

/// A sentence for a knot that the disk is in: `Disk vda was busy for 93% of the window, with one request at a
/// time, 2.50 ms each (latency-bound). 9.2% of its capacity was used (500 MB/s, 50,000 IO/s, given).`
std::string disk_sentence(const Findings& findings, const FoundDisk& disk);
/// `used 96% of its capacity (measured 2026-11-21)`
std::string saturated_text(const Findings& findings, const FoundDisk& disk);
/// `used only 9.2% of its capacity, so it does not limit`
std::string unsaturated_text(const Findings& findings, const FoundDisk& disk);
/// `disk vda used 9.2% of its capacity (500 MB/s, 50,000 IO/s, given) and could have served more`, with
/// `name` for the disk.
std::string spare_text(const Findings& findings, const FoundDisk& disk, const std::string& name);
/// What to try for requests that threads wait for, by what they ask of the disk and how many ask.
/// `in_groups`: one sync serves several threads already.
std::string disk_advice(const AnswerEvidence& evidence, bool in_groups);
/// The same for an answer about calls that make sure of what is on a disk.
std::string sync_advice(const AnswerEvidence& evidence, bool in_groups);

}  // namespace offwait
