#include "runtime/client/text.h"

#include <bit>
#include <string>

namespace fibocast {
namespace {

// The length of the character that `text` begins with; 0 if it is none. Precondition: not empty.
std::size_t length_of_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return 1;
  const auto length = static_cast<std::size_t>(std::countl_one(first));
  if (length < 2 || length > 4 || length > text.size()) return 0;
  std::uint32_t character = first & (0x7fu >> length);
  for (const char next : text.substr(1, length - 1)) {
    if ((static_cast<unsigned char>(next) & 0xc0) != 0x80) return 0;
    character = character << 6 | (static_cast<unsigned char>(next) & 0x3f);
  }
  constexpr std::uint32_t kFirstOf[] = {0x80, 0x800, 0x10000};  // a shorter one would do below
  const bool surrogate = character >= 0xd800 && character < 0xe000;
  return character < kFirstOf[length - 2] || character > 0x10ffff || surrogate ? 0 : length;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = length_of_character(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Status check_text(std::string_view what, std::string_view text) {
  if (is_utf8(text)) return {};
  return {Code::kInvalid, std::string(what) + " is not UTF-8: take another", {}};
}

Status check_group_name(std::string_view name) { return check_text("the name of the group", name); }

}  // namespace fibocast
