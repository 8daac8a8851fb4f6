#include "app/compute/mask_inputs.h"

#include <algorithm>

namespace headscope::app {

using attention::MaskGeometry;
using attention::MaskSources;
using attention::Result;

MaskGeometry geometryOf(const Setup& setup, const LineTokens& line, Index sequence) {
  MaskGeometry geometry;
  geometry.queries = static_cast<Index>(line.queries.size());
  geometry.keys = static_cast<Index>(line.keys.size());
  geometry.heads = setup.model.heads;
  geometry.kvHeads = setup.model.kvHeads;
  geometry.sequence = sequence;
  geometry.keyLength = line.keyLength;
  geometry.cross = setup.input.cross;
  const auto at = static_cast<std::size_t>(sequence);
  const attention::TextMarks marks =
      at < setup.mask.marks->size() ? (*setup.mask.marks)[at] : attention::TextMarks{};
  // Padding has no sentences: structure is the text's own.
  geometry.structure =
      attention::structureOf(std::span(line.queries).first(static_cast<std::size_t>(line.queryLength)),
                             std::span(line.keys).first(static_cast<std::size_t>(line.keyLength)), marks);
  return geometry;
}

Result<MaskSources> maskSources(const Setup& setup, InputCache& cache) {
  MaskSources sources;
  for (const auto& [name, table] : setup.mask.paintings) sources.paintings[name] = table.pointer();
  for (const attention::MaskLayers* layers : {&setup.mask.layers, &setup.mask.other})
    for (const auto& [path, word] : attention::filesOf(*layers)) {
      const Result<attention::MaskConvention> convention = attention::parseConvention(word);
      if (!convention) return convention.error();
      Result<std::shared_ptr<const attention::CellTable>> cells = cache.maskCells(path, *convention);
      if (!cells) return cells.error();
      sources.files[attention::fileKey(path, word)] = *std::move(cells);
    }
  return sources;
}

attention::Stack additiveOf(const Setup& setup, Index queries, Index keys) {
  const attention::Matrix& given = setup.mask.additive->values;
  const Index rows = std::min(queries, given.rows()), cols = std::min(keys, given.cols());
  if (rows == 0 || cols == 0 || given.topLeftCorner(rows, cols).isZero(0)) return {};
  attention::Stack additive(1, queries, keys);
  additive[0].topLeftCorner(rows, cols) = given.topLeftCorner(rows, cols);
  return additive;
}

std::optional<std::string> refusalOf(const Setup& setup, const attention::MaskLayers& layers) {
  if (!attention::filesOf(layers).empty()) return std::nullopt;
  MaskSources sources;
  for (const auto& [name, table] : setup.mask.paintings) sources.paintings[name] = table.pointer();
  const TokenBatch batch = tokenizeBatch(setup);
  for (std::size_t line = 0; line < batch.lines.size(); ++line) {
    const auto mask = attention::compileMask(
        layers, geometryOf(setup, batch.lines[line], static_cast<Index>(line)), sources);
    if (!mask) return mask.error().message;
  }
  return std::nullopt;
}

}  // namespace headscope::app
