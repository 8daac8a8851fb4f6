#include <gtest/gtest.h>

#include <limits>

#include "attention/formats/safetensors.h"
#include "test_paths.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_bytes.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention {
namespace {

using headscope::test::safetensorsBytes;

/// The error for a file with this header and `dataSize` bytes of data.
std::string errorOfHeader(std::string_view header, std::size_t dataSize = 0) {
  const auto file = headscope::test::parseSafetensors(safetensorsBytes(header, dataSize), "some.safetensors");
  return file ? "no error" : file.error().message;
}

std::string errorForBytes(const std::vector<std::uint8_t>& bytes) {
  const auto file = headscope::test::parseSafetensors(bytes, "some.safetensors");
  return file ? "no error" : file.error().message;
}

constexpr const char* kGood = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";

TEST(DamagedSafetensors, RefusesEveryTruncation) {
  const auto whole = safetensorsBytes(kGood, 8);
  ASSERT_TRUE(headscope::test::parseSafetensors(whole, "f").ok());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::vector<std::uint8_t> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    const auto message = errorForBytes(part);
    EXPECT_THAT(message, StartsWith("some.safetensors: ")) << length;
  }
}

TEST(DamagedSafetensors, RefusesTruncatedRealFile) {
  const auto whole =
      headscope::test::fileBytes(std::string(HEADSCOPE_TEST_DIR) + "/golden/one_token.safetensors");
  ASSERT_GT(whole.size(), 1000u);
  const headscope::test::TemporaryFolder folder;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(headscope::test::parseSafetensors(std::span(whole).first(length), "f").ok()) << length;
  }
  headscope::test::putFile(folder / "half", std::span(whole).first(whole.size() / 2));
  EXPECT_FALSE(headscope::test::readSafetensors(folder / "half").ok());
}

TEST(DamagedSafetensors, RefusesHeaderBeyondFileEnd) {
  EXPECT_THAT(errorForBytes(safetensorsBytes("{}", {}, 3)),
              HasSubstr("declares a header of 3 bytes, but the file has 10"));
  EXPECT_THAT(errorForBytes(safetensorsBytes("{}", {}, 100'000'001)),
              HasSubstr("expected at most 100000000"));
  const auto most = std::numeric_limits<std::uint64_t>::max();
  for (const auto length : {most, most - 7, most - 8, most / 2 + 1}) {
    EXPECT_THAT(errorForBytes(safetensorsBytes("{}", {}, length)), HasSubstr("expected at most 100000000"));
  }
  EXPECT_THAT(errorForBytes({}), HasSubstr("is 0 bytes, expected a safetensors file"));
}

TEST(DamagedSafetensors, RefusesHeaderThatIsNotAJsonObject) {
  for (const auto* header : {"", " {}", "[]", "null", "7", "\"a\"", "\xEF\xBB\xBF{}"}) {
    EXPECT_THAT(errorOfHeader(header), HasSubstr("its header is not a JSON object")) << header;
  }
  for (const auto* header :
       {"{", "{}}", "{} x", "{\"a\"}", "{\"a\":}", "{'a':{}}", "{\"\xFF\":{}}", "{\"\\ud800\":{}}"}) {
    EXPECT_THAT(errorOfHeader(header), HasSubstr("is not valid JSON")) << header;
  }
  EXPECT_THAT(errorOfHeader(std::string_view("{}\0{", 4)), HasSubstr("null byte"));
}

TEST(DamagedSafetensors, RefusesUnexpectedJson) {
  EXPECT_THAT(errorOfHeader(R"({"a":1})"), HasSubstr("has 1 for \"a\", expected an object"));
  EXPECT_THAT(errorOfHeader(R"({"a":[]})"), HasSubstr("has an array for \"a\", expected an object"));
  EXPECT_THAT(errorOfHeader(R"({"a":{"dtype":{}}})"), HasSubstr("has an object for dtype, expected a text"));
  EXPECT_THAT(errorOfHeader(R"({"a":{"dtype":4}})"), HasSubstr("has 4 for dtype, expected a text"));
  EXPECT_THAT(errorOfHeader(R"({"a":{"shape":"x"}})"), HasSubstr("has \"x\" for shape, expected an array"));
  EXPECT_THAT(errorOfHeader(R"({"a":{"shape":[[1]]}})"), HasSubstr("has an array in its shape"));
  EXPECT_THAT(errorOfHeader(R"({"a":{"shape":[-1]}})"),
              HasSubstr("has -1 in its shape, expected whole numbers"));
  EXPECT_THAT(errorOfHeader(R"({"a":{"shape":[1.5]}})"), HasSubstr("has 1.5 in its shape"));
  EXPECT_THAT(errorOfHeader(R"({"a":{"shape":[18446744073709551616]}})"), HasSubstr("in its shape"));
  EXPECT_THAT(errorOfHeader(R"({"a":{"shape":[true]}})"), HasSubstr("has true in its shape"));
  EXPECT_THAT(errorOfHeader(R"({"a":{"data_offsets":[0]}})"), HasSubstr("has 1 data_offsets, expected 2"));
  EXPECT_THAT(errorOfHeader(R"({"a":{"data_offsets":[0,1,2]}})"), HasSubstr("has 2 in its data_offsets"));
  EXPECT_THAT(errorOfHeader(R"({"a":{"data_offsets":[0,null]}})"), HasSubstr("has null in its data_offsets"));
  EXPECT_THAT(errorOfHeader(R"({"a":{"extra":1}})"),
              HasSubstr("has \"extra\", expected only dtype, shape and data_offsets"));
  EXPECT_THAT(errorOfHeader(R"({"__metadata__":"x"})"),
              HasSubstr("has \"x\" for \"__metadata__\", expected an object"));
  EXPECT_THAT(errorOfHeader(R"({"__metadata__":{"a":1}})"),
              HasSubstr("has 1 for the metadata \"a\", expected a text"));
  EXPECT_THAT(errorOfHeader(R"({"__metadata__":{"a":{}}})"), HasSubstr("has an object for the metadata"));
}

TEST(DamagedSafetensors, RefusesMissingFields) {
  EXPECT_THAT(errorOfHeader(R"({"a":{"shape":[],"data_offsets":[0,4]}})", 4),
              HasSubstr("tensor \"a\" has no dtype"));
  EXPECT_THAT(errorOfHeader(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4), HasSubstr("has no shape"));
  EXPECT_THAT(errorOfHeader(R"({"a":{"dtype":"F32","shape":[]}})", 4), HasSubstr("has no data_offsets"));
  EXPECT_THAT(errorOfHeader(R"({"a":{"dtype":"F8","shape":[]}})"),
              HasSubstr("has dtype \"F8\", expected one of F32, F16, BF16, F64, I64, I32, U8, BOOL"));
}

TEST(DamagedSafetensors, RefusesDuplicateNames) {
  const std::string entry = R"("a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  EXPECT_THAT(errorOfHeader("{" + entry + "," + entry + "}"), HasSubstr("names \"a\" twice"));
  EXPECT_THAT(errorOfHeader("{" + entry + R"(,"\u0061":{}})"), HasSubstr("names \"a\" twice"));
  EXPECT_THAT(errorOfHeader(R"({"__metadata__":{},"__metadata__":{}})"),
              HasSubstr("names \"__metadata__\" twice"));
  EXPECT_THAT(errorOfHeader(R"({"__metadata__":{"k":"1","k":"2"}})"),
              HasSubstr("the metadata names \"k\" twice"));
  EXPECT_THAT(errorOfHeader(R"({"a":{"dtype":"F32","dtype":"F16"}})"),
              HasSubstr("tensor \"a\" has \"dtype\" twice"));
}

TEST(DamagedSafetensors, RefusesDeepNestingWithoutRecursion) {
  constexpr std::size_t kDepth = 10'000'000;
  EXPECT_THAT(errorOfHeader("{\"a\":" + std::string(kDepth, '[')), HasSubstr("has an array for \"a\""));
  std::string objects;
  for (std::size_t i = 0; i < kDepth / 10; ++i) objects += "{\"a\":";
  EXPECT_THAT(errorOfHeader(objects), HasSubstr("expected only dtype, shape and data_offsets"));
  std::string ones = R"({"a":{"shape":[1)";
  for (int i = 0; i < 40; ++i) ones += ",1";
  EXPECT_THAT(errorOfHeader(ones + "]}}"), HasSubstr("has more than 32 dimensions"));
}

std::string header(const std::string& shape, const std::string& offsets, const std::string& dtype = "F32") {
  return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

TEST(DamagedSafetensors, RefusesMismatchedExtents) {
  EXPECT_THAT(errorOfHeader(header("[2]", "[0,4]"), 4),
              HasSubstr("has data_offsets [0, 4], expected an extent of 8 bytes for F32 [2]"));
  EXPECT_THAT(errorOfHeader(header("[2]", "[0,8]", "F64"), 8),
              HasSubstr("expected an extent of 16 bytes for F64 [2]"));
  EXPECT_THAT(errorOfHeader(header("[2]", "[0,8]"), 7),
              HasSubstr("expected a range within the 7 bytes of data"));
  EXPECT_THAT(errorOfHeader(header("[2]", "[8,0]"), 8), HasSubstr("has data_offsets [8, 0]"));
  EXPECT_THAT(errorOfHeader(header("[2]", "[0,18446744073709551615]"), 8),
              HasSubstr("expected a range within"));
  EXPECT_THAT(errorOfHeader(header("[2]", "[18446744073709551612,4]"), 8),
              HasSubstr("expected a range within"));
}

TEST(DamagedSafetensors, RefusesOverflowingShapes) {
  for (const auto* shape : {"[4611686018427387904]", "[4294967296,4294967296]", "[4611686018427387904,4,1]",
                            "[18446744073709551615,18446744073709551615]"}) {
    EXPECT_THAT(errorOfHeader(header(shape, "[0,0]")), HasSubstr("more than can be addressed")) << shape;
  }
}

TEST(DamagedSafetensors, RefusesOverlapsGapsAndTrailingData) {
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + first +
           R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}";
  };
  EXPECT_EQ(errorOfHeader(two("[0,4]", "[4,8]"), 8), "no error");
  EXPECT_EQ(errorOfHeader(two("[4,8]", "[0,4]"), 8), "no error");
  EXPECT_THAT(errorOfHeader(two("[0,4]", "[2,6]"), 6),
              HasSubstr("tensor \"b\" begins at byte 2 of the data, inside another tensor, expected 4"));
  EXPECT_THAT(errorOfHeader(two("[0,4]", "[0,4]"), 4), HasSubstr("inside another tensor"));
  EXPECT_THAT(errorOfHeader(two("[0,4]", "[5,9]"), 9), HasSubstr("after a hole, expected 4"));
  EXPECT_THAT(errorOfHeader(two("[1,5]", "[5,9]"), 9), HasSubstr("after a hole, expected 0"));
  EXPECT_THAT(errorOfHeader(two("[0,4]", "[4,8]"), 9), HasSubstr("holds 9 bytes of data, expected 8"));
  EXPECT_THAT(errorOfHeader("{}", 1), HasSubstr("holds 1 bytes of data, expected 0"));
}

TEST(DamagedSafetensors, EscapesControlBytesInNames) {
  const auto message = errorOfHeader(R"({"\u001b[31m":1})");
  EXPECT_THAT(message, HasSubstr(R"(\x1b[31m)"));
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_LT(errorOfHeader("{\"" + std::string(5000, 'n') + "\":1}").size(), 200u);
}

TEST(DamagedSafetensors, ReportsFoldersAndMissingFiles) {
  const headscope::test::TemporaryFolder folder;
  const auto directory = headscope::test::readSafetensors(folder.path());
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.error().message, folder.path().string() + ": is a directory, expected a regular file");
  EXPECT_FALSE(headscope::test::readSafetensors(folder / "none").ok());
}

}  // namespace
}  // namespace headscope::attention
