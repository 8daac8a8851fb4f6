#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

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

}  // namespace headscope::attention
