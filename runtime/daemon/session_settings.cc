#include "runtime/daemon/session.h"

// Requests that change what the daemon itself goes by, or end it.

namespace fibocast {

Session::Handled Session::set_model() {
  const std::string mistake = context_.set_model ? context_.set_model(request_.set_model()) : "";
  answer(request_.id(), mistake.empty() ? client::CODE_OK : client::CODE_INVALID, mistake);
  return Handled::kDone;
}

Session::Handled Session::reload_keys() {
  const std::string mistake = context_.reload_keys ? context_.reload_keys() : "";
  answer(request_.id(), mistake.empty() ? client::CODE_OK : client::CODE_INVALID, mistake);
  return Handled::kDone;
}

Session::Handled Session::drain() {
  if (peer_ != Peer::kOwner) {
    answer(request_.id(), client::CODE_REFUSED,
           "only root and the user of this daemon may end it, on its own host; ask there as one of them");
    return Handled::kDone;
  }
  answer(request_.id(), client::CODE_OK, "");
  closing_ = stays_ = true;
  if (context_.drain) context_.drain();
  return Handled::kDone;
}

}  // namespace fibocast
