// For processors that ipsec-mb does not know: no AES.
#include <cstdlib>

#include "transport/seal/aes_gcm.h"

struct gcm_key_data {};

namespace fibocast {

bool AesGcm::is_available() { return false; }
AesGcm::AesGcm(const SecretKey&) { std::abort(); }  // against the precondition
void AesGcm::seal(const Nonce&, std::span<const std::byte>, std::span<const std::byte>, std::byte*, std::byte*) const {}
bool AesGcm::open(const Nonce&, std::span<const std::byte>, std::span<const std::byte>, const std::byte*,
                  std::byte*) const {
  return false;
}
void AesGcm::Wipe::operator()(gcm_key_data* key) const { delete key; }

}  // namespace fibocast
