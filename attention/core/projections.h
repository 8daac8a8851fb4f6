#pragma once

#include <span>
#include <stop_token>

#include "attention/core/config.h"
#include "attention/core/tensor.h"
#include "attention/kernels/gemm.h"

namespace headscope::attention {

// Linear maps with flexible storage: weights may lie in a mapped file, in single or half precision; results
// may be row by row or head by head.

using kernels::LinearMap;
using kernels::WeightType;

/// Returns a destination for a map's outputs: the rows of y.
kernels::Columns<float> intoRows(Matrix& y);
/// Returns a destination for a map's outputs: the heads of y [heads, rows, headDim] from `firstHead` on, with
/// headDim outputs each.
kernels::Columns<float> intoHeads(Stack& y, Index firstHead = 0);

/// Computes y = x·Wᵀ + b for x [rows, in] and every map. Returns false, with the outputs undefined, once
/// `stop` is requested.
bool applyMaps(const Eigen::Ref<const Matrix>& x, std::span<const LinearMap> maps,
               const std::stop_token& stop = {});
/// The same for concatenated heads [heads, rows, headDim]: in = heads · headDim.
bool applyMaps(const Stack& heads, std::span<const LinearMap> maps, const std::stop_token& stop = {});

/// How one fused tensor stores queries, keys and values.
enum class FusedRows {
  thirds,  ///< all of q, then all of k, then all of v (GPT-2, Phi-3, torch.nn.MultiheadAttention)
  /// [kvHeads, heads/kvHeads + 2, headDim]: for one kv head after another, the queries of the heads that read
  /// it, then its k and v (GPT-NeoX, Falcon).
  heads,
  /// Four quarters of the heads, one after another, each with its queries, then values, then keys (CodeGen).
  quarters,
};
enum class FusedPart { q, k, v };

/// Outputs first … first+count−1 of a map.
struct RowRange {
  Index first = 0, count = 0;
  bool operator==(const RowRange&) const = default;
};

/// Returns the outputs of a fused map that belong to `part`, in head order, as ranges of equal size.
std::vector<RowRange> rowsOf(FusedPart part, FusedRows fused, Index heads, Index kvHeads, Index headDim);

/// A linear map y = x·Wᵀ + b, laid out like torch.nn.Linear.
struct Linear {
  Matrix weight;  ///< [out, in]
  Vector bias;    ///< [out]; empty = none

  /// Maps x [n, in] to [n, out]. Undefined once `stop` is requested. Throws like requireInput().
  Matrix apply(const Eigen::Ref<const Matrix>& x, std::stop_token stop = {}) const;
};

/// Throws std::invalid_argument, naming both shapes, unless x has the map's input width.
void requireInput(const Linear& linear, const Eigen::Ref<const Matrix>& x);

/// The four maps of an attention layer.
struct Projections {
  Linear q;  ///< [heads · headDim, modelDim]
  Linear k;  ///< [kvHeads · headDim, modelDim]
  Linear v;  ///< [kvHeads · headDim, modelDim]
  Linear o;  ///< [modelDim, heads · headDim]
};

/// Returns Xavier-uniform weights (Glorot & Bengio 2010) with limit √(6/(in+out)) per projection, drawn by
/// our generator so that a seed gives the same numbers on every machine. With `bias`, biases are drawn
/// uniformly within ±1/√in, so that their effect is visible.
Projections xavierProjections(const AttentionConfig& config, bool bias, std::uint64_t seed);

/// Throws std::invalid_argument naming the projection and both shapes unless all four fit `config`.
void requireProjectionShapes(const AttentionConfig& config, const Projections& projections);

/// Returns normally distributed weights of standard deviation 0.02 · gain, the initialisation of GPT-2 and
/// BERT (Radford et al. 2019, section 2.3), drawn by our generator so that a seed gives the same numbers on
/// every machine. Biases are those of xavierProjections().
Projections normalProjections(const AttentionConfig& config, bool bias, std::uint64_t seed, float gain);

/// Returns xavierProjections() with weights multiplied by `gain` and unchanged biases.
Projections scaledXavier(const AttentionConfig& config, bool bias, std::uint64_t seed, float gain);

}  // namespace headscope::attention
