#include "attention/formats/tensor_reader.h"

#include <fmt/core.h>

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

const TensorEntry* TensorReader::find(const std::string& tensor) {
  const auto& tensors = file_.header().tensors;
  const auto at = tensors.find(tensor);
  if (at == tensors.end()) return nullptr;
  used_.insert(tensor);
  return &at->second;
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
                             budget_ - taken_, taken_ > 0 ? " beside the tensors before it" : "")};
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

Result<std::vector<float>> TensorReader::floats(const std::string& tensor, const TensorEntry& found,
                                                bool allowMinusInfinity) {
  /// Read and converted at a time.
  constexpr std::size_t kValues = std::size_t{1} << 16;
  // No bytes and no numbers: says alone whether the type is one of floating-point numbers.
  if (const auto status = convertToFloats(found.dtype, {}, {}, at(tensor)); !status) return status.error();
  const std::size_t size = byteSize(found.dtype), count = (found.end - found.begin) / size;
  if (const auto status = take(tensor, count * sizeof(float)); !status) return status.error();
  std::vector<float> values(count);
  std::vector<std::uint8_t> buffer(std::min(count, kValues) * size);
  for (std::size_t first = 0; first < count; first += kValues) {
    const auto part = std::span(values).subspan(first, std::min(kValues, count - first));
    const auto bytes = std::span(buffer).first(part.size() * size);
    if (const auto status = file_.read(tensor, first * size, bytes); !status) return status.error();
    if (const auto status = convertToFloats(found.dtype, bytes, part, at(tensor)); !status)
      return status.error();
  }
  const auto bad = std::find_if(values.begin(), values.end(), [&](float value) {
    return !std::isfinite(value) && !(allowMinusInfinity && value == -std::numeric_limits<float>::infinity());
  });
  if (bad != values.end()) {
    const auto flat = static_cast<std::size_t>(bad - values.begin());
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
  for (const auto& [tensor, entry] : file_.header().tensors) {
    if (tensor.compare(0, 7, "expect.") != 0 && used_.count(tensor) == 0) names.push_back(tensor);
  }
  return names;
}

}  // namespace headscope::attention
