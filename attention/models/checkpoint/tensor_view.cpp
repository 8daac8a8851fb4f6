#include "attention/models/checkpoint/tensor_view.h"

#include "attention/core/tensor.h"
#include "attention/formats/dtype.h"

namespace headscope::attention {

std::uint64_t TensorView::numbers() const {
  std::uint64_t count = 1;
  for (const std::uint64_t side : shape) count *= side;
  return count;
}

Status TensorView::read(std::uint64_t first, std::span<float> values, const std::string& name) const {
  require(type.has_value(), name + " has numbers of an unsupported type");
  const std::uint8_t* const from = data + kernels::weightBytes(*type, first);
  if (*type == WeightType::f64) return convertToFloats(DType::F64, {from, 8 * values.size()}, values, name);
  kernels::unpackWeights(*type, from, values.size(), values.data(),
                         scales ? scales + first / kernels::weightBlock(*type).numbers : nullptr);
  return success();
}

}  // namespace headscope::attention
