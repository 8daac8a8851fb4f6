#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

namespace headscope::attention {

/// Every number type of safetensors, among them those of NumPy and GGUF that are read. The first four are
/// floats. Of those after U64, only names and sizes are known: a file may hold them, and whatever would read
/// them refuses them.
enum class DType {
  F32,
  F16,
  BF16,
  F64,
  I64,
  I32,
  U8,
  Bool,
  I16,
  I8,
  U16,
  U32,
  U64,
  C64,
  F8_E4M3,
  F8_E5M2,
  F8_E8M0,
  F8_E4M3FNUZ,
  F8_E5M2FNUZ,
  F6_E2M3,
  F6_E3M2,
  F4,
};
std::string_view name(DType dtype);
/// Bytes of one number, rounded up.
std::size_t byteSize(DType dtype);
/// Returns the dtype that a name in a safetensors file stands for; name() is the inverse.
Result<DType> dtypeFromName(std::string_view text);
/// Returns the dtype that NumPy describes so ("<f4"); nullopt for any that isn't read.
std::optional<DType> dtypeFromNumpy(std::string_view descr);

using Shape = std::vector<std::uint64_t>;

/// Returns the product of `shape` times the size of one value, in whole bytes; nullopt if that overflows 64
/// bits.
std::optional<std::uint64_t> byteExtent(DType dtype, const Shape& shape);
/// Formats a shape: "[3, 64, 48]".
std::string shapeText(const Shape& shape);
/// Returns the position of value `flat` in a tensor of this shape, as "[2, 5]".
std::string positionText(std::size_t flat, const Shape& shape);

/// Reads a number from unaligned bytes.
template <typename T>
T load(const std::uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Calls `use(read)`, where read(bytes) returns the number that lies there: in its own type, a half as float,
/// which is exact, and a boolean as std::uint8_t. Returns false, without calling, for the types after U64.
template <typename Use>
bool withReaderOf(DType dtype, const Use& use) {
  const auto readsAs = [&]<typename T>(T) { use([](const std::uint8_t* at) { return load<T>(at); }); };
  switch (dtype) {
    case DType::F32:
      return readsAs(float{}), true;
    case DType::F16:
      return use([](const std::uint8_t* at) {
               return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(load<std::uint16_t>(at)));
             }),
             true;
    case DType::BF16:
      return use([](const std::uint8_t* at) {
               return Eigen::numext::bit_cast<float>(std::uint32_t{load<std::uint16_t>(at)} << 16);
             }),
             true;
    case DType::F64:
      return readsAs(double{}), true;
    case DType::I64:
      return readsAs(std::int64_t{}), true;
    case DType::I32:
      return readsAs(std::int32_t{}), true;
    case DType::I16:
      return readsAs(std::int16_t{}), true;
    case DType::I8:
      return readsAs(std::int8_t{}), true;
    case DType::U8:
    case DType::Bool:
      return readsAs(std::uint8_t{}), true;
    case DType::U16:
      return readsAs(std::uint16_t{}), true;
    case DType::U32:
      return readsAs(std::uint32_t{}), true;
    case DType::U64:
      return readsAs(std::uint64_t{}), true;
    default:
      return false;
  }
}

/// How a tensor lies in a file other than row by row in little-endian numbers: transposed, as every other row
/// of a larger tensor, or in NumPy's Fortran order.
struct StoredOrder {
  std::vector<std::uint64_t> strides;  ///< in numbers, one for each axis
  bool bigEndian = false;

  static StoredOrder rows(const Shape& shape, bool bigEndian);
  static StoredOrder fortran(Shape shape, bool bigEndian);
  /// Whether a tensor of this shape lies row by row in little-endian numbers.
  bool isPlain(const Shape& shape) const;
  /// Returns the tensor's bytes row by row, little-endian, of numbers of `size` bytes. `stored` begins with
  /// its first number and reaches its last one.
  std::vector<std::uint8_t> rowByRow(std::span<const std::uint8_t> stored, std::size_t size,
                                     const Shape& shape) const;
};

/// Whether withReaderOf() and readNumbers() read the type.
bool isReadable(DType dtype);
/// Reads numbers of a readable type, `stride` numbers apart, as the nearest floats; what is finite and beyond
/// float's range becomes infinite.
void readNumbers(DType dtype, const std::uint8_t* first, std::size_t stride, std::span<float> values);

/// Converts `bytes` of F32, F16, BF16 or F64 to float (F64 is rounded). Returns an Error for other types and
/// for values beyond float's range, with `name`, what was found and what was expected. Throws
/// std::invalid_argument if the counts of `bytes` and `values` differ.
Status convertToFloats(DType dtype, std::span<const std::uint8_t> bytes, std::span<float> values,
                       const std::string& name);
/// Returns "NaN", "infinite" or "-infinite" for a value that isn't finite, for messages.
std::string_view nonFiniteName(float value);

}  // namespace headscope::attention
