// How a call of the library ended: a value, never an exception. The same codes are the exit codes of `fibocast`
// and the codes of the local protocol (runtime/wire/client.proto).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/types.h"

namespace fibocast {

// Values equal those of client.proto's Code: append only.
enum class Code : std::uint8_t {
  kOk = 0,
  kFailed = 1,
  kInvalid = 2,           // wrong use: unknown group, bad rank, too large, bad name
  kDeadlineExceeded = 3,  // `ranks` had not arrived
  kPeerLost = 4,          // `ranks` are gone
  kUnavailable = 5,       // no daemon reachable
  kRefused = 6,           // not authenticated, or settings differ
  kCancelled = 7,
  kMismatch = 8,  // members called different operations in one generation
  kStale = 9,     // the generation ended longer ago than the node remembers
  kWouldBlock = 10,
  kPartitioned = 11,  // cut off from the majority of the group; `ranks` are out of reach
};

// "OK", "DEADLINE_EXCEEDED", ...: the names used in JSON and in messages.
std::string_view code_name(Code code);

struct Status {
  Code code = Code::kOk;
  std::string sentence;     // for a person; empty when ok
  std::vector<Rank> ranks;  // the ranks concerned, where that applies

  bool ok() const { return code == Code::kOk; }
  // The exit code of a command that ended so: 0 done; 1 failed; 2 wrong use; 3 deadline passed; 4 a peer, or the
  // majority, was lost; 5 no daemon; 6 refused.
  int exit_code() const;
};

inline Status invalid(std::string sentence) { return {Code::kInvalid, std::move(sentence), {}}; }

// A value, or why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: a value is a result
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: and so is a failure
  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  // Precondition of all three: ok().
  T& value() { return *value_; }
  T& operator*() { return *value_; }
  T* operator->() { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace fibocast
