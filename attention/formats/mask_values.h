#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"
#include "attention/formats/mask_file.h"
#include "attention/formats/safetensors.h"

namespace headscope::attention {

/// Programs that can't add −inf add −1e4, −1e9, or the lowest number of the type they compute in, which may
/// not be the one of the file: no weight comes through any of them. This is −1e4 as bfloat16 rounds it.
inline constexpr float kMaskingNumber = -9984;

/// How a mask file keeps one number.
enum class MaskValueType { boolean, u8, i8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64 };

MaskValueType maskValueType(DType dtype);

/// The numbers of a mask file as they lie in it, [heads, queries, keys].
class MaskValues {
 public:
  Index heads = 1, queries = 0, keys = 0;
  bool hasHeads = false;  ///< whether the file has an axis of heads
  MaskValueType type = MaskValueType::f32;
  std::array<std::size_t, 3> strides{};  ///< from head to head, row to row, key to key, in values
  std::vector<std::uint8_t> bytes;       ///< all of the file, or what was read from it
  std::size_t begin = 0;                 ///< where in `bytes` the numbers begin

  /// One row as floats, over `row`; what float can't hold becomes infinite.
  void readRow(Index head, Index query, std::vector<float>& row) const;
  /// At or below this a number added to a score masks: kMaskingNumber, or the type's lowest where that is
  /// above it.
  float masksFrom() const;
  /// "[2, 0, 5]" for messages, as NumPy would ask for it.
  std::string place(Index head, Index query, Index key) const;
};

enum class MaskFormat { npy, csv, safetensors };
/// By the path's ending; an error that names the endings there are.
Result<MaskFormat> maskFormat(const std::filesystem::path& path);

/// Untrusted bytes in; sizes are checked, values are not. Messages name no file.
Result<MaskValues> parseMaskValues(MaskFormat format, std::vector<std::uint8_t> bytes);
/// What the values mean. Messages name no file.
Result<MaskFile> interpretMask(const MaskValues& values, MaskConvention convention);

}  // namespace headscope::attention
