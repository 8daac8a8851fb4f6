#include "attention/formats/safetensors.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "test_paths.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_bytes.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention {
namespace {

using headscope::test::safetensorsBytes;
using headscope::test::TemporaryFolder;

template <typename T>
NamedTensor tensorOf(DType dtype, const std::vector<T>& values) {
  NamedTensor tensor{dtype, {values.size()}, std::vector<std::uint8_t>(values.size() * sizeof(T))};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

/// The value of an IEEE 754 number by definition: sign, exponent and fraction of these widths.
double valueOfBits(unsigned bits, int exponentBits, int fractionBits) {
  const int bias = (1 << (exponentBits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> fractionBits) & ((1 << exponentBits) - 1);
  const double fraction = std::ldexp(bits & ((1u << fractionBits) - 1), -fractionBits);
  const double sign = bits >> (exponentBits + fractionBits) ? -1 : 1;
  if (exponent == (1 << exponentBits) - 1) return fraction == 0 ? sign * INFINITY : NAN;
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias));
}

void expectAllValues(DType dtype, int exponentBits, int fractionBits) {
  std::vector<std::uint16_t> all(1 << 16);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  const auto values = checked(headscope::test::toFloats(tensorOf(dtype, all), "t"));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double expected = valueOfBits(all[i], exponentBits, fractionBits);
    const double found = (*values)[i];
    ASSERT_TRUE(std::isnan(expected) ? std::isnan(found) : found == expected) << i << ": " << found;
    ASSERT_EQ(std::signbit(expected), std::signbit(found) && !std::isnan(found)) << i;
  }
}

TEST(ToFloats, ReadsEveryHalf) {
  expectAllValues(DType::F16, 5, 10);
}
TEST(ToFloats, ReadsEveryBfloat16) {
  expectAllValues(DType::BF16, 8, 7);
}

TEST(ToFloats, RoundsDoubles) {
  const auto values =
      checked(headscope::test::toFloats(tensorOf<double>(DType::F64, {0.1, -2.5, 1e-60, -INFINITY}), "t"));
  EXPECT_THAT(*values, ElementsAre(0.1F, -2.5F, 0.0F, -INFINITY));
  const auto beyond = headscope::test::toFloats(tensorOf<double>(DType::F64, {1, -4e38}), "tensor \"x\"");
  ASSERT_FALSE(beyond.ok());
  EXPECT_THAT(beyond.error().message, HasSubstr("tensor \"x\" holds a value beyond 3.4e38"));
}

TEST(ToFloats, RefusesIntegers) {
  for (const auto dtype : {DType::I64, DType::I32, DType::U8, DType::Bool}) {
    EXPECT_EQ(messageOf(headscope::test::toFloats(NamedTensor{dtype, {0}, {}}, "t")),
              "t is " + std::string(name(dtype)) + ", expected F32, F16, BF16 or F64");
  }
}

TEST(FromFloats, RequiresMatchingShape) {
  const std::vector<float> values(6);
  EXPECT_EQ(fromFloats(values, {2, 3}).bytes.size(), 24u);
  EXPECT_THROW(fromFloats(values, {2, 2}), std::invalid_argument);
  EXPECT_THROW(fromFloats(values, {std::uint64_t{1} << 63, 12}), std::invalid_argument);
}

TEST(ByteExtent, ReturnsNothingOnOverflow) {
  EXPECT_EQ(byteExtent(DType::F64, {}), 8u);
  EXPECT_EQ(byteExtent(DType::F16, {3, 5}), 30u);
  EXPECT_EQ(byteExtent(DType::U8, {std::numeric_limits<std::uint64_t>::max()}),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(byteExtent(DType::F16, {std::uint64_t{1} << 63}), std::nullopt);
  EXPECT_EQ(byteExtent(DType::F16, {std::uint64_t{1} << 63, 5, 0}), 0u);
}

TEST(ByteExtent, CountsNumbersSmallerThanAByte) {
  EXPECT_EQ(byteExtent(DType::F4, {3, 4}), 6u);
  EXPECT_EQ(byteExtent(DType::F4, {3}), 2u);
  EXPECT_EQ(byteExtent(DType::F6_E2M3, {4}), 3u);
  EXPECT_EQ(byteExtent(DType::C64, {4}), 32u);
  EXPECT_EQ(byteExtent(DType::C64, {std::numeric_limits<std::uint64_t>::max() / 8 + 1}), std::nullopt);
}

TEST(ShapeText, ReadsLikeAList) {
  EXPECT_EQ(shapeText(std::vector<std::uint64_t>{3, 64, 48}), "[3, 64, 48]");
  EXPECT_EQ(shapeText(std::vector<std::uint64_t>{}), "[]");
}

SafetensorsFile everyKind() {
  SafetensorsFile file;
  file.metadata = {{"format", "pt"}, {"note", "naïve \"quotes\"\n"}};
  file.tensors["bytes"] = tensorOf<std::uint8_t>(DType::U8, {1, 2, 3});
  file.tensors["flags"] = tensorOf<std::uint8_t>(DType::Bool, {1, 0, 1});
  file.tensors["half"] = tensorOf<std::uint16_t>(DType::F16, {0x3C00});
  file.tensors["brain"] = tensorOf<std::uint16_t>(DType::BF16, {0x3F80});
  file.tensors["lengths"] = tensorOf<std::int64_t>(DType::I64, {-1, 5});
  file.tensors["ids"] = tensorOf<std::int32_t>(DType::I32, {7});
  file.tensors["wide"] = tensorOf<double>(DType::F64, {0.5});
  file.tensors["x"] = fromFloats(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
  file.tensors["nothing"] = fromFloats({}, {0, 4});
  file.tensors["scalar \xC3\xBC"] = fromFloats(std::vector<float>{7}, {});
  return file;
}

void expectSame(const SafetensorsFile& a, const SafetensorsFile& b) {
  EXPECT_EQ(a.metadata, b.metadata);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, tensor] : a.tensors) {
    ASSERT_TRUE(b.tensors.count(name)) << name;
    const auto& other = b.tensors.at(name);
    EXPECT_EQ(tensor.dtype, other.dtype) << name;
    EXPECT_EQ(tensor.shape, other.shape) << name;
    EXPECT_EQ(tensor.bytes, other.bytes) << name;
  }
}

TEST(Safetensors, RoundTripsEveryType) {
  const TemporaryFolder folder;
  const auto path = folder / "file.safetensors";
  const auto file = everyKind();
  (void)checked(writeSafetensors(path, file));
  const auto back = checked(headscope::test::readSafetensors(path));
  expectSame(file, *back);
}

TEST(Safetensors, AlignsTensorsToTheirValueSize) {
  const auto bytes = checked(formatSafetensors(everyKind()));
  std::uint64_t header = 0;
  std::memcpy(&header, bytes->data(), 8);
  EXPECT_EQ(header % 8, 0u);
  const std::string json(bytes->begin() + 8, bytes->begin() + 8 + static_cast<std::ptrdiff_t>(header));
  EXPECT_EQ(json.front(), '{');
  // Eight-byte values first (24 bytes of data), then four-byte ones.
  EXPECT_THAT(json, HasSubstr(R"("wide":{"data_offsets":[16,24])"));
  EXPECT_THAT(json, HasSubstr(R"("ids":{"data_offsets":[24,28])"));
}

TEST(Safetensors, AcceptsAFileWithoutTensors) {
  const auto file = checked(headscope::test::parseSafetensors(safetensorsBytes("{}"), "f"));
  EXPECT_TRUE(file->tensors.empty());
}

TEST(Safetensors, AcceptsKeysInAnyOrderAndPadding) {
  const auto header = R"({"b":{"data_offsets":[4,6],"shape":[1],"dtype":"F16"},
      "a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"__metadata__":{}}   )";
  const auto file = checked(headscope::test::parseSafetensors(safetensorsBytes(header, 6), "f"));
  EXPECT_EQ(file->tensors.at("a").bytes.size(), 4u);
  EXPECT_EQ(file->tensors.at("b").dtype, DType::F16);
}

TEST(Safetensors, RefusesToWriteUnreadableFiles) {
  SafetensorsFile file;
  file.tensors["bad \xFF"] = fromFloats({}, {0});
  EXPECT_FALSE(formatSafetensors(file).ok());
  file = {};
  file.tensors["__metadata__"] = fromFloats({}, {0});
  EXPECT_FALSE(formatSafetensors(file).ok());
  file = {};
  file.tensors["short"] = NamedTensor{DType::F32, {2}, {0, 0, 0, 0}};
  EXPECT_THROW((void)formatSafetensors(file), std::invalid_argument);
}

/// The error for a file with this header and no data.
std::string errorOfHeader(std::string_view header) {
  return messageOf(headscope::test::parseSafetensors(safetensorsBytes(header), "some.safetensors"));
}

std::string errorForBytes(const std::vector<std::uint8_t>& bytes) {
  return messageOf(headscope::test::parseSafetensors(bytes, "some.safetensors"));
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

TEST(DamagedSafetensors, RefusesOverflowingShapes) {
  for (const std::string shape :
       {"[4611686018427387904]", "[4294967296,4294967296]", "[4611686018427387904,4,1]",
        "[18446744073709551615,18446744073709551615]"}) {
    const std::string header = R"({"a":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,0]}})";
    EXPECT_THAT(errorOfHeader(header), HasSubstr("more than can be addressed")) << shape;
  }
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
