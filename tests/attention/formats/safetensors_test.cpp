#include "attention/formats/safetensors.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

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
  const auto values = headscope::test::toFloats(tensorOf(dtype, all), "t");
  ASSERT_TRUE(values.ok());
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
      headscope::test::toFloats(tensorOf<double>(DType::F64, {0.1, -2.5, 1e-60, -INFINITY}), "t");
  ASSERT_TRUE(values.ok());
  EXPECT_THAT(*values, ElementsAre(0.1F, -2.5F, 0.0F, -INFINITY));
  const auto beyond = headscope::test::toFloats(tensorOf<double>(DType::F64, {1, -4e38}), "tensor \"x\"");
  ASSERT_FALSE(beyond.ok());
  EXPECT_THAT(beyond.error().message, HasSubstr("tensor \"x\" holds a value beyond 3.4e38"));
}

TEST(ToFloats, RefusesIntegers) {
  for (const auto dtype : {DType::I64, DType::I32, DType::U8, DType::Bool}) {
    const auto values = headscope::test::toFloats(NamedTensor{dtype, {0}, {}}, "t");
    ASSERT_FALSE(values.ok());
    EXPECT_EQ(values.error().message,
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
  const auto status = writeSafetensors(path, file);
  ASSERT_TRUE(status.ok()) << status.error().message;
  const auto back = headscope::test::readSafetensors(path);
  ASSERT_TRUE(back.ok()) << back.error().message;
  expectSame(file, *back);
}

TEST(Safetensors, AlignsTensorsToTheirValueSize) {
  const auto bytes = formatSafetensors(everyKind());
  ASSERT_TRUE(bytes.ok());
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
  const auto file = headscope::test::parseSafetensors(safetensorsBytes("{}"), "f");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_TRUE(file->tensors.empty());
}

TEST(Safetensors, AcceptsKeysInAnyOrderAndPadding) {
  const auto header = R"({"b":{"data_offsets":[4,6],"shape":[1],"dtype":"F16"},
      "a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"__metadata__":{}}   )";
  const auto file = headscope::test::parseSafetensors(safetensorsBytes(header, 6), "f");
  ASSERT_TRUE(file.ok()) << file.error().message;
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

}  // namespace
}  // namespace headscope::attention
