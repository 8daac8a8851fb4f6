#include "attention/models/composition.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "attention/models/weight_slices.h"

namespace headscope::attention {
namespace {

/// Rows that read the normed stream, as rows that read the stream: its scale apart.
void readThrough(Matrix& rows, const NormWeights& norm, NormKind kind) {
  if (norm.weight.size() == 0) return;
  rows.array().rowwise() *= norm.weight.transpose().array();
  if (kind == NormKind::layer) rows.colwise() -= rows.rowwise().mean().eval();
}

/// ‖A·M·B‖²_F from AᵀA and B·Bᵀ: the trace of Mᵀ·(AᵀA)·M·(B·Bᵀ), which is small.
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

HeadCircuits headCircuits(const Model& model, Index layer, Index head) {
  const ModelConfig& config = model.config();
  if (layer < 0 || layer >= config.layerCount() || head < 0 || head >= config.heads)
    throw std::invalid_argument("head " + std::to_string(layer) + "." + std::to_string(head) + " of " +
                                std::to_string(config.layerCount()) + " layers of " +
                                std::to_string(config.heads) + " heads");
  const LayerWeights& weights = model.weights().layers[asSize(layer)];
  const Index size = config.headDim, kv = head * config.kvHeads / config.heads;
  HeadCircuits maps;
  maps.q = weightRows(weights.q, head * size, size);
  maps.k = weightRows(weights.k, kv * size, size);
  maps.v = weightRows(weights.v, kv * size, size);
  maps.o = weightColumns(weights.o, head * size, size);
  // Each head's queries and keys are normed once more: that gain is of headDim, or of all heads together.
  const auto gain = [&](Matrix& rows, const NormWeights& norm, Index at) {
    const Index first = config.wholeQkNorm ? at * size : 0;
    if (norm.weight.size() > 0) rows.array().colwise() *= norm.weight.segment(first, size).array();
  };
  gain(maps.q, weights.qNorm, head);
  gain(maps.k, weights.kNorm, kv);
  if (config.order != BlockOrder::after)
    for (Matrix* const rows : {&maps.q, &maps.k, &maps.v})
      readThrough(*rows, weights.attentionNorm, config.norm);
  if (config.order == BlockOrder::around && weights.afterAttentionNorm.weight.size() > 0)
    maps.o.array().colwise() *= weights.afterAttentionNorm.weight.array();
  if (weights.attentionScale.size() > 0) maps.o.array().colwise() *= weights.attentionScale.array();
  maps.qGram = maps.q * maps.q.transpose();
  maps.kGram = maps.k * maps.k.transpose();
  maps.vGram = maps.v * maps.v.transpose();
  maps.oGram = maps.o.transpose() * maps.o;
  return maps;
}

Composition composition(const HeadCircuits& earlier, const HeadCircuits& later) {
  const Index modelDim = earlier.o.rows();
  const double ov = squaredNorm(earlier.oGram, earlier.vGram);
  const Matrix q = later.q * earlier.o, k = later.k * earlier.o, v = later.v * earlier.o;
  Composition all;
  const double qk = squaredNorm(later.qGram, later.kGram);
  all.q = overBaseline(squaredNorm(later.kGram, q, earlier.vGram), ov, qk, modelDim);
  all.k = overBaseline(squaredNorm(later.qGram, k, earlier.vGram), ov, qk, modelDim);
  all.v = overBaseline(squaredNorm(later.oGram, v, earlier.vGram), ov, squaredNorm(later.oGram, later.vGram),
                       modelDim);
  return all;
}

}  // namespace headscope::attention
