#include "transport/seal/aes_gcm.h"

#include <intel-ipsec-mb.h>

namespace fibocast {
namespace {

// The variants for this processor; null: it has no AES instructions, or they failed the library's test of itself.
struct Functions {
  aes_gcm_pre_t expand = nullptr;
  aes_gcm_enc_dec_t encrypt = nullptr, decrypt = nullptr;
};

// The manager, 200 KB, is only wanted for what it finds out.
Functions find_functions() {
  Functions found;
  const std::unique_ptr<IMB_MGR, decltype(&free_mb_mgr)> manager(alloc_mb_mgr(0), &free_mb_mgr);
  if (!manager) return found;
  IMB_ARCH architecture = IMB_ARCH_NONE;
  init_mb_mgr_auto(manager.get(), &architecture);
  const bool tested =
      (manager->features & IMB_FEATURE_SELF_TEST) == 0 || (manager->features & IMB_FEATURE_SELF_TEST_PASS) != 0;
  if (architecture == IMB_ARCH_NONE || architecture == IMB_ARCH_NOAESNI || !tested) return found;
  found.expand = manager->gcm256_pre;
  found.encrypt = manager->gcm256_enc;
  found.decrypt = manager->gcm256_dec;
  return found;
}

const Functions& functions() {
  static const Functions found = find_functions();
  return found;
}

}  // namespace

bool AesGcm::is_available() { return functions().expand != nullptr; }

AesGcm::AesGcm(const SecretKey& key) : key_(new gcm_key_data) { functions().expand(key.raw(), key_.get()); }

void AesGcm::Wipe::operator()(gcm_key_data* key) const {
  sodium_memzero(key, sizeof *key);
  delete key;
}

void AesGcm::seal(const Nonce& nonce, std::span<const std::byte> header, std::span<const std::byte> text,
                  std::byte* out, std::byte* tag) const {
  gcm_context_data context;
  functions().encrypt(key_.get(), &context, reinterpret_cast<std::uint8_t*>(out), raw(text), text.size(),
                      raw(std::span(nonce)), raw(header), header.size(), reinterpret_cast<std::uint8_t*>(tag),
                      kTagBytes);
}

bool AesGcm::open(const Nonce& nonce, std::span<const std::byte> header, std::span<const std::byte> text,
                  const std::byte* tag, std::byte* out) const {
  gcm_context_data context;
  std::array<std::uint8_t, kTagBytes> right;
  functions().decrypt(key_.get(), &context, reinterpret_cast<std::uint8_t*>(out), raw(text), text.size(),
                      raw(std::span(nonce)), raw(header), header.size(), right.data(), kTagBytes);
  return crypto_verify_16(right.data(), reinterpret_cast<const std::uint8_t*>(tag)) == 0;
}

}  // namespace fibocast
