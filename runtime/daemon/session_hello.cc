// A session's first request: greeted here, or passed on to the daemon that is meant.
#include "runtime/daemon/relay.h"
#include "runtime/daemon/session_server.h"
#include "runtime/wire/client_codec.h"

namespace fibocast {

bool Session::is_spare() const { return place_ >= SessionServer::kMaxClients; }

Session::Handled Session::hello() {
  if (request_.hello().major() != kClientMajor) {
    answer(request_.id(), client::CODE_REFUSED,
           "the client speaks version " + std::to_string(request_.hello().major()) +
               " of the local protocol, this daemon " + std::to_string(kClientMajor) +
               "; use the client that came with this daemon");
    closing_ = true;
    return Handled::kDone;
  }
  status_only_ = request_.hello().status_only();
  if (is_spare() && !status_only_) {
    ++context_.counters.turned_away;
    answer(request_.id(), client::CODE_UNAVAILABLE, SessionServer::full_sentence());
    closing_ = true;
    return Handled::kDone;
  }
  if (request_.hello().has_node() && request_.hello().node() != context_.rank) return relay_to(request_.hello().node());
  greeted_ = true;
  client::Welcome& welcome = *begin_response(request_.id()).mutable_welcome();
  welcome.set_major(kClientMajor);
  welcome.set_minor(kClientMinor);
  welcome.set_rank(context_.rank);
  welcome.set_size(context_.nodes);
  welcome.set_cluster(context_.cluster);
  welcome.set_payload_limit(context_.payload_limit);
  welcome.set_default_deadline_ns(context_.default_deadline);
  send_response();
  return Handled::kDone;
}

// The other daemon is greeted by the same words, and answers itself.
Session::Handled Session::relay_to(NodeId node) {
  const std::string whom = "rank " + std::to_string(node);
  closing_ = true;
  if (node >= context_.nodes) {
    answer(request_.id(), client::CODE_INVALID,
           whom + " is not in the cluster of " + std::to_string(context_.nodes) + " daemons");
  } else if (this->node().peer_state(node) != ChannelState::kConnected) {
    answer(request_.id(), client::CODE_UNAVAILABLE,
           whom + " is not connected to rank " + std::to_string(context_.rank) + "; fibocast status shows who is");
  } else {
    std::string frame;
    append_frame(request_, frame);
    if (frame.size() > Relay::kChunk)
      answer(request_.id(), client::CODE_INVALID,
             "the Hello to " + whom + " has " + std::to_string(frame.size()) + " bytes, but a relay takes " +
                 std::to_string(Relay::kChunk) + "; give the program a shorter name");
    else if (context_.relay(socket_, node, std::as_bytes(std::span(frame))))
      close();
    else
      answer(request_.id(), client::CODE_UNAVAILABLE, "no room for one more relay to " + whom + "; try it again");
  }
  return Handled::kDone;
}

}  // namespace fibocast
