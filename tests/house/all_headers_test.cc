// Compiling and linking this program is the test: forwards.cc and backwards.cc include every header.
#include <gtest/gtest.h>

TEST(AllHeaders, StandAloneAndLinkTogether) { SUCCEED(); }
