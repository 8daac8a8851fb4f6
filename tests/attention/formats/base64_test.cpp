#include "attention/formats/base64.h"

#include <gtest/gtest.h>

#include <vector>

namespace headscope::attention {
namespace {

std::vector<std::uint8_t> bytesOf(std::string_view text) {
  return {text.begin(), text.end()};
}

/// RFC 4648, section 10.
TEST(Base64, MatchesRfc4648) {
  for (const auto& [text, standard] :
       {std::pair("", ""), std::pair("f", "Zg=="), std::pair("fo", "Zm8="), std::pair("foo", "Zm9v"),
        std::pair("foob", "Zm9vYg=="), std::pair("fooba", "Zm9vYmE="), std::pair("foobar", "Zm9vYmFy")}) {
    EXPECT_EQ(toBase64(bytesOf(text), Base64::standard), standard);
    EXPECT_EQ(fromBase64(standard, Base64::standard), text);
    const std::string url(std::string_view(standard).substr(0, std::string_view(standard).find('=')));
    EXPECT_EQ(toBase64(bytesOf(text), Base64::url), url);
    EXPECT_EQ(fromBase64(url, Base64::url), text);
  }
  EXPECT_EQ(toBase64(bytesOf("\xFB\xFF"), Base64::standard), "+/8=");
  EXPECT_EQ(toBase64(bytesOf("\xFB\xFF"), Base64::url), "-_8");
}

TEST(Base64, RefusesInvalidText) {
  for (const char* text : {"Zg=", "Zg", "Z===", "Zm9-", "Z g=", "====", "Zg==Zg=="})
    EXPECT_FALSE(fromBase64(text, Base64::standard)) << text;
  for (const char* text : {"Zg=", "Zm9+", "Zm 9"}) EXPECT_FALSE(fromBase64(text, Base64::url)) << text;
}

}  // namespace
}  // namespace headscope::attention
