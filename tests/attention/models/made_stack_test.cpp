// Layers built in memory, run by the code that runs models.

#include <gtest/gtest.h>

#include <cmath>

#include "attention/core/attention.h"
#include "attention/core/projections.h"
#include "attention/core/random.h"
#include "attention/heads/detectors.h"
#include "attention/heads/planted.h"
#include "attention/models/session.h"
#include "tests/attention/models/plain/plain_model.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

struct MadeStack {
  std::vector<Projections> layers;
  Matrix x;
  NormWeights norm;  ///< empty = none
};

std::shared_ptr<const Model> modelOf(const AttentionConfig& sizes, const std::shared_ptr<MadeStack>& made,
                                     std::optional<double> theta = {}) {
  ModelConfig config;
  config.modelDim = sizes.modelDim;
  config.heads = sizes.heads;
  config.kvHeads = sizes.kvHeads;
  config.headDim = sizes.headDim;
  config.norm = NormKind::rms;
  config.causal = false;  // the edits define what is visible
  if (theta) {
    Rotation& rotation = config.rotations.emplace_back();
    rotation.dims = sizes.headDim;
    rotation.frequencies = ropeFrequencies(sizes.headDim, *theta);
  }
  LayerKind kind;
  kind.scale = *sizes.scale;
  if (theta) kind.rotation = 0;
  config.layers.assign(made->layers.size(), kind);
  ModelWeights weights;
  weights.embedding = MappedRows::of(made->x);
  for (const Projections& layer : made->layers) {
    LayerWeights& mapped = weights.layers.emplace_back();
    mapped.q = MappedLinear::of(layer.q);
    mapped.k = MappedLinear::of(layer.k);
    mapped.v = MappedLinear::of(layer.v);
    mapped.o = MappedLinear::of(layer.o);
    mapped.attentionNorm = made->norm;
  }
  return std::make_shared<const Model>(Model::made(config, std::move(weights), made));
}

AttentionConfig sizesOf(Index modelDim, Index heads, Index kvHeads, Index headDim) {
  AttentionConfig sizes;
  sizes.modelDim = modelDim;
  sizes.heads = heads;
  sizes.kvHeads = kvHeads;
  sizes.headDim = headDim;
  sizes.scale = 1 / std::sqrt(static_cast<float>(headDim));
  return sizes;
}

std::shared_ptr<MadeStack> randomStack(const AttentionConfig& sizes, Index layers, Index tokens, bool norm) {
  auto made = std::make_shared<MadeStack>();
  for (Index i = 0; i < layers; ++i)
    made->layers.push_back(xavierProjections(sizes, true, static_cast<std::uint64_t>(11 + i)));
  Random random(4);
  made->x.resize(tokens, sizes.modelDim);
  for (Index i = 0; i < made->x.size(); ++i) made->x.data()[i] = random.gaussian();
  if (norm) {
    made->norm.weight.resize(sizes.modelDim);
    for (Index d = 0; d < sizes.modelDim; ++d) made->norm.weight[d] = 0.5f + 0.01f * static_cast<float>(d);
  }
  return made;
}

std::vector<Index> places(Index n) {
  std::vector<Index> ids;
  for (Index i = 0; i < n; ++i) ids.push_back(i);
  return ids;
}

PassRequest allOfAStack() {
  PassRequest request;
  request.projections = request.hidden = true;
  AttentionEdit causal;
  causal.mask = parseMask("causal").layers;
  request.edits = {causal};
  return request;
}

/// The same by the equations, in double precision: x += Σ_h softmax(q·k/√d)·v·W_O of norm(x), layer by layer.
Wide plainStack(const AttentionConfig& sizes, const MadeStack& made) {
  const auto map = [](const Linear& linear, const Wide& x) {
    const Wide y = times(x, linear.weight.cast<double>());
    return linear.bias.size() > 0 ? plus(y, linear.bias.cast<double>().transpose()) : y;
  };
  const PlainAttention how{sizes.heads, sizes.kvHeads, 1 / std::sqrt(static_cast<double>(sizes.headDim))};
  Wide x = made.x.cast<double>();
  for (const Projections& layer : made.layers) {
    Wide in = x;
    if (made.norm.weight.size() > 0) in = rmsNorm(x, made.norm.weight.cast<double>().transpose(), 1e-5);
    std::vector<Wide> weights;
    x += map(layer.o, attend(how, map(layer.q, in), map(layer.k, in), map(layer.v, in), weights));
  }
  return x;
}

TEST(MadeStack, MatchesPlainLoopsWithAndWithoutNorm) {
  for (const bool norm : {false, true}) {
    const AttentionConfig sizes = sizesOf(24, 4, 2, 6);
    const auto made = randomStack(sizes, 4, 9, norm);
    ModelSession session(modelOf(sizes, made));
    const auto pass = checked(session.append(places(9), allOfAStack()));
    const Wide expected = plainStack(sizes, *made);
    for (Index i = 0; i < 9; ++i)
      for (Index c = 0; c < 24; ++c)
        EXPECT_NEAR(pass->stream(i, c), expected(i, c), 2e-5 * (1 + std::abs(pass->stream(i, c))))
            << i << ", " << c << (norm ? " with norm" : "");
    EXPECT_EQ(pass->logits.size(), 0) << "it has no vocabulary to guess from";
  }
}

TEST(MadeStack, FirstLayerMatchesAttend) {
  const AttentionConfig sizes = sizesOf(32, 4, 4, 8);
  const auto made = randomStack(sizes, 3, 12, false);
  ModelSession session(modelOf(sizes, made));
  const PassRequest request = allOfAStack();
  const auto pass = session.append(places(12), request);
  ASSERT_TRUE(pass);
  MaskGeometry geometry;
  geometry.queries = geometry.keys = geometry.keyLength = 12;
  geometry.heads = geometry.kvHeads = 4;
  const MaskInput mask{*compileMask(request.edits[0].mask, geometry), {}};
  const AttentionResult alone = attend(sizes, made->layers[0], made->x, made->x, mask);
  for (Index h = 0; h < 4; ++h)
    EXPECT_LT((pass->layers[0]->weights[h] - alone.weights[h]).cwiseAbs().maxCoeff(), 1e-6f);
  EXPECT_LT((pass->layers[0]->hidden - made->x - alone.output).cwiseAbs().maxCoeff(), 1e-5f);
}

TEST(MadeStack, DecodeMatchesFullPassWithAndWithoutRope) {
  for (const std::optional<double> theta : {std::optional<double>(), std::optional<double>(10000)}) {
    const AttentionConfig sizes = sizesOf(32, 4, 2, 8);
    const auto made = randomStack(sizes, 4, 10, true);
    const auto model = modelOf(sizes, made, theta);
    ModelSession whole(model), steps(model);
    const auto full = whole.append(places(10), allOfAStack());
    ASSERT_TRUE(full);
    for (Index i = 0; i < 10; ++i) {
      const Index id[] = {i};
      const auto step = checked(steps.append(id, allOfAStack()));
      EXPECT_LT((step->stream.row(0) - full->stream.row(i)).cwiseAbs().maxCoeff(), 2e-5f) << "token " << i;
    }
  }
}

TEST(MadeStack, PermutedTokensPermuteRowsWithoutMaskAndPositions) {
  const AttentionConfig sizes = sizesOf(16, 2, 2, 8);
  const auto made = randomStack(sizes, 3, 6, true);
  PassRequest request;
  request.hidden = true;
  ModelSession straight(modelOf(sizes, made)), turned(modelOf(sizes, made));
  const std::vector<Index> order{3, 0, 5, 1, 4, 2};
  const auto a = checked(straight.append(places(6), request)), b = checked(turned.append(order, request));
  for (Index i = 0; i < 6; ++i)
    EXPECT_LT((b->stream.row(i) - a->stream.row(order[static_cast<std::size_t>(i)])).cwiseAbs().maxCoeff(),
              2e-5f);
}

/// `count` different words, and then the same again.
std::vector<Token> repeated(Index count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Token> tokens;
  for (Index i = 0; i < count; ++i)
    tokens.push_back({"w" + std::to_string(i * 1000 + static_cast<Index>(random.uniform() * 1000)), false});
  for (Index i = 0; i < count; ++i) tokens.push_back(tokens[static_cast<std::size_t>(i)]);
  return tokens;
}

/// The profile of a layer's first head.
HeadProfile profileOf(const PassResult& pass, Index layer, const std::vector<Token>& tokens) {
  const HeadText text(tokens, tokens, false);
  const LayerResult& result = *pass.layers[static_cast<std::size_t>(layer)];
  const auto n = static_cast<Index>(tokens.size());
  Matrix scores = Matrix::Constant(n, n, -INFINITY);
  scores.triangularView<Eigen::Lower>().setZero();
  return profileHead({result.weights[0], {scores.data(), n, n}, text});
}

/// The induction score of a head of layer `layer`, if the first layer plants `below` and the second `above`.
float inductionOf(const AttentionConfig& sizes, const std::vector<PlantedHead>& below,
                  const std::vector<PlantedHead>& above, const std::vector<Token>& tokens, bool norm,
                  Index layer = 1) {
  const EmbeddingLayout layout = *plantedLayout(sizes.modelDim, sizes.headDim);
  EmbeddingOptions options;
  options.modelDim = sizes.modelDim;
  const auto n = static_cast<Index>(tokens.size());
  auto made = std::make_shared<MadeStack>();
  made->x = embedPlanted(tokens, layout, options);
  if (norm) made->norm.weight = Vector::Ones(sizes.modelDim);
  made->layers = {*plantHeads(sizes, layout, below, true, n, 1, true),
                  *plantHeads(sizes, layout, above, true, n, 2)};
  ModelSession session(modelOf(sizes, made));
  const auto pass = checked(session.append(places(n), allOfAStack()));
  return profileOf(*pass, layer, tokens)["induction"].raw;
}

const std::vector<PlantedHead> kBelow{{Behaviour::offset, 1}, {Behaviour::firstToken}, {Behaviour::offset, 0},
                                      {Behaviour::uniform},   {Behaviour::offset, 2},  {Behaviour::localBand},
                                      {Behaviour::sameToken}, {Behaviour::random}};
const std::vector<PlantedHead> kAbove{{Behaviour::induction}, {Behaviour::firstToken}, {Behaviour::uniform},
                                      {Behaviour::separator}, {Behaviour::offset, 1},  {Behaviour::offset, 0},
                                      {Behaviour::localBand}, {Behaviour::sameToken}};

TEST(PlantedInduction, FindsRepeatsThroughTwoLayers) {
  const AttentionConfig sizes = sizesOf(256, 8, 2, 32);
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u})
    for (const Index period : {8, 24, 60})
      for (const bool norm : {false, true}) {
        const float score = inductionOf(sizes, kBelow, kAbove, repeated(period, seed), norm);
        EXPECT_GT(score, 0.95f) << period << " words, seed " << seed << (norm ? ", with norm" : "");
      }
}

TEST(PlantedInduction, NeedsPreviousTokenHeadBelow) {
  const AttentionConfig sizes = sizesOf(256, 8, 2, 32);
  std::vector<PlantedHead> below = kBelow;
  below[0] = {Behaviour::uniform};
  const std::vector<Token> tokens = repeated(24, 1);
  EXPECT_LT(inductionOf(sizes, below, kAbove, tokens, false), 0.1f) << "no previous-token head below";
  EXPECT_LT(inductionOf(sizes, kAbove, kAbove, tokens, false, 0), 0.1f) << "in the first layer";
}

TEST(PlantedInduction, LeavesOtherSecondLayerHeadsAsPlanted) {
  const AttentionConfig sizes = sizesOf(256, 8, 8, 32);
  const std::vector<Token> tokens = repeated(20, 2);
  for (const PlantedHead& plant : {PlantedHead{Behaviour::offset, 1}, PlantedHead{Behaviour::offset, 0}}) {
    std::vector<PlantedHead> above = kAbove;
    above[0] = plant;
    const EmbeddingLayout layout = *plantedLayout(256, 32);
    EmbeddingOptions options;
    options.modelDim = 256;
    auto made = std::make_shared<MadeStack>();
    made->x = embedPlanted(tokens, layout, options);
    made->layers = {*plantHeads(sizes, layout, kBelow, true, 40, 1, true),
                    *plantHeads(sizes, layout, above, true, 40, 2)};
    ModelSession session(modelOf(sizes, made));
    const auto pass = session.append(places(40), allOfAStack());
    ASSERT_TRUE(pass);
    EXPECT_GT(profileOf(*pass, 1, tokens)[plant.offset == 1 ? "previous" : "self"].raw, 0.9f);
  }
}

}  // namespace
}  // namespace headscope::attention::test
