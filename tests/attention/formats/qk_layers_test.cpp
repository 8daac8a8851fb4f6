#include <gtest/gtest.h>

#include "attention/core/tensor.h"
#include "attention/formats/layers/attention_file.h"
#include "attention/formats/safetensors.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention {
namespace {

using Shape = std::vector<std::uint64_t>;

SafetensorsHeader headerOf(const std::vector<std::pair<std::string, Shape>>& tensors) {
  SafetensorsHeader header;
  for (const auto& [name, shape] : tensors) header.tensors[name] = {DType::F32, shape, 0, 0};
  return header;
}

std::string errorFor(const SafetensorsHeader& header) {
  const auto layers = findQkLayers(header, "f");
  return layers ? "no error" : layers.error().message;
}

std::string errorFor(const Shape& q, const Shape& k) {
  return errorFor(headerOf({{"q", q}, {"k", k}}));
}

TEST(QkLayers, RequiresKeys) {
  EXPECT_EQ(errorFor(headerOf({{"x", {2, 3}}, {"q_proj.weight", {3, 3}}})),
            "f: none of its 2 tensors has the name of keys, expected names such as \"k\", \"layers.0.k\" or "
            "\"key_cache\"");
  EXPECT_EQ(errorFor(headerOf({})).substr(0, 24), "f: none of its 0 tensors");
  EXPECT_EQ(errorFor(headerOf({{"q", {2, 3}}})),
            "f: tensor \"q\" has queries, but no tensor has the keys for them, expected one such as \"k\"");
  EXPECT_EQ(
      errorFor(headerOf({{"layers.3.q", {2, 3}}, {"layers.4.k", {2, 3}}})),
      "f: tensor \"layers.3.q\" has queries, but no tensor has the keys of layer \"layers.3\", expected "
      "one such as \"….k\"");
}

TEST(QkLayers, RefusesDuplicateQueriesAndKeys) {
  EXPECT_EQ(errorFor(headerOf({{"q", {2, 3}}, {"k", {2, 3}}, {"key_cache", {2, 3}}})),
            "f: tensor \"k\" and tensor \"key_cache\" both name keys, expected one of them for each layer");
  EXPECT_EQ(errorFor(headerOf({{"0.Q", {2, 3}}, {"0.q", {2, 3}}, {"0.k", {2, 3}}})),
            "f: tensor \"0.Q\" and tensor \"0.q\" both name queries, expected one of them for each layer");
}

TEST(QkLayers, RefusesUnsupportedShapes) {
  const std::string expected =
      ", expected [tokens, headDim], [heads, tokens, headDim] or [1, heads, tokens, headDim]";
  for (const Shape& shape : {Shape{}, {4}, {2, 4, 3, 8}, {0, 4, 3, 8}, {1, 1, 4, 3, 8}}) {
    EXPECT_EQ(errorFor(shape, {3, 8}), "f: tensor \"q\" is " + shapeText(shape) + expected);
    EXPECT_EQ(errorFor({3, 8}, shape), "f: tensor \"k\" is " + shapeText(shape) + expected);
  }
}

TEST(QkLayers, EnforcesSizeLimits) {
  const auto refused = [](const Shape& shape, const std::string& what) {
    EXPECT_EQ(errorFor({3, 8}, shape), "f: tensor \"k\" is " + shapeText(shape) + ", which is " + what);
  };
  refused({131073, 64}, "131073 tokens, expected 1 to 131072");
  refused({4, 131073, 64}, "131073 tokens, expected 1 to 131072");
  refused({~std::uint64_t{0}, 64}, "18446744073709551615 tokens, expected 1 to 131072");
  refused({0, 64}, "0 tokens, expected 1 to 131072");
  refused({3, 513}, "513 numbers per head, expected 1 to 512");
  refused({3, 0}, "0 numbers per head, expected 1 to 512");
  refused({1, 1025, 3, 8}, "1025 heads, expected 1 to 1024");
  refused({0, 3, 8}, "0 heads, expected 1 to 1024");
  EXPECT_EQ(errorFor({1024, 131072, 512}, {1, 131072, 512}), "no error");

  SafetensorsHeader header;
  for (Index i = 0; i <= kMaxMapLayers; ++i)
    header.tensors["k." + std::to_string(i)] = {DType::F32, {1, 1}, 0, 0};
  EXPECT_EQ(errorFor(header), "f: holds keys of 4097 layers, expected at most 4096");
  header.tensors.erase("k.7");
  EXPECT_EQ(errorFor(header), "no error");
}

TEST(QkLayers, RefusesIntegerTypes) {
  for (const auto dtype : {DType::I64, DType::I32, DType::I16, DType::I8, DType::U8, DType::Bool}) {
    auto header = headerOf({{"q", {2, 3}}, {"k", {2, 3}}});
    header.tensors["q"].dtype = dtype;
    EXPECT_EQ(errorFor(header),
              "f: tensor \"q\" is " + std::string(name(dtype)) + ", expected F32, F16, BF16 or F64");
  }
}

TEST(QkLayers, RefusesMismatchedQueriesAndKeys) {
  EXPECT_EQ(errorFor({8, 5, 64}, {2, 5, 32}),
            "f: tensor \"k\" is [2, 5, 32] with heads of size 32, expected 64 as in tensor \"q\" [8, 5, 64]");
  EXPECT_EQ(errorFor({8, 5, 64}, {3, 5, 64}),
            "f: tensor \"k\" is [3, 5, 64] with 3 heads, expected a divisor "
            "of the 8 heads of tensor \"q\" [8, 5, 64]");
  EXPECT_EQ(errorFor({2, 5, 64}, {4, 5, 64}),
            "f: tensor \"k\" is [4, 5, 64] with 4 heads, expected a divisor "
            "of the 2 heads of tensor \"q\" [2, 5, 64]");
}

TEST(QkLayers, RefusesImpossibleOptions) {
  const auto refused = [](const std::string& option, const std::string& text, const std::string& message) {
    auto header = headerOf({{"q", {4, 5, 7}}, {"k", {2, 5, 7}}});
    header.metadata[option] = text;
    EXPECT_EQ(errorFor(header), message);
  };
  refused("heads", "8", "f: option heads is 8, expected 4 as in tensor \"q\" [4, 5, 7]");
  refused("kv_heads", "4", "f: option kv_heads is 4, expected 2 as in tensor \"k\" [2, 5, 7]");
  refused("head_dim", "8", "f: option head_dim is 8, expected 7 as in tensor \"k\" [2, 5, 7]");
  refused("causal", "maybe", "f: option causal is \"maybe\", expected True or False");
  refused("rope_theta", "100", "f: headDim is 7, expected an even number, because RoPE rotates pairs");
  refused("softcap", "0", "f: softcap is 0.000000, expected a finite number above 0");
}

TEST(QkLayers, OpeningFileReportsEveryError) {
  const headscope::test::TemporaryFolder folder;
  const auto path = folder / "problem.safetensors";
  ASSERT_TRUE(writeSafetensors(path, headscope::test::smallProblem()).ok());
  const auto file = QkFile::open(path);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().message.find(path.string() + ": none of its "), 0u) << file.error().message;
  headscope::test::putFile(path, "{}");
  EXPECT_EQ(QkFile::open(path).error().message,
            path.string() + ": is 2 bytes, expected a safetensors file of at least 8");
  EXPECT_EQ(QkFile::open(folder / "none").error().message,
            (folder / "none").string() + ": cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace headscope::attention
