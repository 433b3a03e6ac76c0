// The words of Fibocast: what every folder means by rank, generation, operation and verdict, and the
// one list of every bound. Nothing here allocates or depends on an operating system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace fibocast {

using Rank = std::uint32_t;        // position in a group, 0 .. size-1
using NodeId = std::uint32_t;      // a daemon: its position in the cluster's list
using GroupId = std::uint64_t;     // hash of the group's name (group_id() below)
using Generation = std::uint32_t;  // the how-many-th operation of a group, from 0
using Epoch = std::uint32_t;       // numbers the member list and plan of a group
using CreationId = std::uint64_t;  // tells a group from others that had its name before
using Nanoseconds = std::int64_t;  // a duration or a point on the host's monotonic clock

inline constexpr Rank kNoRank = 0xffff'ffff;
inline constexpr NodeId kNoNode = 0xffff'ffff;
inline constexpr CreationId kUnknownCreation = 0;
inline constexpr Nanoseconds kMicrosecond = 1'000;
inline constexpr Nanoseconds kMillisecond = 1'000'000;
inline constexpr Nanoseconds kSecond = 1'000'000'000;
inline constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

// What a group does in one generation. Values go over the wire: append only.
enum class Operation : std::uint8_t {
  kBarrier = 1,
  kMulticast = 2,  // the root's payload to all
  kReduce = 3,     // all vectors combined, to the root
  kAllreduce = 4,  // ... to all
  kScatter = 5,    // the root's i-th block to rank i
  kGather = 6,     // the block of rank i becomes the root's i-th
  kAllgather = 7,  // ... everybody's i-th
  kAlltoall = 8,   // the i-th block of rank j becomes the j-th of rank i
  kDivide = 9,     // the root's vector, of which each rank keeps its share (Lo et al. 1992)
  kConquer = 10,   // ... and back: the shares joined to the root's vector, combined where they overlap
};

// How an operation ended. Values go over the wire: append only.
enum class Verdict : std::uint8_t {
  kPending = 0,
  kOk = 1,
  kDeadlineExceeded = 2,  // with the ranks that had not arrived
  kPeerLost = 3,
  kCancelled = 4,
  kMismatch = 5,     // members called different operations in one generation
  kStale = 6,        // the generation ended longer ago than the node remembers
  kRefused = 7,      // other member list, unknown group or not authenticated
  kPartitioned = 8,  // this node cannot reach a majority of the group
  kCallerLost = 9,   // an application died in the operation; its node lives
};

// Somebody who took part is gone; the ranks say where.
constexpr bool is_loss(Verdict v) { return v == Verdict::kPeerLost || v == Verdict::kCallerLost; }

// Every bound of a node, in one place. Memory is taken once, at the start, and sized by these; the host
// may lower or raise them in [limits]. A full table is back-pressure or a clear error, never silent loss.
struct Limits {
  std::uint32_t nodes = 256;  // daemons in the cluster
  // Peers that a node can ever have a channel to; 0: all. With fewer, channels are made at first use and kept, and who
  // finds none free is held back as by a full channel (NodeCounters::channels_full). A verdict needs a channel between
  // its coordinator and every member: failures in larger groups end at each member's deadline, with what it knows.
  std::uint32_t channels = 0;
  std::uint32_t groups = 128;           // groups a node is in at a time
  std::uint32_t dormant_groups = 4096;  // ... remembered while they are not used and others have their places
  std::uint32_t group_ranges = 16;      // runs of consecutive nodes in a group's member list
  std::uint32_t open_generations = 8;   // W of PROTOCOL 7, a power of two: generations of a group open at a time
  std::uint32_t participants = 64;      // local participants of one group at one node
  std::uint32_t transfers = 768;        // in one rank's schedule: 2 up and 2 down per peer, at most 3 per node
  std::uint32_t stages = 255;           // in one rank's schedule: at most 255, they are numbered in 8 bits
  std::uint32_t small_window = 32;      // unacknowledged small messages per peer
  std::uint32_t small_body = 272;       // bytes of a small message's fixed part
  std::uint32_t eager_bytes = 1024;     // payloads up to this travel in the small lane, with the message
  std::uint32_t bulk_window = 256;      // unacknowledged fragments per peer
  std::uint32_t bulk_streams = 32;      // payloads on their way to or from one peer at a time
  std::uint32_t buffers =
      4096;  // payload buffers, and nodes * (message_credit + host_credit) + groups * open_generations for eager ones
  std::uint32_t requests = 1024;               // calls of local applications under way at a time
  std::uint32_t message_credit = 8;            // application messages a peer may send before one is received
  std::uint32_t host_credit = 8;               // ... and of the hosts themselves; 0: these count as applications'
  std::uint32_t nic_queue = 4096;              // transfers waiting for the emulated NIC
  std::uint32_t flight_events = 32768;         // of the flight recorder: 1 MiB
  std::uint32_t slowest_ranks = 16;            // rows of a group's table of who comes last to barriers: 32 bytes each
  std::uint32_t local_work = 256;              // copies and combinations that the host is still to do: at least 8
  std::uint64_t payload_bytes = 256ull << 20;  // all payload buffers of a node together; a 64th more for its host

  // A microcontroller: the core in at most 64 KiB.
  static constexpr Limits tiny() {
    Limits l;
    l.nodes = 8, l.groups = 2, l.dormant_groups = 0, l.group_ranges = 4, l.open_generations = 4, l.participants = 2,
    l.transfers = 24;
    l.stages = 6, l.small_window = 4, l.bulk_window = 16, l.bulk_streams = 2, l.eager_bytes = 256, l.buffers = 16;
    l.requests = 8, l.message_credit = 1, l.host_credit = 0, l.nic_queue = 4, l.local_work = 8,
    l.payload_bytes = 16 << 10;
    l.flight_events = 11, l.slowest_ranks = 2;
    return l;
  }
  // One of many nodes in the virtual-time host: at most 100 KiB a node.
  static constexpr Limits simulated() {
    Limits l;
    l.nodes = 20, l.groups = 2, l.dormant_groups = 0, l.group_ranges = 8, l.open_generations = 4, l.participants = 4,
    l.transfers = 38;
    l.stages = 8, l.small_window = 2, l.bulk_window = 8, l.bulk_streams = 2, l.buffers = 32, l.requests = 12;
    l.message_credit = 1, l.host_credit = 0, l.nic_queue = 40, l.local_work = 8, l.payload_bytes = 64 << 20;
    l.flight_events = 15, l.slowest_ranks = 2;
    return l;
  }
  static constexpr Limits server() { return Limits{}; }
};

}  // namespace fibocast
