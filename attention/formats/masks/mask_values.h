#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"
#include "attention/formats/files/regular_file.h"
#include "attention/formats/masks/mask_file.h"
#include "attention/formats/safetensors.h"

namespace headscope::attention {

/// Programs that can't add −inf add −1e4, −1e9, or the lowest number of the type they compute in, which may
/// not be the one of the file: no weight comes through any of them. This is −1e4 as bfloat16 rounds it.
inline constexpr float kMaskingNumber = -9984;

/// How a mask file keeps one number.
enum class MaskValueType { boolean, u8, i8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64 };

MaskValueType maskValueType(DType dtype);

/// The numbers of a mask file as they lie in it, [heads, queries, keys].
struct MaskValues {
  Index heads = 1, queries = 0, keys = 0;
  bool hasHeads = false;  ///< whether the file has an axis of heads
  MaskValueType type = MaskValueType::f32;
  std::array<std::size_t, 3> strides{};     ///< from head to head, row to row, key to key, in values
  std::shared_ptr<const RegularFile> file;  ///< null where `bytes` hold the numbers
  std::vector<std::uint8_t> bytes;
  std::uint64_t begin = 0;  ///< where in the file or in `bytes` the numbers begin

  /// At or below this a number added to a score masks: kMaskingNumber, or the type's lowest where that is
  /// above it.
  float masksFrom() const;
  /// "[2, 0, 5]" for messages, as NumPy would ask for it.
  std::string place(Index head, Index query, Index key) const;
};

/// Reads rows of a mask one after the other, a part of the file at a time.
class MaskRowReader {
 public:
  explicit MaskRowReader(const MaskValues& values) : values_(values) {}

  /// One row as floats, over `row`; what float can't hold becomes infinite. An error where the file can't be
  /// read or became shorter.
  Status read(Index head, Index query, std::vector<float>& row);

 private:
  /// `size` bytes from `at` on, counted from where the numbers begin.
  Result<const std::uint8_t*> bytesAt(std::uint64_t at, std::uint64_t size);

  const MaskValues& values_;
  std::vector<std::uint8_t> part_;  ///< of the file, from partBegin_ on
  std::uint64_t partBegin_ = 0;
};

enum class MaskFormat { npy, csv, safetensors };
/// By the path's ending; an error that names the endings there are.
Result<MaskFormat> maskFormat(const std::filesystem::path& path);

/// Untrusted bytes in; sizes are checked, values are not. Messages name no file.
Result<MaskValues> parseMaskValues(MaskFormat format, std::vector<std::uint8_t> bytes);
/// The same of a .npy or .safetensors file, of which the header is read and the numbers are left where they
/// are. Where they don't lie row by row (Fortran order), they are read, if they are at most `budget` bytes.
Result<MaskValues> openMaskValues(MaskFormat format, RegularFile file, std::uint64_t budget);
/// What the values mean. What it holds at most: `budget` bytes, and no more than that for the numbers to be
/// added. Messages name no file.
Result<MaskFile> interpretMask(const MaskValues& values, MaskConvention convention,
                               std::uint64_t budget = kMaxMaskBytes);

}  // namespace headscope::attention
