// The application's end of the local socket: frames, the two buffers, and who waits for which response. Internal.
//
// A blocking call writes and reads the socket itself, in the calling thread, without an event loop; only while
// asynchronous calls are under way does the connection also wait on the executor. Both see the same buffers, so the
// two may be mixed. One thread at a time. A payload is copied once by us: the socket takes it from where the caller of
// a blocking call has it, and what comes goes from the receive buffer to where its receiver wants it.
#pragma once

#include <poll.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/client/completion.h"
#include "runtime/client/participant.h"
#include "runtime/client/status.h"
#include "runtime/wire/client.pb.h"
#include "runtime/wire/frame_buffer.h"

namespace fibocast {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // Who waits for an answer: one of the three is set.
  struct Done {
    Completion<Status> status;
    Completion<Outcome> outcome;
    Completion<Received> received;
  };
  using Clock = std::chrono::steady_clock;
  using Bytes = std::span<const std::byte>;
  struct Answer {
    const client::Response& response;
    Bytes payload;
  };

  // kUnavailable if nobody listens there.
  static Result<std::shared_ptr<Connection>> open(const std::string& socket_path,
                                                  const boost::asio::any_io_executor& executor);
  explicit Connection(boost::asio::local::stream_protocol::socket socket, std::string path);

  // Gives `request` its id, sends it with its payload and waits for the answer, which stays valid until the next call.
  // Trouble with the connection, or no answer by `until`, is answered kUnavailable like any other failure.
  Answer exchange(client::Request& request, Bytes payload, Clock::time_point until);
  // Until the daemon closes the connection. False: it has not by then.
  bool wait_for_end(Clock::time_point until);
  int descriptor() { return socket_.native_handle(); }
  // Gives `request` its id and sends it, with a copy of what the socket does not take at once of the payload; `done`
  // follows: without an answer by `until` as exchange() says, and then later ones are dropped. Only while the executor
  // runs, which may be late: what has come meanwhile counts.
  void start(client::Request& request, Bytes payload, Done done, Clock::time_point until);
  // Ends all that is under way with kCancelled and closes the socket.
  void close();

 private:
  struct Pending {
    Done done;
    Clock::time_point until;
  };
  bool submit(client::Request& request, Bytes payload);
  bool has_output() const { return out_begin_ < out_.size() || !out_payload_.empty(); }
  void keep_payload();
  void flush();
  void note_sent(std::size_t bytes);
  void read_available();
  void read_last_words();
  bool next_response();
  void forget_response();
  void dispatch();
  void pump();
  void wait_on_executor();
  void arm_timer(Clock::time_point at);
  void stop_timer();
  void on_timer();
  void leave_thread();
  bool polls_ready(pollfd& ready);
  void wait_in_thread(Clock::time_point until);
  void fail(const std::string& why);
  void answer_silence(std::uint64_t id);
  void answer(std::uint64_t id, client::Code code, const std::string& sentence);
  void end_all(client::Code code, const std::string& sentence);

  boost::asio::local::stream_protocol::socket socket_;
  std::string path_;
  Clock::time_point block_until_;  // by whoever waits in a thread
  std::string broken_;             // why the connection is of no use any more
  std::string complaint_;          // what the daemon says before it closes the connection
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, Pending> pending_;
  boost::asio::steady_timer timer_;  // of what is pending
  Clock::time_point armed_for_ = Clock::time_point::max();
  std::uint64_t reads_ = 0, reads_at_timer_ = 0;  // that brought something
  client::Response response_;
  Bytes payload_;                // of response_, in received_,
  bool holds_response_ = false;  // ... whose first frame it is
  FrameBuffer received_;
  std::string out_;
  std::size_t out_begin_ = 0;
  Bytes out_payload_;  // of exchange(), to be sent after out_
  bool waiting_to_read_ = false, waiting_to_write_ = false;
};

}  // namespace fibocast
