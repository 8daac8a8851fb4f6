#pragma once

#include "app/compute/layer/layer_inputs.h"

namespace headscope::app {

/// Returns rows [from, from + count) of every matrix of the stack.
attention::Stack rowsOf(const attention::Stack& whole, Index from, Index count);
/// Returns what masks need from one line of the batch: sizes, marks and structure.
attention::MaskGeometry geometryOf(const Setup& setup, const LineTokens& line, Index sequence);

/// Returns the scene's paintings and the files used by both masks. The Error names the file.
attention::Result<attention::MaskSources> maskSources(const Setup& setup, InputCache& cache);

/// Returns a sentence for each surprising way in which the numbers of a mask's files were read: large numbers
/// taken as masked, and numbers to add that are left out. Skips files that can't be read.
std::vector<std::string> maskFileNotes(const attention::MaskLayers& layers, InputCache& cache);
/// The same for the masks that the scene shows.
std::vector<std::string> maskFileNotes(const Setup& setup, InputCache& cache);
/// The same for one file.
std::vector<std::string> maskFileNotes(const std::string& path, std::uint64_t largeNumbers,
                                       bool hasAddedNumbers);

/// Returns the free additive matrix as [1, queries, keys]; empty if it is all 0. Returns an Error if its size
/// differs.
attention::Result<attention::Stack> additiveOf(const Setup& setup, Index queries, Index keys);
/// Resizes the additive matrix when the text changes from `before`: crops it or pads it with zeros. Leaves it
/// alone if it didn't fit before.
void fitAdditive(const InputSetup& before, Setup& setup);

/// Returns the part of the masks that a decode step for rows from … from+count−1 uses.
attention::MaskInput maskPartOf(const attention::MaskInput& whole, Index from, Index count);

/// Returns the layers of either mask that affect no line; those of the second start with "mask B: ".
std::vector<attention::OmittedLayer> omittedLayers(const Setup& setup);

/// Returns why a mask can't be applied to the current text, if so. Accepts masks that use files, since only
/// workers read files.
std::optional<std::string> refusalOf(const Setup& setup, const attention::MaskLayers& layers);

/// The masks of one line; `other` is null unless the scene compares two masks.
struct LineMasks {
  std::shared_ptr<const attention::MaskFormula> mask, other;
  attention::Stack additive;
};

/// Compiles the masks of every line. Returns an Error if a mask is invalid for these tokens.
attention::Result<std::vector<LineMasks>> compileMasks(const Setup& setup,
                                                       const std::vector<LineTokens>& lines,
                                                       InputCache& cache);

/// Returns the titles of mask layers that by themselves hide all later keys; none if there is a causal layer
/// or a model.
std::vector<std::string> futureHiders(const Setup& setup, const LineTokens& line, InputCache& cache);

}  // namespace headscope::app
