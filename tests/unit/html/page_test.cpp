// SPDX-License-Identifier: GPL-2.0-or-later
// The page as its script reads it: what is in it is what was recorded, and nothing of it is a tag.
#include "html/page.h"

#include <array>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include "analysis/analyse.h"
#include "export/deflate.h"
#include "html/bundle.h"
#include "html/columns.h"
#include "html/curves.h"
#include "html/encode.h"
#include "html/state_map.h"
#include "html/stretches.h"
#include "trace/text.h"

using namespace offwait;
using namespace offwait::html;
using Parsed = nlohmann::json;

namespace {

Trace trace_in(const std::string& name, const std::string& directory = "traces") {
  const std::string path = fmt::format("{}/tests/{}/{}.txt", OFFWAIT_SOURCE_DIR, directory, name);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  Result<Trace> trace = read_text(file, name);
  ::close(file);
  if (!trace.ok()) FAIL(trace.error().message);
  return std::move(trace).value();
}

Findings findings_of(const Trace& trace) {
  AnalysisOptions options;
  options.views = true;
  Result<Findings> findings = analyse(trace, options);
  if (!findings.ok()) FAIL(findings.error().message);
  return std::move(findings).value();
}

std::string page_of(const Trace& trace, std::size_t bytes = kUsualBytes) {
  Result<std::string> page = to_html(findings_of(trace), trace, {bytes, false, {}});
  if (!page.ok()) FAIL(page.error().message);
  return std::move(page).value();
}

std::string inflated(std::string_view packed) {
  z_stream stream{};
  REQUIRE(inflateInit2(&stream, -MAX_WBITS) == Z_OK);
  std::string in(packed);
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  std::string out;
  std::array<char, 4096> piece{};
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece.size();
    status = inflate(&stream, Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  CHECK(status == Z_STREAM_END);
  return out;
}

std::string from_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int known = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(kDigits.find(c));
    known += 6;
    if (known >= 8) out += static_cast<char>(bits >> (known -= 8) & 0xff);
  }
  return out;
}

std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  REQUIRE(from != std::string_view::npos);
  const std::size_t at = from + begin.size();
  return text.substr(at, text.find(end, at) - at);
}

std::string payload_of(std::string_view page, const std::string& id) {
  return inflated(from_base64(between(page, "id=\"" + id + "\">", "</script>")));
}

std::string in_base64(const std::array<std::uint8_t, 32>& hash) {
  return base64(std::string_view(reinterpret_cast<const char*>(hash.data()), hash.size()));
}

std::string in_hex(const std::array<std::uint8_t, 32>& hash) {
  std::string out;
  for (const std::uint8_t byte : hash) out += fmt::format("{:02x}", byte);
  return out;
}

/// Seconds in each state of each row, by the bytes of the map.
std::vector<std::array<double, kStates>> sums_of(const std::string& map, const Parsed& timeline) {
  const std::size_t bins = timeline["bins"];
  const double each = timeline["span_us"].get<double>() / 1e6 / static_cast<double>(bins) / 255;
  std::vector<std::array<double, kStates>> out;
  std::size_t at = 0;
  const auto byte = [&map](std::size_t i) { return static_cast<std::uint8_t>(map.at(i)); };
  for (std::size_t row = 0; row < timeline["rows"].size(); ++row) {
    const unsigned mask = byte(at) | static_cast<unsigned>(byte(at + 1)) << 8;
    at += 2;
    out.emplace_back();
    for (std::size_t state = 0; state < kStates; ++state) {
      if ((mask >> state & 1) == 0) continue;
      for (std::size_t bin = 0; bin < bins; ++bin) out.back().at(state) += byte(at++) * each;
    }
  }
  CHECK(at == map.size());
  return out;
}

/// One column: its numbers, or its bytes.
struct Column {
  explicit Column(std::string_view from) : bytes(from) {}
  std::uint64_t number() {
    std::uint64_t out = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(bytes.at(at++));
      out |= std::uint64_t{byte & 127U} << shift;
      if (byte < 128) return out;
    }
  }
  std::string_view bytes;
  std::size_t at = 0;
};

std::vector<Column> columns_in(std::string_view bytes) {
  std::vector<Column> out;
  std::size_t at = 0;
  for (std::size_t i = 0; i < kColumns; ++i) {
    std::size_t length = 0;
    for (std::size_t k = 0; k < 4; ++k)
      length |= std::size_t{static_cast<std::uint8_t>(bytes.at(at + k))} << (8 * k);
    out.emplace_back(bytes.substr(at + 4, length));
    at += 4 + length;
  }
  CHECK(at == bytes.size());
  return out;
}

}  // namespace

TEST_CASE("base64 is that of RFC 4648") {
  CHECK(base64("").empty());
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xff\xfe\xfd") == "//79");
}

TEST_CASE("sha256 is that of FIPS 180-4") {
  CHECK(in_hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(in_hex(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(in_hex(sha256(std::string(1'000'000, 'a'))) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("a deflate stream gives its bytes back") {
  CHECK(inflated(deflate_raw("").value()).empty());
  const std::string long_text(300'000, 'x');
  CHECK(inflated(deflate_raw(long_text).value()) == long_text);
}

TEST_CASE("numbers are written in groups of seven bits") {
  std::string out;
  for (const std::uint64_t number : {0ULL, 127ULL, 128ULL, 300ULL}) put_number(out, number);
  CHECK(out == std::string("\x00\x7f\x80\x01\xac\x02", 6));
}

TEST_CASE("a page allows its own script and style by hash, and nothing else") {
  const std::string page = page_of(trace_in("figure1"));
  const std::string_view rules = between(page, "Content-Security-Policy\" content=\"", "\"");
  CHECK(rules == fmt::format("default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; "
                             "base-uri 'none'; form-action 'none'",
                             in_base64(sha256(script())), in_base64(sha256(style()))));
  CHECK(between(page, "<style>", "</style>") == style());
  CHECK(page.find("<script>" + std::string(script()) + "</script>") != std::string::npos);
  // A script that has this in it would end there.
  CHECK(script().find("</script") == std::string_view::npos);
}

TEST_CASE("the graph in a page has the findings' numbers") {
  const Trace trace = trace_in("figure1");
  const Findings findings = findings_of(trace);
  const Parsed report = Parsed::parse(payload_of(page_of(trace), "report"));
  CHECK(report["recording"]["window_s"].get<double>() == Approx(findings.window_s));
  REQUIRE(report["actors"].size() == findings.actors.size());
  CHECK(report["graph"]["first_arrows"] == 3);
  for (const Parsed& arrow : report["graph"]["arrows"]) {
    const FoundEdge& edge = findings.edges.at(arrow["edges"][0].get<std::size_t>());
    CHECK(arrow["weight_s"].get<double>() == Approx(edge.weight_s));
    CHECK(arrow["wait_s"].get<double>() == Approx(edge.wait_s));
    CHECK(arrow["waits"] == edge.waits);
    if (edge.idle) continue;
    double over_time = 0;
    for (const double s : arrow["over_time"].get<std::vector<double>>()) over_time += s;
    CHECK(over_time == Approx(edge.wait_s).margin(256 * 1e-5));
    std::uint64_t waits = 0;
    for (const Parsed& length : arrow["lengths"]) waits += length[1].get<std::uint64_t>();
    CHECK(waits == edge.waits);
  }
}

TEST_CASE("the timeline from afar adds up to the actors' times") {
  for (const std::string name : {"figure1", "lock-convoy", "barrier", "open-ends"}) {
    const Trace trace = trace_in(name);
    const Findings findings = findings_of(trace);
    const std::string page = page_of(trace);
    const Parsed timeline = Parsed::parse(payload_of(page, "report"))["timeline"];
    const auto rows = sums_of(payload_of(page, "far"), timeline);
    std::vector<StateSeconds> sums(findings.actors.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      StateSeconds& sum = sums.at(timeline["rows"][row]["actor"].get<std::size_t>());
      sum.running_s += rows[row][kRunning];
      sum.runnable_s += rows[row][kRunnable];
      for (State state = kFirstClass; state < kUnknown; ++state) sum.blocked_s += rows[row].at(state);
      sum.unknown_s += rows[row][kUnknown];
    }
    for (std::size_t actor = 0; actor < sums.size(); ++actor) {
      const StateSeconds& time = findings.actors[actor].time;
      if (time.lifetime_s == 0 || findings.actors[actor].outside) continue;
      INFO(name << ", " << findings.actors[actor].name);
      CHECK(sums[actor].running_s == Approx(time.running_s).epsilon(0.01).margin(1e-5));
      CHECK(sums[actor].runnable_s == Approx(time.runnable_s).epsilon(0.01).margin(1e-5));
      CHECK(sums[actor].blocked_s == Approx(time.blocked_s).epsilon(0.01).margin(1e-5));
      CHECK(sums[actor].unknown_s == Approx(time.unknown_s).epsilon(0.01).margin(1e-5));
    }
  }
}

TEST_CASE("the timeline from near has every wait of a small recording") {
  const Trace trace = trace_in("figure1");
  const std::string page = page_of(trace);
  const Parsed timeline = Parsed::parse(payload_of(page, "report"))["timeline"];
  CHECK(timeline["whole"].empty());
  CHECK(timeline["is_whole"] == true);
  const std::string bytes = payload_of(page, "near");
  std::vector<Column> columns = columns_in(bytes);
  std::size_t seen = 0;
  const Histories histories(trace);
  for (const Parsed& row : timeline["rows"]) {
    std::uint64_t at = 0;
    ActorId thread = 0;
    while (trace.actors.at(thread).tid != row["tid"]) ++thread;
    std::size_t left = row["count"];
    each_stretch(trace, histories, thread, [&](const Stretch& stretch) {
      REQUIRE(left > 0);
      --left;
      const auto micros = [&trace](Nanos time) {
        return static_cast<std::uint64_t>(time - trace.window.begin) / 1000;
      };
      CHECK((at += columns[0].number()) == micros(stretch.begin));
      CHECK((at += columns[1].number()) == micros(stretch.wake));
      CHECK((at += columns[2].number()) == micros(stretch.end));
      CHECK((static_cast<std::uint8_t>(columns[3].bytes.at(columns[3].at++)) & 127) == stretch.state);
      ++seen;
    });
    CHECK(left == 0);
  }
  CHECK(seen == trace.waits.size() + trace.preemptions.size());
}

TEST_CASE("what a thread did before it was seen is unknown, whatever is said of it") {
  const Result<Trace> trace = parse_text(
      "offwait-waits 1\nwindow 0 1000000\nthread 1 tgid=1 comm=a start=0 exit=- seen=500000\n"
      "wait 1 block=100000 wake=200000 run=300000 waker=timer class=sleep\n"
      "wait 1 block=400000 wake=600000 run=700000 waker=timer class=sleep\n",
      "test");
  if (!trace.ok()) FAIL(trace.error().message);
  std::vector<std::array<Nanos, 4>> seen;
  each_stretch(*trace, Histories(*trace), 0, [&](const Stretch& stretch) {
    seen.push_back({stretch.begin, stretch.wake, stretch.end, stretch.state});
  });
  const auto sleeps = static_cast<Nanos>(kFirstClass + static_cast<State>(WaitClass::sleep));
  CHECK(seen == std::vector<std::array<Nanos, 4>>{{0, 500'000, 500'000, kUnknown},
                                                  {500'000, 600'000, 700'000, sleeps}});
  const std::string page = page_of(*trace);
  const Parsed timeline = Parsed::parse(payload_of(page, "report"))["timeline"];
  CHECK(timeline["rows"][0]["count"] == 2);
  const auto sums = sums_of(payload_of(page, "far"), timeline);
  CHECK(sums.at(0)[kUnknown] == Approx(500e-6).epsilon(0.01));
  CHECK(sums.at(0)[kRunning] == Approx(300e-6).epsilon(0.01));
}

TEST_CASE("stacks and names count as part of a page's size") {
  std::string lines = "offwait-waits 1\nwindow 0 10000000000\nthread 1 tgid=1 comm=a start=0 exit=-\n";
  std::uint64_t random = 1;
  for (std::int64_t i = 0; i < 30'000; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    lines += fmt::format("wait 1 block={} wake={} run={} waker=timer class=sleep stack=f{:x};g{:x};h{:x}\n",
                         i * 300'000, i * 300'000 + 1000 + static_cast<std::int64_t>(random >> 47),
                         i * 300'000 + 1000 + static_cast<std::int64_t>(random >> 47), random, random >> 5,
                         random >> 9);
  }
  const Result<Trace> trace = parse_text(lines, "test");
  if (!trace.ok()) FAIL(trace.error().message);
  for (const std::size_t room : {std::size_t{900'000}, std::size_t{1'500'000}}) {
    const std::string page = page_of(*trace, room);
    CHECK(page.size() <= room);
    CHECK_FALSE(Parsed::parse(payload_of(page, "report"))["timeline"]["is_whole"].get<bool>());
  }
}

TEST_CASE("a page for which there is little room keeps the longest waits, and all of some parts") {
  std::string lines = "offwait-waits 1\nwindow 0 10000000000\nthread 1 tgid=1 comm=a start=0 exit=-\n";
  // 50,000 short waits that compress badly, and one that is long.
  std::uint64_t random = 1;
  for (std::int64_t i = 0; i < 50'000; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const std::int64_t block = i * 200'000 + 1'000;
    const std::int64_t wake = block + static_cast<std::int64_t>(random >> 47);
    const bool is_long = i == 49'000;
    if (i > 49'000 && i < 49'500) continue;
    lines += fmt::format("wait 1 block={} wake={} run={} waker=timer class=sleep\n", block,
                         is_long ? block + 90'000'000 : wake, is_long ? block + 90'000'000 : wake);
  }
  const Result<Trace> trace = parse_text(lines, "test");
  if (!trace.ok()) FAIL(trace.error().message);
  const std::size_t everything = page_of(*trace).size();
  const std::size_t room = everything - 60'000;
  const std::string page = page_of(*trace, room);
  CHECK(page.size() <= room);
  const Parsed timeline = Parsed::parse(payload_of(page, "report"))["timeline"];
  CHECK(timeline["is_whole"] == false);
  CHECK(timeline["longer_than_us"] > 0);
  CHECK_FALSE(timeline["whole"].empty());
  const std::string bytes = payload_of(page, "near");
  std::vector<Column> columns = columns_in(bytes);
  std::uint64_t longest = 0;
  for (std::size_t left = timeline["rows"][0]["count"]; left > 0; --left)
    longest = std::max(longest, columns[1].number());
  CHECK(longest == 90'000);
}

TEST_CASE("an answer's gain at other factors is that of the same question") {
  const Trace trace = trace_in("functions", "unit/report");
  const Findings findings = findings_of(trace);
  const Curves curves = curves_of(findings, trace, {});
  REQUIRE(curves.size() == findings.answers.size());
  std::size_t known = 0;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (curves[i].empty()) continue;
    ++known;
    REQUIRE(curves[i].size() == kCurveFactors.size());
    CHECK(curves[i][2].gain == findings.answers[i].gain);
    for (const Gain& gain : curves[i]) CHECK(gain.certainty != Certainty::rough);
  }
  CHECK(known == 3);
}

TEST_CASE("hostile names are text, escaped as everywhere") {
  Trace trace = trace_in("hostile-names");
  trace.recording.target = "</title></pre></script><script>alert(1)</script>\"&\u202e";
  const std::string page = page_of(trace);
  // The page's own: three payloads and the script.
  std::size_t scripts = 0;
  for (std::size_t at = page.find("<script"); at != std::string::npos; at = page.find("<script", at + 1))
    ++scripts;
  CHECK(scripts == 4 + (script().find("<script") != std::string_view::npos ? 1 : 0));
  CHECK(page.find("\u202e") == std::string::npos);
  CHECK(between(page, "<title>", "</title>") ==
        "offwait: "
        "&lt;/title&gt;&lt;/pre&gt;&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;\\u{202e}");
  const Parsed report = Parsed::parse(payload_of(page, "report"));
  CHECK(report["recording"]["target"] == "</title></pre></script><script>alert(1)</script>\"&\\u{202e}");
}

TEST_CASE("equal reports give equal bytes") {
  const Trace trace = trace_in("lock-convoy");
  CHECK(page_of(trace) == page_of(trace));
}
