#include "runtime/daemon/relay.h"

#include <algorithm>
#include <boost/asio/write.hpp>
#include <utility>

#include "transport/check.h"
#include "transport/close_on_exec.h"

namespace fibocast {

Relay::Relay(Socket socket, NodeHost& host, const Ends& ends) : socket_(std::move(socket)), host_(host), ends_(ends) {
  close_on_exec(socket_.native_handle());
}

void Relay::start(std::span<const std::byte> first) {
  check_channel(first.size() <= out_.size());
  receiving_ = true;
  std::ranges::copy(first, out_.begin());
  out_bytes_ = first.size();
  data_owed_ = out_bytes_ > 0;
  pump();
  read_more();
}

void Relay::on_message(std::span<const std::byte> message) {
  if (message.empty() || message.front() == static_cast<std::byte>(RelayMessage::kEnd)) {
    receiving_ = false;
    end();
    if (in_.empty()) close_socket();
    return;
  }
  if (message.front() == static_cast<std::byte>(RelayMessage::kTaken)) {
    out_bytes_ = 0;
    read_more();
  } else if (open_ && in_.empty()) {
    on_data(message.subspan(1));
  }
  pump();
}

void Relay::on_data(std::span<const std::byte> data) {
  in_.assign(data.begin(), data.end());
  boost::asio::async_write(socket_, boost::asio::buffer(in_),
                           [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                             self->host_.read_clock();
                             self->on_written(error);
                             self->host_.pump();
                           });
}

void Relay::on_written(const boost::system::error_code& error) {
  in_.clear();
  if (!receiving_) return close_socket();
  if (error) return end();
  taken_owed_ = open_;  // who has been told of the end hears nothing more
  pump();
}

void Relay::read_more() {
  if (!open_ || out_bytes_ > 0) return;
  socket_.async_read_some(boost::asio::buffer(out_),
                          [self = shared_from_this()](const boost::system::error_code& error, std::size_t bytes) {
                            self->host_.read_clock();
                            self->on_read(error, bytes);
                            self->host_.pump();
                          });
}

void Relay::on_read(const boost::system::error_code& error, std::size_t bytes) {
  if (!open_) return;  // it was on its way when the end was told
  if (error) return end();
  out_bytes_ = bytes;
  data_owed_ = true;
  pump();
}

// The local connection is over; what was read of it is still sent. Nothing is sent after the end: nobody reads it at
// the other daemon, and each message that nobody reads costs a credit for as long as both run.
void Relay::end() {
  if (!open_) return;
  open_ = taken_owed_ = false;
  end_owed_ = true;
  pump();
}

void Relay::close_socket() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void Relay::on_peer_gone() {
  open_ = receiving_ = data_owed_ = taken_owed_ = end_owed_ = false;
  close_socket();
}

bool Relay::send(RelayMessage kind, std::span<const std::byte> data) {
  return send_relay_message(host_, ends_.peer, ends_.tag_out, kind, data);
}

bool Relay::retry() { return (data_owed_ || taken_owed_ || end_owed_) && pump(); }

// True if something was given to the node. The end comes after the data, the word that data was taken at any time.
bool Relay::pump() {
  bool sent = false;
  if (taken_owed_ && send(RelayMessage::kTaken, {})) taken_owed_ = false, sent = true;
  if (data_owed_ && send(RelayMessage::kData, std::span(out_).first(out_bytes_))) data_owed_ = false, sent = true;
  if (!data_owed_ && end_owed_ && send(RelayMessage::kEnd, {})) end_owed_ = false, sent = true;
  return sent;
}

}  // namespace fibocast
