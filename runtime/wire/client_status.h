// What an application is told: the code and the one clear sentence for each way in which an operation or a command
// can end. A sentence says what it was about, what happened, who is concerned and what to do.
#pragma once

#include <string>
#include <string_view>

#include "collectives/types.h"
#include "runtime/node/node.h"
#include "runtime/wire/client.pb.h"

namespace fibocast {

// What a sentence is about.
struct OperationContext {
  Operation operation = Operation::kBarrier;
  std::string_view group;
  std::string_view label;               // the caller's own word for this call; may be empty
  Nanoseconds waited = 0;               // how long the caller wanted to wait
  std::string_view label_of_dead = {};  // of the call in which an application died; may be empty
};

// No application may give a group such a name: "all" is every node, and behind a "/" stands a label.
bool is_reserved_name(std::string_view group);

client::Code code_of(Verdict verdict);
client::Code code_of(Admission admission);

// Both write all of `status`; nothing is allocated for Verdict::kOk and Admission::kTaken.
void describe_call(const OperationContext& about, const CallDone& done, client::Status& status);
// `about` in words: "group 'gate'", "barrier 'gate'", "message to rank 3".
void describe_admission(std::string_view about, Admission admission, client::Status& status);

// A status of any code with a sentence of the caller's.
void set_status(client::Code code, std::string_view sentence, client::Status& status);

}  // namespace fibocast
