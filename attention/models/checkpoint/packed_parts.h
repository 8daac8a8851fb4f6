#pragma once

#include "attention/formats/dtype.h"
#include "attention/models/checkpoint/packed_weights.h"

namespace headscope::attention {

using Plan = MadeWeight;

/// a / b, rounded up; a + b may overflow.
inline std::uint64_t dividedUp(std::uint64_t a, std::uint64_t b) {
  return a / b + (a % b == 0 ? 0 : 1);
}

/// The tensors of one weight, by the ends of their names.
class Parts {
 public:
  Parts(const std::map<std::string, TensorView>& tensors, std::string stem, const Quantisation& how)
      : tensors_(tensors), stem_(std::move(stem)), how_(how) {}

  const Quantisation& how() const { return how_; }
  const TensorView* find(const std::string& end) const {
    const auto at = tensors_.find(stem_ + end);
    return at == tensors_.end() ? nullptr : &at->second;
  }
  /// A tensor of this kind and shape; records an error and returns an empty one for another.
  const TensorView& get(const std::string& end, std::string_view kind, const Shape& shape);
  /// The numbers of a tensor of floats.
  std::vector<float> floats(const std::string& end, const Shape& shape);
  void fail(const std::string& what) {
    if (!error_) error_ = Error{what};
  }
  const std::optional<Error>& error() const { return error_; }
  const std::string& stem() const { return stem_; }

 private:
  const std::map<std::string, TensorView>& tensors_;
  std::string stem_;
  const Quantisation& how_;
  std::optional<Error> error_;
};

/// The width and height of a matrix; records an error for other tensors.
std::pair<std::uint64_t, std::uint64_t> sides(Parts& parts, const std::string& end);
/// The type of a weight whose scales are of this type.
inline WeightType typeBy(const TensorView* scales) {
  return scales && scales->kind == "BF16" ? WeightType::bf16 : WeightType::f16;
}

/// 8-bit floats or whole numbers, or 4-bit floats in pairs, with a scale for all, each row, each group of a
/// row or each square block, by which they are multiplied, as DeepSeek's weight_dequant(), FBGEMM,
/// compressed-tensors and NVIDIA's Model Optimizer do. `numbers` and `scale` are the ends of names.
Plan scaledFloats(Parts& parts, const std::string& numbers, const std::string& scale);
/// torchao's tensors in safetensors (Float8Tensor, Int8Tensor and IntxUnpackedToInt8Tensor, torchao 0.18).
Plan torchao(Parts& parts);
/// Badri and Shaji 2023, HQQ: scale · (q − zero) for each group of the flattened weight, packed as
/// hqq.core.bitpack does.
Plan hqq(Parts& parts);

}  // namespace headscope::attention
