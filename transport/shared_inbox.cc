#include "transport/shared_inbox.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

namespace fibocast {
namespace {

constexpr std::uint64_t kMagic = 0x32786f622d626966;  // "fib-box2"
constexpr std::size_t kPage = 4096;
constexpr std::size_t pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
constexpr std::size_t kDataAt = pages(sizeof(InboxControl));

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

// Closes the file in the end.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(other.release()) {}
  File& operator=(File&&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

// One at a time: who removes what was left does not remove what another one makes under the same name meanwhile.
File lock_folder(const std::string& folder) {
  const std::string path = folder + "/.lock";
  File file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0 || flock(file.get(), LOCK_EX) != 0) fail(errno, path);
  return file;
}

std::string bell_of(const std::string& path, std::uint64_t incarnation) {
  char text[20];
  std::snprintf(text, sizeof text, ".%016llx", static_cast<unsigned long long>(incarnation));
  return path + text;
}

// -1: nobody listens there.
int socket_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  File socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const bool connected =
      socket.get() >= 0 && connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  return connected ? socket.release() : -1;
}

bool owner_lives(int file) { return flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK; }

bool is_ours(const struct stat& status) { return S_ISREG(status.st_mode) && status.st_uid == geteuid(); }

// What of the head tells where everything is. Nothing if it makes no sense.
struct Geometry {
  std::uint64_t incarnation;
  std::uint32_t rings, ring_bytes;
  std::size_t area_control_at() const { return kDataAt + std::size_t{rings} * ring_bytes; }
  std::size_t area_at() const { return area_control_at() + pages(sizeof(PayloadAreaControl)); }
  std::size_t bytes() const { return area_at() + kAreaBytes; }
};
std::optional<Geometry> read_geometry(int file) {
  InboxHead head;
  if (pread(file, &head, sizeof head, 0) != sizeof head) return std::nullopt;
  const bool rings = head.rings > 0 && head.rings <= kMaxLocalPeers;
  const bool bytes =
      std::has_single_bit(head.ring_bytes) && head.ring_bytes >= kPage && head.ring_bytes <= kMostRingBytes;
  if (head.magic != kMagic || !rings || !bytes) return std::nullopt;
  return Geometry{head.incarnation, head.rings, head.ring_bytes};
}

// An inbox that no living owner holds goes, and its bell with it. Any other file is not ours to remove.
void remove_if_left(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0 || !is_ours(status) || owner_lives(file.get())) return;
  const auto geometry = read_geometry(file.get());
  if (!geometry) return;
  unlink(bell_of(path, geometry->incarnation).c_str());
  unlink(path.c_str());
}

// NAME.INCARNATION, as bell_of() makes it.
bool ends_with_incarnation(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot != std::string_view::npos && dot > 0 && name.size() - dot == 17 &&
         name.find_first_not_of("0123456789abcdef", dot + 1) == std::string_view::npos;
}

// Of a maker that was killed: an inbox that has no name yet, or a bell whose inbox is gone. Whoever makes or removes
// holds the folder's lock, so nobody is at it.
void remove_half(const std::string& folder, const std::string& name) {
  struct stat status {};
  const std::string path = folder + "/" + name, inbox = folder + "/" + name.substr(0, name.rfind('.'));
  if (!ends_with_incarnation(name) || lstat(path.c_str(), &status) != 0 || status.st_uid != geteuid()) return;
  const bool unnamed = name.front() == '.' && S_ISREG(status.st_mode);
  const bool stray = S_ISSOCK(status.st_mode) && access(inbox.c_str(), F_OK) != 0;
  if (unnamed || stray) unlink(path.c_str());
}

std::uint32_t ring_bytes_for(std::uint32_t rings) {
  return static_cast<std::uint32_t>(std::min(std::bit_floor(kInboxBytes / rings), kMostRingBytes));
}

}  // namespace

void prepare_local_folder(const std::string& folder) {
  if (folder.size() > kMaxLocalFolderBytes) fail(ENAMETOOLONG, folder);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) fail(errno, folder);
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0) fail(errno, folder);
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
    fail(EACCES, folder + " must be a folder of this user that nobody else may enter (chmod 700)");
  const File lock = lock_folder(folder);
  const std::unique_ptr<DIR, int (*)(DIR*)> list(opendir(folder.c_str()), closedir);
  if (!list) fail(errno, folder);
  while (const dirent* entry = readdir(list.get())) {
    const std::string name = entry->d_name;
    if (name.find('.') == std::string::npos)
      remove_if_left(folder + "/" + name);
    else
      remove_half(folder, name);
  }
}

SharedInbox SharedInbox::create(const std::string& folder, const std::string& name, std::uint64_t incarnation,
                                std::uint32_t peers) {
  SharedInbox inbox;
  const std::string path = folder + "/" + name, fresh = bell_of(folder + "/." + name, incarnation);
  const File lock = lock_folder(folder);
  File file(::open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) fail(errno, fresh);
  inbox.incarnation_ = incarnation;
  inbox.rings_ = std::clamp(peers, 1u, kMaxLocalPeers);
  inbox.ring_bytes_ = ring_bytes_for(inbox.rings_);
  const Geometry geometry{incarnation, inbox.rings_, static_cast<std::uint32_t>(inbox.ring_bytes_)};
  // Memory now: a page that is missing later would kill whoever writes to it.
  int error = posix_fallocate(file.get(), 0, static_cast<off_t>(geometry.area_at()));
  if (error == 0 && ftruncate(file.get(), static_cast<off_t>(geometry.bytes())) != 0) error = errno;
  if (error == 0 && flock(file.get(), LOCK_EX | LOCK_NB) != 0) error = errno;
  if (error == 0) {
    if (!inbox.map(file.get())) fail(errno, "shared memory of an inbox");
    inbox.control_ = new (inbox.control_) InboxControl{};
    inbox.control_->head = {kMagic, incarnation, geometry.rings, geometry.ring_bytes};
    remove_if_left(path);
    if (link(fresh.c_str(), path.c_str()) != 0) error = errno;  // EEXIST: somebody else lives under this name
  }
  unlink(fresh.c_str());
  if (error != 0) fail(error, path);
  inbox.path_ = path, inbox.bell_ = bell_of(path, incarnation);
  inbox.file_ = file.release();
  return inbox;
}

std::optional<SharedInbox> SharedInbox::open(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name;
  const File file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0 || !is_ours(status) || !owner_lives(file.get())) return {};
  const auto geometry = read_geometry(file.get());
  if (!geometry || status.st_size != static_cast<off_t>(geometry->bytes())) return {};
  SharedInbox inbox;
  inbox.incarnation_ = geometry->incarnation;
  inbox.rings_ = geometry->rings, inbox.ring_bytes_ = geometry->ring_bytes;
  if (!inbox.map(file.get())) return {};
  inbox.bell_ = bell_of(path, geometry->incarnation);
  inbox.bell_socket_ = socket_to(inbox.bell_);
  if (inbox.bell_socket_ < 0) return {};
  return inbox;
}

bool SharedInbox::ring_bell() const {
  const std::byte sound{};
  // It may have bells enough to wake up.
  return send(bell_socket_, &sound, sizeof sound, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno == EAGAIN ||
         errno == ENOBUFS;
}

bool SharedInbox::map(int file) {
  const Geometry geometry{incarnation_, rings_, static_cast<std::uint32_t>(ring_bytes_)};
  void* at = mmap(nullptr, geometry.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (at == MAP_FAILED) return false;
  bytes_ = geometry.bytes();
  control_ = static_cast<InboxControl*>(at);
  data_ = static_cast<std::byte*>(at) + kDataAt;
  area_control_ = reinterpret_cast<PayloadAreaControl*>(static_cast<std::byte*>(at) + geometry.area_control_at());
  area_ = static_cast<std::byte*>(at) + geometry.area_at();
  return true;
}

PayloadArea SharedInbox::make_payload_area() {
  const Geometry geometry{incarnation_, rings_, static_cast<std::uint32_t>(ring_bytes_)};
  return {file_, geometry.area_at(), *new (area_control_) PayloadAreaControl{}, {area_, kAreaBytes}};
}

bool SharedInbox::read(const PayloadReference& reference, std::byte* to) const {
  return read_payload(*area_control_, {area_, kAreaBytes}, reference, to);
}

std::optional<std::uint32_t> SharedInbox::claim(NodeId rank, std::uint64_t incarnation) {
  const std::uint32_t mine = rank + 1;
  const auto claim = [&](std::uint32_t i, std::uint32_t holder) {
    return control_->ring[i].writer_rank.compare_exchange_strong(holder, mine);
  };
  for (const std::uint32_t holder : {mine, 0u})
    for (std::uint32_t i = 0; i < rings_; ++i) {
      if (!claim(i, holder)) continue;
      RingControl& control = control_->ring[i];
      if (!shared_ring::Writer(control, ring(i)).is_empty()) return std::nullopt;
      control.writer.store(incarnation);
      return i;
    }
  return std::nullopt;
}

SharedInbox::SharedInbox(SharedInbox&& other) noexcept { take(other); }

SharedInbox& SharedInbox::operator=(SharedInbox&& other) noexcept {
  if (this == &other) return *this;
  this->~SharedInbox();
  new (this) SharedInbox(std::move(other));
  return *this;
}

void SharedInbox::take(SharedInbox& other) noexcept {
  control_ = std::exchange(other.control_, nullptr);
  incarnation_ = other.incarnation_, data_ = other.data_, area_ = other.area_, area_control_ = other.area_control_;
  bytes_ = other.bytes_, ring_bytes_ = other.ring_bytes_, rings_ = other.rings_;
  file_ = std::exchange(other.file_, -1), bell_socket_ = std::exchange(other.bell_socket_, -1);
  path_ = std::move(other.path_), bell_ = std::move(other.bell_);
}

SharedInbox::~SharedInbox() {
  if (file_ >= 0) {
    control_->closed.store(1);
    unlink(path_.c_str());  // still ours: nobody takes the name of a living owner
    unlink(bell_.c_str());
    close(file_);
  }
  if (bell_socket_ >= 0) close(bell_socket_);
  if (control_ != nullptr) munmap(control_, bytes_);
}

}  // namespace fibocast
