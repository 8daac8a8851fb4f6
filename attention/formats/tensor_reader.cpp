#include "attention/formats/tensor_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/text/suggestion.h"

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
  asked_.insert(tensor);
  const auto at = file_.tensors.find(tensor);
  return at == file_.tensors.end() ? nullptr : &at->second;
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

Result<std::vector<float>> TensorReader::floats(const std::string& tensor, const NamedTensor& found) const {
  auto values = toFloats(found, at(tensor));
  if (!values) return values.error();
  const auto bad =
      std::find_if(values->begin(), values->end(), [](float value) { return !std::isfinite(value); });
  if (bad == values->end()) return values;
  const auto flat = static_cast<std::size_t>(bad - values->begin());
  return Error{at(tensor) + " is " +
               (std::isnan(*bad) ? "NaN"
                : *bad > 0       ? "infinite"
                                 : "-infinite") +
               " at " + positionText(flat, found.shape) + ", expected finite values"};
}

Error TensorReader::wrongShape(const std::string& tensor, const Shape& shape,
                               const std::string& expected) const {
  return Error{at(tensor) + " is " + shapeText(shape) + ", expected " + expected};
}

Status TensorReader::checkNames(const std::vector<std::string_view>& passedOver) const {
  for (const auto& [tensor, value] : file_.tensors) {
    const bool known = tensor.starts_with("expect.") || tensor.starts_with(kSnapshotPrefix) ||
                       asked_.contains(tensor) ||
                       std::find(passedOver.begin(), passedOver.end(), tensor) != passedOver.end();
    if (known) continue;
    const std::string near = suggestion(tensor, {asked_.begin(), asked_.end()});
    return Error{at(tensor) + " is none that is read" +
                 (near.empty() ? fmt::format(", expected one of {}", fmt::join(asked_, ", ")) : near)};
  }
  return success();
}

}  // namespace headscope::attention
