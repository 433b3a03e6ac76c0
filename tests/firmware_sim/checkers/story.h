// A history as the tests of the checkers write it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "firmware_sim/checkers/checkers.h"

namespace fibocast::test {

inline constexpr Fingerprint kBytes{100, 0x1234};

// Two nodes with one participant each; what happens is added call by call, one microsecond apart.
struct Story {
  History history;
  Nanoseconds now = 0;

  Story() {
    history.groups.push_back({"all", {0, 1}, 1});
    history.ends.resize(2);
    history.grace = 1'000;
  }
  Record& add(Record::Kind kind, NodeId node, Generation generation, Operation operation) {
    Record r;
    r.kind = kind;
    r.at = now += 1'000;
    r.node = node;
    r.generation = generation;
    r.operation = operation;
    history.records.push_back(r);
    return history.records.back();
  }
  Record& arrive(NodeId node, Generation generation) {
    return add(Record::Kind::kArrived, node, generation, Operation::kBarrier);
  }
  Record& done(NodeId node, Generation generation, Verdict verdict = Verdict::kOk, std::vector<Rank> missing = {}) {
    Record& r = add(Record::Kind::kDone, node, generation, Operation::kBarrier);
    r.verdict = verdict;
    r.missing = std::move(missing);
    return r;
  }
  // An operation that moves data.
  Record& reduced(Record::Kind kind, NodeId node, Fingerprint bytes) {
    Record& r = add(kind, node, 0, Operation::kAllreduce);
    if (kind == Record::Kind::kArrived) r.expected = bytes;
    if (kind == Record::Kind::kDone) r.result = bytes, r.verdict = Verdict::kOk;
    return r;
  }
  void crash(NodeId node) { add(Record::Kind::kCrashed, node, 0, Operation::kBarrier); }
  void multicast_sent(Generation generation) {
    add(Record::Kind::kArrived, 0, generation, Operation::kMulticast).payload = kBytes;
    add(Record::Kind::kArrived, 1, generation, Operation::kMulticast);
    add(Record::Kind::kDone, 0, generation, Operation::kMulticast).verdict = Verdict::kOk;
  }
  void multicast_received(Generation generation, Fingerprint payload) {
    Record& r = add(Record::Kind::kDone, 1, generation, Operation::kMulticast);
    r.verdict = Verdict::kOk;
    r.payload = payload;
  }
  void message(Record::Kind kind, std::uint64_t hash) {
    Record& r = add(kind, kind == Record::Kind::kSent ? 0 : 1, 0, Operation::kBarrier);
    r.peer = 1 - r.node;
    r.tag = 7;
    r.payload = {8, hash};
  }
  void good_barrier(Generation generation) {
    arrive(0, generation);
    arrive(1, generation);
    done(0, generation);
    done(1, generation);
  }
};

}  // namespace fibocast::test
