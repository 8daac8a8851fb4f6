#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"
#include "attention/formats/files/regular_file.h"
#include "attention/formats/masks/mask_file.h"
#include "attention/formats/safetensors.h"

namespace headscope::attention {

/// Programs that can't add −inf add −1e4, −1e9 or the lowest number of their compute type, which may differ
/// from the file's type. All of them reduce weights to zero. The constant is −1e4 rounded to bfloat16.
inline constexpr float kMaskingNumber = -9984;

/// How a mask file stores one number.
enum class MaskValueType { boolean, u8, i8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64 };

/// Returns nothing for numbers that no mask is made of, such as complex ones.
std::optional<MaskValueType> maskValueType(DType dtype);

/// The numbers of a mask file as stored, [heads, queries, keys].
struct MaskValues {
  Index heads = 1, queries = 0, keys = 0;
  bool hasHeads = false;  ///< whether the file has a head axis
  MaskValueType type = MaskValueType::f32;
  std::array<std::size_t, 3> strides{};     ///< in values, from head to head, row to row and key to key
  std::shared_ptr<const RegularFile> file;  ///< null if `bytes` holds the numbers
  std::vector<std::uint8_t> bytes;
  std::uint64_t begin = 0;  ///< offset of the numbers in the file or in `bytes`

  /// A number added to a score masks if it is at or below this: kMaskingNumber, or the type's lowest number
  /// if that is greater.
  float masksFrom() const;
  /// Formats a position for messages as a NumPy index: "[2, 0, 5]".
  std::string place(Index head, Index query, Index key) const;
};

/// Reads rows of a mask, buffering part of the file.
class MaskRowReader {
 public:
  explicit MaskRowReader(const MaskValues& values) : values_(values) {}

  /// Reads one row as floats into `row`; numbers beyond float's range become infinite. Returns an Error if
  /// the file can't be read or became shorter.
  Status read(Index head, Index query, std::vector<float>& row);

 private:
  /// Returns `size` bytes at offset `at`, relative to the start of the numbers.
  Result<const std::uint8_t*> bytesAt(std::uint64_t at, std::uint64_t size);

  const MaskValues& values_;
  std::vector<std::uint8_t> part_;  ///< of the file, starting at partBegin_
  std::uint64_t partBegin_ = 0;
};

enum class MaskFormat { npy, csv, safetensors };
/// Returns the format for a path's extension. The error lists the known extensions.
Result<MaskFormat> maskFormat(const std::filesystem::path& path);

/// Parses untrusted bytes. Checks sizes but not values. Messages name no file.
Result<MaskValues> parseMaskValues(MaskFormat format, std::vector<std::uint8_t> bytes);
/// Reads only the header of a .npy or .safetensors file and leaves the numbers in it, unless rows aren't
/// contiguous (Fortran order): those numbers are read if they take at most `budget` bytes.
Result<MaskValues> openMaskValues(MaskFormat format, RegularFile file, std::uint64_t budget);
/// Interprets the values. The cells and the additive numbers may take `budget` bytes each. Messages name no
/// file.
Result<MaskFile> interpretMask(const MaskValues& values, MaskConvention convention,
                               std::uint64_t budget = kMaxMaskBytes);

}  // namespace headscope::attention
