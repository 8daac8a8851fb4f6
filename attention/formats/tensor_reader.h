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

/// What names begin with that a snapshot has besides what attend reads and writes.
inline constexpr std::string_view kSnapshotPrefix = "snapshot.";

/// "[2, 5]": the position of the value `flat` of a tensor of this shape.
std::string positionText(std::size_t flat, const Shape& shape);

/// Takes tensors out of a file, each with its checks, and remembers which ones were asked for. What is taken
/// may need `budget` bytes in all: a tensor that needs more is an error before anything of it is read.
class TensorReader {
 public:
  TensorReader(const TensorSource& file, const std::string& name, std::uint64_t budget)
      : file_(file), name_(name), budget_(budget) {}

  /// Null where the file has none.
  const TensorEntry* find(const std::string& tensor);
  /// A tensor with `expected` axes (as words, for the message), none of them empty.
  Result<const TensorEntry*> get(const std::string& tensor, std::size_t least, std::size_t most,
                                 const std::string& expected);
  /// Its values, an error where one is NaN or infinite.
  Result<std::vector<float>> floats(const std::string& tensor, const TensorEntry& found);
  /// Its bytes as they lie in the file.
  Result<std::vector<std::uint8_t>> bytes(const std::string& tensor, const TensorEntry& found);
  Error wrongShape(const std::string& tensor, const Shape& shape, const std::string& expected) const;
  /// `file: tensor "q"`, for messages.
  std::string at(const std::string& tensor) const { return name_ + ": tensor " + quotedText(tensor); }
  /// From now on checkNames() lets tensors pass whose names have a dot: a whole model's.
  void passOverOtherParts() { passesOtherParts_ = true; }
  /// An error for the first tensor of the file that was not asked for, `expect.*`, `snapshot.*` and those in
  /// `passedOver` apart.
  Status checkNames(const std::vector<std::string_view>& passedOver) const;

 private:
  /// An error where there are not so many bytes left.
  Status take(const std::string& tensor, std::uint64_t bytes);

  const TensorSource& file_;
  const std::string& name_;
  const std::uint64_t budget_;
  std::uint64_t taken_ = 0;
  std::set<std::string, std::less<>> asked_;
  bool passesOtherParts_ = false;
};

}  // namespace headscope::attention
