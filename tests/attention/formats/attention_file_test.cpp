#include "attention/models/layers/attention_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attention/core/attention.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/small_problem.h"
#include "tests/support/tensor_source.h"

namespace headscope::attention {
namespace {

using headscope::test::gaussianTensor;
using headscope::test::smallProblem;
using headscope::test::tensorOf;

AttentionProblem problemOf(const SafetensorsFile& file, const AttentionOptions& options = {}) {
  return *checked(readProblem(headscope::test::sourceOf(file), options, "in"));
}

std::string errorOf(const SafetensorsFile& file, const AttentionOptions& options = {}) {
  return messageOf(readProblem(headscope::test::sourceOf(file), options, "in"));
}

/// The small problem with one tensor added or replaced.
SafetensorsFile with(const std::string& name, NamedTensor tensor) {
  auto file = smallProblem();
  file.tensors[name] = std::move(tensor);
  return file;
}

TEST(ReadProblem, ReadsEveryOption) {
  auto file = smallProblem();
  file.metadata = {
      {"heads", "4"},        {"kv_heads", "2"},  {"head_dim", "4"},  {"causal", "True"},
      {"window", "3"},       {"sinks", "1"},     {"alibi", "true"},  {"rope_theta", "500000.0"},
      {"softcap", "30"},     {"scale", "-0.25"}, {"dropout", "0.1"}, {"dropout_seed", "18446744073709551615"},
      {"cache_length", "0"}, {"case", "some"},   {"witness", "x"},   {"format", "pt"}};
  const auto problem = problemOf(file);
  const auto& config = problem.config;
  EXPECT_EQ(config.modelDim, 8);
  EXPECT_EQ(config.heads, 4);
  EXPECT_EQ(config.kvHeads, 2);
  EXPECT_EQ(config.headDim, 4);
  EXPECT_EQ(problem.rules, (PlainRules{.causal = true, .padding = false, .window = 3, .sinks = 1}));
  EXPECT_TRUE(config.alibi);
  EXPECT_EQ(config.ropeTheta, 500000.0);
  EXPECT_EQ(config.softcap, 30.0F);
  EXPECT_EQ(config.scale, -0.25F);
  EXPECT_EQ(config.dropout.probability, 0.1F);
  EXPECT_EQ(config.dropout.seed, std::numeric_limits<std::uint64_t>::max());
}

TEST(ReadProblem, OptionsOverrideMetadata) {
  auto file = smallProblem();
  file.metadata["causal"] = "True";
  file.metadata["window"] = "2";
  file.metadata["scale"] = "not a number, but overridden";
  const auto problem = problemOf(file, {{"causal", "false"}, {"window", "None"}, {"scale", "2"}});
  EXPECT_EQ(problem.rules, (PlainRules{.causal = false, .padding = false}));
  EXPECT_EQ(problem.masks[0].formula, nullptr);
  EXPECT_EQ(problem.config.scale, 2.0F);
}

TEST(ReadProblem, InfersSizesFromShapes) {
  for (const AttentionOptions& given : {AttentionOptions{{"heads", "4"}},
                                        {{"head_dim", "4"}},
                                        {{"kv_heads", "2"}},
                                        {{"heads", "4"}, {"kv_heads", "None"}, {"head_dim", ""}}}) {
    auto file = smallProblem();
    file.metadata = given;
    const auto config = problemOf(file).config;
    EXPECT_EQ(config.heads, 4);
    EXPECT_EQ(config.kvHeads, 2);
    EXPECT_EQ(config.headDim, 4);
  }
  auto file = smallProblem();
  file.metadata.clear();
  EXPECT_EQ(errorOf(file),
            "in: gives neither heads nor head_dim, expected one in its metadata or as an option");
  EXPECT_THAT(errorOf(file, {{"heads", "3"}}),
              HasSubstr("tensor \"q_proj.weight\" has 16 rows, expected a multiple of heads (3)"));
}

TEST(ReadProblem, RefusesBadOptions) {
  const std::pair<const char*, std::vector<const char*>> bad[] = {
      {"heads", {"0", "-4", "4.0", "four", "99999999999999999999", " 4"}},
      {"kv_heads", {"0", "x"}},
      {"head_dim", {"0", "1e3"}},
      {"causal", {"yes", "TRUE", "2"}},
      {"window", {"0", "-1", "wide"}},
      {"sinks", {"-1", "x"}},
      {"cache_length", {"-1", "x"}},
      {"rope_theta", {"nan", "inf", "x", "1e999"}},
      {"alibi", {"maybe"}},
      {"softcap", {"inf", "x"}},
      {"scale", {"nan", "1e39", "0.5x"}},
      {"dropout", {"x", "inf"}},
      {"dropout_seed", {"-1", "1.5"}}};
  for (const auto& [option, values] : bad) {
    for (const auto* value : values) {
      EXPECT_THAT(errorOf(smallProblem(), {{option, value}}),
                  StartsWith(std::string("in: option ") + option + " is "))
          << value;
    }
  }
}

TEST(ReadProblem, NamesMissingAndMisshapenTensors) {
  for (const auto* name : {"x", "q_proj.weight", "k_proj.weight", "v_proj.weight", "o_proj.weight"}) {
    auto file = smallProblem();
    file.tensors.erase(name);
    EXPECT_THAT(errorOf(file), HasSubstr(std::string("in: has no tensor \"") + name + "\", expected ["))
        << name;
  }
  for (const auto& shape :
       std::vector<std::vector<std::uint64_t>>{{3, 7}, {8}, {1, 1, 3, 8}, {0, 8}, {0, 3, 8}, {2, 0, 8}, {}}) {
    EXPECT_EQ(errorOf(with("x", gaussianTensor(shape, 1))),
              "in: tensor \"x\" is " + shapeText(shape) +
                  ", expected [tokens, 8] or [batch, tokens, 8] with at least one token");
  }
  // Sizes that only an empty tensor can have.
  EXPECT_THAT(errorOf(with("q_proj.weight", gaussianTensor({std::uint64_t{1} << 63, 0}, 1))),
              HasSubstr("expected ["));
}

TEST(ReadProblem, NamesFirstNonFiniteValue) {
  for (const auto* name : {"x", "q_proj.weight", "k_proj.weight", "v_proj.weight", "o_proj.weight"}) {
    auto file = smallProblem();
    auto& tensor = file.tensors.at(name);
    const float bad[] = {NAN, INFINITY, -INFINITY};
    std::memcpy(tensor.bytes.data() + (tensor.shape[1] + 2) * sizeof(float), bad, sizeof bad);
    EXPECT_EQ(errorOf(file),
              std::string("in: tensor \"") + name + "\" is NaN at [1, 2], expected finite values");
  }
  auto bias = gaussianTensor({16}, 1);
  const float infinite = -INFINITY;
  std::memcpy(bias.bytes.data() + 3 * sizeof(float), &infinite, sizeof infinite);
  EXPECT_EQ(errorOf(with("q_proj.bias", bias)),
            "in: tensor \"q_proj.bias\" is -infinite at [3], expected finite values");
}

TEST(ReadProblem, ReadsEveryFloatingPointType) {
  std::vector<std::uint16_t> halves(16), brains(16);
  std::vector<double> doubles(16);
  for (std::size_t i = 0; i < 16; ++i) {
    halves[i] = 0x4000;  // 2 as an IEEE 754 half
    brains[i] = 0x4000;  // and as a bfloat16
    doubles[i] = 2;
  }
  const Matrix expected = Matrix::Constant(2, 8, 2);
  EXPECT_EQ(problemOf(with("x", tensorOf(DType::F16, {2, 8}, halves))).x[0], expected);
  EXPECT_EQ(problemOf(with("x", tensorOf(DType::BF16, {2, 8}, brains))).x[0], expected);
  EXPECT_EQ(problemOf(with("x", tensorOf(DType::F64, {2, 8}, doubles))).x[0], expected);
}

TEST(ReadProblem, SplitsABatch) {
  auto file = with("x", gaussianTensor({2, 3, 8}, 1));
  file.tensors["context"] = gaussianTensor({2, 5, 8}, 6);
  file.tensors["key_lengths"] = tensorOf<std::int64_t>(DType::I64, {2}, {5, 0});
  const auto problem = problemOf(file);
  ASSERT_EQ(problem.x.size(), 2u);
  EXPECT_TRUE(problem.batched);
  const auto all = headscope::test::toFloats(file.tensors.at("x"), "x");
  EXPECT_EQ(problem.x[1], MatrixView(all->data() + 24, 3, 8));
  EXPECT_EQ(problem.context[1].rows(), 5);
  EXPECT_TRUE(visible(problem.masks[0], 3, 2, 4));
  EXPECT_FALSE(visible(problem.masks[1], 0, 2, 0));
  const auto result = resultFile(solve(problem), problem.batched);
  EXPECT_THAT(result.tensors.at("scores").shape, ElementsAre(2, 4, 3, 5));
  EXPECT_THAT(result.tensors.at("k").shape, ElementsAre(2, 2, 5, 4));
  EXPECT_THAT(result.tensors.at("lse").shape, ElementsAre(2, 4, 3));
  EXPECT_THAT(result.tensors.at("output").shape, ElementsAre(2, 3, 8));
}

TEST(ReadProblem, DistinguishesBatchOfOneFromNoBatch) {
  const auto one = problemOf(with("x", gaussianTensor({1, 3, 8}, 1)));
  EXPECT_THAT(resultFile(solve(one), one.batched).tensors.at("output").shape, ElementsAre(1, 3, 8));
  const auto none = problemOf(smallProblem());
  EXPECT_THAT(resultFile(solve(none), none.batched).tensors.at("output").shape, ElementsAre(3, 8));
}

TEST(ReadProblem, RefusesMismatchedContext) {
  auto file = with("x", gaussianTensor({2, 3, 8}, 1));
  file.tensors["context"] = gaussianTensor({3, 4, 8}, 1);
  EXPECT_THAT(errorOf(file), HasSubstr("expected the batch axis of x, 2"));
}

TEST(ReadProblem, CacheRequiresContextTokens) {
  const AttentionOptions options{{"cache_length", "2"}, {"causal", "True"}};
  EXPECT_THAT(errorOf(smallProblem(), options), HasSubstr("tensor \"context\" is missing"));
  EXPECT_THAT(errorOf(with("context", gaussianTensor({4, 8}, 1)), options),
              HasSubstr("has 4 tokens, expected cache_length + x's tokens (2 + 3)"));
  EXPECT_EQ(problemOf(with("context", gaussianTensor({5, 8}, 1)), options).context[0].rows(), 5);
}

TEST(ReadProblem, ReadsMasks) {
  std::vector<std::uint8_t> flags(4 * 9);
  flags[9 + 3 + 2] = 1;
  const auto perHead = problemOf(with("mask", tensorOf(DType::Bool, {4, 3, 3}, flags))).masks[0];
  EXPECT_FALSE(visible(perHead, 1, 1, 2));
  EXPECT_TRUE(visible(perHead, 1, 1, 1));
  EXPECT_TRUE(visible(perHead, 0, 1, 2));
  EXPECT_TRUE(perHead.additive.empty());
  std::vector<float> added(9, 0.5F);
  added[1] = -INFINITY;
  const auto additive = problemOf(with("mask", fromFloats(added, {3, 3}))).masks[0];
  EXPECT_EQ(additive.additive.at(0, 0, 1), -INFINITY);
  EXPECT_EQ(additive.additive.count(), 1);
  EXPECT_EQ(additive.formula, nullptr);
}

TEST(ReadProblem, RefusesInvalidMasks) {
  std::vector<std::uint8_t> flags(9);
  flags[5] = 2;
  EXPECT_EQ(errorOf(with("mask", tensorOf(DType::Bool, {3, 3}, flags))),
            "in: tensor \"mask\" is 2 at [1, 2], expected a BOOL of 0 or 1");
  for (const float bad : {INFINITY, NAN}) {
    std::vector<float> added(9);
    added[7] = bad;
    EXPECT_THAT(errorOf(with("mask", fromFloats(added, {3, 3}))),
                HasSubstr("at [2, 1], expected finite values or -inf"));
  }
}

TEST(ReadProblem, RefusesMaskTooLargeForItsBatch) {
  constexpr std::uint64_t kTokens = 1024, kBatch = 1100;
  SafetensorsFile file;
  file.metadata = {{"heads", "1"}};
  file.tensors["x"] = gaussianTensor({kBatch, kTokens, 1}, 1);
  for (const auto* name : {"q", "k", "v", "o"}) {
    file.tensors[std::string(name) + "_proj.weight"] = gaussianTensor({1, 1}, 2);
  }
  file.tensors["mask"] = fromFloats(std::vector<float>(kTokens * kTokens), {kTokens, kTokens});
  EXPECT_THAT(errorOf(file), HasSubstr("tensor \"mask\" needs 4613734400 bytes for a batch of 1100"));
}

TEST(ReadProblem, RefusesInvalidKeyLengths) {
  const auto lengths = [](std::vector<std::int64_t> values) {
    const std::uint64_t size = values.size();
    return with("key_lengths", tensorOf(DType::I64, {size}, values));
  };
  EXPECT_EQ(errorOf(lengths({3})), "no error");
  EXPECT_THAT(errorOf(lengths({3, 3})), HasSubstr("tensor \"key_lengths\" is [2], expected [1]"));
  EXPECT_THAT(errorOf(lengths({4})), HasSubstr("tensor \"key_lengths\" is 4 at [0], expected 0 to 3"));
  EXPECT_THAT(errorOf(lengths({-1})), HasSubstr("is -1 at [0]"));
}

TEST(ReadLayer, NeedsNoInput) {
  auto file = smallProblem();
  file.tensors.erase("x");
  file.tensors["q_proj.bias"] = gaussianTensor({16}, 7);
  const auto layer = checked(readLayer(headscope::test::sourceOf(file), {}, "in"));
  EXPECT_EQ(layer->projections.q.weight.rows(), 16);
  EXPECT_EQ(layer->projections.q.bias.size(), 16);
  EXPECT_EQ(layer->projections.o.bias.size(), 0);
  EXPECT_TRUE(layer->x.empty());
}

TEST(CheckBudget, ReportsRequiredMemory) {
  const auto problem = problemOf(with("x", gaussianTensor({2, 300, 8}, 1)));
  const auto needed = 2 * attentionResultBytes(problem.config, 300, 300);
  EXPECT_TRUE(checkBudget(problem, needed).ok());
  const auto status = checkBudget(problem, needed - 1);
  ASSERT_FALSE(status.ok());
  const auto mebibytes = std::to_string((needed + (1 << 20) - 1) >> 20) + " MiB";
  EXPECT_EQ(status.error().message,
            "the result needs " + mebibytes + ", more than the budget of " + mebibytes);
}

TEST(CheckFinite, ReportsOverflow) {
  auto file = with("x", fromFloats(std::vector<float>(24, 3e38F), {3, 8}));
  const auto problem = problemOf(file);
  EXPECT_THAT(messageOf(checkFinite(problem, solve(problem))), HasSubstr("the numbers overflow: q is"));
}

TEST(CheckFinite, DistinguishesMaskFromOverflow) {
  const auto causal = problemOf(smallProblem(), {{"causal", "True"}});
  EXPECT_TRUE(checkFinite(causal, solve(causal)).ok());
  auto problem = problemOf(smallProblem());
  auto results = solve(problem);
  results[0].scores[2](1, 1) = -INFINITY;
  EXPECT_THAT(messageOf(checkFinite(problem, results)), HasSubstr("scores is infinite"));
}

TEST(ResultFile, RequiresEqualShapes) {
  const auto problem = problemOf(smallProblem());
  const auto longer = problemOf(with("x", gaussianTensor({4, 8}, 1)));
  auto results = solve(problem);
  EXPECT_THROW(resultFile(std::vector<AttentionResult>(), true), std::invalid_argument);
  results.push_back(solve(longer)[0]);
  EXPECT_THROW(resultFile(results, true), std::invalid_argument);
  EXPECT_THROW(resultFile(results, false), std::invalid_argument);
}

}  // namespace
}  // namespace headscope::attention
