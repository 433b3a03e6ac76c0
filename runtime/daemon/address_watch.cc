#include "runtime/daemon/address_watch.h"

#include "runtime/daemon/settings_loader.h"

namespace fibocast {

namespace {

bool is_name(const std::string& host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(host, error);
  return error.failed();
}

}  // namespace

AddressWatch::AddressWatch(boost::asio::io_context& io, NodeId self, const std::vector<std::string>& nodes,
                           const std::vector<NodeAddress>& addresses, Handlers handlers,
                           std::chrono::milliseconds interval)
    : handlers_(std::move(handlers)), interval_(interval), timer_(io) {
  for (NodeId node = 0; node < nodes.size(); ++node)
    if (node != self && is_name(parse_host_port(nodes[node])->host))
      watched_.push_back({node, nodes[node], addresses[node]});
}

void AddressWatch::start() {
  started_ = true;
  if (!watched_.empty()) wait();
}

void AddressWatch::add(NodeId node, const std::string& text) {
  const HostPort at = *parse_host_port(text);
  if (!is_name(at.host)) return handlers_.on_moved(node, {boost::asio::ip::make_address(at.host), at.port});
  watched_.push_back({node, text, {}});
  if (started_ && watched_.size() == 1) wait();
}

void AddressWatch::stop() {
  stopped_ = true;
  timer_.cancel();
}

void AddressWatch::wait() {
  if (stopped_) return;
  timer_.expires_after(interval_);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error && !stopped_) look_at_next();
  });
}

void AddressWatch::look_at_next() {
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    const std::size_t index = (next_ + i) % watched_.size();
    if (handlers_.is_connected(watched_[index].node)) continue;
    next_ = index + 1;
    return handlers_.look_up(watched_[index].text,
                             [this, index](std::optional<NodeAddress> found) { on_found(index, found); });
  }
  wait();
}

void AddressWatch::on_found(std::size_t index, const std::optional<NodeAddress>& address) {
  if (stopped_) return;
  Watched& watched = watched_[index];
  if (address && address->address != watched.address.address) {
    watched.address = *address;
    handlers_.on_moved(watched.node, *address);
  }
  wait();
}

}  // namespace fibocast
