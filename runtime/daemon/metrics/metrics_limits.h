// Every bound of what a daemon counts and shows over HTTP, in one place. Memory for the tables is reserved once, at the
// start, and touched when it is used.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace fibocast::metrics_limits {

// -- what is recorded
inline constexpr std::size_t kSeries = 96;      // operations times algorithms that are told apart
inline constexpr std::size_t kGroups = 256;     // groups that are told apart
inline constexpr std::size_t kGroupRows = 512;  // groups times operations times size classes
inline constexpr std::size_t kRecent = 32;      // last durations that are kept of each such row

// -- what is shown
inline constexpr std::size_t kShownGroups = 128;           // groups in one answer
inline constexpr std::uint32_t kDrawnRanks = 256;          // larger trees are not sent to the page
inline constexpr std::size_t kNewPredictions = 4;          // schedules that one answer evaluates anew
inline constexpr std::uint64_t kPredictedMessages = 4096;  // larger schedules are not evaluated
inline constexpr std::size_t kAnswerBytes = 8 << 20;       // of one HTTP answer

// -- HTTP
inline constexpr std::size_t kConnections = 16;
inline constexpr std::uint32_t kRequestBytes = 4096;  // line and headers; a body is refused
inline constexpr std::chrono::seconds kRequestPatience{
    10};  // from the connection, or the last answer, to a whole request
inline constexpr std::chrono::seconds kAnswerPatience{10};  // until an answer is read

// -- the other daemons, for the page
inline constexpr std::size_t kAskedAtOnce = 8;
inline constexpr std::chrono::milliseconds kClusterPatience{1500};
inline constexpr std::chrono::milliseconds kClusterAge{1000};  // so old an answer may be
inline constexpr std::uint64_t kNodeAnswerBytes = 1 << 20;

}  // namespace fibocast::metrics_limits
