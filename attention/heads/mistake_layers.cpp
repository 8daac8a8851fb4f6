#include <array>
#include <cmath>

#include "attention/core/attention.h"
#include "attention/core/decompositions.h"
#include "attention/core/projections.h"
#include "attention/core/random.h"
#include "attention/heads/mistakes.h"

namespace headscope::attention {

// Random layers that show mistakes, and the effect of the head size on many of them.

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

namespace {

using enum Mistake;

constexpr std::array<MistakeInfo, 13> kMistakes{{
    {noScale, "no_scale", "Scale", "No ÷√dₖ", "one key takes every row",
     "A dot product over dₖ dimensions spreads like √dₖ. Unscaled, softmax puts the whole row on the largest "
     "score and passes almost no gradient back.",
     "A dot product spreads like √dₖ; unscaled, softmax puts the whole row on one score.", "softmax(Q·Kᵀ)",
     "softmax(Q·Kᵀ ÷ √dₖ)", "scores = q @ k.transpose(-2, -1)", "/ math.sqrt(d_k)", ""},
    {modelScale, "model_scale", "Scale", "√d for √dₖ", "rows too uniform",
     "Each head adds up dₖ products, not d, the model dim. Dividing by √d makes the scores too small, and "
     "the "
     "rows too uniform.",
     "Each head adds up dₖ products, not d: ÷√d makes scores too small, and rows too uniform.",
     "softmax(Q·Kᵀ ÷ √d)", "softmax(Q·Kᵀ ÷ √dₖ)", "scores = q @ k.transpose(-2, -1) / math.sqrt(",
     "q.size(-1)", ")"},
    {wrongAxis, "wrong_axis", "Softmax", "Over the wrong axis", "columns sum to 1, rows don’t",
     "A query divides 1 among the keys it sees, so softmax runs along the last axis. Along the other axis, "
     "queries compete for each key.",
     "A query divides 1 among its keys; along the other axis, queries compete for each key.",
     "softmax over queries", "softmax over keys", "weights = scores.softmax(", "dim=-1", ")"},
    {noMaximum, "no_maximum", "Softmax", "Without its maximum", "∞ ÷ ∞: NaN at large scores",
     "e⁸⁹ overflows a float. Subtracting the row’s largest score first makes the largest power e⁰ = 1 and "
     "leaves the weights unchanged.",
     "e⁸⁹ overflows a float; minus the row’s largest score, no power is above e⁰ = 1.", "e^s ÷ Σ e^s",
     "e^{s − max} ÷ Σ e^{s − max}", "weights = (scores ", "- scores.amax(-1, keepdim=True)",
     ").exp(); weights /= weights.sum(-1, keepdim=True)"},
    {upperTriangle, "upper_triangle", "Mask", "Upper for lower triangle", "queries read only the future",
     "The mask must hide the upper triangle without the diagonal. Flipped, every token reads what comes "
     "after it, and the last token reads only itself.",
     "The mask must hide the upper triangle; flipped, every token reads what comes after it.",
     "visible where key ≥ query", "visible where key ≤ query", "visible = torch.", "tril",
     "(torch.ones(n, n, dtype=torch.bool))"},
    {maskAfter, "mask_after", "Mask", "After softmax", "rows sum to less than 1",
     "Hidden keys already took part in the softmax. Setting their weights to 0 afterwards leaves rows that "
     "don’t sum to 1.",
     "Hidden keys took part in the softmax; set to 0 afterwards, rows don’t sum to 1.", "softmax(S) · mask",
     "softmax(S + mask)", "weights = scores", ".masked_fill(~visible, -math.inf)", ".softmax(-1)"},
    {maskAfterRenormalised, "mask_after_renormalised", "Mask", "After softmax, renormalised",
     "right, until a row is 0 ÷ 0",
     "Equal in exact arithmetic. In floats, a hidden key with a large score takes all the weight, visible "
     "weights round to 0, and the row is divided by 0.",
     "A hidden key takes all the weight, visible weights round to 0, and 0 ÷ 0 is NaN.",
     "softmax(S) · mask ÷ Σ", "softmax(S + mask)", "weights = scores", ".masked_fill(~visible, -math.inf)",
     ".softmax(-1)"},
    {paddingSeen, "padding_seen", "Mask", "Padding not masked", "weight on [pad]",
     "Padding fills a batch up to its longest line and means nothing. Without a padding mask it is read like "
     "any token.",
     "Padding means nothing; without a padding mask it is read like any token.", "visible = causal",
     "visible = causal and not padding", "visible = causal", " & ~padding[:, None, None, :]", ""},
    {halfInfinity, "half_infinity", "Mask", "−1e9 in half precision", "becomes −∞; an empty row is NaN",
     "The most negative finite half is −65,504, so −1e9 becomes −∞. A row that sees no key, as with left "
     "padding, is then −∞ minus −∞.",
     "In half precision −1e9 becomes −∞, and a row that sees no key is −∞ minus −∞.", "S.half() + (−1e9)",
     "S.half() + finfo.min", "scores = scores.masked_fill(~visible, ", "torch.finfo(scores.dtype).min", ")"},
    {viewWithoutTranspose, "view_without_transpose", "Shape", "View without transpose", "heads mix tokens",
     "view cuts numbers in memory order. A head’s rows are then pieces of one token after another instead of "
     "one piece of each token.",
     "view cuts numbers in memory order: a head’s rows are pieces of one token after another.",
     "q.view(heads, n, dₖ)", "q.view(n, heads, dₖ) transposed", "q = q.view(b, n, heads, d_k)",
     ".transpose(1, 2)", ""},
    {kvTiled, "kv_tiled", "Shape", "KV heads tiled", "wrong KV head for many",
     "Query head h reads kv head ⌊h ÷ group⌋: each kv head is repeated in place. Tiled, h reads h mod "
     "kvHeads, "
     "another head’s keys.",
     "Query head h reads KV head ⌊h ÷ group⌋; tiled, it reads h mod kvHeads.", "K of KV h mod kvHeads",
     "K of KV ⌊h ÷ group⌋", "k = k.", "repeat_interleave", "(groups, dim=1)"},
    {keyNotTransposed, "key_not_transposed", "Shape", "K not transposed", "shapes that cannot multiply",
     "A product needs equal inner sizes: q is n × dₖ, so k must be transposed to dₖ × n. If n happens to "
     "equal dₖ, there is no error.",
     "A product needs equal inner sizes: k must be transposed to dₖ × n.", "Q·K", "Q·Kᵀ", "scores = q @ k",
     ".transpose(-2, -1)", ""},
    {notDivisible, "not_divisible", "Shape", "Dim not divisible by heads", "remainder without a head",
     "Heads split the model dim evenly. The remainder belongs to no head, and view fails.",
     "Heads split the model dim evenly: the remainder belongs to no head.", "250 ÷ 8 = 31.25", "256 ÷ 8 = 32",
     "assert ", "d_model % heads == 0", ""},
}};

}  // namespace

std::span<const MistakeInfo> mistakes() {
  return kMistakes;
}

}  // namespace headscope::attention
