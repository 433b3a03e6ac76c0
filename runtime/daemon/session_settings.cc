#include "runtime/daemon/session.h"

// Requests that change what the daemon itself goes by.

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

}  // namespace fibocast
