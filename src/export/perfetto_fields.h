// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers of fields and values in Perfetto's protos/perfetto/trace/*.proto, as far as they are written here.
// Tests decode what is written with definitions of their own (tests/cli/protos).
#pragma once

namespace offwait::perfetto {

namespace trace {
inline constexpr unsigned kPacket = 1;
}
namespace packet {
inline constexpr unsigned kFtraceEvents = 1, kProcessTree = 2, kClockSnapshot = 6, kTimestamp = 8,
                          kTrustedPacketSequenceId = 10, kTrackEvent = 11, kInternedData = 12,
                          kSequenceFlags = 13, kSystemInfo = 45, kTracePacketDefaults = 59,
                          kTrackDescriptor = 60, kPerfSample = 66, kFirstPacketOnSequence = 87;
inline constexpr unsigned kIncrementalStateCleared = 1, kNeedsIncrementalState = 2;  // of kSequenceFlags
}  // namespace packet
namespace packet_defaults {
inline constexpr unsigned kPerfSampleDefaults = 12;
}
namespace clock_snapshot {
inline constexpr unsigned kClocks = 1;
inline constexpr unsigned kClockId = 1, kTimestamp = 2;                  // of a clock
inline constexpr unsigned kRealtime = 1, kMonotonic = 3, kBoottime = 6;  // of kClockId
}  // namespace clock_snapshot
namespace system_info {
inline constexpr unsigned kUtsname = 1, kNumCpus = 8;
inline constexpr unsigned kSysname = 1, kRelease = 3;  // of utsname
}  // namespace system_info
namespace process_tree {
inline constexpr unsigned kProcesses = 1, kThreads = 2;
inline constexpr unsigned kProcessPid = 1, kProcessPpid = 2, kProcessCmdline = 3;
inline constexpr unsigned kThreadTid = 1, kThreadName = 2, kThreadTgid = 3;
}  // namespace process_tree
namespace ftrace_bundle {
inline constexpr unsigned kCpu = 1, kEvent = 2;
}
namespace ftrace_event {
inline constexpr unsigned kTimestamp = 1, kPid = 2, kSchedSwitch = 4, kCommonFlags = 5,
                          kSchedBlockedReason = 18, kSchedWaking = 20, kSchedProcessFree = 240;
inline constexpr unsigned kHardIrq = 0x08, kSoftIrq = 0x10;  // of kCommonFlags: include/linux/trace_events.h
}  // namespace ftrace_event
namespace sched_switch {
inline constexpr unsigned kPrevComm = 1, kPrevPid = 2, kPrevState = 4, kNextComm = 5, kNextPid = 6;
}
namespace sched_waking {
inline constexpr unsigned kComm = 1, kPid = 2, kSuccess = 4, kTargetCpu = 5;
}
namespace sched_blocked_reason {
inline constexpr unsigned kPid = 1, kCaller = 2, kIoWait = 3;
}
namespace sched_process_free {
inline constexpr unsigned kComm = 1, kPid = 2;
}
namespace track_descriptor {
inline constexpr unsigned kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParentUuid = 5;
inline constexpr unsigned kProcessPid = 1, kProcessCmdline = 2, kProcessName = 6;
inline constexpr unsigned kThreadPid = 1, kThreadTid = 2, kThreadName = 5;
}  // namespace track_descriptor
namespace track_event {
inline constexpr unsigned kCategoryIids = 3, kDebugAnnotations = 4, kType = 9, kNameIid = 10, kTrackUuid = 11,
                          kFlowIds = 47, kTerminatingFlowIds = 48, kCallstackIid = 56;
inline constexpr int kSliceBegin = 1, kSliceEnd = 2, kInstant = 3;  // of kType
}  // namespace track_event
namespace debug_annotation {
inline constexpr unsigned kNameIid = 1, kUintValue = 3, kStringValue = 6;
}
namespace interned_data {
inline constexpr unsigned kEventCategories = 1, kEventNames = 2, kDebugAnnotationNames = 3,
                          kFunctionNames = 5, kFrames = 6, kCallstacks = 7, kMappingPaths = 17,
                          kSourcePaths = 18, kMappings = 19, kKernelSymbols = 26;
inline constexpr unsigned kIid = 1, kString = 2;  // of every entry that is a string
}  // namespace interned_data
namespace mapping {
inline constexpr unsigned kIid = 1, kPathStringIds = 7;
}
namespace frame {
inline constexpr unsigned kIid = 1, kFunctionNameId = 2, kMappingId = 3, kRelPc = 4, kSourcePathIid = 5,
                          kLineNumber = 6;
}
namespace callstack {
inline constexpr unsigned kIid = 1, kFrameIds = 2;
}
namespace perf_sample_defaults {
inline constexpr unsigned kTimebase = 1, kFollowers = 4;
inline constexpr unsigned kPeriod = 1, kFrequency = 2, kTracepoint = 3, kCounter = 4,
                          kName = 10;  // of timebase
inline constexpr unsigned kTracepointName = 1;
inline constexpr unsigned kFollowerTracepoint = 2, kFollowerName = 4;
inline constexpr int kCpuClock = 1;  // of kCounter
}  // namespace perf_sample_defaults
namespace perf_sample {
inline constexpr unsigned kPid = 2, kTid = 3, kCallstackIid = 4, kTimebaseCount = 6, kFollowerCounts = 7;
}

}  // namespace offwait::perfetto
