#include "attention/core/projections.h"

#include <fmt/core.h>

#include <cmath>

#include "attention/core/random.h"

namespace headscope::attention {
kernels::Columns<float> intoRows(Matrix& y) {
  return {y.data(), asSize(y.cols()), asSize(y.cols()), 0};
}

kernels::Columns<float> intoHeads(Stack& y, Index firstHead) {
  return {y.data() + firstHead * y.rows() * y.cols(), asSize(y.cols()), asSize(y.cols()),
          asSize(y.rows() * y.cols())};
}

bool applyMaps(const Eigen::Ref<const Matrix>& x, std::span<const LinearMap> maps,
               const std::stop_token& stop) {
  return kernels::applyMaps(kernels::sharedPool(), asSize(x.rows()), asSize(x.cols()),
                            {x.data(), asSize(x.outerStride()), asSize(x.cols()), 0}, maps, stop);
}

bool applyMaps(const Stack& heads, std::span<const LinearMap> maps, const std::stop_token& stop) {
  const std::size_t rows = asSize(heads.rows()), headDim = asSize(heads.cols());
  return kernels::applyMaps(kernels::sharedPool(), rows, headDim * asSize(heads.count()),
                            {heads.data(), headDim, headDim, headDim * rows}, maps, stop);
}

std::vector<RowRange> rowsOf(FusedPart part, FusedRows fused, Index heads, Index kvHeads, Index headDim) {
  const Index queries = heads * headDim, keys = kvHeads * headDim;
  if (fused == FusedRows::thirds) {
    if (part == FusedPart::q) return {{0, queries}};
    return {{part == FusedPart::k ? queries : queries + keys, keys}};
  }
  if (fused == FusedRows::quarters) {
    const Index quarter = queries / 4;
    const Index place = part == FusedPart::q ? 0 : part == FusedPart::v ? 1 : 2;
    std::vector<RowRange> rows;
    for (Index i = 0; i < 4; ++i) rows.push_back({(3 * i + place) * quarter, quarter});
    return rows;
  }
  const Index share = heads / kvHeads, before = part == FusedPart::q ? 0 : share + (part == FusedPart::v);
  std::vector<RowRange> rows;
  for (Index group = 0; group < kvHeads; ++group)
    rows.push_back({(group * (share + 2) + before) * headDim, (part == FusedPart::q ? share : 1) * headDim});
  return rows;
}

namespace {

Linear xavier(Index out, Index in, bool bias, std::uint64_t seed) {
  Linear linear;
  linear.weight.resize(out, in);
  const auto fill = [](auto& values, double limit, std::uint64_t stream) {
    Random random(stream);
    for (Index i = 0; i < values.size(); ++i)
      values.data()[i] = static_cast<float>((2 * random.uniform() - 1) * limit);
  };
  fill(linear.weight, std::sqrt(6.0 / static_cast<double>(in + out)), mixSeed(seed, 0));
  if (bias) {
    // A separate stream, so that switching biases on doesn't change the weights.
    linear.bias.resize(out);
    fill(linear.bias, 1 / std::sqrt(static_cast<double>(in)), mixSeed(seed, 1));
  }
  return linear;
}

void requireLinearShape(const Linear& linear, const char* name, Index out, Index in) {
  require(linear.weight.rows() == out && linear.weight.cols() == in,
          std::string(name) + " projection is " + shapeText(linear.weight.rows(), linear.weight.cols()) +
              ", expected " + shapeText(out, in));
  require(linear.bias.size() == 0 || linear.bias.size() == out,
          fmt::format("{} bias is [{}], expected [{}]", name, linear.bias.size(), out));
}

}  // namespace

void requireInput(const Linear& linear, const Eigen::Ref<const Matrix>& x) {
  require(x.cols() == linear.weight.cols(),
          fmt::format("input is {}, expected [rows, {}] for a weight of {}", shapeText(x.rows(), x.cols()),
                      linear.weight.cols(), shapeText(linear.weight.rows(), linear.weight.cols())));
}

Matrix Linear::apply(const Eigen::Ref<const Matrix>& x, std::stop_token stop) const {
  requireInput(*this, x);
  Matrix y(x.rows(), weight.rows());
  const LinearMap map{weight.data(), bias.size() ? bias.data() : nullptr,
                      static_cast<std::size_t>(weight.rows()), intoRows(y)};
  applyMaps(x, {&map, 1}, stop);
  return y;
}

Projections xavierProjections(const AttentionConfig& config, bool bias, std::uint64_t seed) {
  const Index query = config.heads * config.headDim, key = config.kvHeads * config.headDim;
  return {xavier(query, config.modelDim, bias, mixSeed(seed, 0)),
          xavier(key, config.modelDim, bias, mixSeed(seed, 1)),
          xavier(key, config.modelDim, bias, mixSeed(seed, 2)),
          xavier(config.modelDim, query, bias, mixSeed(seed, 3))};
}

void requireProjectionShapes(const AttentionConfig& config, const Projections& projections) {
  const Index query = config.heads * config.headDim, key = config.kvHeads * config.headDim;
  requireLinearShape(projections.q, "q", query, config.modelDim);
  requireLinearShape(projections.k, "k", key, config.modelDim);
  requireLinearShape(projections.v, "v", key, config.modelDim);
  requireLinearShape(projections.o, "o", config.modelDim, query);
}

namespace {
constexpr float kNormalDeviation = 0.02f;
}  // namespace

Projections normalProjections(const AttentionConfig& config, bool bias, std::uint64_t seed, float gain) {
  Projections maps = xavierProjections(config, bias, seed);
  std::uint64_t stream = 4;  // after the streams of xavierProjections()
  for (Linear* map : {&maps.q, &maps.k, &maps.v, &maps.o}) {
    Random random(mixSeed(seed, stream++));
    for (Index i = 0; i < map->weight.size(); ++i)
      map->weight.data()[i] = kNormalDeviation * gain * random.gaussian();
  }
  return maps;
}

Projections scaledXavier(const AttentionConfig& config, bool bias, std::uint64_t seed, float gain) {
  Projections maps = xavierProjections(config, bias, seed);
  for (Linear* map : {&maps.q, &maps.k, &maps.v, &maps.o}) map->weight *= gain;
  return maps;
}

}  // namespace headscope::attention
