#include "attention/formats/gguf/gguf_header.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/gguf_bytes.h"
#include "tests/support/matchers.h"

namespace headscope::attention {
namespace {

using headscope::test::GgufBytes;

constexpr std::uint64_t kHugeCount = std::numeric_limits<std::uint64_t>::max();

/// Two metadata entries and two tensors: an F32 [2, 3] and a Q8_0 [1, 64].
GgufBytes smallGguf() {
  GgufBytes file;
  file.start(2, 2).entry("general.architecture", "llama").entry("llama.block_count", 7u);
  return file.tensor("a", {3, 2}, 0, 0).tensor("b", {64, 1}, 8, 32).data(32 + 68);
}

std::string headerRefusal(const GgufBytes& file) {
  const auto header = parseGgufHeader(file.bytes(), "f");
  return header ? "none" : header.error().message;
}

TEST(GgufHeader, LocatesMetadataAndTensors) {
  for (const std::uint32_t version : {2u, 3u}) {
    GgufBytes file = smallGguf();
    std::vector<std::uint8_t> bytes = file.bytes();
    bytes[4] = static_cast<std::uint8_t>(version);
    const auto header = checked(parseGgufHeader(bytes, "f"));
    EXPECT_EQ(*header->find("general.architecture")->text(), "llama");
    EXPECT_EQ(*header->find("llama.block_count")->integer(), 7);
    EXPECT_EQ(header->find("llama.width"), nullptr);
    const GgufTensor &a = header->tensors.at("a"), &b = header->tensors.at("b");
    EXPECT_THAT(a.shape, ElementsAre(2, 3));
    EXPECT_EQ(a.type->name, "F32");
    EXPECT_EQ(a.bytes, 24u);
    EXPECT_EQ(b.type->name, "Q8_0");
    EXPECT_EQ(b.bytes, 68u);
    EXPECT_EQ(b.begin, a.begin + 32);
    EXPECT_EQ(b.begin + b.bytes, bytes.size());
    EXPECT_EQ(a.begin % 32, 0u);
  }
}

TEST(GgufHeader, ReadsListsAndNumbersOfEveryKind) {
  GgufBytes file;
  file.start(0, 6);
  file.text("texts").number(9u).number(8u).number<std::uint64_t>(2).text("x").text("");
  file.text("wholes").number(9u).number(5u).number<std::uint64_t>(2).number(-3).number(4);
  file.text("reals").number(9u).number(6u).number<std::uint64_t>(1).number(0.5f);
  file.text("flag").number(7u).number<std::uint8_t>(1);
  file.text("large").number(10u).number(kHugeCount);
  file.text("small").number(1u).number<std::int8_t>(-2);
  const auto header = checked(parseGgufHeader(file.bytes(), "f"));
  EXPECT_THAT(*header->find("texts")->texts(), ElementsAre("x", ""));
  EXPECT_THAT(*header->find("wholes")->integers(), ElementsAre(-3, 4));
  EXPECT_THAT(*header->find("reals")->numbers(), ElementsAre(0.5));
  EXPECT_EQ(*header->find("flag")->flag(), true);
  EXPECT_EQ(header->find("large")->integer(), std::nullopt) << "beyond 63 bits";
  EXPECT_EQ(*header->find("small")->integer(), -2);
  EXPECT_EQ(header->find("texts")->integer(), std::nullopt);
  EXPECT_EQ(header->find("small")->text(), std::nullopt);
  EXPECT_EQ(header->find("texts")->described(), "a list of 2 texts");
}

TEST(GgufHeader, RefusesEveryTruncation) {
  const std::vector<std::uint8_t> whole = smallGguf().bytes();
  ASSERT_TRUE(parseGgufHeader(whole, "f").ok());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::vector<std::uint8_t> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    const auto header = parseGgufHeader(part, "f");
    ASSERT_FALSE(header.ok()) << length;
    EXPECT_THAT(header.error().message, testing::StartsWith("f: "));
  }
}

TEST(GgufHeader, RefusesInvalidFileStart) {
  EXPECT_EQ(headerRefusal(GgufBytes().number(0x12345678u)),
            "f: is not a GGUF file: it doesn't start with GGUF");
  EXPECT_EQ(headerRefusal(GgufBytes().start(0, 0, 1)), "f: has GGUF version 1, expected 2 or 3");
  EXPECT_EQ(headerRefusal(GgufBytes().start(0, 0, 0x03000000)),
            "f: is a GGUF file with its bytes in big-endian order, expected little-endian");
  EXPECT_EQ(headerRefusal(GgufBytes().start(0, kHugeCount)),
            "f: declares 18446744073709551615 metadata entries, more than its 24 bytes can hold");
  EXPECT_EQ(headerRefusal(GgufBytes().start(kHugeCount, 0)),
            "f: declares 18446744073709551615 tensors, more than its 24 bytes can hold");
}

TEST(GgufHeader, RefusesInvalidMetadata) {
  const auto one = [] { return GgufBytes().start(0, 1); };
  EXPECT_EQ(
      headerRefusal(one().number(std::uint64_t{1} << 63).data(40)),
      "f: is truncated: the name of a metadata entry takes 9223372036854775808 bytes from byte 32, but only "
      "40 are left");
  EXPECT_THAT(headerRefusal(one().text("").data(40)), HasSubstr("has a name of 0 bytes"));
  EXPECT_EQ(headerRefusal(one().text("k").number(13u).data(8)), "f: \"k\" has kind 13, expected 0 to 12");
  EXPECT_EQ(headerRefusal(one().text("k").number(7u).number<std::uint8_t>(2).data(8)),
            "f: \"k\" is a flag with the value 2, expected 0 or 1");
  EXPECT_EQ(headerRefusal(one().text("k").number(9u).number(9u).number<std::uint64_t>(1).data(8)),
            "f: \"k\" is a list of lists, expected one of numbers or texts");
  EXPECT_THAT(headerRefusal(one().text("k").number(9u).number(4u).number(kHugeCount).data(8)),
              HasSubstr("\"k\" declares 18446744073709551615 items"));
  EXPECT_THAT(headerRefusal(
                  one().text("k").number(9u).number(8u).number<std::uint64_t>(1).number(kHugeCount).data(8)),
              HasSubstr("is truncated: a text of \"k\" takes 18446744073709551615 bytes"));
  EXPECT_EQ(headerRefusal(GgufBytes().start(0, 2).entry("k", 1u).entry("k", 2u)), "f: has \"k\" twice");
  for (const std::uint32_t alignment : {0u, 12u, 1u << 31})
    EXPECT_THAT(headerRefusal(GgufBytes().start(0, 1).entry("general.alignment", alignment)),
                HasSubstr("expected a multiple of 8"));
}

TEST(GgufHeader, RefusesInvalidTensors) {
  const auto one = [](const std::vector<std::uint64_t>& sides, std::uint32_t type, std::uint64_t offset) {
    return GgufBytes().start(1, 0).tensor("t", sides, type, offset).data(64);
  };
  EXPECT_EQ(headerRefusal(one({16}, 0, 0)), "none");
  EXPECT_EQ(headerRefusal(one({16}, 99, 0)), "f: tensor \"t\" has the unknown type 99");
  EXPECT_EQ(headerRefusal(one({16}, 4, 0)), "f: tensor \"t\" has the unknown type 4") << "withdrawn";
  EXPECT_EQ(headerRefusal(one({16}, 31, 0)),
            "f: tensor \"t\" has rows of 16 numbers, expected a multiple of 32 in Q4_0_4_4")
      << "withdrawn, but files have it";
  EXPECT_EQ(headerRefusal(one({}, 0, 0)), "f: tensor \"t\" has 0 dimensions, expected 1 to 4");
  EXPECT_EQ(headerRefusal(one({1, 1, 1, 1, 1}, 0, 0)), "f: tensor \"t\" has 5 dimensions, expected 1 to 4");
  EXPECT_EQ(headerRefusal(one({16}, 8, 0)),
            "f: tensor \"t\" has rows of 16 numbers, expected a multiple of 32 in Q8_0");
  EXPECT_THAT(headerRefusal(one({kHugeCount / 2, 4}, 0, 0)),
              HasSubstr("expected a shape that fits the file's"));
  EXPECT_THAT(headerRefusal(one({0}, 0, 0)), HasSubstr("expected a shape that fits the file's"));
  EXPECT_EQ(headerRefusal(one({16}, 0, 8)),
            "f: tensor \"t\" begins at byte 8 of the data, expected a multiple of 32");
  EXPECT_EQ(headerRefusal(one({16}, 0, 32)),
            "f: tensor \"t\" has 64 bytes from byte 32 of the data on, beyond the end of the file");
  EXPECT_THAT(headerRefusal(one({16}, 0, kHugeCount - 31)), HasSubstr("beyond the end of the file"));
  EXPECT_EQ(headerRefusal(GgufBytes().start(2, 0).tensor("t", {16}, 0, 0).tensor("u", {8}, 0, 32).data(96)),
            "f: tensors \"t\" and \"u\" overlap");
  EXPECT_EQ(headerRefusal(GgufBytes().start(2, 0).tensor("t", {8}, 0, 0).tensor("t", {8}, 0, 32).data(96)),
            "f: has tensor \"t\" twice");
}

}  // namespace
}  // namespace headscope::attention
