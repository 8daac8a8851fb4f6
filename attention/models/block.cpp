#include "attention/models/block.h"

#include <algorithm>

#include "attention/core/head_switch.h"
#include "attention/models/layer_math.h"

namespace headscope::attention {

AttentionResult Block::run(Matrix& x, KvCache& cache) const {
  AttentionResult result;
  const LayerWeights& w = weights;
  const auto attended = [&] {
    if (between) *between = x;
  };
  switch (config.order) {
    case BlockOrder::before:
      x += attend(norm(x, w.attentionNorm), cache, result);
      attended();
      if (config.innerDim > 0) x += mlp(norm(x, w.mlpNorm));
      break;
    case BlockOrder::parallel: {
      const Matrix mlpInput = norm(x, w.mlpNorm);
      x += attend(norm(x, w.attentionNorm), cache, result);
      attended();
      x += mlp(mlpInput);
      break;
    }
    case BlockOrder::after:
      x = norm(x + attend(x, cache, result), w.attentionNorm);
      attended();
      x = norm(x + mlp(x), w.mlpNorm);
      break;
    case BlockOrder::around:
      x += norm(attend(norm(x, w.attentionNorm), cache, result), w.afterAttentionNorm);
      attended();
      x += norm(mlp(norm(x, w.mlpNorm)), w.afterMlpNorm);
      break;
  }
  return result;
}

Matrix Block::attend(const Matrix& x, KvCache& cache, AttentionResult& result) const {
  const Index n = x.rows();
  Stack q = Stack::uninitialized(config.heads, n, config.headDim);
  Stack k = Stack::uninitialized(config.kvHeads, n, config.headDim);
  Stack v = Stack::uninitialized(config.kvHeads, n, config.headDim);
  std::vector<LinearMap> maps;
  weights.q.mapsInto(q, maps);
  weights.k.mapsInto(k, maps);
  weights.v.mapsInto(v, maps);
  Matrix y = Matrix::Zero(n, config.modelDim);
  if (!applyMaps(x, maps, stop)) return y;

  if (config.qkNorm) {
    normHeads(q, weights.qNorm, config.norm, config.epsilon);
    normHeads(k, weights.kNorm, config.norm, config.epsilon);
  }
  if (rotation) {
    rotateHeads(q, *rotation);
    rotateHeads(k, *rotation);
  }
  result = cache.appendHeads(attention.config, std::move(q), k, v, attention.mask, stop, keep);
  result.k = std::move(k);
  result.v = std::move(v);
  if (stop.stop_requested()) return y;

  switchHeads(result.headOutput, {attention.headScale, attention.meanHeads}, std::min(n, attention.unpadded));
  maps.clear();
  weights.o.mapsInto(y, maps);
  applyMaps(result.headOutput, maps, stop);
  return y;
}

Matrix Block::mlp(const Matrix& x) const {
  Matrix up(x.rows(), config.innerDim), gate;
  std::vector<LinearMap> maps;
  weights.up.mapsInto(up, maps);
  if (config.gated) {
    gate.resize(x.rows(), config.innerDim);
    weights.gate.mapsInto(gate, maps);
  }
  if (!applyMaps(x, maps, stop)) return Matrix::Zero(x.rows(), config.modelDim);
  if (config.gated)
    activateGated(gate, up, config.activation);
  else
    activate(up, config.activation);
  return weights.down.apply(up, stop);
}

Matrix Block::norm(const Matrix& x, const NormWeights& weights) const {
  return normRows(x, weights, config.norm, config.epsilon);
}

}  // namespace headscope::attention
