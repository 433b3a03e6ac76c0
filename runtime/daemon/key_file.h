// Files of cluster keys: only their owner may read them.
#pragma once

#include <string>

#include "transport/seal/key_ring.h"

namespace fibocast {

// Throws KeyError with one sentence that names the file: it cannot be read, others may read it, its text is none of
// keys. Links are followed.
KeyRing read_key_file(const std::string& path);
// A new file, mode 0600. Throws KeyError, also when there is one.
void create_key_file(const std::string& path, const KeyRing& keys);
// In place of the one that is there: a reader finds the old text or the new one, never a part. Keeps owner and mode.
void replace_key_file(const std::string& path, const KeyRing& keys);

}  // namespace fibocast
