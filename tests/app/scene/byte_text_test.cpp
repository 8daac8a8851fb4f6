#include <gtest/gtest.h>

#include <limits>

#include "app/scene/text/number_text.h"

namespace headscope::app {
namespace {

TEST(ByteText, ShowsFourSignificantDigits) {
  EXPECT_EQ(fourDigitBytes(std::uint64_t{0}), "0 B");
  EXPECT_EQ(fourDigitBytes(std::uint64_t{256}), "256 B");
  EXPECT_EQ(fourDigitBytes(std::uint64_t{2304}), "2.25 KiB");
  EXPECT_EQ(fourDigitBytes(std::uint64_t{3456}), "3.375 KiB");
  EXPECT_EQ(fourDigitBytes(std::uint64_t{70272}), "68.63 KiB");
  EXPECT_EQ(fourDigitBytes(std::uint64_t{4718592}), "4.5 MiB");
  EXPECT_EQ(fourDigitBytes(std::uint64_t{42949672960}), "40 GiB");
  EXPECT_EQ(fourDigitBytes(131.41 * 1073741824), "131.4 GiB");
  EXPECT_EQ(fourDigitBytes(std::uint64_t{1024 * 1024 - 1}), "1 MiB");
  EXPECT_EQ(fourDigitBytes((std::uint64_t{1} << 63) - 1), "8 EiB");
  EXPECT_EQ(fourDigitBytes(std::uint64_t{1} << 63), "more than 8 EiB");
  EXPECT_EQ(fourDigitBytes(1e20), "more than 8 EiB");
  EXPECT_EQ(exactBytes(std::numeric_limits<std::uint64_t>::max()), "more than 8 EiB");
  EXPECT_EQ(exactBytes(42949672960), "42,949,672,960 B");
}

TEST(ByteText, FractionsUseDenominatorsUpToSixteen) {
  EXPECT_EQ(fractionText(2, 8), "¼");
  EXPECT_EQ(fractionText(3, 4), "¾");
  EXPECT_EQ(fractionText(1, 16), "1/16");
  EXPECT_EQ(fractionText(8, 8), "1");
  EXPECT_EQ(fractionText(1, 64), "1.6 %");
  EXPECT_EQ(fractionText(9, 25), "36 %");
  EXPECT_EQ(fractionText(0, 0), "0 %");
}

TEST(ByteText, TokensUseUnitsOf1024WhenExact) {
  EXPECT_EQ(tokensText(131072), "128 k");
  EXPECT_EQ(tokensText(1000), "1,000");
  EXPECT_EQ(tokensText(4096), "4 k");
  EXPECT_EQ(tokensText(1048576), "1 M");
  EXPECT_EQ(tokensText(std::int64_t{3} << 30), "3 G");
  EXPECT_EQ(tokensText(std::int64_t{1} << 40), "1 T");
  EXPECT_EQ(tokensText(131073), "131,073");
}

}  // namespace
}  // namespace headscope::app
