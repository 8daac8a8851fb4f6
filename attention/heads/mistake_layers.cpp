// Random layers that show mistakes, and the effect of the head size on many of them.

#include <algorithm>
#include <cmath>

#include "attention/core/attention.h"
#include "attention/core/decompositions.h"
#include "attention/core/products.h"
#include "attention/core/projections.h"
#include "attention/core/random.h"
#include "attention/heads/mistakes.h"

namespace headscope::attention {

namespace {

/// Returns one head of a random layer as wide as the demonstration's, without drawing its full maps. The
/// tokens X = Rᵀ·Qᵀ span k ≤ n dimensions. A normal map W stays normal along an orthonormal Q, so X·W is Rᵀ·G
/// with a normal G [k, headDim]. W has Xavier's variance, 2 ÷ (in + out) = 1 ÷ modelDim.
MistakeInput randomHead(Mistake mistake, Index tokens, Index headDim, std::uint64_t seed) {
  MistakeInput input;
  input.modelDim = mistake == Mistake::noScale ? headDim : 8 * headDim;
  Random random(mixSeed(seed, 1));
  const auto draw = [&random] { return random.gaussian(); };
  const Index spanned = std::min(tokens, input.modelDim);
  const Matrix drawn = Matrix::NullaryExpr(input.modelDim, tokens, draw);
  const Matrix span = triangularFactor(drawn.cast<double>()).cast<float>();
  for (Stack* made : {&input.q, &input.k}) {
    const Matrix map = Matrix::NullaryExpr(spanned, headDim, draw);
    *made = splitHeads(product(span.transpose(), map) / std::sqrt(static_cast<float>(input.modelDim)), 1);
  }
  input.scale = 1 / std::sqrt(static_cast<float>(headDim));
  input.visible = Matrix::Ones(tokens, tokens).triangularView<Eigen::Lower>();
  return input;
}

}  // namespace

MistakeInput demonstration(Mistake mistake, Index tokens, Index headDim, std::uint64_t seed) {
  const bool scales = mistake == Mistake::noScale || mistake == Mistake::modelScale;
  AttentionConfig config;
  config.heads = mistake == Mistake::noScale ? 1 : 8;
  config.kvHeads = scales ? config.heads : 2;
  config.headDim = scales ? headDim : 32;
  config.modelDim = config.heads * config.headDim;
  const Projections maps = xavierProjections(config, false, seed);
  Random random(mixSeed(seed, 1));
  Matrix x(tokens, config.modelDim);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = random.gaussian();
  MistakeInput input;
  input.q = splitHeads(maps.q.apply(x), config.heads);
  input.k = splitHeads(maps.k.apply(x), config.kvHeads);
  input.modelDim = config.modelDim;
  input.scale = 1 / std::sqrt(static_cast<float>(config.headDim));
  // Large queries for mistakes that need large scores.
  if (mistake == Mistake::noMaximum || mistake == Mistake::maskAfterRenormalised)
    for (Index i = 0; i < input.q.size(); ++i) input.q.data()[i] *= 128;
  input.visible = Matrix::Ones(tokens, tokens).triangularView<Eigen::Lower>();
  if (mistake == Mistake::paddingSeen) {
    input.paddedFrom = tokens - tokens / 3;
    input.visible.rightCols(tokens - input.paddedFrom).setZero();
  }
  if (mistake == Mistake::halfInfinity) {
    input.paddedUpTo = tokens / 4;
    input.visible.leftCols(input.paddedUpTo).setZero();
  }
  if (mistake == Mistake::kvTiled) input.head = 1;
  return input;
}

std::vector<SaturationPoint> saturation(Mistake mistake, std::span<const Index> headDims, Index tokens,
                                        Index layers, std::stop_token stop) {
  std::vector<SaturationPoint> points;
  for (const Index dim : headDims) {
    SaturationPoint point{dim};
    for (Index layer = 0; layer < layers && !stop.stop_requested(); ++layer) {
      const MistakeInput input = randomHead(mistake, tokens, dim, static_cast<std::uint64_t>(layer) + 1);
      const MistakeResult result = makeMistake(mistake, input);
      const auto share = 1 / static_cast<double>(layers);
      point.wrongLargest += share * meanLargestWeight(result.wrongWeights, input.visible);
      point.rightLargest += share * meanLargestWeight(result.rightWeights, input.visible);
      point.wrongEntropy += share * meanEntropy(result.wrongWeights, input.visible);
      point.rightEntropy += share * meanEntropy(result.rightWeights, input.visible);
    }
    points.push_back(point);
  }
  return points;
}

}  // namespace headscope::attention
