// What local applications have asked for and not been answered yet: a fixed table with lists through it. Core.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/types.h"
#include "runtime/node/node.h"

namespace fibocast {

inline constexpr std::uint32_t kNoRequest = 0xffff'ffff;

struct Request {
  enum class State : std::uint8_t {
    kFree,
    kScheduled,  // waits for Call::not_before
    kHeld,       // waits for the window of open generations
    kWaiting,    // counted in its operation's slot
    kReceiving,  // waits for an application message
    kListening,  // waits for any message of a host
    kDone,       // answered: in the list that poll_event() reads
  };
  bool is_call() const { return answer == Event::Kind::kCallDone && state != State::kFree && !is_receive(); }
  bool is_receive() const { return state == State::kReceiving || state == State::kListening; }

  State state = State::kFree;
  Event::Kind answer = Event::Kind::kCallDone;
  bool forgotten = false;  // nobody wants the answer
  // Its deadline passed while it was held. It was answered, but stays held: when its generation opens, this
  // participant passes, so that the generation fails (or its payload is not kept for a participant that went on).
  bool passes = false;
  bool brought_payload = false;     // as who hands something out does
  bool vacant = false;              // its caller died: whoever makes the same call in time takes its place (abandon.h)
  bool kept = false;                // ... and its answer is here, in no list
  bool died = false;                // nobody took the place
  std::uint32_t next = kNoRequest;  // in the free list, a slot's list or the list of answers
  std::uint32_t group = 0;          // index
  Nanoseconds vacant_until = kNever;
  Call call;
  CallDone done;
  std::uint64_t order = 0;  // kReceiving, kListening: first come, first served
  NodeId peer = kNoNode;    // ... answered: the message, its bytes are done.payload
  std::uint64_t tag = 0;
};

class RequestList {
 public:
  explicit RequestList(std::span<Request> requests);

  std::uint32_t add(Request::State state);  // kNoRequest when full
  Request& at(std::uint32_t i) { return requests_[i]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(requests_.size()); }
  // Moves a request to the answers. Precondition: it is in no slot's list any more.
  void answer(std::uint32_t i);
  // The oldest answer, kNoRequest if none; it then is in no list, until release() or a new state.
  std::uint32_t poll_answer();
  bool has_answer() const { return first_answer_ != kNoRequest; }
  void release(std::uint32_t i);
  std::uint32_t in_use() const { return in_use_; }

 private:
  std::span<Request> requests_;
  std::uint32_t free_ = kNoRequest;
  std::uint32_t first_answer_ = kNoRequest;
  std::uint32_t last_answer_ = kNoRequest;
  std::uint32_t in_use_ = 0;
};

}  // namespace fibocast
