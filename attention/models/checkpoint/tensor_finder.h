#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attention/core/fused_rows.h"
#include "attention/models/checkpoint/model_weights.h"

namespace headscope::attention {

/// Finds tensors by a family's names under its prefixes and checks their shapes. The first thing that is
/// wrong is remembered, and what is returned then is empty.
class TensorFinder {
 public:
  /// `sizes` is what says the shapes, for messages.
  TensorFinder(const Checkpoint& checkpoint, std::span<const std::string_view> prefixes,
               std::string_view sizes)
      : checkpoint_(checkpoint), prefixes_(prefixes), sizes_(sizes) {}

  bool has(const std::string& name) const;
  /// `name`.weight as [out, in], or [in, out] where `inFirst`, with a bias where there is to be one.
  MappedLinear linear(const std::string& name, Index out, Index in, bool bias, bool inFirst);
  /// The tensor of this very name, [count, out, in], or [count, in, out] where `inFirst` and it isn't in
  /// MXFP4, as so many maps; with biases [count, out] where `bias` names them.
  std::vector<MappedLinear> linears(const std::string& tensor, const std::string& bias, Index count,
                                    Index out, Index in, bool inFirst = false);
  /// `name`.weight as a map to one number: [1, in] or, as GGUF files have it, [in].
  MappedLinear row(const std::string& name, Index in);
  MappedRows rows(const std::string& name, Index rows, Index cols);
  /// The tensor of this very name, whose last sides are [rows, cols] and whose others are 1.
  MappedRows table(const std::string& tensor, Index rows, Index cols);
  /// `name`.weight, a convolution [out, colours, side, side], as a map of patches to `out` numbers.
  MappedLinear patches(const std::string& name, Index out, Index colours, Index side, bool bias);
  /// `name`.weight and, of a LayerNorm that has one, `name`.bias; gamma and beta in old files.
  NormWeights norm(const std::string& name, Index size, NormKind kind, bool bias = true);
  /// The tensor of this very name, [size] or [1, size].
  Vector vector(const std::string& name, Index size);

  Status status() const { return error_ ? Status(*error_) : success(); }
  void fail(const std::string& message);

 private:
  /// Null where there is none, or where an error is remembered.
  const TensorView* find(const std::string& name);
  const TensorView* get(const std::string& name, const std::vector<std::uint64_t>& shape);

  const Checkpoint& checkpoint_;
  std::span<const std::string_view> prefixes_;
  std::string_view sizes_;
  std::optional<Error> error_;
};

/// Maps of equal size as one, whose outputs are theirs one after another.
MappedLinear joined(const std::vector<MappedLinear>& maps);
/// The part of a map that is outputs first … first+count−1.
MappedLinear outputsOf(const MappedLinear& whole, Index first, Index count);
/// The part that is the outputs of `rows`, which are of equal size, one after another.
MappedLinear outputsOf(const MappedLinear& whole, std::span<const RowRange> rows);

}  // namespace headscope::attention
