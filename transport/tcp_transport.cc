#include "transport/tcp_transport.h"

#include <algorithm>
#include <sstream>
#include <system_error>

#include "transport/close_on_exec.h"
#include "transport/frame.h"

namespace fibocast {
namespace {

using boost::asio::ip::tcp;
constexpr std::size_t kLargestFrame = kMaxHeadBytes + kTcpPayload;  // sealed or not

[[noreturn]] void cannot_listen(const tcp::endpoint& endpoint, const boost::system::error_code& error) {
  std::ostringstream text;
  text << "cannot listen on TCP " << endpoint;
  throw std::system_error(error, text.str());
}

}  // namespace

TcpTransport::TcpTransport(boost::asio::io_context& io, const TcpSettings& settings)
    : io_(io), settings_(settings), acceptor_(io), accept_pause_(io) {
  boost::system::error_code error;
  acceptor_.open(settings.listen.protocol(), error);
  close_on_exec(acceptor_.native_handle());
  // A fixed port must be free again at once after a restart; TCP still refuses a second listener.
  if (!error && settings.listen.port() != 0) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(settings.listen, error);
  if (!error) acceptor_.listen(boost::asio::socket_base::max_listen_connections, error);
  if (error) cannot_listen(settings.listen, error);
}

TcpTransport::~TcpTransport() { stop(); }

void TcpTransport::set_peer(NodeId peer, const tcp::endpoint& endpoint) {
  auto& sender = senders_[peer];
  if (!sender) sender = make_sender(peer);
  sender->set_endpoint(endpoint);
}

std::shared_ptr<TcpSender> TcpTransport::make_sender(NodeId peer) {
  TcpSender::Events events;
  events.on_writable = [this, peer] {
    if (handlers_.on_writable) handlers_.on_writable(peer);
  };
  events.on_reset = [this, peer] {
    if (handlers_.on_reset) handlers_.on_reset(peer);
  };
  events.on_refused = [this, peer] {
    if (handlers_.on_refused) handlers_.on_refused(peer);
  };
  const TcpSender::Bounds bounds{settings_.queue_frames, settings_.queue_bytes, settings_.dial_patience};
  return std::make_shared<TcpSender>(io_, counters_, std::move(events), bounds);
}

tcp::endpoint TcpTransport::local_endpoint() const { return acceptor_.local_endpoint(); }

void TcpTransport::start(Handlers handlers) {
  handlers_ = std::move(handlers);
  accept();
}

bool TcpTransport::send(NodeId to, std::span<const std::byte> head, std::span<const std::byte> payload) {
  const auto it = senders_.find(to);
  if (it != senders_.end()) return it->second->send(head, payload);
  ++counters_.send_errors;
  return true;
}

std::size_t TcpTransport::max_frame(NodeId) const { return kLargestFrame; }

void TcpTransport::stop() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  accept_pause_.cancel();
  for (const auto& [peer, sender] : senders_) sender->stop();
  for (const auto& receiver : receivers_) receiver->close();
  receivers_.clear();
}

void TcpTransport::accept() {
  acceptor_.async_accept(
      [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error, tcp::socket socket) {
        if (alive.expired() || !acceptor_.is_open()) return;
        if (!error) take(std::move(socket));
        const auto now = std::chrono::steady_clock::now();
        if (now - accepting_since_ > AcceptPause::kTime) accepting_since_ = now, accepts_ = 0;
        if (error || ++accepts_ > settings_.accepts_at_once) return pause_accepting();
        accept();
      });
}

void TcpTransport::pause_accepting() {
  accept_pause_.begin([this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired() && acceptor_.is_open()) accept();
  });
}

// Whoever has the key proves itself at once, so the oldest that did not is no peer.
bool TcpTransport::make_room() {
  const auto unproved = [](const auto& receiver) { return !receiver->is_proved(); };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(receivers_, unproved));
  if (receivers_.size() < settings_.most_accepted && count < settings_.most_unproved) return true;
  if (count == 0) return false;
  const std::shared_ptr<TcpReceiver> oldest = *std::ranges::find_if(receivers_, unproved);
  oldest->turn_away();
  return true;
}

void TcpTransport::take(tcp::socket socket) {
  close_on_exec(socket.native_handle());
  if (!make_room()) {
    ++counters_.turned_away;
    return;  // closes it
  }
  ++counters_.accepted;
  auto receiver = std::make_shared<TcpReceiver>(std::move(socket), counters_, kLargestFrame, settings_.patience);
  receivers_.push_back(receiver);
  receiver->start([this](std::span<const std::byte> frame) { return handlers_.on_frame(frame); },
                  [this, weak = std::weak_ptr(receiver)] { receivers_.remove(weak.lock()); });
}

}  // namespace fibocast
