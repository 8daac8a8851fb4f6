#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/compute/layer/input_cache.h"
#include "attention/masks/compile.h"

namespace headscope::app {

/// Rows [from, from + count) of every matrix of the stack.
attention::Stack rowsOf(const attention::Stack& whole, Index from, Index count);
/// What one line of the batch gives its masks: sizes, marks and structure.
attention::MaskGeometry geometryOf(const Setup& setup, const LineTokens& line, Index sequence);

/// Paintings of the scene and the files that both of its masks name. The error names the file.
attention::Result<attention::MaskSources> maskSources(const Setup& setup, InputCache& cache);

/// How the numbers of a mask's files were read where one could take it otherwise, a sentence each: large
/// numbers that mask, and numbers to add that are left out. Files that can't be read are passed over.
std::vector<std::string> maskFileNotes(const attention::MaskLayers& layers, InputCache& cache);
/// The same of the masks that the scene shows.
std::vector<std::string> maskFileNotes(const Setup& setup, InputCache& cache);
/// Of one file.
std::vector<std::string> maskFileNotes(const std::string& path, std::uint64_t largeNumbers,
                                       bool hasAddedNumbers);

/// The free additive matrix as [1, queries, keys]; empty when all of it is 0. An error where it is of another
/// size.
attention::Result<attention::Stack> additiveOf(const Setup& setup, Index queries, Index keys);
/// Keeps the additive matrix as large as the text when the text changes from `before`: cut, or filled up with
/// zeros. One that did not fit before is left alone.
void fitAdditive(const InputSetup& before, Setup& setup);

/// What a decode step for rows from … from+count−1 sees of the masks.
attention::MaskInput maskPartOf(const attention::MaskInput& whole, Index from, Index count);

/// Layers of either mask that play no part in any line; those of the second begin with "mask B: ".
std::vector<attention::OmittedLayer> omittedLayers(const Setup& setup);

/// Why a mask can't be laid over the text there is, or nothing. Masks that name files are let through:
/// reading them is for the workers.
std::optional<std::string> refusalOf(const Setup& setup, const attention::MaskLayers& layers);

}  // namespace headscope::app
