#include "attention/models/layers/layer_extras.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attention/models/layers/attention_file.h"
#include "attention/models/layers/layer_reader.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/small_problem.h"
#include "tests/support/tensor_source.h"

namespace headscope::attention {
namespace {

using headscope::test::gaussianTensor;
using headscope::test::smallProblem;
using headscope::test::tensorOf;

AttentionResult solved(const SafetensorsFile& file, const AttentionOptions& options = {}) {
  return solve(*checked(readProblem(headscope::test::sourceOf(file), options, "in")))[0];
}

std::string extrasError(const SafetensorsFile& file, const AttentionOptions& options = {}) {
  return messageOf(readProblem(headscope::test::sourceOf(file), options, "in"));
}

Matrix matrixIn(const SafetensorsFile& file, const std::string& name) {
  const NamedTensor& tensor = file.tensors.at(name);
  const auto values = checked(headscope::test::toFloats(tensor, name));
  const auto rows = static_cast<Index>(tensor.shape.size() > 1 ? tensor.shape[0] : 1);
  return MatrixView(values->data(), rows, std::ssize(*values) / rows);
}

void expectNear(const Stack& found, const Stack& expected, float tolerance = 2e-6F) {
  ASSERT_EQ(found.size(), expected.size());
  for (Index i = 0; i < found.size(); ++i) ASSERT_NEAR(found.data()[i], expected.data()[i], tolerance) << i;
}

/// The heads of a result of smallProblem(), of one number after another.
using HeadEdit = void (*)(Eigen::Ref<Eigen::RowVectorXf>, const Matrix& weight, Index head);

void checkNorm(const std::vector<std::uint64_t>& qShape, const std::vector<std::uint64_t>& kShape,
               const AttentionOptions& options, const HeadEdit& expected) {
  const SafetensorsFile plain = smallProblem();
  SafetensorsFile normed = plain;
  normed.tensors["q_norm.weight"] = gaussianTensor(qShape, 6);
  normed.tensors["k_norm.weight"] = gaussianTensor(kShape, 7);
  AttentionResult wanted = solved(plain);
  const AttentionResult found = solved(normed, options);
  for (const bool isKey : {false, true}) {
    Stack& heads = isKey ? wanted.k : wanted.q;
    const Matrix weight = matrixIn(normed, isKey ? "k_norm.weight" : "q_norm.weight");
    for (Index head = 0; head < heads.count(); ++head)
      for (Index row = 0; row < heads.rows(); ++row) {
        Eigen::RowVectorXf values = heads[head].row(row);
        expected(values, weight, head);
        heads[head].row(row) = values;
      }
    expectNear(isKey ? found.k : found.q, heads, 1e-5F);
  }
  expectNear(found.v, wanted.v);
}

TEST(LayerExtras, NormsOfEachHeadAreAppliedBeforeTheScores) {
  checkNorm({4}, {4}, {}, [](auto values, const Matrix& weight, Index) {
    const float size = std::sqrt(values.squaredNorm() / 4 + 1e-6F);
    values.array() *= weight.row(0).array() / size;
  });
  checkNorm({4}, {4}, {{"norm_plus_one", "true"}, {"norm_epsilon", "0.5"}},
            [](auto values, const Matrix& weight, Index) {
              const float size = std::sqrt(values.squaredNorm() / 4 + 0.5F);
              values.array() *= (1 + weight.row(0).array()) / size;
            });
  const HeadEdit layer = [](auto values, const Matrix& weight, Index head) {
    values.array() -= values.mean();
    const float size = std::sqrt(values.squaredNorm() / 4 + 1e-5F);
    values.array() *= weight.row(weight.rows() > 1 ? head : 0).array() / size;
  };
  checkNorm({4}, {4}, {{"qk_norm", "layer"}}, layer);
  checkNorm({4, 4}, {2, 4}, {}, layer);  // Cohere's: a layer norm for each head
}

TEST(LayerExtras, ANormOverAllHeadsTakesTheirNumbersTogether) {
  const SafetensorsFile plain = smallProblem();
  SafetensorsFile normed = plain;
  normed.tensors["q_norm.weight"] = gaussianTensor({16}, 6);
  normed.tensors["k_norm.weight"] = gaussianTensor({8}, 7);
  const AttentionResult before = solved(plain), after = solved(normed);
  const Matrix weight = matrixIn(normed, "q_norm.weight"), q = mergeHeads(before.q),
               found = mergeHeads(after.q);
  for (Index row = 0; row < q.rows(); ++row) {
    const float size = std::sqrt(q.row(row).squaredNorm() / 16 + 1e-6F);
    for (Index i = 0; i < 16; ++i) EXPECT_NEAR(found(row, i), q(row, i) * weight(0, i) / size, 1e-5);
  }
}

TEST(LayerExtras, PartialRotationsTurnTheFirstNumbersAlone) {
  const SafetensorsFile file = smallProblem();
  const AttentionResult none = solved(file), all = solved(file, {{"rope_theta", "100"}}),
                        half = solved(file, {{"rope_theta", "100"}, {"rotary_dim", "2"}}),
                        whole = solved(file, {{"rope_theta", "100"}, {"rotary_dim", "4"}});
  expectNear(whole.scores, all.scores);
  for (Index row = 0; row < 3; ++row) {
    const float a = none.q.at(1, row, 0), b = none.q.at(1, row, 1);
    const auto angle = static_cast<float>(row);
    EXPECT_NEAR(half.q.at(1, row, 0), a * std::cos(angle) - b * std::sin(angle), 1e-6);
    EXPECT_NEAR(half.q.at(1, row, 1), b * std::cos(angle) + a * std::sin(angle), 1e-6);
    EXPECT_EQ(half.q.at(1, row, 2), none.q.at(1, row, 2));
    EXPECT_EQ(half.q.at(1, row, 3), none.q.at(1, row, 3));
  }
}

TEST(LayerExtras, InterleavedRotationsTurnNeighbours) {
  const SafetensorsFile file = smallProblem();
  const AttentionResult none = solved(file),
                        turned = solved(file, {{"rope_theta", "100"}, {"rope_interleaved", "true"}});
  for (const Index pair : {0, 1}) {
    const float a = none.k.at(0, 2, 2 * pair), b = none.k.at(0, 2, 2 * pair + 1);
    const auto angle = static_cast<float>(2 * std::pow(100.0, -0.5 * static_cast<double>(pair)));
    EXPECT_NEAR(turned.k.at(0, 2, 2 * pair), a * std::cos(angle) - b * std::sin(angle), 1e-6);
    EXPECT_NEAR(turned.k.at(0, 2, 2 * pair + 1), b * std::cos(angle) + a * std::sin(angle), 1e-6);
  }
}

TEST(LayerExtras, ScaledRotationsAreThoseOfAConfig) {
  SafetensorsFile file = smallProblem();
  const AttentionOptions linear{{"rope_theta", "100"},
                                {"rope_scaling", R"({"rope_type": "linear", "factor": 2})"}};
  const AttentionResult plain = solved(file, {{"rope_theta", "100"}});
  file.tensors["position_ids"] = tensorOf<std::int64_t>(DType::I64, {1, 3}, {0, 2, 4});
  file.tensors["key_lengths"] = tensorOf<std::int64_t>(DType::I64, {1}, {3});  // a mask: the texts stay one
  expectNear(solved(file, linear).scores, plain.scores, 1e-5F);
  EXPECT_THAT(extrasError(file, {{"rope_theta", "100"},
                                 {"rope_scaling", R"({"type": "linear", "foo": 1, "factor": 2})"}}),
              HasSubstr("rope_scaling has \"foo\", which linear doesn't read"));
  EXPECT_THAT(
      extrasError(file, {{"rope_theta", "100"}, {"rope_scaling", R"({"type": "dynamic", "factor": 2})"}}),
      HasSubstr("max_positions is missing"));
  EXPECT_THAT(extrasError(file, {{"rope_theta", "100"}, {"rope_scaling", "{"}}),
              HasSubstr("in: rope_scaling"));
  EXPECT_THAT(extrasError(smallProblem(), {{"rotary_dim", "2"}}),
              HasSubstr("rotary_dim is given without rope_theta"));
  EXPECT_THAT(extrasError(file, {{"rope_theta", "100"}, {"rotary_dim", "3"}}),
              HasSubstr("rotary_dim is 3, expected an even number up to 4"));
}

TEST(LayerExtras, PositionsThatRestartSeparateTexts) {
  const AttentionOptions options{{"rope_theta", "100"}, {"causal", "true"}};
  SafetensorsFile file = smallProblem();
  const auto values = *checked(headscope::test::toFloats(file.tensors.at("x"), "x"));
  std::vector<float> packed(values.begin(), values.begin() + 16);  // two tokens, then all three
  packed.insert(packed.end(), values.begin(), values.end());
  file.tensors["x"] = fromFloats(packed, {5, 8});
  file.tensors["position_ids"] = tensorOf<std::int64_t>(DType::I64, {5}, {0, 1, 0, 1, 2});
  const AttentionResult alone = solved(smallProblem(), options), both = solved(file, options);
  for (Index row = 0; row < 3; ++row)
    for (Index i = 0; i < 8; ++i) {
      EXPECT_NEAR(both.output(row + 2, i), alone.output(row, i), 1e-5);
    }
  EXPECT_LT((both.output.topRows(2) - alone.output.topRows(2)).cwiseAbs().maxCoeff(), 1e-5);
  // With a mask, positions only turn: padding on the left.
  file.tensors["position_ids"] = tensorOf<std::int64_t>(DType::I64, {5}, {1, 1, 0, 1, 2});
  file.tensors["attention_mask"] = tensorOf<std::int64_t>(DType::I64, {5}, {0, 0, 1, 1, 1});
  const AttentionResult padded = solved(file, options);
  for (Index i = 0; i < 8; ++i) EXPECT_NEAR(padded.output(4, i), alone.output(2, i), 1e-5);
  file.tensors.erase("attention_mask");
  file.tensors["position_ids"] = tensorOf<std::int64_t>(DType::I64, {5}, {0, 1, 0, 1, -2});
  EXPECT_THAT(extrasError(file, options), HasSubstr("\"position_ids\" is -2 at [4], expected 0 to"));
  EXPECT_THAT(extrasError(file), HasSubstr("\"position_ids\" turns nothing without rope_theta"));
}

TEST(LayerExtras, SinksTakePartOfEachRow) {
  SafetensorsFile file = smallProblem();
  file.tensors["sinks"] = fromFloats({{-1.0F, 0.0F, 1.0F, 2.0F}}, {4});
  const AttentionResult result = solved(file);
  for (Index head = 0; head < 4; ++head) {
    const auto row = result.scores[head].row(0).array();
    const float sink = std::exp(static_cast<float>(head - 1));
    EXPECT_NEAR(result.weights[head].row(0).sum(), 1 - sink / (sink + row.exp().sum()), 1e-5);
  }
}

TEST(LayerExtras, BucketsOfT5AreAddedToUnscaledScores) {
  SafetensorsFile file = smallProblem();
  file.metadata["scale"] = "1";
  const AttentionResult plain = solved(file);
  file.metadata.erase("scale");
  file.tensors["relative_attention_bias.weight"] = gaussianTensor({32, 4}, 8);
  const Matrix table = matrixIn(file, "relative_attention_bias.weight");
  const AttentionResult both = solved(file), back = solved(file, {{"t5_bidirectional", "false"}});
  for (Index head = 0; head < 4; ++head) {
    EXPECT_NEAR(both.scores.at(head, 2, 0), plain.scores.at(head, 2, 0) + table(2, head), 1e-5);
    EXPECT_NEAR(both.scores.at(head, 0, 2), plain.scores.at(head, 0, 2) + table(16 + 2, head), 1e-5);
    EXPECT_NEAR(back.scores.at(head, 0, 2), plain.scores.at(head, 0, 2) + table(0, head), 1e-5);
  }
}

/// Two heads with 2 plain and 2 rotated key numbers and values of 3, from a latent of 4, on width 8.
SafetensorsFile latentProblem() {
  SafetensorsFile file;
  file.metadata = {{"heads", "2"}, {"causal", "true"}};
  file.tensors["x"] = gaussianTensor({3, 8}, 1);
  file.tensors["q_a_proj.weight"] = gaussianTensor({5, 8}, 2);
  file.tensors["q_a_layernorm.weight"] = gaussianTensor({5}, 3);
  file.tensors["q_b_proj.weight"] = gaussianTensor({8, 5}, 4);
  file.tensors["kv_a_proj_with_mqa.weight"] = gaussianTensor({6, 8}, 5);
  file.tensors["kv_a_layernorm.weight"] = gaussianTensor({4}, 6);
  file.tensors["kv_b_proj.weight"] = gaussianTensor({10, 4}, 7);
  file.tensors["o_proj.weight"] = gaussianTensor({8, 6}, 8);
  return file;
}

Matrix rootNormed(Matrix x, const Matrix& weight) {
  for (Index row = 0; row < x.rows(); ++row) {
    const float size = std::sqrt(x.row(row).squaredNorm() / static_cast<float>(x.cols()) + 1e-6F);
    x.row(row).array() *= weight.row(0).array() / size;
  }
  return x;
}

TEST(LayerExtras, LatentAttentionGivesEachHeadItsKeyAndTheSharedRotatedPart) {
  const SafetensorsFile file = latentProblem();
  const auto in = [&](const char* map) { return matrixIn(file, map); };
  const Matrix x = in("x"), both = x * in("kv_a_proj_with_mqa.weight").transpose();
  const Matrix up =
      rootNormed(both.leftCols(4), in("kv_a_layernorm.weight")) * in("kv_b_proj.weight").transpose();
  const Matrix q = rootNormed(x * in("q_a_proj.weight").transpose(), in("q_a_layernorm.weight")) *
                   in("q_b_proj.weight").transpose();
  const AttentionResult found = solved(file, {{"rope_theta", "100"}});
  ASSERT_EQ(found.v.cols(), 3);
  ASSERT_EQ(found.k.cols(), 4);
  for (Index head = 0; head < 2; ++head)
    for (Index row = 0; row < 3; ++row) {
      const auto angle = static_cast<float>(row);
      const auto turned = [&](float a, float b) { return a * std::cos(angle) - b * std::sin(angle); };
      EXPECT_NEAR(found.k.at(head, row, 0), up(row, 5 * head), 1e-5);
      EXPECT_NEAR(found.v.at(head, row, 2), up(row, 5 * head + 4), 1e-5);
      EXPECT_NEAR(found.k.at(head, row, 2), turned(both(row, 4), both(row, 5)), 1e-5);
      EXPECT_NEAR(found.q.at(head, row, 1), q(row, 4 * head + 1), 1e-5);
      EXPECT_NEAR(found.q.at(head, row, 2), turned(q(row, 4 * head + 2), q(row, 4 * head + 3)), 1e-5);
    }
  const Matrix output = mergeHeads(found.headOutput) * in("o_proj.weight").transpose();
  EXPECT_LT((found.output - output).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_NEAR(found.scores.at(0, 2, 1), found.q[0].row(2).dot(found.k[0].row(1)) / 2, 1e-5);
}

TEST(LayerExtras, LatentAttentionRefusesSizesThatDontFit) {
  SafetensorsFile file = latentProblem();
  EXPECT_THAT(extrasError(file, {{"heads", "3"}}), HasSubstr("expected multiples of heads (3)"));
  file.metadata.erase("heads");
  EXPECT_THAT(extrasError(file), HasSubstr("expected heads or head_dim as an option"));
  EXPECT_EQ(extrasError(file, {{"head_dim", "4"}}), "no error");
  file.tensors["kv_a_proj_with_mqa.weight"] = gaussianTensor({3, 8}, 5);
  EXPECT_THAT(extrasError(file, {{"heads", "2"}}), HasSubstr("has 3 rows, expected at least the 4"));
  EXPECT_THAT(messageOf(readLayer(headscope::test::sourceOf(latentProblem()), {}, "in")), HasSubstr("in: "));
}

TEST(LayerExtras, NamesOfFamiliesAreRead) {
  const auto renamed = [](const std::string& prefix, std::string_view names) {
    SafetensorsFile file;
    file.metadata = {{"heads", "4"}, {"layer", "3"}};
    file.tensors["x"] = gaussianTensor({3, 8}, 1);
    for (int i = 0; i < 4; ++i)
      file.tensors[prefix + names[static_cast<std::size_t>(i)] + ".weight"] =
          gaussianTensor({8, 8}, static_cast<std::uint64_t>(i + 2));
    return file;
  };
  // T5's blocks number their parts, too.
  EXPECT_EQ(extrasError(renamed("encoder.block.3.layer.0.SelfAttention.", "qkvo")), "no error");
  // GPT-NeoX rotates a part of each head.
  SafetensorsFile neox;
  neox.metadata = {{"heads", "2"}, {"rope_theta", "10000"}};
  neox.tensors["x"] = gaussianTensor({3, 8}, 1);
  neox.tensors["layers.0.attention.query_key_value.weight"] = gaussianTensor({24, 8}, 2);
  neox.tensors["layers.0.attention.dense.weight"] = gaussianTensor({8, 8}, 3);
  EXPECT_THAT(extrasError(neox), HasSubstr("headscope attend takes rotary_dim"));
  EXPECT_EQ(extrasError(neox, {{"rotary_dim", "2"}}), "no error");
  EXPECT_THAT(messageOf(readLayer(headscope::test::sourceOf(neox), {{"rotary_dim", "2"}}, "in")),
              HasSubstr("rotary_dim isn't applied here"));
}

}  // namespace
}  // namespace headscope::attention
