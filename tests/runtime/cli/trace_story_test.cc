#include "runtime/cli/trace_story.h"

#include <gtest/gtest.h>

#include "runtime/cli/trace_file.h"

namespace fibocast {
namespace {

using Kind = FlightEvent::Kind;

FlightEvent event(Nanoseconds at, Kind kind, std::uint64_t value = 0, std::uint32_t peer = 0, std::uint8_t detail = 0) {
  FlightEvent e;
  e.at = at, e.kind = kind, e.value = value, e.peer = peer, e.detail = detail, e.group = 7, e.generation = 5;
  return e;
}

// A barrier of the group "ab" = nodes 3 and 4, as node 3 + rank recorded it.
NodeTrace trace_of(Rank rank) {
  const Nanoseconds t = 1000 * (rank + 1);
  NodeTrace trace;
  trace.rank = 3 + rank;
  trace.first = rank * 10;
  trace.events = {event(t, Kind::kGroupName, 'a' | 'b' << 8),
                  event(t, Kind::kGroupMembers, std::uint64_t{3} << 32 | 2),
                  event(t, Kind::kGroupTree, 88, 2, 0),
                  event(t, Kind::kGroupTreeLatency, 27, 2, 0),
                  event(t, Kind::kGroup, 1),
                  event(t, Kind::kOpen, pack_choice({Algorithm::kTrees}, {}, {})),
                  event(t, Kind::kSize),
                  event(t + 1, Kind::kCall),
                  event(t + 2, Kind::kSend, 0, 1 - rank),
                  event(t + 3, Kind::kReceive, 0, 1 - rank),
                  event(t + 4, Kind::kActivated),
                  event(t + 5, Kind::kVerdict, 0, 0, static_cast<std::uint8_t>(Verdict::kOk))};
  return trace;
}

TEST(TraceStory, JoinsWhatTheNodesRecorded) {
  const TraceStory story = tell_story({trace_of(0), trace_of(1)});
  EXPECT_EQ(story.from, 2000);  // the later beginning,
  EXPECT_EQ(story.to, 1005);    // the earlier end: these two have no common window
  ASSERT_EQ(story.groups.size(), 1u);
  EXPECT_EQ(story.groups.at(7).name, "ab");
  EXPECT_EQ(story.groups.at(7).members, (std::vector<NodeId>{3, 4}));
  EXPECT_EQ(story.groups.at(7).reduction.s, 88u);
  EXPECT_EQ(story.groups.at(7).reduction.r, 27u);
  const TracedOperation& barrier = story.operations.at({7, 5});
  EXPECT_TRUE(barrier.is_whole());
  EXPECT_EQ(barrier.choice, AlgorithmChoice{Algorithm::kTrees});
  EXPECT_EQ(barrier.ranks[1].called, 2001);
  EXPECT_EQ(barrier.ranks[0].activated, 1004);
}

TEST(TraceStory, WhatOneRecorderHasForgottenIsNotWhole) {
  NodeTrace late = trace_of(1);
  late.events.erase(late.events.begin() + 7);  // kCall
  EXPECT_FALSE(tell_story({trace_of(0), late}).operations.at({7, 5}).is_whole());
}

TEST(TraceStory, EventsOfAGroupThatNobodyDescribesAreLeftOut) {
  NodeTrace nameless = trace_of(0);
  nameless.events.erase(nameless.events.begin(), nameless.events.begin() + 5);
  EXPECT_TRUE(tell_story({nameless}).operations.empty());
  EXPECT_TRUE(tell_story({}).operations.empty());
}

TEST(TraceFile, HasASliceForEachRankAndAnArrowForEachMessage) {
  const std::vector<NodeTrace> traces = {trace_of(0), trace_of(1)};
  const Json file = trace_file(traces, tell_story(traces));
  int slices = 0, starts = 0, ends = 0;
  for (const Json& e : file["traceEvents"]) {
    slices += e["ph"] == "X" ? 1 : 0;
    starts += e["ph"] == "s" ? 1 : 0;
    ends += e["ph"] == "f" ? 1 : 0;
    if (e["ph"] == "X" && e["pid"] == 4) {
      EXPECT_EQ(e["name"], "barrier 5");
      EXPECT_EQ(e["ts"], 2.001);
      EXPECT_EQ(e["dur"], 0.004);
      EXPECT_EQ(e["args"]["verdict"], "OK");
    }
  }
  EXPECT_EQ(slices, 2);
  EXPECT_EQ(starts, 2);
  EXPECT_EQ(ends, 2);
  EXPECT_EQ(file["fibocast"]["nodes"][1]["overwritten"], 10);
  EXPECT_EQ(file["fibocast"]["operations"][0]["algorithm"], "fibo");
  EXPECT_EQ(file["fibocast"]["operations"][0]["whole"], true);
}

}  // namespace
}  // namespace fibocast
