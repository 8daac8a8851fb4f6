#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/safetensors.h"
#include "attention/formats/tensor_source.h"
#include "attention/masks/compile.h"

namespace headscope::attention {

/// The meaning of a mask's numbers in a file.
enum class MaskConvention {
  visible,   ///< true or 1 = visible (FlexAttention, scaled_dot_product_attention, attention_mask of 1 and 0)
  masked,    ///< true or 1 = masked (MultiheadAttention's attn_mask and key_padding_mask)
  additive,  ///< added to the scores: 0 = visible; −inf masks, and so do numbers of −1e4 or less
};
Result<MaskConvention> parseConvention(const std::string& word);
std::string conventionName(MaskConvention convention);

/// The largest mask that is written, read or kept.
inline constexpr std::uint64_t kMaxMaskBytes = std::uint64_t{1} << 32;

/// Returns "2 finite numbers of -1e4 or less are read as masked".
std::string largeNumbersText(std::uint64_t count);

/// A mask read from a file. `additive` holds the finite values of an additive mask; empty if all are 0.
struct MaskFile {
  std::shared_ptr<const CellTable> cells;
  Stack additive;                  ///< [heads or 1, queries, keys]
  std::uint64_t largeNumbers = 0;  ///< finite numbers read as masked because of their size
};

/// Reads .npy (bool, u1, i1 … i8, f2 … f8), .csv (numbers or true/false) or .safetensors (BOOL, U8, integers,
/// F16, BF16, F32, F64; the tensor called attn_mask, mask or bias, else the only one). The mask has 2
/// dimensions, 3 (heads first) or 4 (a batch of 1 first). visible and masked allow only true/false, 0 and 1;
/// additive allows any number except NaN and +inf. Errors name the file, the position, what was found and
/// what was expected. Also returns an Error if the result would take more than `budget` bytes.
Result<MaskFile> readMaskFile(const std::filesystem::path& path, MaskConvention convention,
                              std::uint64_t budget = kMaxMaskBytes);

/// Returns the conventions under which a mask file can be read, to ask which one applies; an Error if there
/// are none.
Result<std::vector<MaskConvention>> possibleConventions(const std::filesystem::path& path);

/// Writes a mask in the format of the path's extension. .npy and .safetensors hold bool (visible, masked) or
/// float32 (additive), [n, m] if all heads are alike, otherwise [heads, n, m]. .csv holds one [n, m] table of
/// 0 and 1, or 0 and -inf; differing heads are an Error. Writes to a temporary file and renames it. Returns
/// an Error if the mask has no cells or the file would be larger than 4 GiB.
Status writeMaskFile(const std::filesystem::path& path, const MaskFormula& mask, MaskConvention convention);

/// Programs that can't add −inf add −1e4, −1e9 or the lowest number of their compute type, which may differ
/// from the file's type. All of them reduce weights to zero. The constant is −1e4 rounded to bfloat16.
inline constexpr float kMaskingNumber = -9984;

/// The numbers of a mask file as stored, [heads, queries, keys].
struct MaskValues {
  Index heads = 1, queries = 0, keys = 0;
  bool hasHeads = false;  ///< whether the file has a head axis
  DType type = DType::F32;
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

/// Checks sizes but not values. Reads a .csv file as a whole; of others only the header, and leaves the
/// numbers in the file, unless rows aren't contiguous (Fortran order): those are read if they take at most
/// `budget` bytes. Messages may lack the file's name.
Result<MaskValues> openMaskValues(MaskFormat format, RegularFile file, std::uint64_t budget);
/// Interprets the values. The cells and the additive numbers may take `budget` bytes each. Messages name no
/// file.
Result<MaskFile> interpretMask(const MaskValues& values, MaskConvention convention,
                               std::uint64_t budget = kMaxMaskBytes);

}  // namespace headscope::attention
