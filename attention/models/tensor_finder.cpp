#include "attention/models/tensor_finder.h"

#include "attention/formats/files/regular_file.h"
#include "attention/formats/quote.h"

namespace headscope::attention {
namespace {

std::optional<WeightType> weightType(DType dtype) {
  if (dtype == DType::F32) return WeightType::f32;
  if (dtype == DType::F16) return WeightType::f16;
  if (dtype == DType::BF16) return WeightType::bf16;
  if (dtype == DType::F64) return WeightType::f64;
  return std::nullopt;
}

}  // namespace

bool TensorFinder::has(const std::string& name) const {
  for (const std::string_view prefix : prefixes_)
    if (checkpoint_.tensors().contains(std::string(prefix) + name)) return true;
  return false;
}

void TensorFinder::fail(const std::string& message) {
  if (!error_) error_ = Error{shownPath(checkpoint_.folder()) + ": " + message};
}

const TensorView* TensorFinder::find(const std::string& name) {
  const TensorView* found = nullptr;
  std::string at;
  for (const std::string_view prefix : prefixes_) {
    const std::string full = std::string(prefix) + name;
    const auto tensor = checkpoint_.tensors().find(full);
    if (tensor == checkpoint_.tensors().end()) continue;
    if (found) {
      fail("has both a tensor " + quotedText(at) + " and a " + quotedText(full) + ", expected one of them");
      return nullptr;
    }
    found = &tensor->second;
    at = full;
  }
  return found;
}

const TensorView* TensorFinder::get(const std::string& name, const std::vector<std::uint64_t>& shape) {
  const TensorView* const found = find(name);
  if (error_) return nullptr;
  const std::string at = "tensor " + quotedText(std::string(prefixes_[0]) + name);
  if (!found) {
    fail("has no " + at + ", expected one of " + shapeText(shape));
    return nullptr;
  }
  if (found->shape != shape) {
    fail(at + " is " + shapeText(found->shape) + ", expected " + shapeText(shape) + " as config.json says");
    return nullptr;
  }
  if (!weightType(found->dtype)) {
    fail(at + " is " + std::string(attention::name(found->dtype)) +
         ", expected F32, F16, BF16 or F64: quantised weights aren't read");
    return nullptr;
  }
  return found;
}

MappedLinear TensorFinder::linear(const std::string& name, Index out, Index in, bool bias, bool inFirst) {
  MappedLinear map{.out = out, .in = in, .transposed = inFirst, .row = inFirst ? out : in};
  const auto shape = inFirst ? std::vector{asSize(in), asSize(out)} : std::vector{asSize(out), asSize(in)};
  const TensorView* const tensor = get(name + ".weight", shape);
  if (!tensor) return {};
  map.pieces.push_back({tensor->data, *weightType(tensor->dtype)});
  if (bias) map.bias = vector(name + ".bias", out);
  return map;
}

MappedRows TensorFinder::rows(const std::string& name, Index rows, Index cols) {
  const TensorView* const tensor = get(name + ".weight", {asSize(rows), asSize(cols)});
  if (!tensor) return {};
  return {tensor->data, *weightType(tensor->dtype), rows, cols};
}

NormWeights TensorFinder::norm(const std::string& name, Index size, NormKind kind) {
  const bool old = has(name + ".gamma");
  NormWeights norm{vector(name + (old ? ".gamma" : ".weight"), size), {}};
  if (kind == NormKind::layer) norm.bias = vector(name + (old ? ".beta" : ".bias"), size);
  if (kind == NormKind::rmsPlusOne) norm.weight.array() += 1;
  return norm;
}

Vector TensorFinder::vector(const std::string& name, Index size) {
  const TensorView* const tensor = get(name, {asSize(size)});
  if (!tensor) return {};
  Vector values(size);
  const std::span bytes(tensor->data, asSize(size) * byteSize(tensor->dtype));
  const std::span<float> to(values.data(), asSize(size));
  if (const auto status = convertToFloats(tensor->dtype, bytes, to, "tensor " + quotedText(name)); !status)
    fail(status.error().message);
  return values;
}

MappedLinear outputsOf(const MappedLinear& whole, Index first, Index count) {
  MappedLinear part = whole;
  if (whole.pieces.empty()) return part;  // an error is on its way
  const auto number = static_cast<Index>(kernels::weightBytes(whole.pieces[0].type));
  part.pieces[0].data += first * (whole.transposed ? 1 : whole.row) * number;
  part.out = count;
  if (whole.bias.size() > 0) part.bias = whole.bias.segment(first, count);
  return part;
}

MappedLinear outputsOf(const MappedLinear& whole, std::span<const RowRange> rows) {
  if (whole.pieces.empty()) return whole;
  const Index size = rows[0].count;
  MappedLinear some = outputsOf(whole, 0, size * static_cast<Index>(rows.size()));
  some.pieces.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const MappedLinear one = outputsOf(whole, rows[i].first, size);
    some.pieces.push_back(one.pieces[0]);
    if (one.bias.size() > 0) some.bias.segment(static_cast<Index>(i) * size, size) = one.bias;
  }
  return some;
}

}  // namespace headscope::attention
