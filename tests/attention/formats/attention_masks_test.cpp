#include <gtest/gtest.h>

#include <cmath>

#include "attention/models/layers/attention_file.h"
#include "tests/support/matchers.h"
#include "tests/support/small_problem.h"
#include "tests/support/tensor_source.h"

// Masks under other programs' names and conventions.

namespace headscope::attention {
namespace {

using headscope::test::gaussianTensor;
using headscope::test::smallProblem;
using headscope::test::tensorOf;
using Shape = std::vector<std::uint64_t>;

constexpr Index kBatch = 2, kFileHeads = 4, kFileTokens = 3;

/// Two sequences of three tokens on four heads.
SafetensorsFile batchOfTwo() {
  auto file = smallProblem();
  file.tensors["x"] = gaussianTensor({2, 3, 8}, 1);
  return file;
}

std::size_t countOf(const Shape& shape) {
  std::size_t count = 1;
  for (const auto size : shape) count *= size;
  return count;
}

/// Sets about a fifth of all cells to 1, different ones in every row.
std::vector<std::uint8_t> somePattern(const Shape& shape) {
  std::vector<std::uint8_t> flags(countOf(shape));
  for (std::size_t i = 0; i < flags.size(); ++i) flags[i] = i * 7 % 5 == 1 ? 1 : 0;
  return flags;
}

NamedTensor tensorOfType(DType type, const Shape& shape, const std::vector<std::uint8_t>& flags) {
  if (type == DType::Bool || type == DType::U8) return tensorOf(type, shape, flags);
  if (type == DType::I64) return tensorOf(type, shape, std::vector<std::int64_t>(flags.begin(), flags.end()));
  return fromFloats(std::vector<float>(flags.begin(), flags.end()), shape);
}

Result<AttentionProblem> read(const SafetensorsFile& file) {
  return readProblem(headscope::test::sourceOf(file), {}, "in");
}

std::string maskErrorOf(const SafetensorsFile& file) {
  return messageOf(read(file));
}

/// Checks every cell; `at` gives the index of its value in the tensor.
void expectCells(const std::string& name, DType type, const Shape& shape, bool setIsVisible,
                 std::size_t (*at)(Index sequence, Index head, Index query, Index key)) {
  SCOPED_TRACE(name + " " + shapeText(shape) + " " + std::string(attention::name(type)));
  auto file = batchOfTwo();
  const auto flags = somePattern(shape);
  file.tensors[name] = tensorOfType(type, shape, flags);
  const auto problem = checked(read(file));
  for (Index s = 0; s < kBatch; ++s)
    for (Index head = 0; head < kFileHeads; ++head)
      for (Index query = 0; query < kFileTokens; ++query)
        for (Index key = 0; key < kFileTokens; ++key)
          EXPECT_EQ(visible(problem->masks[static_cast<std::size_t>(s)], head, query, key),
                    (flags[at(s, head, query, key)] == 1) == setIsVisible)
              << s << ", " << head << ", " << query << ", " << key;
  EXPECT_EQ(problem->notes.size(), 1u) << "it is said how it was read";
}

std::size_t ofRow(Index, Index, Index query, Index key) {
  return static_cast<std::size_t>(query * kFileTokens + key);
}
std::size_t ofHead(Index s, Index head, Index query, Index key) {
  return static_cast<std::size_t>(((s * kFileHeads + head) * kFileTokens + query) * kFileTokens + key);
}
std::size_t ofSequence(Index s, Index, Index query, Index key) {
  return static_cast<std::size_t>((s * kFileTokens + query) * kFileTokens + key);
}
std::size_t ofKey(Index s, Index, Index, Index key) {
  return static_cast<std::size_t>(s * kFileTokens + key);
}

TEST(ForeignMasks, MultiheadAttentionTrueMeansMasked) {
  for (const DType type : {DType::Bool, DType::U8, DType::I64}) {
    expectCells("attn_mask", type, {3, 3}, false, ofRow);
    expectCells("attn_mask", type, {8, 3, 3}, false, ofHead);
    expectCells("key_padding_mask", type, {2, 3}, false, ofKey);
  }
}

TEST(ForeignMasks, DotProductAttentionTrueMeansVisible) {
  for (const DType type : {DType::Bool, DType::I64}) {
    expectCells("attn_mask", type, {2, 1, 3, 3}, true, ofSequence);
    expectCells("attn_mask", type, {2, 4, 3, 3}, true, ofHead);
    expectCells("attn_mask", type, {1, 1, 3, 3}, true, ofRow);
  }
}

TEST(ForeignMasks, HuggingFaceOneMeansVisible) {
  for (const DType type : {DType::Bool, DType::I64, DType::F32})
    expectCells("attention_mask", type, {2, 3}, true, ofKey);
  expectCells("attention_mask", DType::Bool, {2, 1, 3, 3}, true, ofSequence);
}

TEST(ForeignMasks, AddsFloatsToScores) {
  const std::pair<const char*, Shape> given[] = {{"attn_mask", {3, 3}},
                                                 {"attn_mask", {8, 3, 3}},
                                                 {"attn_mask", {2, 1, 3, 3}},
                                                 {"key_padding_mask", {2, 3}},
                                                 {"attention_mask", {2, 1, 3, 3}}};
  for (const auto& [name, shape] : given) {
    SCOPED_TRACE(name + shapeText(shape));
    auto file = batchOfTwo();
    std::vector<float> values(countOf(shape));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5F * static_cast<float>(i);
    values[1] = -INFINITY;
    file.tensors[name] = fromFloats(values, shape);
    const auto problem = checked(read(file));
    const Stack& first = problem->masks[0].additive;
    EXPECT_EQ(first.at(0, 0, 1), -INFINITY);
    EXPECT_EQ(first.at(0, 0, 2), 1.0F);
    const bool padding = shape.size() == 2 && shape[0] == 2;
    EXPECT_EQ(first.at(0, 1, 2), padding ? 1.0F : 2.5F);
    const Stack& second = problem->masks[1].additive;
    const float expected = padding ? 1.5F : shape.size() == 2 ? 0.0F : shape[0] == 8 ? 18.0F : 4.5F;
    EXPECT_EQ(second.at(0, 0, 0), expected);
    ASSERT_EQ(problem->notes.size(), 1u);
    EXPECT_THAT(problem->notes[0], HasSubstr("its numbers are added to the scores"));
  }
}

/// A cell that either mask hides is hidden, and additive masks are summed.
TEST(ForeignMasks, CombinesSeveralMasks) {
  auto file = batchOfTwo();
  file.tensors["attn_mask"] = fromFloats(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8}, {3, 3});
  file.tensors["mask"] = fromFloats(std::vector<float>(36, 10), {4, 3, 3});
  file.tensors["key_padding_mask"] = tensorOf<std::uint8_t>(DType::Bool, {2, 3}, {0, 0, 1, 0, 0, 0});
  file.tensors["attention_mask"] = tensorOf<std::int64_t>(DType::I64, {2, 3}, {1, 0, 1, 1, 1, 1});
  const auto problem = checked(read(file));
  EXPECT_TRUE(visible(problem->masks[0], 2, 1, 0));
  EXPECT_FALSE(visible(problem->masks[0], 2, 1, 1));
  EXPECT_FALSE(visible(problem->masks[0], 2, 1, 2));
  EXPECT_TRUE(visible(problem->masks[1], 2, 1, 2));
  EXPECT_EQ(problem->masks[0].additive.count(), 4);
  EXPECT_EQ(problem->masks[0].additive.at(3, 2, 1), 17.0F);
  EXPECT_EQ(problem->notes.size(), 3u) << "the file's own mask goes without saying";
}

TEST(ForeignMasks, UnbatchedPaddingMaskNeedsOneAxis) {
  auto file = smallProblem();
  file.tensors["key_padding_mask"] = tensorOf<std::uint8_t>(DType::Bool, {3}, {0, 0, 1});
  const auto problem = checked(read(file));
  EXPECT_FALSE(visible(problem->masks[0], 0, 0, 2));
  file = batchOfTwo();
  file.tensors["key_padding_mask"] = tensorOf<std::uint8_t>(DType::Bool, {3}, {0, 0, 1});
  EXPECT_EQ(maskErrorOf(file), "in: tensor \"key_padding_mask\" is [3], expected [2, 3]");
}

TEST(ForeignMasks, NotesHowMasksWereRead) {
  const auto noteOf = [](const std::string& name, NamedTensor tensor) {
    auto file = batchOfTwo();
    file.tensors[name] = std::move(tensor);
    const auto problem = read(file);
    return problem && problem->notes.size() == 1 ? problem->notes[0] : "none";
  };
  EXPECT_EQ(
      noteOf("attn_mask", tensorOf(DType::Bool, {3, 3}, std::vector<std::uint8_t>(9))),
      "in: tensor \"attn_mask\" BOOL [3, 3] is read as torch.nn.MultiheadAttention reads it: true or 1 = "
      "masked");
  EXPECT_EQ(
      noteOf("attn_mask", tensorOf(DType::Bool, {2, 1, 3, 3}, std::vector<std::uint8_t>(18, 1))),
      "in: tensor \"attn_mask\" BOOL [2, 1, 3, 3] is read as scaled_dot_product_attention reads it: true "
      "or 1 = visible");
  EXPECT_THAT(noteOf("attention_mask", tensorOf(DType::I64, {2, 3}, std::vector<std::int64_t>(6, 1))),
              HasSubstr("Hugging Face"));
}

TEST(ForeignMasks, RefusesInvalidShapesAndValues) {
  const auto refused = [](const std::string& name, NamedTensor tensor) {
    auto file = batchOfTwo();
    file.tensors[name] = std::move(tensor);
    return maskErrorOf(file);
  };
  EXPECT_THAT(refused("key_padding_mask", fromFloats(std::vector<float>(6, NAN), {2, 3})),
              HasSubstr("is NaN at [0, 0]"));
}

TEST(LargeNumbers, ReadsLargeNegativesAsMasked) {
  for (const float number : {-1e9F, -1e4F, -65504.0F, -3.3895314e38F, -9984.0F}) {
    auto file = smallProblem();
    std::vector<float> added(9, -1000);
    added[1] = added[5] = number;
    added[8] = -INFINITY;
    file.tensors["mask"] = fromFloats(added, {3, 3});
    const auto problem = checked(read(file));
    EXPECT_FALSE(visible(problem->masks[0], 3, 0, 1)) << number;
    EXPECT_TRUE(visible(problem->masks[0], 3, 0, 0)) << "−1,000 is a bias";
    EXPECT_THAT(problem->notes,
                ElementsAre("in: tensor \"mask\": 2 finite numbers of -1e4 or less are read as masked"));
    const auto result = solve(*problem)[0];
    EXPECT_EQ(result.scores.at(0, 0, 1), -INFINITY);
  }
  auto file = smallProblem();
  file.tensors["mask"] = fromFloats(std::vector<float>{0, -INFINITY, -9000, 0, 0, 0, 0, 0, 0}, {3, 3});
  EXPECT_THAT(read(file)->notes, IsEmpty());
}

TEST(Names, RefusesUnknownNamesWithSuggestions) {
  const auto withTensor = [](const std::string& name) {
    auto file = smallProblem();
    file.tensors[name] = gaussianTensor({4}, 1);
    return maskErrorOf(file);
  };
  for (const char* name : {"expect.q", "snapshot.bias", "weights", "lse"})
    EXPECT_EQ(withTensor(name), "no error") << name;
  auto result = smallProblem();
  result.tensors["k"] = result.tensors["weights"] = gaussianTensor({4}, 1);
  EXPECT_THAT(read(result)->notes,
              ElementsAre("in: these tensors are results, which are computed instead of read: k, weights"));
  EXPECT_EQ(readProblem(headscope::test::sourceOf(smallProblem()), {{"windwo", "3"}}, "in").error().message,
            "in: \"windwo\" is not an option; did you mean window?");
  // Another program's weights file may contain more than a layer.
  auto file = smallProblem();
  file.metadata["author"] = "someone";
  file.tensors["mlp.weight"] = gaussianTensor({4}, 1);
  EXPECT_TRUE(readLayer(headscope::test::sourceOf(file), {}, "in").ok());
}

TEST(PositionRule, NotesAmbiguousCausalPositions) {
  auto file = smallProblem();
  file.tensors["context"] = gaussianTensor({5, 8}, 6);
  EXPECT_THAT(read(file)->notes, IsEmpty()) << "nothing compares positions";
  file.metadata["causal"] = "True";
  const auto problem = checked(read(file));
  EXPECT_THAT(problem->notes, ElementsAre("in: causal masks compare positions, j ≤ i; with 3 queries over 5 "
                                          "keys, the first query is at i = 0 "
                                          "(cache_length is not given)"));
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 5; ++j) EXPECT_EQ(visible(problem->masks[0], 0, i, j), j <= i);
  file.metadata["cache_length"] = "2";
  EXPECT_THAT(read(file)->notes, IsEmpty());
  EXPECT_TRUE(visible(read(file)->masks[0], 0, 0, 2));
}

TEST(BatchDropout, EachSequenceDrawsIndependently) {
  auto file = smallProblem();
  const auto one = gaussianTensor({6, 8}, 1);
  auto twice = one;
  twice.bytes.insert(twice.bytes.end(), one.bytes.begin(), one.bytes.end());
  twice.shape = {2, 6, 8};
  file.tensors["x"] = twice;
  file.metadata["dropout"] = "0.5";
  const auto results = solve(*read(file));
  EXPECT_EQ(results[0].scores[0], results[1].scores[0]);
  int same = 0, dropped = 0;
  for (Index head = 0; head < 4; ++head)
    for (Index i = 0; i < 6; ++i)
      for (Index j = 0; j < 6; ++j) {
        const bool first = results[0].weights.at(head, i, j) == 0,
                   second = results[1].weights.at(head, i, j) == 0;
        same += first == second;
        dropped += second;
      }
  // Half of the 144 cells are dropped in each, and half of the cells agree by chance.
  EXPECT_GT(dropped, 45);
  EXPECT_LT(dropped, 99);
  EXPECT_LT(same, 110);
  // The first sequence of a batch draws the same dropout as it does alone.
  file.tensors["x"] = one;
  EXPECT_EQ(solve(*read(file))[0].weights[1], results[0].weights[1]);
}

}  // namespace
}  // namespace headscope::attention
