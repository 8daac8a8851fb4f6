#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "attention/core/fused_rows.h"
#include "attention/models/checkpoint/model_weights.h"

namespace headscope::attention {

struct TensorNames;  // families.h

/// Finds tensors by a family's names under its prefixes and checks their shapes. The first error is kept in
/// status(); a failed search returns something empty.
class TensorFinder {
 public:
  /// `sizes`: where the expected shapes come from, for messages.
  TensorFinder(const Checkpoint& checkpoint, std::span<const std::string_view> prefixes,
               std::string_view sizes)
      : checkpoint_(checkpoint), prefixes_(prefixes), sizes_(sizes) {}

  bool has(const std::string& name) const;
  /// Returns `name`.weight as [out, in], or [in, out] if `inFirst`, with `name`.bias if `bias`.
  MappedLinear linear(const std::string& name, Index out, Index in, bool bias, bool inFirst);
  /// Returns the tensor `tensor` [count, out, in], or [count, in, out] if `inFirst` and it isn't in MXFP4, as
  /// `count` maps. `bias` names their biases [count, out]; empty: none.
  std::vector<MappedLinear> linears(const std::string& tensor, const std::string& bias, Index count,
                                    Index out, Index in, bool inFirst = false);
  /// Returns `name`.weight as a map to one number: [1, in], or [in] in GGUF files.
  MappedLinear row(const std::string& name, Index in);
  MappedRows rows(const std::string& name, Index rows, Index cols);
  /// Returns the tensor `tensor`, whose last sides are [rows, cols] and whose others are 1; a single row may
  /// be [cols].
  MappedRows table(const std::string& tensor, Index rows, Index cols);
  /// Returns `name`.weight, a convolution [out, colours, side, side], as a map from patches to `out` numbers.
  MappedLinear patches(const std::string& name, Index out, Index colours, Index side, bool bias);
  /// Returns `name`.weight and, for a LayerNorm with a bias, `name`.bias; old files call them gamma and beta.
  NormWeights norm(const std::string& name, Index size, NormKind kind, bool bias = true);
  /// Returns the tensor `name`, [size] or [1, size].
  Vector vector(const std::string& name, Index size);

  /// Whether the tensor has been returned by any of the above, under this or another name.
  bool read(const TensorView& tensor) const { return read_.contains(tensor.data); }

  Status status() const { return error_ ? Status(*error_) : success(); }
  void fail(const std::string& message);

 private:
  /// Null if there is none, or on an error.
  const TensorView* find(const std::string& name);
  const TensorView* get(const std::string& name, const std::vector<std::uint64_t>& shape);
  /// The program that packed the weight `name`, by the tensors it leaves beside it; "" if none did.
  std::string_view packedBy(const std::string& name) const;

  const Checkpoint& checkpoint_;
  std::span<const std::string_view> prefixes_;
  std::string_view sizes_;
  std::set<const std::uint8_t*> read_;
  std::optional<Error> error_;
};

/// Joins maps of equal size into one with all their outputs, in order.
MappedLinear joined(const std::vector<MappedLinear>& maps);
/// Returns the outputs first … first+count−1 of a map.
MappedLinear outputsOf(const MappedLinear& whole, Index first, Index count);
/// Returns the outputs in `rows`, ranges of equal size, in order.
MappedLinear outputsOf(const MappedLinear& whole, std::span<const RowRange> rows);

/// Finds the table of token embeddings, [vocabulary, embeddingSize]. A file may store it only under the head's
/// name, if config.json ties the two, and a table that two stacks share only under the other stack's. Adds a
/// note if a stack's own table differs from the one it is tied to.
MappedRows embeddingTable(TensorFinder& body, TensorFinder& head, const ModelConfig& config,
                          const TensorNames& names, std::vector<std::string>& notes);

/// Whether two tables of one size differ in any of 64 rows, including the first and the last. A separately
/// trained head differs in all of them, and reading a whole table takes as long as reading a fifth of a small
/// model.
bool differ(const MappedRows& one, const MappedRows& other);

}  // namespace headscope::attention
