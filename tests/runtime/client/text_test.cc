#include "runtime/client/text.h"

#include <gtest/gtest.h>

namespace fibocast {
namespace {

TEST(Text, IsUtf8OrNot) {
  using namespace std::string_view_literals;
  for (const auto good : {""sv, "gate"sv, "a\0b"sv, "\xc2\x80"sv, "\xc3\xa9t\xc3\xa9"sv, "\xe2\x82\xac"sv,
                          "\xf0\x9f\x9a\xa6"sv, "\xf4\x8f\xbf\xbf"sv})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const auto bad : {"\xff\xfe"sv, "\x80"sv, "a\xc3"sv, "\xc3("sv, "\xe2\x82"sv, "\xc0\x80"sv, "\xe0\x80\x80"sv,
                         "\xf0\x80\x80\x80"sv, "\xed\xa0\x80"sv, "\xf4\x90\x80\x80"sv, "\xf8\x88\x80\x80\x80"sv})
    EXPECT_FALSE(is_utf8(bad)) << testing::PrintToString(bad);
}

}  // namespace
}  // namespace fibocast
