#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "attention/core/tensor.h"
#include "attention/models/layers/attention_file.h"
#include "attention/formats/safetensors.h"
#include "tests/support/matchers.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention {
namespace {

/// "q of layers.3", "k", or "neither".
std::string read(std::string_view tensor) {
  const auto name = qkNameOf(tensor);
  if (!name) return "neither";
  return std::string(name->role == TensorRole::queries ? "q" : "k") +
         (name->layer.empty() ? "" : " of " + name->layer);
}

TEST(QkNames, RecognisesQueryAndKeyNames) {
  for (const auto* name : {"q", "Q", "query", "Query", "queries", "query_states", "q_states"})
    EXPECT_EQ(read(name), "q") << name;
  for (const auto* name : {"k", "K", "key", "KEY", "keys", "key_states", "k_states", "key_cache", "k_cache"})
    EXPECT_EQ(read(name), "k") << name;
}

TEST(QkNames, ReadsLayerBeforeOrAfterRole) {
  EXPECT_EQ(read("layers.3.q"), "q of layers.3");
  EXPECT_EQ(read("model.layers.3.self_attn.key_states"), "k of model.layers.3.self_attn");
  EXPECT_EQ(read("past_key_values.3.key"), "k of past_key_values.3");
  EXPECT_EQ(read("layers.3.k_cache"), "k of layers.3");
  EXPECT_EQ(read("layer3/Q"), "q of layer3");
  EXPECT_EQ(read("layer_3_q"), "q of layer_3");
  EXPECT_EQ(read("model.layer3_key_cache"), "k of model.layer3");
  EXPECT_EQ(read("key_cache.3"), "k of 3");
  EXPECT_EQ(read("key_cache_12"), "k of 12");
  EXPECT_EQ(read("decoder.k.3"), "k of decoder.3");
  EXPECT_EQ(read("3.q"), "q of 3");
}

TEST(QkNames, IgnoresOtherNames) {
  for (const auto* name : {"",
                           ".",
                           "_",
                           "3",
                           ".3",
                           "q.",
                           "v",
                           "value",
                           "values",
                           "value_cache.3",
                           "x",
                           "weights",
                           "q_proj.weight",
                           "W_q",
                           "W_K",
                           "b_q",
                           "layers.3.self_attn.q.weight",
                           "SelfAttention.k.bias",
                           "attn.hook_q",
                           "kq",
                           "qk",
                           "layers.q.v",
                           "q.x3",
                           "q_",
                           "_q",
                           "key_padding_mask",
                           "key_lengths",
                           "expect.q_rotated",
                           "\xC3\xBCq"})
    EXPECT_EQ(read(name), "neither") << name;
}

TEST(QkNames, SortsNumbersNaturally) {
  // Numbers come before letters and compare by value.
  const std::vector<std::string> expected{"",
                                          "1",
                                          "2",
                                          "10",
                                          "decoder.2",
                                          "layers.9",
                                          "layers.010",
                                          "layers.10",
                                          "layers.10.cross",
                                          "layers.18446744073709551617",
                                          "layers.a"};
  auto names = expected;
  std::sort(names.begin(), names.end(), std::greater<>());
  std::sort(names.begin(), names.end(), naturalLess);
  EXPECT_EQ(names, expected);
  for (const auto& name : names) EXPECT_FALSE(naturalLess(name, name)) << name;
}

using Shape = std::vector<std::uint64_t>;

SafetensorsHeader headerOf(const std::vector<std::pair<std::string, Shape>>& tensors) {
  SafetensorsHeader header;
  for (const auto& [name, shape] : tensors) header.tensors[name] = {DType::F32, shape, 0, 0};
  return header;
}

std::string errorFor(const SafetensorsHeader& header) {
  return messageOf(findQkLayers(header, "f"));
}

std::string errorFor(const Shape& q, const Shape& k) {
  return errorFor(headerOf({{"q", q}, {"k", k}}));
}

TEST(QkLayers, RequiresKeys) {
  EXPECT_EQ(errorFor(headerOf({})).substr(0, 24), "f: none of its 0 tensors");
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
