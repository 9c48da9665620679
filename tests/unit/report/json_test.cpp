// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/json.h"

#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "unit/report/sample.h"

using namespace offwait;
using nlohmann::json;

TEST_CASE("The fields of the contract, in its order") {
  const auto report = nlohmann::ordered_json::parse(to_json(sample_findings()));
  std::vector<std::string> names;
  for (const auto& [name, value] : report.items()) {
    names.push_back(name);
  }
  CHECK(names == std::vector<std::string>{
                     "schema",     "recording", "loss",    "totals",        "cpu_supply", "memory",
                     "stack_ends", "options",   "verdict", "runtimes",      "progress",   "answers",
                     "screen",     "what_if",   "actors",  "edges",         "knots",      "sinks",
                     "refinement", "disks",     "nics",    "false_wakeups", "open_waits", "elsewhere",
                     "functions",  "threads",   "locks",   "files"});
  CHECK(report["schema"] == "offwait-report/1");
}

TEST_CASE("What the sample report says") {
  Findings sample = sample_findings();
  sample.edges[1].waker_samples = {380, 40, {{0.71, 270, stack_of({"funB"})}}};
  const json report = json::parse(to_json(sample));
  CHECK(report["recording"] ==
        json::parse(R"({"target":"pid 10","start_time":"2026-01-01T00:00:00Z","window_s":10.0,
    "kernel":"6.1.0","cpus":2,"cpu_busy":0.75,"sample_hz":0,"stack_reuse":{"walked":0,"recalled":0,"verified":0,"wrong":0},"cost":{"kernel_s":0,"recorder_s":0,"most":0,"waits_with_stacks":0,"waits_without_stacks":0},"offwait":"0.1.0"})"));
  CHECK(report["loss"] == json::parse(R"({"total":0,"ringbuf_full":0,"stack_store_full":0})"));
  CHECK(report["actors"][1] ==
        json::parse(
            R"({"id":1,"kind":"thread","name":"B","display":"B","tid":12,"tgid":10,"members":1,"tids":[12],
    "outside":false,"short_lived":false,"running_s":5.0,"runnable_s":0.0,"blocked_s":5.0,"unknown_s":0.0,"lifetime_s":10.0,"open_wait_s":0.0,
    "lost_s":0.0})"));
  CHECK(report["actors"][2]["kind"] == "disk");
  sample.actors[1].ns_tids = {7};
  CHECK(json::parse(to_json(sample))["actors"][1]["ns_tids"] == json::parse("[7]"));
  CHECK_FALSE(report["actors"][2].contains("tid"));
  CHECK(report["edges"][1] ==
        json::parse(R"({"from":0,"to":1,"idle":false,"waits":800,"wait_s":8.0,"weight_s":8.0,"each_s":0.01,
    "classes":{"futex":6.0,"pipe":2.0},"waker_running_s":3.9,"waker_runnable_s":0.1,"waker_blocked_s":4.0,"waker_unknown_s":0.0,
    "waker_samples":{"samples":380,"stacks_known":40,"stacks":[{"share":0.71,"samples":270,"stack":["funB"]}],"places":[],"spread":false},
    "stacks":[{"class":"futex","weight_s":8.0,"wait_s":8.0,"waits":800,"wait_stack":["pthread_cond_wait"],
    "waker_stack":["pthread_cond_signal","dequeue"]}],"peers_known":70,
    "peers":[{"peer":"10.0.0.5:3306","role":"service","waits":500,"wait_s":5.0},
    {"peer":"10.0.0.9:40312","role":"client","waits":300,"wait_s":3.0}],"phases":null})"));
  CHECK(report["edges"][2]["idle"] == true);
  CHECK(report["knots"] ==
        json::parse(R"([{"actors":[1,2],"edges":[{"from":1,"to":2},{"from":2,"to":1}],"background":false,
    "pattern":"blocking-io","pattern_title":"blocking I/O","evidence":"Disk vda was busy for 60% of the window, with 1.25 requests at a time, 3.75 ms each (latency-bound).",
    "advice":"Threads and a device take turns waiting for each other: usually requests are batched, sent ahead or asynchronously, or by more threads, so that the device always has work; or the device is replaced by a faster one.","weight_s":14.5,"cpu_s":5.0}])"));
  CHECK(report["refinement"] ==
        json::parse(R"([{"step":1,"removed":{"from":0,"to":1},"weight_s":0.01,"reason":"noise"},
    {"step":2,"removed":{"actor":3},"weight_s":0.0,"reason":"background-sink"}])"));
  CHECK(report["disks"] == json::parse(R"([{"actor":2,"bytes":1000000000,"ios":2000,"busy_s":5.0,"idle_s":5.0,
    "capacity":{"bytes_per_s":500000000.0,"ios_per_s":400.0,"source":"assumed","raised":true,"measured_on":null},
    "bytes_per_s":100000000.0,"ios_per_s":200.0,"service_s":0.00375,"in_flight":0.75,
    "activity":{"kind":"latency-bound","under_way_s":6.0,"in_flight":0.75,"in_flight_while_busy":1.25,
                "each_s":0.00375,"ios":2000,"bytes":1000000000,"ios_per_s":200.0,"bytes_per_s":100000000.0},
    "serves":null,"unseen":1,
    "users":[{"actor":1,"bytes":750000000,"ios":1500,"service_s":0.003,"in_flight":0.45},
             {"actor":null,"bytes":250000000,"ios":500,"service_s":0.001,"in_flight":0.05}],
    "files":[],"files_known":0,
    "check":{"counted_ios":2000,"counted_bytes":1000000000,"seen_ios":1999,"seen_bytes":1000000000,
             "mismatch":false}}])"));
  CHECK(report["open_waits"] ==
        json::parse(R"([{"actor":3,"tid":13,"wait_s":10.0,"throughout":true,"class":"poll",
    "wait_stack":["epoll_wait"],"holder":null,"deadlock":false}])"));
  CHECK(report["elsewhere"] == json::parse(R"([{"from":0,"to":1,"reason":"leads-in",
    "sentence":"Not in a knot: A waits for the knot, but nothing there waits for A."}])"));
}

TEST_CASE("Progress and answers, with null for what is not known") {
  Findings sample = sample_findings();
  CHECK(json::parse(to_json(sample))["progress"] == json::array());
  CHECK(json::parse(to_json(sample))["answers"] == json::array());
  sample.progress = {{{{"A", 1}, {"\x1b", 2}}, Progress::How::clients, {0, 1}, 176.5, 0.75},
                     {{{"B", 1}}, Progress::How::inferred, {1}, std::nullopt, 0.25},
                     {{{"C", 1}}, Progress::How::end, {2}, std::nullopt, 0}};
  sample.progress[2].end_s = 4.21;
  sample.progress.push_back({{{"D", 1}}, Progress::How::told, {1}, 9.5, 0});
  sample.progress[3].functions = {"f", "\x1b"};
  sample.progress[0].connections = 20;
  sample.progress[0].requests = Requests{1.5, 0.25};
  sample.progress[0].addresses = {{6379, ""}, {0, std::string("\0x", 2)}};
  FoundAnswer disk;
  static_cast<Gain&>(disk) = {0.82, 0.77, 0.88, Certainty::up_to};
  disk.what = Resource::disk;
  disk.device = 2;
  disk.knot = 0;
  FoundAnswer work;
  static_cast<Gain&>(work) = {0.1234567, std::nullopt, std::nullopt, Certainty::rough};
  work.actor = 1;
  work.progress = 1;
  work.evidence.name = "b\x1b*";
  work.evidence.time_s = 5;
  work.evidence.others_s = 1.5;
  work.evidence.threads = 48;
  work.evidence.tid = 12;
  work.more = MoreThreads{{0, 1.5, 4, true}, 1.25, false};
  work.limit = LimitedBy::target;
  sample.answers = {disk, work};
  const json report = json::parse(to_json(sample));
  CHECK(report["progress"] == json::parse(R"([
    {"id":0,"name":"A, \\x1b","how":"clients","actors":[0,1],"per_s":176.5,"active_s":null,"share":0.75,
     "connections":20,"under_way":1.5,"unread":0.25,"addresses":[{"port":6379,"path":null},{"port":null,"path":"\\x00x"}],"end_s":null},
    {"id":1,"name":"B","how":"inferred","actors":[1],"per_s":null,"active_s":null,"share":0.25,
     "connections":null,"under_way":null,"unread":null,"addresses":[],"end_s":null},
    {"id":2,"name":"C","how":"end","actors":[2],"per_s":null,"active_s":null,"share":0.0,
     "connections":null,"under_way":null,"unread":null,"addresses":[],"end_s":4.21},
    {"id":3,"name":"calls of f, \\x1b","how":"told","actors":[1],"per_s":9.5,"active_s":null,"share":0.0,
     "connections":null,"under_way":null,"unread":null,"addresses":[],"end_s":null}])"));
  CHECK(report["answers"] == json::parse(R"([
    {"what":"disk","actor":null,"device":2,"time_s":0.0,"threads":null,"pinned_to":null,"quota":null,"lock":null,"syncs":null,"pause":null,"more_threads":null,"progress":0,"gain":0.82,"low":0.77,"high":0.88,
     "certainty":"up-to","doubt":null,"knot":0,
     "actions":{"sync_s":0.0,"write_s":0.0,"read_s":0.0,"other_s":0.0},"files":[],"service":null,"other_user":null,"shares_syncs":false},
    {"what":"cpu","actor":1,"device":null,"time_s":5.0,"threads":{"name":"b\\x1b*","count":48,"tid":12,"time_s":3.5},"pinned_to":null,"quota":null,"lock":null,
     "syncs":null,"pause":null,"more_threads":{"threads":1.5,"waiting":4.0,"requests":true,"of_service":false,"limit_of":"target","gain":1.25},"progress":1,"gain":0.123457,"low":null,"high":null,
     "certainty":"rough","doubt":null,"knot":null,
     "actions":{"sync_s":0.0,"write_s":0.0,"read_s":0.0,"other_s":0.0},"files":[],"service":null,"other_user":null,"shares_syncs":false}])"));
}

TEST_CASE("An answer about a service says where it is asked, who answers, and what these did") {
  Findings sample = sample_findings();
  sample.progress = {{{{"B", 1}}, Progress::How::inferred, {1}, std::nullopt, 0.25}};
  FoundAnswer answer;
  answer.what = Resource::remote;
  answer.actor = 1;
  answer.service = FoundService{{{Peer::Role::service, "::1", 81}, {Peer::Role::service, "/run/\x1b", {}}},
                                {{"db\x1b", 4}},
                                {0},
                                0.25,
                                0.125,
                                0.5,
                                0.0625,
                                0.03125,
                                0.015625,
                                0.01,
                                0.005625,
                                2};
  sample.answers = {answer};
  CHECK(json::parse(to_json(sample))["answers"][0]["service"] == json::parse(R"(
    {"addresses":["[::1]:81","/run/\\x1b"],"programs":[{"name":"db\\x1b","threads":4}],"actors":[0],
     "ran":0.25,"runnable":0.125,"slept":0.5,"at_disks":0.0625,"for_remote":0.03125,"for_others":0.015625,
     "for_requests":0.01,"unknown":0.005625})"));
}

TEST_CASE("What the user asked about stands beside the answers, in the user's words") {
  Findings sample = sample_findings();
  CHECK(json::parse(to_json(sample))["what_if"] == json::array());
  sample.what_ifs = {{{0.61, 0.55, 0.66, Certainty::sure}, "disk vda /2, cpus *2"},
                     {{-0.5, std::nullopt, std::nullopt, Certainty::rough}, "comm:\x1b cpu *3"}};
  CHECK(json::parse(to_json(sample))["what_if"] == json::parse(R"([
    {"asked":"disk vda /2, cpus *2","gain":0.61,"low":0.55,"high":0.66,"certainty":"sure","doubt":null},
    {"asked":"comm:\\x1b cpu *3","gain":-0.5,"low":null,"high":null,"certainty":"rough","doubt":null}])"));
}

TEST_CASE("The total is the sum of the losses") {
  Findings findings = sample_findings();
  findings.loss = {{"a", 2}, {"b", 3}};
  CHECK(json::parse(to_json(findings))["loss"] == json::parse(R"({"total":5,"a":2,"b":3})"));
}

TEST_CASE("Strings are escaped as in the text report, so that JSON is valid whatever they are") {
  Findings findings = sample_findings();
  findings.recording.target = "\xff\x1b[2J\"\\";
  findings.actors[0].name = "\xe2\x80\xae\xc3(";  // NOLINT(misc-misleading-bidirectional)
  findings.loss = {{"\xfe", 1}};
  findings.edges[0].stacks[0].wait_stack = stack_of({"\x80"});
  const json parsed = json::parse(to_json(findings));
  CHECK(parsed["recording"]["target"] == "\\xff\\x1b[2J\"\\");
  CHECK(parsed["actors"][0]["name"] == "\\u{202e}\\xc3(");
  CHECK(parsed["loss"]["\\xfe"] == 1);
  CHECK(parsed["edges"][0]["stacks"][0]["wait_stack"][0] == "\\x80");
}

TEST_CASE("Seconds have nanoseconds and no more; numbers are numbers") {
  Findings findings = sample_findings();
  findings.window_s = 0.1 + 0.2;
  findings.totals.target.running_s = std::numeric_limits<double>::infinity();
  const std::string text = to_json(findings);
  CHECK(text.find("\"window_s\": 0.3,") != std::string::npos);
  CHECK(json::parse(text)["totals"]["running_s"] == 0.0);
}

TEST_CASE("Equal reports give equal bytes") {
  CHECK(to_json(sample_findings()) == to_json(sample_findings()));
}
