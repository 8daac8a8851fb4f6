#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "attention/masks/compile.h"

namespace headscope::attention {

/// What a mask's numbers mean outside.
enum class MaskConvention {
  visible,   ///< true or 1 = visible (FlexAttention, scaled_dot_product_attention, attention_mask of 1 and 0)
  masked,    ///< true or 1 = masked (MultiheadAttention's attn_mask and key_padding_mask)
  additive,  ///< added to the scores: −inf masks, and so does −1e4 or less, 0 lets see
};
Result<MaskConvention> parseConvention(const std::string& word);
std::string conventionName(MaskConvention convention);

/// As much as is written, read and kept of a mask at most.
inline constexpr std::uint64_t kMaxMaskBytes = std::uint64_t{1} << 32;

/// "2 finite numbers of -1e4 or less are read as masked".
std::string largeNumbersText(std::uint64_t count);

/// A mask read from a file. `additive` holds the finite values under that convention, empty when all are 0.
struct MaskFile {
  std::shared_ptr<const CellTable> cells;
  Stack additive;                  ///< [heads or 1, queries, keys]
  std::uint64_t largeNumbers = 0;  ///< finite numbers that mask because they are so large
};

/// .npy (bool, u1, i1 … i8, f2 … f8), .csv (numbers or true/false) or .safetensors (BOOL, U8, integers, F16,
/// BF16, F32, F64; the tensor called attn_mask, mask or bias, else the only one), of 2 dimensions, 3 (heads
/// first) or 4 (batch of 1 first). visible and masked take true/false, 0 and 1 alone; additive takes any
/// number but NaN and +inf. Errors name the file, the place, what was found and what was expected.
/// An error also where what is kept of it would take more than `budget` bytes.
Result<MaskFile> readMaskFile(const std::filesystem::path& path, MaskConvention convention,
                              std::uint64_t budget = kMaxMaskBytes);

/// Whether the numbers of a mask file can be read under each convention, for asking which one it is.
Result<std::vector<MaskConvention>> possibleConventions(const std::filesystem::path& path);

/// By the path's ending: .npy and .safetensors hold bool (visible, masked) or float32 (additive), [n, m] when
/// all heads are alike, otherwise [heads, n, m]; .csv holds 0 and 1, or 0 and -inf, of one [n, m] table (an
/// error when heads differ). Written beside the place and renamed. An error where the file would be larger
/// than 4 GiB.
Status writeMaskFile(const std::filesystem::path& path, const MaskFormula& mask, MaskConvention convention);

}  // namespace headscope::attention
