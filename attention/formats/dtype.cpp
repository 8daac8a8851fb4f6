#include "attention/formats/dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "attention/formats/quote.h"

namespace headscope::attention {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie in the file");

struct DTypeInfo {
  DType dtype;
  std::string_view name;
  std::size_t bits;
  std::string_view numpy = {};
};
constexpr DTypeInfo kDTypes[] = {{DType::F32, "F32", 32, "<f4"},
                                 {DType::F16, "F16", 16, "<f2"},
                                 // NumPy has no bfloat16: ml_dtypes' arrays are saved as two bytes of unknown
                                 // meaning, "|V2" or "<V2".
                                 {DType::BF16, "BF16", 16, "|V2"},
                                 {DType::F64, "F64", 64, "<f8"},
                                 {DType::I64, "I64", 64, "<i8"},
                                 {DType::I32, "I32", 32, "<i4"},
                                 {DType::U8, "U8", 8, "|u1"},
                                 {DType::Bool, "BOOL", 8, "|b1"},
                                 {DType::I16, "I16", 16, "<i2"},
                                 {DType::I8, "I8", 8, "|i1"},
                                 {DType::U16, "U16", 16, "<u2"},
                                 {DType::U32, "U32", 32, "<u4"},
                                 {DType::U64, "U64", 64, "<u8"},
                                 {DType::C64, "C64", 64},
                                 {DType::F8_E4M3, "F8_E4M3", 8},
                                 {DType::F8_E5M2, "F8_E5M2", 8},
                                 {DType::F8_E8M0, "F8_E8M0", 8},
                                 {DType::F8_E4M3FNUZ, "F8_E4M3FNUZ", 8},
                                 {DType::F8_E5M2FNUZ, "F8_E5M2FNUZ", 8},
                                 {DType::F6_E2M3, "F6_E2M3", 6},
                                 {DType::F6_E3M2, "F6_E3M2", 6},
                                 {DType::F4, "F4", 4}};

const DTypeInfo& infoOf(DType dtype) {
  return *std::ranges::find(kDTypes, dtype, &DTypeInfo::dtype);
}

template <typename Number>
float nearestFloat(Number number) {
  return static_cast<float>(number);
}
float nearestFloat(double number) {
  if (std::isfinite(number) && std::abs(number) > std::numeric_limits<float>::max())
    return std::copysign(std::numeric_limits<float>::infinity(), number < 0 ? -1.0F : 1.0F);
  return static_cast<float>(number);
}

}  // namespace

std::string_view name(DType dtype) {
  return infoOf(dtype).name;
}
std::size_t byteSize(DType dtype) {
  return (infoOf(dtype).bits + 7) / 8;
}

Result<DType> dtypeFromName(std::string_view text) {
  std::string known;
  for (const auto& info : kDTypes) {
    if (info.name == text) return info.dtype;
    known += (known.empty() ? "" : ", ") + std::string(info.name);
  }
  return Error{"has dtype " + quotedText(text) + ", expected one of " + known};
}

std::optional<DType> dtypeFromNumpy(std::string_view descr) {
  if (descr == "<V2") return DType::BF16;
  for (const auto& info : kDTypes)
    if (!descr.empty() && info.numpy == descr) return info.dtype;
  return std::nullopt;
}

std::optional<std::uint64_t> byteExtent(DType dtype, const Shape& shape) {
  // An empty dimension makes the tensor empty, even if the others would overflow.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t numbers = 1;
  const std::uint64_t bits = infoOf(dtype).bits, most = std::numeric_limits<std::uint64_t>::max();
  for (const auto size : shape) {
    if (numbers > most / size) return std::nullopt;
    numbers *= size;
  }
  if (numbers / 8 > most / bits) return std::nullopt;
  const std::uint64_t whole = numbers / 8 * bits, rest = (numbers % 8 * bits + 7) / 8;
  return whole > most - rest ? std::nullopt : std::optional(whole + rest);
}

std::string shapeText(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string positionText(std::size_t flat, const Shape& shape) {
  Shape position(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    position[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return shapeText(position);
}

StoredOrder StoredOrder::rows(const Shape& shape, bool bigEndian) {
  StoredOrder order{Shape(shape.size(), 1), bigEndian};
  for (std::size_t axis = shape.size(); axis-- > 1;)
    order.strides[axis - 1] = order.strides[axis] * shape[axis];
  return order;
}

StoredOrder StoredOrder::fortran(Shape shape, bool bigEndian) {
  std::ranges::reverse(shape);
  StoredOrder order = rows(shape, bigEndian);
  std::ranges::reverse(order.strides);
  return order;
}

bool StoredOrder::isPlain(const Shape& shape) const {
  const StoredOrder expected = rows(shape, false);
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != 1 && strides[axis] != expected.strides[axis]) return false;
  return !bigEndian;
}

std::vector<std::uint8_t> StoredOrder::rowByRow(std::span<const std::uint8_t> stored, std::size_t size,
                                                const Shape& shape) const {
  std::uint64_t numbers = 1;
  for (const std::uint64_t side : shape) numbers *= side;
  std::vector<std::uint8_t> bytes(numbers * size);
  Shape place(shape.size(), 0);
  std::uint64_t from = 0;  // of the number at `place`
  for (std::uint8_t* to = bytes.data(); to != bytes.data() + bytes.size(); to += size) {
    const std::uint8_t* const number = stored.data() + from * size;
    bigEndian ? std::reverse_copy(number, number + size, to) : std::copy_n(number, size, to);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++place[axis] < shape[axis]) break;
      from -= strides[axis] * std::exchange(place[axis], 0);
    }
  }
  return bytes;
}

bool isReadable(DType dtype) {
  return dtype <= DType::U64;
}

void readNumbers(DType dtype, const std::uint8_t* first, std::size_t stride, std::span<float> values) {
  if (dtype == DType::F32 && stride == 1 && !values.empty()) {
    std::memcpy(values.data(), first, values.size_bytes());
    return;
  }
  const std::size_t step = stride * byteSize(dtype);
  const bool readable = withReaderOf(dtype, [&](auto read) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = nearestFloat(read(first + i * step));
  });
  if (!readable) throw std::invalid_argument(fmt::format("{} isn't read as numbers", name(dtype)));
}

Status convertToFloats(DType dtype, std::span<const std::uint8_t> bytes, std::span<float> values,
                       const std::string& name) {
  const auto size = byteSize(dtype);
  if (bytes.size() != values.size() * size)  // not require(): a kernel's caller reads row by row
    throw std::invalid_argument(fmt::format("{} values don't fit {} bytes of {}", values.size(), bytes.size(),
                                            attention::name(dtype)));
  if (dtype > DType::F64)
    return Error{name + " is " + std::string(attention::name(dtype)) + ", expected F32, F16, BF16 or F64"};
  readNumbers(dtype, bytes.data(), 1, values);
  for (std::size_t i = 0; dtype == DType::F64 && i < values.size(); ++i)
    if (std::isinf(values[i]) && std::isfinite(load<double>(bytes.data() + i * size)))
      return Error{name + " holds a value beyond 3.4e38, the largest that 32 bits can hold"};
  return success();
}

std::string_view nonFiniteName(float value) {
  return std::isnan(value) ? "NaN" : value > 0 ? "infinite" : "-infinite";
}

}  // namespace headscope::attention
