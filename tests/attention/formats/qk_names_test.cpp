#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "attention/formats/layers/attention_file.h"

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

}  // namespace
}  // namespace headscope::attention
