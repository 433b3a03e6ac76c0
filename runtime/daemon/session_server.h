// The daemon's Unix socket: accepts local clients, keeps their sessions, and passes each answer of the node to the
// session that asked. At most kMaxClients; one more is turned away with a sentence, unless it only asks for the status.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/daemon/session.h"
#include "transport/accept_pause.h"

namespace fibocast {

class SessionServer {
 public:
  static constexpr std::uint32_t kMaxClients = 256;
  // Beside them, for who says in its Hello that it asks for the status alone: probes of a healthy daemon must not fail
  // because applications have all places. Each is held for SessionContext::spare_patience at most.
  static constexpr std::uint32_t kSparePlaces = 8;
  static std::string full_sentence();

  // Throws SettingsError with one sentence: the path cannot be used, or a living daemon listens there. The socket
  // file of a dead one is removed. Mode 0660: the daemon's user and group.
  SessionServer(boost::asio::io_context& io, SessionContext& context, const std::string& path);
  ~SessionServer();  // removes the socket file, if it is still this server's
  SessionServer(const SessionServer&) = delete;
  SessionServer& operator=(const SessionServer&) = delete;

  void start();
  // As if it had connected to the file: for relays of other daemons' clients, too, who own nothing here.
  void admit(Session::Socket socket, Session::Peer peer);

  // -- from NodeHost
  void on_call_done(const Event& event);
  void on_event(const Event& event);  // kMessage and kGroupReady; ignores others
  bool on_drained();

  std::uint32_t clients() const { return clients_; }

  // No more clients; what is under way is answered CODE_CANCELLED.
  void drain(std::string_view why);
  bool all_written() const;
  void close_all();

 private:
  static constexpr std::uint32_t kPlaces = kMaxClients + kSparePlaces;
  using Acceptor = boost::asio::local::stream_protocol::acceptor;
  void listen();
  void accept_more();
  void pause_accepting();
  void receive(Session::Socket socket);
  void turn_away(Session::Socket socket);
  void remove_file();
  std::shared_ptr<Session> session_of(std::uint64_t cookie) const;
  void release(const PayloadRange& range);

  SessionContext& context_;
  std::string path_;
  ino_t inode_ = 0;
  gid_t group_ = 0;  // whose members may connect
  Acceptor acceptor_;
  AcceptPause accept_pause_;
  std::vector<std::shared_ptr<Session>> sessions_;  // by place, the spare ones last; null: free
  std::uint32_t clients_ = 0;
  std::uint32_t next_retried_ = 0;  // so that no session is always the last
};

}  // namespace fibocast
