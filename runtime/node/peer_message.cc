#include "runtime/node/peer_message.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "collectives/check.h"
#include "collectives/tree_view.h"
#include "transport/little_endian.h"

namespace fibocast {

namespace {

template <std::size_t kBytes>
using Unsigned = std::conditional_t<
    kBytes == 1, std::uint8_t,
    std::conditional_t<kBytes == 2, std::uint16_t, std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>>;

// Writer and Reader offer the same calls, so that fields() below describes both directions once.
class Writer {
 public:
  explicit Writer(std::span<std::byte> out) : out_(out) {}
  template <class T>
  void number(const T& value) {
    little_endian::put(room(sizeof(T)).data(), static_cast<Unsigned<sizeof(T)>>(value));
  }
  void appended(const std::optional<std::uint32_t>& value) {
    if (value) number(*value);
  }
  void appended(const CreationId& value) {
    if (value != kUnknownCreation) number(value);
  }
  void appended(const bool& value) {
    if (value) number(value);
  }
  template <std::size_t kRoom>
  void text(const std::array<char, kRoom>& bytes, const std::uint8_t& length) {
    number(length);
    std::memcpy(room(length).data(), bytes.data(), length);
  }
  void bytes(std::span<const std::byte> from) {
    check(from.size() <= kMostPieceBytes);
    number(static_cast<std::uint8_t>(from.size()));
    std::ranges::copy(from, room(from.size()).begin());
  }
  std::size_t used() const { return used_; }

 private:
  std::span<std::byte> room(std::size_t bytes) {
    check(bytes <= out_.size() - used_);
    used_ += bytes;
    return out_.subspan(used_ - bytes, bytes);
  }
  std::span<std::byte> out_;
  std::size_t used_ = 0;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> in) : in_(in) {}
  template <class T>
  void number(T& value) {
    const std::byte* at = take(sizeof(T));
    if (at != nullptr) value = static_cast<T>(little_endian::get<Unsigned<sizeof(T)>>(at));
  }
  void appended(std::optional<std::uint32_t>& value) {
    if (ok_ && in_.size() >= sizeof(std::uint32_t)) number(value.emplace());
  }
  void appended(CreationId& value) {
    if (ok_ && in_.size() >= sizeof(CreationId)) number(value);
  }
  void appended(bool& value) {
    if (ok_ && !in_.empty()) number(value);
  }
  template <std::size_t kRoom>
  void text(std::array<char, kRoom>& bytes, std::uint8_t& length) {
    number(length);
    if (length >= bytes.size()) return fail();
    const std::byte* at = take(length);
    if (at != nullptr) std::memcpy(bytes.data(), at, length);
  }
  void bytes(std::span<const std::byte>& into) {
    std::uint8_t length = 0;
    number(length);
    const std::byte* at = take(length);
    if (at != nullptr) into = {at, length};
  }
  bool ok() const { return ok_; }
  void fail() { ok_ = false; }

 private:
  // Null: so many are not there.
  const std::byte* take(std::size_t bytes) {
    if (bytes > in_.size()) {
      fail();
      return nullptr;
    }
    const std::byte* at = in_.data();
    in_ = in_.subspan(bytes);
    return at;
  }
  std::span<const std::byte> in_;
  bool ok_ = true;
};

void ranks(Writer& io, const RankSet& set) {
  std::uint8_t runs = static_cast<std::uint8_t>(set.runs());
  io.number(runs);
  io.number(static_cast<std::uint8_t>(set.truncated()));
  for (std::uint32_t i = 0; i < runs; ++i) io.number(set.run(i).first), io.number(set.run(i).count);
}

void ranks(Reader& io, RankSet& set) {
  std::uint8_t runs = 0, truncated = 0;
  io.number(runs), io.number(truncated);
  Rank next = 0;
  for (std::uint32_t i = 0; io.ok() && i < runs; ++i) {
    RankSet::Run run;
    io.number(run.first), io.number(run.count);
    // Ascending and without overflow, or the set means nothing.
    if (run.count == 0 || run.first < next || run.count > kNoRank - run.first) return io.fail();
    next = run.first + run.count;
    set.add_run(run);
  }
  set.set_truncated(truncated != 0 || set.truncated());
}

template <class Io, class Spec>
void tree(Io& io, Spec& spec) {
  io.number(spec.kind), io.number(spec.arity), io.number(spec.s), io.number(spec.r);
}

template <class Io, class Choice>
void algorithm(Io& io, Choice& choice) {
  io.number(choice.algorithm), io.number(choice.tree), io.number(choice.parameter);
}

template <class Io, class Message>
void operation(Io& io, Message& m) {
  io.number(m.group), io.number(m.epoch), io.number(m.generation), io.number(m.operation);
  algorithm(io, m.choice), io.number(m.element), io.number(m.op);
  io.number(m.root), io.number(m.source), io.number(m.charged), io.number(m.window_base);
}

// One byte each, or a definition would not fit.
void planned(Writer& io, const AlgorithmChoice& choice) { io.number(plan_code(choice)); }
void planned(Reader& io, AlgorithmChoice& choice) {
  std::uint8_t code = 0;
  io.number(code);
  choice = choice_of(code);
}

template <class Io, class SomePlan>
void plan(Io& io, SomePlan& p) {
  tree(io, p.reduction), tree(io, p.distribution), io.number(p.segment_bytes);
  for (auto& row : p.choices)
    for (auto& choice : row) planned(io, choice);
}

template <class Io, class Message>
void definition(Io& io, Message& m) {
  io.number(m.group), io.number(m.epoch), io.text(m.name, m.name_length), io.number(m.participants);
  ranks(io, m.ranks);
  plan(io, m.plan);
  io.number(m.routers), io.number(m.policy), io.number(m.quorum), io.appended(m.creation);
  io.appended(m.unfinished);
}

template <class Io, class Message>
void epoch(Io& io, Message& m) {
  io.number(m.group), io.number(m.epoch), io.number(m.next_epoch), io.number(m.source);
}

// The fields of each type, in wire order. `Message` is const for a Writer.
template <class Io, class Message>
bool fields(Io& io, Message& m) {
  io.number(m.type);
  switch (m.type) {
    case PeerMessageType::kTransfer:
      operation(io, m), io.number(m.completed), io.number(m.stage), io.number(m.repetition);
      io.number(m.total_bytes), io.number(m.segment_bytes);
      if (m.operation == Operation::kBarrier) io.number(m.straggler.rank), io.number(m.straggler.late_by);
      return true;
    case PeerMessageType::kAnnounce:
      operation(io, m), io.number(m.total_bytes), io.number(m.segment_bytes), io.number(m.stream), io.number(m.stage);
      io.number(m.unasked);
      return true;
    case PeerMessageType::kGrant:
    case PeerMessageType::kPostpone:
    case PeerMessageType::kDecline: operation(io, m), io.number(m.stream); return true;
    case PeerMessageType::kVerdictRequest:
    case PeerMessageType::kFreeze:
      operation(io, m), io.number(m.verdict), io.number(m.total_bytes), io.number(m.segment_bytes);
      ranks(io, m.ranks), io.text(m.label.bytes, m.label.length);
      return true;
    case PeerMessageType::kFreezeAnswer:
      operation(io, m), io.number(m.verdict), io.number(m.arrived), io.number(m.completed);
      ranks(io, m.ranks), io.text(m.label.bytes, m.label.length), io.appended(m.ended_ago);
      return true;
    case PeerMessageType::kVerdict:
      operation(io, m), io.number(m.verdict), ranks(io, m.ranks), io.text(m.label.bytes, m.label.length);
      io.appended(m.ended_ago);
      return true;
    case PeerMessageType::kCompare: operation(io, m), io.number(m.total_bytes); return true;
    case PeerMessageType::kDoubt: operation(io, m), ranks(io, m.ranks); return true;
    case PeerMessageType::kRejoin: operation(io, m), io.number(m.completed), io.appended(m.ended_ago); return true;
    case PeerMessageType::kWindowAsk:
    case PeerMessageType::kWindowQuestion:
    case PeerMessageType::kWindowAnswer:
    case PeerMessageType::kWindow: operation(io, m), io.number(m.completed); return true;
    case PeerMessageType::kGroupDefine: definition(io, m); return true;
    case PeerMessageType::kGroupTree:
      io.number(m.group), io.number(m.epoch), io.number(m.first), io.bytes(m.piece);
      return true;
    case PeerMessageType::kGroupAnswer: io.number(m.group), io.number(m.verdict), io.appended(m.creation); return true;
    case PeerMessageType::kGroupRemove:
      io.number(m.group), io.appended(m.creation), io.appended(m.unfinished);
      return true;
    case PeerMessageType::kGroupMade: io.number(m.creation); return true;
    case PeerMessageType::kGroupRemoved: io.number(m.creation), io.appended(m.unfinished); return true;
    case PeerMessageType::kClusterAdopted: return true;
    case PeerMessageType::kGroupUnknown:
      io.number(m.group), io.number(m.generation), io.appended(m.of_epoch);
      return true;
    case PeerMessageType::kMessage: io.number(m.tag), io.number(m.total_bytes); return true;
    case PeerMessageType::kMessageAnnounce:
      io.number(m.tag), io.number(m.total_bytes), io.number(m.stream);
      return true;
    case PeerMessageType::kMessageGrant: io.number(m.stream); return true;
    case PeerMessageType::kMessageCredit: io.number(m.count), io.appended(m.host_count); return true;
    case PeerMessageType::kEpochStop: epoch(io, m), io.bytes(m.piece); return true;
    case PeerMessageType::kEpochStopped:
      epoch(io, m), io.number(m.verdict), io.number(m.arrived), io.number(m.completed), io.number(m.generation);
      io.bytes(m.piece), io.appended(m.let_go);
      return true;
    case PeerMessageType::kEpochInstall:
      epoch(io, m), io.number(m.window_base), io.number(m.completed), io.number(m.generation);
      io.bytes(m.piece), ranks(io, m.ranks), plan(io, m.plan), io.appended(m.let_go);
      return true;
    case PeerMessageType::kEpochInstalled: epoch(io, m), io.number(m.verdict); return true;
    case PeerMessageType::kEpochGo: epoch(io, m); return true;
    case PeerMessageType::kEpochWanted: epoch(io, m), ranks(io, m.ranks); return true;
    case PeerMessageType::kEpochHold:
      epoch(io, m), io.number(m.verdict), io.number(m.arrived), io.number(m.generation), plan(io, m.plan);
      return true;
    case PeerMessageType::kEpochHeld:
      epoch(io, m), io.number(m.verdict), io.number(m.arrived), io.number(m.generation);
      return true;
    case PeerMessageType::kEpochBehind: epoch(io, m), io.number(m.root); return true;
    case PeerMessageType::kNews:
      io.number(m.news.subject), io.number(m.news.incarnation), io.number(m.news.life), io.number(m.news.belief);
      return true;
  }
  return false;
}

bool has_plan(PeerMessageType type) {
  return type == PeerMessageType::kGroupDefine || type == PeerMessageType::kEpochInstall ||
         type == PeerMessageType::kEpochHold;
}

void leave_out_unknown_operation(PeerMessage& m) {
  const bool exists = is_operation(m.operation);
  if (exists && is_known(m.operation, m.choice) && m.element <= ElementType::kDouble && m.op <= CombineOperator::kXor)
    return;
  m.understood = false;
  if (!exists) m.operation = Operation::kBarrier;
  m.choice = {}, m.element = ElementType::kBytes, m.op = CombineOperator::kNone;
}

void leave_out_unknown_plan(PeerMessage& m) {
  for (std::size_t row = 0; row < kPlannedOperations; ++row)
    for (AlgorithmChoice& choice : m.plan.choices[row])
      if (!is_known(static_cast<Operation>(row + 1), choice)) choice = {}, m.understood = false;
  for (TreeSpec* spec : {&m.plan.reduction, &m.plan.distribution})
    if (spec->kind > TreeKind::kGiven) *spec = {}, m.understood = false;
}

void leave_out_unknown(PeerMessage& m) {
  leave_out_unknown_operation(m);
  if (has_plan(m.type)) leave_out_unknown_plan(m);
  if (m.policy > GroupPolicy::kQuorum) m.policy = GroupPolicy::kAll, m.understood = false;
  // However it ended, it did not go well. What comes with it is an error here as well, and most like this one.
  if (m.verdict > Verdict::kCallerLost) m.verdict = Verdict::kMismatch;
}

bool in_range(const PeerMessage& m) {
  return m.straggler.late_by >= 0 && m.news.belief <= Belief::kLost && (!has_plan(m.type) || is_valid(m.plan)) &&
         m.participants > 0 && m.piece.size() <= kMostPieceBytes;
}

}  // namespace

bool has_room_for_creation(std::size_t name_length, const RankSet& members) {
  constexpr std::size_t kRunBytes = 2 * sizeof(Rank);
  return name_length + members.runs() * kRunBytes + sizeof(CreationId) + sizeof(bool) <
         48 + RankSet::kMaxRuns * kRunBytes;
}

std::size_t encode_peer_message(const PeerMessage& message, std::span<std::byte> out) {
  Writer writer(out);
  check(fields(writer, message));
  return writer.used();
}

std::optional<PeerMessage> decode_peer_message(std::span<const std::byte> body) {
  Reader reader(body);
  std::optional<PeerMessage> message(std::in_place);
  if (!fields(reader, *message) || !reader.ok()) return {};
  leave_out_unknown(*message);
  if (!in_range(*message)) message.reset();
  return message;
}

}  // namespace fibocast
