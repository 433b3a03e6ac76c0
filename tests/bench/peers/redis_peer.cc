// Redis: everybody counts itself in with INCR; the last lets the others go on, by PUBLISH to those who SUBSCRIBEd
// (variant "pubsub") or by RPUSH of a token for each of those who wait in BLPOP ("blpop"). WORDS: port.
#include <hiredis/hiredis.h>

#include <cstring>
#include <memory>
#include <stdexcept>

#include "tests/bench/peers/way.h"

namespace fibocast::peers {
namespace {

using Reply = std::unique_ptr<redisReply, decltype([](redisReply* r) { freeReplyObject(r); })>;

class Connection {
 public:
  explicit Connection(const std::string& port) : context_(redisConnect("127.0.0.1", std::stoi(port))) {
    if (!context_ || context_->err != 0) throw std::runtime_error("redis does not answer");
    redisEnableKeepAlive(context_.get());
  }
  template <class... Words>
  Reply ask(const char* format, Words... words) {
    return good(static_cast<redisReply*>(redisCommand(context_.get(), format, words...)));
  }
  Reply hear() {
    void* reply = nullptr;
    redisGetReply(context_.get(), &reply);
    return good(static_cast<redisReply*>(reply));
  }

 private:
  Reply good(redisReply* reply) {
    if (reply == nullptr || reply->type == REDIS_REPLY_ERROR)
      throw std::runtime_error(reply == nullptr ? context_->errstr : reply->str);
    return Reply(reply);
  }
  std::unique_ptr<redisContext, decltype([](redisContext* c) { redisFree(c); })> context_;
};

class Redis : public Way {
 public:
  explicit Redis(const Place& place) : rank_(place.rank), n_(place.n), connection_(place.words.at(0)) {}
  void barrier() override {
    if (connection_.ask("INCR met")->integer % n_ == 0)
      release("0");
    else
      wait();
  }
  double allreduce(double value) override {
    connection_.ask("INCRBYFLOAT sum %s", std::to_string(value).c_str());
    if (connection_.ask("INCR met")->integer % n_ != 0) return std::stod(wait());
    const std::string sum = connection_.ask("GETSET sum 0")->str;
    release(sum);
    return std::stod(sum);
  }

 protected:
  virtual void release(const std::string& word) = 0;
  virtual std::string wait() = 0;
  std::uint32_t rank() const { return rank_; }
  std::uint32_t n() const { return n_; }
  Connection& connection() { return connection_; }

 private:
  const std::uint32_t rank_, n_;
  Connection connection_;
};

class PubSub final : public Redis {
 public:
  explicit PubSub(const Place& place) : Redis(place), heard_(place.words.at(0)) {
    heard_.ask("SUBSCRIBE go");
    // Nobody may go on before all have subscribed.
    connection().ask("INCR subscribed");
    while (std::stoul(connection().ask("GET subscribed")->str) < n()) {
    }
  }
  void multicast(std::span<std::byte> bytes) override {
    if (rank() == 0) connection().ask("PUBLISH go %b", bytes.data(), bytes.size());
    const Reply message = heard_.hear();
    std::memcpy(bytes.data(), message->element[2]->str, std::min(bytes.size(), message->element[2]->len));
  }

 private:
  // The last hears itself too: its own message must not be taken for the next one.
  void release(const std::string& word) override { connection().ask("PUBLISH go %s", word.c_str()), heard_.hear(); }
  std::string wait() override { return heard_.hear()->element[2]->str; }
  Connection heard_;
};

class Tokens final : public Redis {
 public:
  using Redis::Redis;
  bool has_multicast() const override { return false; }  // as many copies as processes: nobody does that
  void multicast(std::span<std::byte>) override {}

 private:
  void release(const std::string& word) override {
    ++round_;
    std::string command = "RPUSH go" + std::to_string(round_ % 2);
    for (std::uint32_t k = 1; k < n(); ++k) command += " " + word;
    if (n() > 1) connection().ask(command.c_str());
  }
  std::string wait() override {
    ++round_;
    return connection().ask("BLPOP go%s 0", std::to_string(round_ % 2).c_str())->element[1]->str;
  }
  std::uint64_t round_ = 0;
};

std::unique_ptr<Way> make(const Place& place) {
  if (place.variant == "blpop") return std::make_unique<Tokens>(place);
  return std::make_unique<PubSub>(place);
}

}  // namespace
}  // namespace fibocast::peers

int main(int argc, char** argv) { return fibocast::peers::run(argc, argv, fibocast::peers::make); }
