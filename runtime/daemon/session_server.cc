#include "runtime/daemon/session_server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <optional>
#include <utility>

#include "runtime/daemon/settings_loader.h"
#include "runtime/wire/client_codec.h"
#include "runtime/wire/client_status.h"
#include "transport/close_on_exec.h"

namespace fibocast {
namespace {

using boost::asio::local::stream_protocol;
using boost::system::error_code;

constexpr std::size_t kMostGroups = 1024;  // of a peer that has more only its own user and main group count

bool somebody_listens(boost::asio::io_context& io, const std::string& path) {
  stream_protocol::socket socket(io);
  error_code error;
  socket.connect(stream_protocol::endpoint(path), error);
  return !error;
}

void remove_stale_file(boost::asio::io_context& io, const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return;
  if (!S_ISSOCK(info.st_mode))
    throw SettingsError("node.socket: " + path + " exists and is no socket; remove it or give another path");
  if (somebody_listens(io, path))
    throw SettingsError("node.socket: a living daemon already listens on " + path + "; stop it or give another path");
  unlink(path.c_str());
}

// Who is at the other end: root, the daemon's own user, or a member of the socket file's group. The mode of the file
// says the same, but a file may be moved or its mode changed. Nothing for a stranger.
std::optional<Session::Peer> who_is(int socket, gid_t group) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return std::nullopt;
  if (peer.uid == 0 || peer.uid == geteuid()) return Session::Peer::kOwner;
  if (peer.gid == group) return Session::Peer::kOther;
  std::array<gid_t, kMostGroups> groups;
  length = sizeof groups;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length) != 0) return std::nullopt;
  const auto end = groups.begin() + length / sizeof(gid_t);
  if (std::find(groups.begin(), end, group) == end) return std::nullopt;
  return Session::Peer::kOther;
}

void make_folder(const std::string& path) {
  std::error_code error;
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error)
    throw SettingsError("node.socket: the folder of " + path + " cannot be made (" + error.message() +
                        "); make it or give another path");
}

}  // namespace

SessionServer::SessionServer(boost::asio::io_context& io, SessionContext& context, const std::string& path)
    : context_(context), path_(path), acceptor_(io), accept_pause_(io), sessions_(kPlaces) {
  context_.on_closed = [this](std::uint32_t place) {
    sessions_[place].reset();
    --clients_;
  };
  make_folder(path);
  remove_stale_file(io, path);
  listen();
}

void SessionServer::listen() {
  error_code error;
  acceptor_.open(stream_protocol(), error);
  close_on_exec(acceptor_.native_handle());
  if (!error) acceptor_.bind(stream_protocol::endpoint(path_), error);
  if (!error && chmod(path_.c_str(), 0660) != 0) error.assign(errno, boost::system::system_category());
  if (!error) acceptor_.listen(boost::asio::socket_base::max_listen_connections, error);
  if (error)
    throw SettingsError("node.socket: cannot listen on " + path_ + " (" + error.message() +
                        "); give a path this user may write, as --socket");
  struct stat info;
  if (stat(path_.c_str(), &info) == 0) inode_ = info.st_ino, group_ = info.st_gid;
}

SessionServer::~SessionServer() { remove_file(); }

void SessionServer::remove_file() {
  struct stat info;
  if (inode_ != 0 && stat(path_.c_str(), &info) == 0 && info.st_ino == inode_) unlink(path_.c_str());
  inode_ = 0;
}

void SessionServer::start() { accept_more(); }

void SessionServer::accept_more() {
  acceptor_.async_accept([this](const error_code& error, Session::Socket socket) {
    if (error == boost::asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (error) return pause_accepting();
    receive(std::move(socket));
    accept_more();
  });
}

void SessionServer::pause_accepting() {
  accept_pause_.begin([this] {
    if (acceptor_.is_open()) accept_more();
  });
}

void SessionServer::receive(Session::Socket socket) {
  if (const auto peer = who_is(socket.native_handle(), group_))
    admit(std::move(socket), *peer);
  else
    ++context_.counters.strangers;
}

void SessionServer::admit(Session::Socket socket, Session::Peer peer) {
  close_on_exec(socket.native_handle());
  const auto free = std::find(sessions_.begin(), sessions_.end(), nullptr);
  if (free == sessions_.end()) return turn_away(std::move(socket));
  ++context_.counters.accepted;
  ++clients_;
  const auto place = static_cast<std::uint32_t>(free - sessions_.begin());
  *free = std::make_shared<Session>(std::move(socket), context_, place, peer);
  (*free)->start();
}

std::string SessionServer::full_sentence() {
  return "this daemon has " + std::to_string(kMaxClients) + " clients already; close one and connect again";
}

void SessionServer::turn_away(Session::Socket socket) {
  ++context_.counters.turned_away;
  client::Response response;
  set_status(client::CODE_UNAVAILABLE, full_sentence(), *response.mutable_status());
  std::string bytes;
  append_frame(response, bytes);
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(boost::asio::buffer(bytes), ignored);
}

std::shared_ptr<Session> SessionServer::session_of(std::uint64_t cookie) const {
  const std::uint64_t place =
      (cookie >> Session::kPlaceShift) & ((1u << (Session::kStampShift - Session::kPlaceShift)) - 1);
  return place < sessions_.size() ? sessions_[place] : nullptr;
}

void SessionServer::release(const PayloadRange& range) {
  if (range.buffer != kNoBuffer) context_.host.node().release_buffer(range.buffer);
}

void SessionServer::on_call_done(const Event& event) {
  const auto session = session_of(event.done.cookie);
  if (!session || !session->on_call_done(event)) release(event.done.payload);
}

void SessionServer::on_event(const Event& event) {
  const auto session = session_of(event.cookie);
  if (event.kind == Event::Kind::kMessage && (!session || !session->on_message(event))) release(event.range);
  if (event.kind == Event::Kind::kGroupReady && session) session->on_group_ready(event);
}

bool SessionServer::on_drained() {
  bool any = false;
  if (context_.blocked == 0) return any;
  ++next_retried_;
  for (std::uint32_t i = 0; i < kPlaces; ++i)
    if (const auto session = sessions_[(next_retried_ + i) % kPlaces]) any = session->retry() || any;
  return any;
}

void SessionServer::drain(std::string_view why) {
  error_code ignored;
  acceptor_.close(ignored);
  accept_pause_.cancel();
  remove_file();
  for (std::uint32_t i = 0; i < kPlaces; ++i)
    if (const auto session = sessions_[i]) session->cancel_all(why);
}

bool SessionServer::all_written() const {
  return std::all_of(sessions_.begin(), sessions_.end(), [](const auto& s) { return !s || s->all_written(); });
}

void SessionServer::close_all() {
  for (std::uint32_t i = 0; i < kPlaces; ++i)
    if (const auto session = sessions_[i]) session->close();
}

}  // namespace fibocast
