#include "transport/seal/key_ring.h"

#include <gtest/gtest.h>

#include "tests/transport/seal/sealed_pair.h"

namespace fibocast {
namespace {

using test::key_of;

const std::string kOnes(64, '1'), kTwos(64, '2');

std::string mistake_in(const std::string& text) {
  try {
    KeyRing::parse(text);
    return "";
  } catch (const KeyError& error) {
    return error.what();
  }
}

TEST(KeyRing, ReadsWhatItWrites) {
  KeyRing ring(key_of(1));
  ring.accept(key_of(2));
  const KeyRing again = KeyRing::parse(ring.print());
  ASSERT_EQ(again.keys().size(), 2u);
  EXPECT_EQ(again.primary().id(), key_of(1).id());
  EXPECT_NE(again.find(key_of(2).id()), nullptr);
  EXPECT_EQ(again.find(key_of(3).id()), nullptr);
  EXPECT_EQ(again.text_of_ids(), key_id_text(key_of(1).id()) + ", also accepted " + key_id_text(key_of(2).id()));
}

TEST(KeyRing, ThePrimaryMayStandAnywhere) {
  const KeyRing ring = KeyRing::parse("# a remark\n\naccepted " + kTwos + "\nprimary " + kOnes + "  # mine\r\n");
  EXPECT_EQ(ring.primary().id(), key_of(0x11).id());
  EXPECT_EQ(ring.keys().size(), 2u);
}

TEST(KeyRing, AMistakeIsSaidWithItsLineAndWithoutTheKey) {
  EXPECT_EQ(mistake_in("accepted " + kOnes + "\n"), "it has no primary key");
  EXPECT_EQ(mistake_in(""), "it has no primary key");
  EXPECT_EQ(mistake_in("primary " + kOnes + "\nprimary " + kTwos), "line 2 has a second primary key");
  for (const std::string& bad : {std::string("primary"), std::string("primary 12"), "first " + kOnes,
                                 "primary " + kOnes + "1", "primary x" + kOnes.substr(1)}) {
    const std::string sentence = mistake_in("\n" + bad);
    EXPECT_NE(sentence.find("line 2 is not"), std::string::npos) << bad;
    EXPECT_EQ(sentence.find("1111"), std::string::npos) << sentence;
  }
  EXPECT_NE(mistake_in("primary " + kOnes + "\naccepted " + kOnes).find("is there already"), std::string::npos);
  EXPECT_NE(mistake_in(std::string(20'000, '#')).find("longer"), std::string::npos);
}

TEST(KeyRing, IsBounded) {
  KeyRing ring(key_of(0));
  for (std::uint8_t i = 1; i < KeyRing::kMost; ++i) ring.accept(key_of(i));
  EXPECT_THROW(ring.accept(key_of(99)), KeyError);
  ring.make_primary(key_of(3).id());
  EXPECT_EQ(ring.primary().id(), key_of(3).id());
  EXPECT_THROW(ring.make_primary(1), KeyError);
  ring.drop_others();
  EXPECT_EQ(ring.keys().size(), 1u);
}

TEST(KeyRing, GeneratedKeysDiffer) { EXPECT_NE(ClusterKey::generate().id(), ClusterKey::generate().id()); }

TEST(KeyRing, EachPurposeHasItsOwnKey) {
  const ClusterKey key = key_of(1);
  EXPECT_FALSE(std::ranges::equal(key.key(), key.message_key()));
  EXPECT_FALSE(std::ranges::equal(key.discovery_key(), key.message_key()));
}

}  // namespace
}  // namespace fibocast
