#include "tests/app/compute/layer/snapshot_support.h"

#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

#include "app/compute/layer/layer_inputs.h"
#include "app/scene/mask_rules.h"

namespace headscope::test {

using namespace headscope::app;
using attention::AttentionResult;
using attention::Matrix;
using attention::MatrixView;
using attention::Stack;

attention::MaskLayers layersFrom(const std::string& expression) {
  attention::ParsedMask parsed = attention::parseMask(expression);
  EXPECT_FALSE(parsed.error) << expression << ": " << parsed.error->message;
  return parsed.layers;
}

app::Setup plainSetup(const std::string& text) {
  app::Setup setup = openingScene().setup;
  setup.input.text = text;
  setup.model.heads = setup.model.kvHeads = 4;
  setup.model.headDim = 8;
  setup.model.modelDim = 32;
  setup.weights.source = WeightSource::random;
  setup.mask.layers = layersOf({.causal = false});
  return setup;
}

app::ModelSetup sizedModel(Index heads, Index kvHeads, Index headDim, Index modelDim) {
  app::ModelSetup model;
  model.heads = heads;
  model.kvHeads = kvHeads;
  model.headDim = headDim;
  model.modelDim = modelDim;
  model.linked = false;
  return model;
}

Snapshot computed(const app::Setup& setup) {
  Snapshot snapshot = computeSnapshot(setup, kRoomy);
  EXPECT_FALSE(snapshot.error) << snapshot.error->message;
  EXPECT_FALSE(snapshot.sequences.empty());
  expectConsistent(snapshot);
  return snapshot;
}

PlacedError refused(const app::Setup& setup, const Limits& limits) {
  const Snapshot snapshot = computeSnapshot(setup, limits);
  EXPECT_TRUE(snapshot.error);
  expectConsistent(snapshot);
  return snapshot.error.value_or(PlacedError{});
}

namespace {

void expectShape(const Stack& stack, Index count, Index rows, Index cols, const char* name) {
  EXPECT_EQ(stack.count(), count) << name;
  EXPECT_EQ(stack.rows(), rows) << name;
  EXPECT_EQ(stack.cols(), cols) << name;
}

void expectPictures(const HeadPictures& pictures, Index heads, Index n, Index m) {
  ASSERT_FALSE(pictures.levels.empty());
  for (const PictureLevel& level : pictures.levels) {
    const Index rows = (n + level.factor - 1) / level.factor, cols = (m + level.factor - 1) / level.factor;
    expectShape(level.weights, heads, rows, cols, "pictured weights");
    expectShape(level.scores, heads, rows, cols, "pictured scores");
  }
  const auto count = static_cast<std::size_t>(heads);
  EXPECT_EQ(pictures.maxWeight.size(), count);
  EXPECT_EQ(pictures.minScore.size(), count);
  EXPECT_EQ(pictures.maxScore.size(), count);
}

/// Expects the second mask's results to have the same shapes, over the first mask's keys and values.
void expectOther(const Snapshot& snapshot, const SequenceSnapshot& sequence) {
  ASSERT_EQ(sequence.other.has_value(), snapshot.setup.mask.compare);
  if (!sequence.other) return;
  const AttentionResult &first = sequence.attention, &other = sequence.other->attention;
  const Index heads = snapshot.config.heads, n = first.weights.rows(), m = first.weights.cols();
  EXPECT_TRUE(sameBits(other.q, first.q));
  expectShape(other.scores, heads, n, m, "other scores");
  expectShape(other.weights, heads, n, m, "other weights");
  expectShape(other.headOutput, heads, n, snapshot.config.headDim, "other headOutput");
  expectPictures(sequence.other->pictures, heads, n, m);
  const attention::MaskComparison& comparison = sequence.other->comparison;
  for (const Matrix* change : {&comparison.movedMass, &comparison.entropyChange, &comparison.outputChange}) {
    EXPECT_EQ(change->rows(), heads);
    EXPECT_EQ(change->cols(), n);
  }
}

void expectShapes(const Snapshot& snapshot, const SequenceSnapshot& sequence) {
  const attention::AttentionConfig& config = snapshot.config;
  const AttentionResult& result = sequence.attention;
  const auto n = static_cast<Index>(sequence.queries.size()), m = static_cast<Index>(sequence.keys.size());
  EXPECT_GT(sequence.queryLength, 0);
  EXPECT_LE(sequence.queryLength, n);
  EXPECT_GT(sequence.keyLength, 0);
  EXPECT_LE(sequence.keyLength, m);
  expectShape(result.q, config.heads, n, config.headDim, "q");
  expectShape(result.k, config.kvHeads, m, config.headDim, "k");
  expectShape(result.v, config.kvHeads, m, config.headDim, "v");
  expectShape(result.scores, config.heads, n, m, "scores");
  expectShape(result.weights, config.heads, n, m, "weights");
  expectShape(result.headOutput, config.heads, n, config.headDim, "headOutput");
  EXPECT_EQ(result.lse.rows(), config.heads);
  EXPECT_EQ(result.lse.cols(), n);
  EXPECT_EQ(result.output.rows(), n);
  EXPECT_EQ(result.output.cols(), config.modelDim);
  expectPictures(sequence.pictures, config.heads, n, m);
  const auto heads = static_cast<std::size_t>(config.heads);
  EXPECT_EQ(sequence.profiles.size(), heads);
  EXPECT_EQ(sequence.profiles.size(), heads);
}

void expectRows(const Snapshot& snapshot, const AttentionResult& result) {
  const float dropout = snapshot.config.dropout.probability;
  const float largest = 1 / (1 - dropout) * (1 + 2 * FLT_EPSILON);
  for (Index head = 0; head < result.weights.count(); ++head) {
    const MatrixView weights = result.weights[head], scores = result.scores[head];
    for (Index row = 0; row < weights.rows(); ++row) {
      ASSERT_TRUE(weights.row(row).allFinite()) << "head " << head << ", row " << row;
      ASSERT_GE(weights.row(row).minCoeff(), 0.0F);
      ASSERT_LE(weights.row(row).maxCoeff(), largest);
      bool any = false;
      for (Index key = 0; key < weights.cols(); ++key) {
        const bool masked = scores(row, key) == -std::numeric_limits<float>::infinity();
        any = any || !masked;
        ASSERT_TRUE(!masked || weights(row, key) == 0) << "a hidden key has weight";
      }
      ASSERT_EQ(std::isinf(result.lse(head, row)), !any);
      const auto sum = static_cast<float>(weights.row(row).cast<double>().sum());
      // Each weight is rounded once, and the sum once per key.
      const float tolerance = static_cast<float>(weights.cols() + 2) * FLT_EPSILON;
      if (!any) {
        ASSERT_EQ(sum, 0.0F);
      } else if (dropout == 0) {
        ASSERT_NEAR(sum, 1.0F, tolerance) << "head " << head << ", row " << row;
      }
    }
  }
}

/// Expects scores of −inf wherever the mask hides a key. Returns whether any row sees its future.
bool expectMasked(const Snapshot& snapshot, const SequenceSnapshot& sequence) {
  const attention::MaskFormula& mask = *sequence.mask.formula;
  const Stack& scores = sequence.attention.scores;
  EXPECT_EQ(mask.heads(), snapshot.config.heads);
  EXPECT_EQ(mask.queries(), scores.rows());
  EXPECT_EQ(mask.keys(), scores.cols());
  bool future = false;
  attention::KeyRuns runs;
  for (Index head = 0; head < scores.count(); ++head)
    for (Index row = 0; row < scores.rows(); ++row) {
      mask.visibleRuns(mask.variantOf(head), row, runs);
      std::vector<bool> visible(static_cast<std::size_t>(scores.cols()), false);
      for (const attention::KeyRun& run : runs)
        for (Index key = run.begin; key < run.end; ++key) visible.at(static_cast<std::size_t>(key)) = true;
      for (Index key = 0; key < scores.cols(); ++key) {
        const bool seen = visible[static_cast<std::size_t>(key)];
        future = future || (seen && key > row);
        if (!seen && !std::isinf(scores.at(head, row, key))) {
          ADD_FAILURE() << "masked cell " << head << ", " << row << ", " << key << " has a score";
          return future;
        }
      }
    }
  return future;
}

/// Expects the Setup's config, and a causal snapshot exactly if no query of the batch sees a later key.
void expectConfig(const Snapshot& snapshot, bool future) {
  attention::AttentionConfig expected = configOf(snapshot.setup);
  EXPECT_EQ(snapshot.causal, !snapshot.setup.input.cross && !future);
  if (expected.t5) expected.t5->bidirectional = !snapshot.causal;
  EXPECT_EQ(snapshot.config, expected);
}

}  // namespace

void expectConsistent(const Snapshot& snapshot) {
  EXPECT_GE(snapshot.seconds, 0);
  if (snapshot.error) {
    EXPECT_TRUE(snapshot.sequences.empty());
    EXPECT_FALSE(snapshot.error->message.empty());
    EXPECT_EQ(snapshot.error->message.find('\n'), std::string::npos);
    return;
  }
  EXPECT_EQ(snapshot.sequences.empty(), snapshot.empty);
  EXPECT_EQ(snapshot.bytes == 0, snapshot.empty);
  bool future = false;
  for (const SequenceSnapshot& sequence : snapshot.sequences) {
    expectShapes(snapshot, sequence);
    expectRows(snapshot, sequence.attention);
    expectOther(snapshot, sequence);
    if (sequence.other) expectRows(snapshot, sequence.other->attention);
    future = expectMasked(snapshot, sequence) || future;
    EXPECT_EQ(sequence.queries.size(), snapshot.sequences.front().queries.size())
        << "not padded to one length";
    EXPECT_EQ(sequence.keys.size(), snapshot.sequences.front().keys.size());
  }
  if (!snapshot.empty) expectConfig(snapshot, future);
}

float scoreTolerance(const Snapshot& snapshot) {
  float most = 0;
  for (const SequenceSnapshot& sequence : snapshot.sequences) {
    const AttentionResult& result = sequence.attention;
    float q = 0, k = 0;
    for (Index head = 0; head < result.q.count(); ++head)
      q = std::max(q, result.q[head].rowwise().norm().maxCoeff());
    for (Index head = 0; head < result.k.count(); ++head)
      k = std::max(k, result.k[head].rowwise().norm().maxCoeff());
    most = std::max(most, q * k);
  }
  const auto terms = static_cast<float>(2 * snapshot.config.modelDim + snapshot.config.headDim);
  return terms * FLT_EPSILON * most * std::abs(snapshot.config.effectiveScale() * snapshot.config.sharpness);
}

float weightTolerance(const Snapshot& snapshot) {
  return 2 * scoreTolerance(snapshot) + 4 * FLT_EPSILON;
}

float outputTolerance(const Snapshot& snapshot) {
  float most = 0;
  Index keys = 0;
  for (const SequenceSnapshot& sequence : snapshot.sequences) {
    keys = std::max(keys, sequence.attention.v.rows());
    for (Index head = 0; head < sequence.attention.v.count(); ++head)
      most = std::max(most, sequence.attention.v[head].cwiseAbs().maxCoeff());
  }
  const auto terms = static_cast<float>(keys + snapshot.config.modelDim);
  return most * (static_cast<float>(keys) * weightTolerance(snapshot) + terms * FLT_EPSILON);
}

namespace {

bool sameBits(const float* a, const float* b, Index count) {
  return count == 0 || std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(float)) == 0;
}

}  // namespace

bool sameBits(const Stack& a, const Stack& b) {
  return a.count() == b.count() && a.rows() == b.rows() && a.cols() == b.cols() &&
         sameBits(a.data(), b.data(), a.size());
}

bool sameBits(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && sameBits(a.data(), b.data(), a.size());
}

bool sameBits(const AttentionResult& a, const AttentionResult& b) {
  return sameBits(a.q, b.q) && sameBits(a.k, b.k) && sameBits(a.v, b.v) && sameBits(a.scores, b.scores) &&
         sameBits(a.weights, b.weights) && sameBits(a.lse, b.lse) && sameBits(a.headOutput, b.headOutput) &&
         sameBits(a.output, b.output);
}

}  // namespace headscope::test
