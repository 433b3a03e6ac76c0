#include "runtime/daemon/discovery_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "runtime/daemon/settings_loader.h"

namespace fibocast {
namespace {

const std::string kFirstLine = "fibocast state 1";

[[noreturn]] void cannot(const std::string& what, const std::filesystem::path& path) {
  throw SettingsError("node.state: cannot " + what + " " + path.string() + " (" + std::strerror(errno) +
                      "); give a folder on a disk that this daemon may write to");
}

void write_whole(const std::filesystem::path& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool good =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(file) == 0;
  if (file >= 0) close(file);
  if (!good) cannot("write", path);
}

void sync_folder(const std::filesystem::path& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool good = file >= 0 && fsync(file) == 0;
  if (file >= 0) close(file);
  if (!good) cannot("write", folder);
}

}  // namespace

std::uint64_t random_id() {
  std::uint64_t id = 0;
  while (id == 0)
    if (getrandom(&id, sizeof id, 0) != sizeof id) throw SettingsError("the system gives no random numbers");
  return id;
}

DiscoveryStore::DiscoveryStore(const std::string& folder) : folder_(folder) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  lock();
  try {
    read();
  } catch (...) {
    close(lock_);
    throw;
  }
}

DiscoveryStore::~DiscoveryStore() { close(lock_); }

void DiscoveryStore::lock() {
  const auto path = folder_ / "lock";
  lock_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0) cannot("make", path);
  if (flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  close(lock_);
  throw SettingsError("node.state: another daemon uses " + folder_.string() +
                      "; stop it, or give each daemon a folder of its own");
}

void DiscoveryStore::read() {
  const auto path = folder_ / "cluster";
  std::ifstream in(path);
  if (!in) {
    if (std::filesystem::exists(path)) cannot("read", path);
    return keep({random_id(), {}});
  }
  std::string first, word;
  std::getline(in, first);
  in >> word >> std::hex >> state_.id >> std::dec;
  const auto list = read_list(in);
  if (first != kFirstLine || word != "id" || state_.id == 0 || !list)
    throw SettingsError(
        "node.state: " + path.string() +
        " is not what a daemon of this version writes; remove the folder, and this daemon is a new one");
  state_.list = *list;
}

void DiscoveryStore::keep(const DiscoveryState& state) {
  std::ostringstream text;
  text << kFirstLine << "\nid " << std::hex << state.id << std::dec << '\n';
  write_list(text, state.list);
  const auto path = folder_ / "cluster", fresh = folder_ / "cluster.new";
  write_whole(fresh, text.str());
  if (std::rename(fresh.c_str(), path.c_str()) != 0) cannot("write", path);
  sync_folder(folder_);
  state_ = state;
}

}  // namespace fibocast
