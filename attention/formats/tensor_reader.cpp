#include "attention/formats/tensor_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

const TensorEntry* TensorReader::find(const std::string& tensor) {
  asked_.insert(tensor);
  const auto& tensors = file_.header().tensors;
  const auto at = tensors.find(tensor);
  return at == tensors.end() ? nullptr : &at->second;
}

Result<const TensorEntry*> TensorReader::get(const std::string& tensor, std::size_t least, std::size_t most,
                                             const std::string& expected) {
  const auto* found = find(tensor);
  if (!found) return Error{name_ + ": has no tensor " + quotedText(tensor) + ", expected " + expected};
  const auto& shape = found->shape;
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (shape.size() < least || shape.size() > most || empty) return wrongShape(tensor, shape, expected);
  return found;
}

Status TensorReader::take(const std::string& tensor, std::uint64_t bytes) {
  if (bytes > budget_ - taken_)
    return Error{fmt::format("{} takes {} bytes of memory, expected at most {}{}", at(tensor), bytes,
                             budget_ - taken_, taken_ > 0 ? " after the tensors before it" : "")};
  taken_ += bytes;
  return success();
}

Result<std::vector<std::uint8_t>> TensorReader::bytes(const std::string& tensor, const TensorEntry& found) {
  const std::uint64_t size = found.end - found.begin;
  if (const auto status = take(tensor, size); !status) return status.error();
  std::vector<std::uint8_t> bytes(size);
  if (const auto status = file_.read(tensor, 0, bytes); !status) return status.error();
  return bytes;
}

Result<std::vector<float>> TensorReader::floats(const std::string& tensor, const TensorEntry& found) {
  // Without any data, this only checks that the type is floating-point.
  if (const auto status = convertToFloats(found.dtype, {}, {}, at(tensor)); !status) return status.error();
  const std::size_t size = byteSize(found.dtype), count = (found.end - found.begin) / size;
  if (const auto status = take(tensor, count * sizeof(float)); !status) return status.error();
  std::vector<float> values(count);
  if (const auto status = file_.readFloats(tensor, 0, values, at(tensor)); !status) return status.error();
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) return values;
  const auto flat = static_cast<std::size_t>(bad - values.begin());
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
  for (const auto& [tensor, entry] : file_.header().tensors) {
    const bool known = tensor.starts_with("expect.") || tensor.starts_with(kSnapshotPrefix) ||
                       asked_.contains(tensor) ||
                       (passesOtherParts_ && tensor.find('.') != std::string::npos) ||
                       std::find(passedOver.begin(), passedOver.end(), tensor) != passedOver.end();
    if (known) continue;
    const std::string near = suggestion(tensor, {asked_.begin(), asked_.end()});
    return Error{at(tensor) + " is not a tensor of this file format" +
                 (near.empty() ? fmt::format(", expected one of {}", fmt::join(asked_, ", ")) : near)};
  }
  return success();
}

}  // namespace headscope::attention
