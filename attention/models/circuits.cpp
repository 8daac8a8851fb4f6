#include <fmt/core.h>

#include <cmath>

#include "attention/models/block.h"
#include "attention/models/value_biases.h"

namespace headscope::attention {

void readThrough(Matrix& rows, const NormWeights& norm, NormKind kind) {
  if (norm.weight.size() == 0) return;
  rows.array().rowwise() *= norm.weight.transpose().array();
  if (kind == NormKind::layer) rows.colwise() -= rows.rowwise().mean().eval();
}

namespace {

/// ‖A·M·B‖²_F from AᵀA and B·Bᵀ: the trace of the small matrix Mᵀ·(AᵀA)·M·(B·Bᵀ).
double squaredNorm(const Matrix& aGram, const Matrix& middle, const Matrix& bGram) {
  const Matrix left = middle.transpose() * aGram * middle;
  return std::max(0.0, left.cast<double>().cwiseProduct(bGram.cast<double>()).sum());
}

double squaredNorm(const Matrix& aGram, const Matrix& bGram) {
  return std::max(0.0, aGram.cast<double>().cwiseProduct(bGram.cast<double>()).sum());
}

double overBaseline(double product, double first, double second, Index modelDim) {
  const double norms = std::sqrt(first * second);
  return norms > 0 ? std::sqrt(product) / norms - 1 / std::sqrt(static_cast<double>(modelDim)) : 0;
}

}  // namespace

Reads readsOf(const HeadPlace& earlier, const HeadPlace& later) {
  if (earlier.group == HeadGroup::encoder && later.group != HeadGroup::encoder)
    return {false, later.group == HeadGroup::cross};
  if (later.group == HeadGroup::encoder && earlier.group != HeadGroup::encoder) return {};
  const bool before =
      earlier.layer < later.layer || (earlier.layer == later.layer && earlier.group == HeadGroup::decoder &&
                                      later.group == HeadGroup::cross);
  return {before, before && later.group != HeadGroup::cross};
}

HeadCircuits headCircuits(const Model& model, const HeadPlace& place) {
  const ModelConfig& shown = model.config();
  if (place.group == HeadGroup::encoder && shown.group != HeadGroup::encoder && model.source())
    return headCircuits(*model.source(), place);
  const ModelConfig config = place.group == shown.group ? shown : shown.withOtherHeads();
  const auto [group, layer, head] = place;
  if (group != config.group || layer < 0 || layer >= config.layerCount() || head < 0 || head >= config.heads)
    throw std::invalid_argument("head " + std::to_string(layer) + "." + std::to_string(head) + " of " +
                                std::to_string(config.layerCount()) + " layers of " +
                                std::to_string(config.heads) + " heads");
  const LayerWeights& weights = model.weights().layers[asSize(layer)];
  const AttentionWeights& own = group == shown.group ? weights : *weights.other;
  const NormWeights& norm = own.attentionNorm;
  const Index size = config.headDim, kv = head * config.kvHeads / config.heads;
  HeadCircuits maps;
  maps.q = weightRows(own.q, head * size, size);
  maps.k = weightRows(own.k, kv * size, size);
  maps.v = weightRows(own.v, kv * size, size);
  maps.o = weightColumns(own.o, head * size, size);
  // Queries and keys may have another norm, whose gain has headDim entries or covers all heads together.
  const auto gain = [&](Matrix& rows, const NormWeights& of, Index at) {
    if (of.weight.size() == 0) return;
    // Of all heads together, only RMSNorm is used, which doesn't subtract a mean.
    if (config.norm == NormKind::layer) rows.rowwise() -= rows.colwise().mean().eval();
    const Index first = of.weight.size() == size ? 0 : at * size;
    rows.array().colwise() *= of.weight.segment(first, size).array();
  };
  gain(maps.q, weights.qNorm, head);
  gain(maps.k, weights.kNorm, kv);
  if (config.order != BlockOrder::after) {
    readThrough(maps.q, norm, config.norm);
    const Model* const source = config.cross() ? model.source().get() : &model;
    const NormWeights* const keys = !config.cross()                         ? &norm
                                    : source && source->weights().finalNorm ? &*source->weights().finalNorm
                                                                            : nullptr;
    for (Matrix* const rows : {&maps.k, &maps.v})
      if (keys) readThrough(*rows, *keys, config.norm);
  }
  if (config.order == BlockOrder::around && weights.afterAttentionNorm.weight.size() > 0)
    maps.o.array().colwise() *= weights.afterAttentionNorm.weight.array();
  if (weights.attentionScale.size() > 0) maps.o.array().colwise() *= weights.attentionScale.array();
  maps.qGram = maps.q * maps.q.transpose();
  maps.kGram = maps.k * maps.k.transpose();
  maps.vGram = maps.v * maps.v.transpose();
  maps.oGram = maps.o.transpose() * maps.o;
  return maps;
}

Composition composition(const HeadCircuits& earlier, const HeadCircuits& later, Reads reads) {
  constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
  const Index modelDim = earlier.o.rows();
  const double ov = squaredNorm(earlier.oGram, earlier.vGram);
  const double qk = squaredNorm(later.qGram, later.kGram);
  Composition all{kUndefined, kUndefined, kUndefined};
  if (reads.queries) {
    const Matrix q = later.q * earlier.o;
    all.q = overBaseline(squaredNorm(later.kGram, q, earlier.vGram), ov, qk, modelDim);
  }
  if (!reads.keysAndValues) return all;
  const Matrix k = later.k * earlier.o, v = later.v * earlier.o;
  all.k = overBaseline(squaredNorm(later.qGram, k, earlier.vGram), ov, qk, modelDim);
  all.v = overBaseline(squaredNorm(later.oGram, v, earlier.vGram), ov, squaredNorm(later.oGram, later.vGram),
                       modelDim);
  return all;
}

}  // namespace headscope::attention
