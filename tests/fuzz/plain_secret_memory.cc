// libsodium's guarded memory costs six system calls for each secret, which is most of what a handshake takes. Under the
// address sanitizer ordinary memory is guarded as well: programs that fuzz use that. In the place of libsodium's own.
#include <malloc.h>
#include <sodium.h>

#include <cstdlib>

extern "C" void* sodium_malloc(std::size_t size) { return std::malloc(size); }
extern "C" void sodium_free(void* memory) {
  if (memory == nullptr) return;
  sodium_memzero(memory, malloc_usable_size(memory));
  std::free(memory);
}
