#include "attention/formats/tensor_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope::attention {

std::string positionText(std::size_t flat, const Shape& shape) {
  Shape position(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    position[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return shapeText(position);
}

const NamedTensor* TensorReader::find(const std::string& tensor) {
  const auto at = file_.tensors.find(tensor);
  if (at == file_.tensors.end()) return nullptr;
  used_.insert(tensor);
  return &at->second;
}

Result<const NamedTensor*> TensorReader::get(const std::string& tensor, std::size_t least, std::size_t most,
                                             const std::string& expected) {
  const auto* found = find(tensor);
  if (!found) return Error{name_ + ": has no tensor " + quotedText(tensor) + ", expected " + expected};
  const auto& shape = found->shape;
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (shape.size() < least || shape.size() > most || empty) return wrongShape(tensor, shape, expected);
  return found;
}

Result<std::vector<float>> TensorReader::floats(const std::string& tensor, const NamedTensor& found,
                                                bool allowMinusInfinity) const {
  auto values = toFloats(found, at(tensor));
  if (!values) return values.error();
  const auto bad = std::find_if(values->begin(), values->end(), [&](float value) {
    return !std::isfinite(value) && !(allowMinusInfinity && value == -std::numeric_limits<float>::infinity());
  });
  if (bad != values->end()) {
    const auto flat = static_cast<std::size_t>(bad - values->begin());
    return Error{at(tensor) + " is " +
                 (std::isnan(*bad) ? "NaN"
                  : *bad > 0       ? "infinite"
                                   : "-infinite") +
                 " at " + positionText(flat, found.shape) + ", expected " +
                 (allowMinusInfinity ? "finite values or -infinity" : "finite values")};
  }
  return values;
}

Error TensorReader::wrongShape(const std::string& tensor, const Shape& shape,
                               const std::string& expected) const {
  return Error{at(tensor) + " is " + shapeText(shape) + ", expected " + expected};
}

std::vector<std::string> TensorReader::unused() const {
  std::vector<std::string> names;
  for (const auto& [tensor, value] : file_.tensors) {
    if (tensor.compare(0, 7, "expect.") != 0 && used_.count(tensor) == 0) names.push_back(tensor);
  }
  return names;
}

}  // namespace headscope::attention
