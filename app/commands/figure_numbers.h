#pragma once

#include "app/compute/figures/picture_file.h"

namespace headscope::app {

/// Whether a path is a file of numbers, .csv or .json, in place of a picture.
bool isNumberFile(const std::filesystem::path& path);

/// Writes what a figure shows, in full precision: of a layer heads, head, mask or cache (figure_table.h), of
/// a model's texts patch, attribution or lens. A .csv has a line with the columns' names and one for each
/// number's place; a .json the same rows, with what they are of and the definition of each column. Returns an
/// Error if the figure has no such numbers, if they can't be computed, or if the file can't be written.
attention::Status writeFigureNumbers(const std::filesystem::path& path, const Scene& scene, PictureKind what);

}  // namespace headscope::app
