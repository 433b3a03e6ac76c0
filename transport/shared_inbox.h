// A file in memory with a ring for each node of this host that has something to say to its owner, the owner's payloads
// (payload_area.h), and a socket that wakes the owner when it sleeps (a bell). In a folder that belongs to one user and
// nobody else may enter.
//
//   FOLDER/NAME                 the rings; locked as long as the owner lives
//   FOLDER/NAME.INCARNATION     the bell of that owner: a Unix datagram socket
//   FOLDER/.NAME.INCARNATION    the rings while they are made
//   FOLDER/.lock                held while files are made or removed
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "transport/payload_area.h"
#include "transport/shared_ring.h"
#include "transport/words.h"

namespace fibocast {

inline constexpr std::uint32_t kMaxLocalPeers = 64;       // rings of an inbox
inline constexpr std::size_t kInboxBytes = 2 << 20;       // for all of them together
inline constexpr std::size_t kMostRingBytes = 256 << 10;  // for one
inline constexpr std::size_t kMaxLocalFolderBytes = 56;   // of its path: the path of a socket is short

struct InboxHead {
  std::uint64_t magic = 0;
  std::uint64_t incarnation = 0;  // of the owner
  std::uint32_t rings = 0;
  std::uint32_t ring_bytes = 0;
};

// At the beginning of the file.
struct InboxControl {
  InboxHead head;
  alignas(64) std::atomic<std::uint64_t> written;  // bit i: something was put into ring i
  alignas(64) std::atomic<std::uint32_t> asleep;   // the owner waits for its bell
  std::atomic<std::uint32_t> closed;               // it has ended
  RingControl ring[kMaxLocalPeers];
};

// The mapped file, of the owner or of somebody who writes to it.
class SharedInbox {
 public:
  // Makes the file and everything in it anew, in place of one that an owner of the same name left behind. Throws
  // std::system_error with a sentence: no memory, say.
  static SharedInbox create(const std::string& folder, const std::string& name, std::uint64_t incarnation,
                            std::uint32_t peers);
  // Nothing unless it is there, belongs to this user, makes sense and its owner lives.
  static std::optional<SharedInbox> open(const std::string& folder, const std::string& name);

  SharedInbox(SharedInbox&& other) noexcept;
  SharedInbox& operator=(SharedInbox&& other) noexcept;
  ~SharedInbox();  // the owner's: the file goes as well

  InboxControl& control() { return *control_; }
  std::uint64_t incarnation() const { return incarnation_; }  // of the owner
  std::uint32_t rings() const { return rings_; }
  std::size_t ring_bytes() const { return ring_bytes_; }
  const std::string& bell() const { return bell_; }  // path of the socket
  std::span<std::byte> ring(std::uint32_t i) { return {data_ + i * ring_bytes_, ring_bytes_}; }
  // For the owner.
  PayloadArea make_payload_area();
  // For who opened it; as read_payload().
  bool read(const PayloadReference& reference, std::byte* to) const;
  // Wakes the owner. For who opened it. False: nobody is there.
  bool ring_bell() const;
  // A ring to write to, for a node of this rank and incarnation. Nothing: all are taken, or what is in the rank's own
  // is of an earlier incarnation and still to be read in its name: the owner is held up, or only a process lives that
  // the owner has forked.
  std::optional<std::uint32_t> claim(NodeId rank, std::uint64_t incarnation);

 private:
  SharedInbox() = default;
  void take(SharedInbox& other) noexcept;
  bool map(int file);

  InboxControl* control_ = nullptr;
  std::byte *data_ = nullptr, *area_ = nullptr;
  PayloadAreaControl* area_control_ = nullptr;
  std::size_t bytes_ = 0, ring_bytes_ = 0;
  std::uint64_t incarnation_ = 0;
  std::uint32_t rings_ = 0;
  int file_ = -1;         // the owner's, locked
  int bell_socket_ = -1;  // connected to the owner's bell
  std::string path_, bell_;
};

// Makes the folder if need be, and removes what owners left there that were killed. Throws std::system_error with a
// sentence if it cannot be made, or others than this user may enter it.
void prepare_local_folder(const std::string& folder);

}  // namespace fibocast
