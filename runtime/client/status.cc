#include "runtime/client/status.h"

namespace fibocast {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::kOk: return "OK";
    case Code::kFailed: return "FAILED";
    case Code::kInvalid: return "INVALID";
    case Code::kDeadlineExceeded: return "DEADLINE_EXCEEDED";
    case Code::kPeerLost: return "PEER_LOST";
    case Code::kUnavailable: return "UNAVAILABLE";
    case Code::kRefused: return "REFUSED";
    case Code::kCancelled: return "CANCELLED";
    case Code::kMismatch: return "MISMATCH";
    case Code::kStale: return "STALE";
    case Code::kWouldBlock: return "WOULD_BLOCK";
    case Code::kPartitioned: return "PARTITIONED";
  }
  return "FAILED";
}

int Status::exit_code() const {
  switch (code) {
    case Code::kOk: return 0;
    case Code::kInvalid: return 2;
    case Code::kDeadlineExceeded: return 3;
    case Code::kPeerLost:
    case Code::kPartitioned: return 4;
    case Code::kUnavailable: return 5;
    case Code::kRefused: return 6;
    default: return 1;
  }
}

}  // namespace fibocast
