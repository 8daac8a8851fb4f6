#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/compute/input_cache.h"
#include "attention/masks/compile.h"

namespace headscope::app {

/// What one line of the batch gives its masks: sizes, marks and structure.
attention::MaskGeometry geometryOf(const Setup& setup, const LineTokens& line, Index sequence);

/// Paintings of the scene and the files that both of its masks name. The error names the file.
attention::Result<attention::MaskSources> maskSources(const Setup& setup, InputCache& cache);

/// The free additive matrix cut and filled up with zeros to [1, queries, keys]; empty when all of it is 0.
attention::Stack additiveOf(const Setup& setup, Index queries, Index keys);

/// Why a mask can't be laid over the text there is, or nothing. Masks that name files are let through:
/// reading them is for the workers.
std::optional<std::string> refusalOf(const Setup& setup, const attention::MaskLayers& layers);

}  // namespace headscope::app
