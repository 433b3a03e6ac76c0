#include "collectives/lower_bound.h"

#include <algorithm>
#include <utility>

#include "collectives/divide.h"
#include "collectives/growth.h"

namespace fibocast {
namespace {

std::uint64_t quotient_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

// Collects what holds for one operation. M: total_bytes; B: what all other ranks together have for one rank.
class Bounds {
 public:
  Bounds(const OperationShape& shape, const CostModel& model, const HostSharing& hosts)
      : m_(model), p_(shape.ranks), op_(shape.operation), hosts_(hosts) {
    const bool no_blocks = op_ == Operation::kBarrier || is_of_shares(op_);
    bytes_ = no_blocks ? 0 : shape.total_bytes;
    if (is_of_shares(op_)) count_shares(shape);
    others_ = (p_ - 1) * bytes_;
  }

  std::vector<LowerBound> take() {
    if (p_ == 1) return {{0, "0", "one rank has nobody to wait for"}};
    if (spreads()) distribution();
    if (collects()) reduction();
    is_of_shares(op_) ? for_shares() : for_one_rank();
    work();
    return std::move(bounds_);
  }

 private:
  bool is_exchange() const { return op_ == Operation::kAllgather || op_ == Operation::kAlltoall; }
  bool spreads() const { return op_ != Operation::kReduce && op_ != Operation::kGather && op_ != Operation::kConquer; }
  bool collects() const { return !is_push(op_); }
  // Every rank hears of every other.
  bool is_all_to_all() const { return spreads() && collects(); }

  void add(std::uint64_t ticks, std::string formula, std::string reason) {
    bounds_.push_back({ticks, std::move(formula), std::move(reason)});
  }
  std::string p() const { return std::to_string(p_); }

  // The same bytes go to all in a multicast, an allreduce (the root's contribution) and an allgather (one block). The
  // byte that leaves the root last sets out when all others have left, and then has p ranks to reach.
  void distribution() {
    const auto t = static_cast<std::uint64_t>(distribution_latency(p_, m_.send, m_.receive()));
    const bool same = op_ == Operation::kMulticast || op_ == Operation::kAllreduce || op_ == Operation::kAllgather;
    const std::uint64_t bytes = same ? bytes_ * m_.send_per_byte : 0;
    add(t + bytes, "T(" + p() + "; s, l+o)" + (bytes > 0 ? " + c M" : ""),
        "whatever one rank knows must reach " + p() +
            " ranks, and in time t a message reaches at most f(t) = f(t-s) + "
            "f(t-s-l-o) of them" +
            (bytes > 0 ? ", after the last of its bytes has left the first rank" : ""));
  }

  // Time reversal exchanges s and o (A30). A parent that is never busy hears of all at once.
  void reduction() {
    std::uint64_t t = m_.send + m_.latency;
    if (m_.occupancy > 0) t = static_cast<std::uint64_t>(distribution_latency(p_, m_.occupancy, t));
    const bool same = op_ == Operation::kReduce || op_ == Operation::kAllreduce;
    const std::uint64_t bytes = same ? bytes_ * m_.occupancy_per_byte : 0;
    add(t + bytes, "T(" + p() + "; o, s+l)" + (bytes > 0 ? " + d M" : ""),
        "what " + p() + " ranks know must reach one rank: a multicast in reverse, with s and o exchanged" +
            (bytes > 0 ? ", and the root takes in the whole vector" : ""));
  }

  // The rank with most to send, and the one with most to receive.
  void for_one_rank() {
    const bool root_sends_all = op_ == Operation::kScatter || op_ == Operation::kAlltoall;
    const bool root_takes_all = op_ == Operation::kGather || is_exchange();
    const std::uint64_t sent = root_sends_all ? others_ : bytes_;
    const std::uint64_t taken = root_takes_all ? others_ : bytes_;
    const std::string send_bytes = root_sends_all ? "c (p-1) M" : "c M",
                      take_bytes = root_takes_all ? "d (p-1) M" : "d M";
    const std::uint64_t one_message = m_.send + m_.receive();
    add(one_message + sent * m_.send_per_byte, "s + " + send_bytes + " + l + o",
        "one rank must send " + std::to_string(sent) + " bytes, and the last of them must arrive");
    add(one_message + taken * m_.occupancy_per_byte, "s + l + o + " + take_bytes,
        "one rank must receive " + std::to_string(taken) + " bytes, after the first has been sent to it");
    if (is_all_to_all() && m_.ports == Ports::kShared)
      add(m_.send + m_.occupancy + sent * m_.send_per_byte + taken * m_.occupancy_per_byte,
          "s + o + " + send_bytes + " + " + take_bytes,
          "the one processor of a rank must both send and receive all that");
  }

  // What the other ranks get of a divide, or bring to a conquer.
  void count_shares(OperationShape shape) {
    if (shape.choice.algorithm == Algorithm::kPlanned) shape.choice = default_choice(op_, shape.total_bytes);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> shares;
    for (Rank rank = 1; rank < p_; ++rank) {
      const Share share = final_share(shape, rank);
      shares.emplace_back(share.first, share.end());
      largest_share_ = std::max<std::uint64_t>(largest_share_, share.count);
      all_shares_ += share.count;
    }
    std::ranges::sort(shares);
    std::uint64_t reached = 0;
    for (const auto& [first, end] : shares) {
      if (end > reached) different_ += end - std::max(first, reached);
      reached = std::max(reached, end);
    }
    const std::uint64_t size = element_bytes(shape.type);
    largest_share_ *= size, all_shares_ *= size, different_ *= size;
  }

  // The root sends every element that another rank gets, and takes in every one that another rank brings.
  void for_shares() {
    const bool down = op_ == Operation::kDivide;
    const std::uint64_t sent = down ? different_ : largest_share_, taken = down ? largest_share_ : different_;
    const std::uint64_t one_message = m_.send + m_.receive();
    add(one_message + sent * m_.send_per_byte, "s + c " + std::to_string(sent) + " + l + o",
        "one rank must send " + std::to_string(sent) + " bytes, and the last of them must arrive");
    add(one_message + taken * m_.occupancy_per_byte, "s + l + o + d " + std::to_string(taken),
        "one rank must receive " + std::to_string(taken) + " bytes, after the first has been sent to it");
  }

  // Every rank but one must be reached; if all are to hear of all, 2 (p - 1) messages are needed, and as many for each
  // byte of a vector.
  void work() {
    const std::uint64_t messages = (is_all_to_all() ? 2 : 1) * std::uint64_t{p_ - 1};
    std::uint64_t bytes = messages * bytes_;
    if (is_exchange()) bytes = p_ * others_;
    if (is_of_shares(op_)) bytes = all_shares_;
    const std::uint64_t sends = messages * m_.send + bytes * m_.send_per_byte;
    const std::uint64_t receives = messages * m_.occupancy + bytes * m_.occupancy_per_byte;
    const bool shared = m_.ports == Ports::kShared;
    const std::string what = std::to_string(messages) + " messages with " + std::to_string(bytes) + " bytes together";
    add(quotient_up(shared ? sends + receives : std::max(sends, receives), p_), "work / p",
        "at least " + what + " have to be sent and received by " + p() + " ranks");
    if (hosts_.nodes <= 1) return;
    const std::uint64_t processors = std::uint64_t{quotient_up(p_, hosts_.nodes)} * hosts_.processors;
    add(quotient_up(sends + receives, processors), "work / processors",
        "at least " + what + " have to be sent and received by the " + std::to_string(processors) +
            " processors of all hosts");
  }

  const CostModel& m_;
  const std::uint64_t p_;
  const Operation op_;
  const HostSharing& hosts_;
  std::uint64_t bytes_ = 0;
  std::uint64_t others_ = 0;
  std::uint64_t largest_share_ = 0, all_shares_ = 0, different_ = 0;  // bytes of the ranks beside the root
  std::vector<LowerBound> bounds_;
};

}  // namespace

std::vector<LowerBound> lower_bounds(const OperationShape& shape, const CostModel& model, const HostSharing& hosts) {
  return Bounds(shape, model, hosts).take();
}

LowerBound strongest_bound(const OperationShape& shape, const CostModel& model, const HostSharing& hosts) {
  const std::vector<LowerBound> bounds = lower_bounds(shape, model, hosts);
  return *std::ranges::max_element(bounds, {}, &LowerBound::ticks);
}

}  // namespace fibocast
