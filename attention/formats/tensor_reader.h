#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"
#include "attention/formats/quote.h"
#include "attention/formats/tensor_source.h"

namespace headscope::attention {

using Shape = std::vector<std::uint64_t>;

inline Index asIndex(std::uint64_t value) {
  return static_cast<Index>(value);
}

/// The prefix of what a snapshot holds in addition to the tensors that attend reads and writes.
inline constexpr std::string_view kSnapshotPrefix = "snapshot.";

/// Returns the position of value `flat` in a tensor of this shape, as "[2, 5]".
std::string positionText(std::size_t flat, const Shape& shape);

/// Reads tensors of a file with checks and records which ones were requested. In total they may take `budget`
/// bytes; a tensor that exceeds it is an Error before any of it is read.
class TensorReader {
 public:
  TensorReader(const TensorSource& file, const std::string& name, std::uint64_t budget)
      : file_(file), name_(name), budget_(budget) {}

  /// All tensors of the file.
  const std::map<std::string, TensorEntry>& all() const { return file_.header().tensors; }
  bool wasRequested(const std::string& tensor) const { return asked_.contains(tensor); }
  /// Returns null if the file has no such tensor.
  const TensorEntry* find(const std::string& tensor);
  /// Finds a tensor with `least` to `most` axes, none of them empty; `expected` describes the shape in
  /// messages.
  Result<const TensorEntry*> get(const std::string& tensor, std::size_t least, std::size_t most,
                                 const std::string& expected);
  /// Reads a tensor's values. Returns an Error if one is NaN or infinite.
  Result<std::vector<float>> floats(const std::string& tensor, const TensorEntry& found);
  /// Reads a tensor's bytes as stored in the file.
  Result<std::vector<std::uint8_t>> bytes(const std::string& tensor, const TensorEntry& found);
  Error wrongShape(const std::string& tensor, const Shape& shape, const std::string& expected) const;
  /// `file: tensor "q"`, for messages.
  std::string at(const std::string& tensor) const { return name_ + ": tensor " + quotedText(tensor); }
  /// From now on, checkNames() accepts tensors with a dot in their names, as in a whole model.
  void passOverOtherParts() { passesOtherParts_ = true; }
  /// Returns an Error for the first tensor of the file that was not requested, except `expect.*`,
  /// `snapshot.*` and those in `passedOver`.
  Status checkNames(const std::vector<std::string_view>& passedOver) const;

 private:
  /// Takes `bytes` from the budget. Returns an Error if fewer are left.
  Status take(const std::string& tensor, std::uint64_t bytes);

  const TensorSource& file_;
  const std::string& name_;
  const std::uint64_t budget_;
  std::uint64_t taken_ = 0;
  std::set<std::string, std::less<>> asked_;
  bool passesOtherParts_ = false;
};

}  // namespace headscope::attention
