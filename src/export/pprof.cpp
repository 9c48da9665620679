// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/pprof.h"

#include <cstdint>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "base/escape.h"
#include "base/utc_time.h"
#include "export/deflate.h"
#include "export/stack_frames.h"

namespace offwait {

namespace {

// Numbers of fields in profile.proto.
namespace profile_field {
constexpr unsigned kSampleType = 1, kSample = 2, kMapping = 3, kLocation = 4, kFunction = 5, kStringTable = 6,
                   kTimeNanos = 9, kDurationNanos = 10, kComment = 13, kDefaultSampleType = 14;
}
namespace value_type_field {
constexpr unsigned kType = 1, kUnit = 2;
}
namespace sample_field {
constexpr unsigned kLocationId = 1, kValue = 2, kLabel = 3;
}
namespace label_field {
constexpr unsigned kKey = 1, kStr = 2;
}
namespace mapping_field {
constexpr unsigned kId = 1, kFilename = 5, kHasFunctions = 7, kHasFilenames = 8, kHasLineNumbers = 9,
                   kHasInlineFrames = 10;
}
namespace location_field {
constexpr unsigned kId = 1, kMappingId = 2, kLine = 4;
}
namespace line_field {
constexpr unsigned kFunctionId = 1, kLine = 2;
}
namespace function_field {
constexpr unsigned kId = 1, kName = 2, kSystemName = 3, kFilename = 4;
}

/// Values that are written once and referred to by the order of their first use.
template <class Key>
class Numbers {
 public:
  explicit Numbers(std::uint64_t first) : first_(first) {}
  /// The value's number, and whether this is its first use.
  std::pair<std::uint64_t, bool> of(const Key& key) {
    const auto [found, added] = numbers_.try_emplace(key, first_ + numbers_.size());
    return {found->second, added};
  }

 private:
  std::uint64_t first_;
  std::map<Key, std::uint64_t> numbers_;
};

/// One line of a location.
struct CodeLine {
  std::uint64_t function = 0;
  std::uint32_t line = 0;
};

class ProfileWriter {
 public:
  explicit ProfileWriter(const WaitProfile& profile) : profile_(profile), out_(bytes_) { string(""); }

  std::string write() {
    for (const auto& [type, unit] : {std::pair("off_cpu", "nanoseconds"), std::pair("waits", "count"),
                                     std::pair("weight", "nanoseconds")}) {
      protozero::pbf_writer value_type(out_, profile_field::kSampleType);
      value_type.add_int64(value_type_field::kType, string(type));
      value_type.add_int64(value_type_field::kUnit, string(unit));
    }
    mapping_of(profile_.program);  // pprof takes the first for the program
    for (const StackWaits& waits : profile_.waits) write_sample(waits);
    const std::int64_t comment =
        string(fmt::format("offwait: waits of {}, Linux {}", escape(profile_.recording.target),
                           escape(profile_.recording.kernel)));
    const std::int64_t default_type = string("off_cpu");
    for (const std::string& text : texts_) out_.add_string(profile_field::kStringTable, text);
    out_.add_int64(profile_field::kTimeNanos, utc_ns(profile_.recording.start_time));
    out_.add_int64(profile_field::kDurationNanos, profile_.window.length());
    out_.add_packed_int64(profile_field::kComment, &comment, &comment + 1);
    out_.add_int64(profile_field::kDefaultSampleType, default_type);
    return std::move(bytes_);
  }

 private:
  std::int64_t string(std::string_view raw) {
    std::string text = escape(raw);
    const auto [number, is_new] = strings_.of(text);
    if (is_new) texts_.push_back(std::move(text));
    return static_cast<std::int64_t>(number);
  }

  void write_sample(const StackWaits& waits) {
    const std::vector<std::uint64_t>& locations = locations_of(waits.stack);
    const std::initializer_list<std::int64_t> values = {waits.wait_ns, static_cast<std::int64_t>(waits.waits),
                                                        waits.weight_ns};
    std::vector<std::pair<std::int64_t, std::int64_t>> labels = {
        {string("thread"), string(thread_frame(waits.thread))},
        {string("class"), string(to_string(waits.wait_class))},
        {string("waker"), string(waits.waker.empty() ? "[nobody seen]" : waits.waker)},
        {string("idle"), string(waits.idle ? "yes" : "no")}};
    if (!waits.object.empty()) labels.emplace_back(string("object"), string(waits.object));
    protozero::pbf_writer sample(out_, profile_field::kSample);
    sample.add_packed_uint64(sample_field::kLocationId, locations.begin(), locations.end());
    sample.add_packed_int64(sample_field::kValue, values.begin(), values.end());
    for (const auto& [key, text] : labels) {
      protozero::pbf_writer label(sample, sample_field::kLabel);
      label.add_int64(label_field::kKey, key);
      label.add_int64(label_field::kStr, text);
    }
  }

  /// Leaf first. Inlined functions share the location of the one that they were inlined into.
  const std::vector<std::uint64_t>& locations_of(StackId stack) {
    const auto [found, added] = stacks_.try_emplace(stack);
    if (!added || stack == kNoStack) return found->second;
    std::vector<FrameId> at_one_place;
    for (const FrameId frame : profile_.stacks[stack].frames) {
      if (profile_.frames[frame].kind == Frame::Kind::boundary) continue;
      at_one_place.push_back(frame);
      if (profile_.frames[frame].inlined) continue;
      found->second.push_back(location_of(at_one_place));
      at_one_place.clear();
    }
    if (!at_one_place.empty()) found->second.push_back(location_of(at_one_place));
    if (profile_.stacks[stack].cut) found->second.push_back(cut_location(*profile_.stacks[stack].cut));
    return found->second;
  }

  std::uint64_t location_of(const std::vector<FrameId>& frames) {
    const auto [id, is_new] = locations_.of(frames);
    if (!is_new) return id;
    std::vector<CodeLine> lines;
    for (const FrameId frame : frames) {
      const Frame& it = profile_.frames[frame];
      lines.push_back({function_of_name(shown_frame(it), it.function), it.line});
    }
    write_location(id, mapping_of(profile_.frames[frames.back()].module), lines);
    return id;
  }

  /// No frame has this number, so no location of frames is equal.
  std::uint64_t cut_location(StackCut cut) {
    const auto [id, is_new] = locations_.of({UINT32_MAX, static_cast<FrameId>(cut)});
    if (is_new) write_location(id, 0, {{function_of_name({std::string(cut_frame(cut)), {}, 0}, ""), 0}});
    return id;
  }

  void write_location(std::uint64_t id, std::uint64_t mapping, const std::vector<CodeLine>& lines) {
    protozero::pbf_writer location(out_, profile_field::kLocation);
    location.add_uint64(location_field::kId, id);
    location.add_uint64(location_field::kMappingId, mapping);
    for (const CodeLine& code : lines) {
      protozero::pbf_writer line(location, location_field::kLine);
      line.add_uint64(line_field::kFunctionId, code.function);
      line.add_int64(line_field::kLine, code.line);
    }
  }

  std::uint64_t function_of_name(const ShownFrame& shown, const std::string& full_name) {
    const auto [id, is_new] = functions_.of({shown.name, full_name, shown.file});
    if (!is_new) return id;
    const std::int64_t name = string(shown.name);
    const std::int64_t system_name = string(full_name);
    const std::int64_t file = string(shown.file);
    protozero::pbf_writer function(out_, profile_field::kFunction);
    function.add_uint64(function_field::kId, id);
    function.add_int64(function_field::kName, name);
    function.add_int64(function_field::kSystemName, system_name);
    function.add_int64(function_field::kFilename, file);
    return id;
  }

  /// 0 where the module is not known. Names are complete: pprof is not to look for more.
  std::uint64_t mapping_of(const std::string& module) {
    if (module.empty()) return 0;
    const auto [id, is_new] = mappings_.of(module);
    if (!is_new) return id;
    const std::int64_t name = string(module);
    protozero::pbf_writer mapping(out_, profile_field::kMapping);
    mapping.add_uint64(mapping_field::kId, id);
    mapping.add_int64(mapping_field::kFilename, name);
    for (const unsigned known : {mapping_field::kHasFunctions, mapping_field::kHasFilenames,
                                 mapping_field::kHasLineNumbers, mapping_field::kHasInlineFrames})
      mapping.add_bool(known, true);
    return id;
  }

  const WaitProfile& profile_;
  std::string bytes_;
  protozero::pbf_writer out_;
  std::vector<std::string> texts_;
  Numbers<std::string> strings_{0};
  Numbers<std::vector<FrameId>> locations_{1};
  Numbers<std::tuple<std::string, std::string, std::string>> functions_{1};
  Numbers<std::string> mappings_{1};
  std::map<StackId, std::vector<std::uint64_t>> stacks_;
};

}  // namespace

Result<std::string> to_pprof(const WaitProfile& profile) { return gzip(ProfileWriter(profile).write()); }

}  // namespace offwait
