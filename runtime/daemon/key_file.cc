#include "runtime/daemon/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace fibocast {
namespace {

constexpr std::size_t kLongest = 16 * 1024;

// A text with keys in it, wiped at the end.
struct SecretText {
  std::string text;
  ~SecretText() { sodium_memzero(text.data(), text.capacity()); }
};

struct File {
  int descriptor;
  ~File() {
    if (descriptor >= 0) close(descriptor);
  }
};

[[noreturn]] void fail(const std::string& path, const std::string& what) { throw KeyError(path + ": " + what); }

std::string system_text() { return std::strerror(errno); }

std::string octal(mode_t mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", mode & 07777u);
  return text;
}

// Then nobody but its owner, and root, can have opened it.
void check_mode(const std::string& path, const struct stat& info) {
  if (!S_ISREG(info.st_mode)) fail(path, "is no file");
  if ((info.st_mode & 077) != 0)
    fail(path, "has mode " + octal(info.st_mode) + ", so others may read the key; allowed: 0600, by chmod 600 " + path);
}

void write_all(int descriptor, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written <= 0) fail(path, "cannot be written: " + system_text());
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(descriptor) != 0) fail(path, "cannot be written: " + system_text());
}

}  // namespace

KeyRing read_key_file(const std::string& path) {
  const File file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.descriptor < 0)
    fail(path, "cannot be read (" + system_text() + "); make one with: fibocast key generate " + path);
  struct stat info;
  if (fstat(file.descriptor, &info) != 0) fail(path, system_text());
  check_mode(path, info);
  SecretText secret;
  secret.text.resize(kLongest);
  std::size_t filled = 0;
  for (ssize_t bytes = 1; bytes > 0 && filled < kLongest; filled += static_cast<std::size_t>(bytes)) {
    bytes = read(file.descriptor, secret.text.data() + filled, kLongest - filled);
    if (bytes < 0) fail(path, "cannot be read: " + system_text());
  }
  try {
    return KeyRing::parse(std::string_view(secret.text).substr(0, filled));
  } catch (const KeyError& error) {
    fail(path, error.what());
  }
}

void create_key_file(const std::string& path, const KeyRing& keys) {
  const File file{open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
  if (file.descriptor < 0) fail(path, "cannot be made: " + system_text());
  const SecretText secret{keys.print()};
  write_all(file.descriptor, path, secret.text);
}

void replace_key_file(const std::string& path, const KeyRing& keys) {
  struct stat old;
  if (stat(path.c_str(), &old) != 0) fail(path, system_text());
  const std::string beside = path + ".new";
  unlink(beside.c_str());  // of a run that was interrupted
  create_key_file(beside, keys);
  const bool kept = chown(beside.c_str(), old.st_uid, old.st_gid) == 0 && chmod(beside.c_str(), old.st_mode) == 0;
  if (kept && rename(beside.c_str(), path.c_str()) == 0) return;
  const std::string why = system_text();
  unlink(beside.c_str());
  fail(path, "cannot be replaced: " + why);
}

}  // namespace fibocast
