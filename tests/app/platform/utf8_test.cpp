#include <gtest/gtest.h>

#include "app/platform/shaped_text.h"

namespace headscope::app {
namespace {

TEST(Utf8, EveryCharacterRoundTrips) {
  std::string all;
  for (std::uint32_t code = 1; code <= 0x10FFFF; ++code)
    if (code < 0xD800 || code > 0xDFFF) appendUtf8(all, code);
  std::string again;
  eachCodepoint(all, [&](std::uint32_t code, std::string_view) { appendUtf8(again, code); });
  EXPECT_EQ(again, all);
}

TEST(Utf8, NeverReadsPastTheEnd) {
  for (const std::string text : {"\xF0", "a\xE2\x80", "\xF0\x9F\x98"}) {
    std::size_t bytes = 0;
    eachCodepoint(text, [&](std::uint32_t, std::string_view piece) { bytes += piece.size(); });
    EXPECT_EQ(bytes, text.size());
  }
}

}  // namespace
}  // namespace headscope::app
