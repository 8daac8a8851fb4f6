#include "app/compute/mask_inputs.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>

#include "attention/formats/mask_file.h"

namespace headscope::app {

using attention::MaskGeometry;
using attention::MaskSources;
using attention::Result;

namespace {

/// Mask files that were read, while they stay as they were. Both workers ask.
class FileShelf {
 public:
  Result<std::shared_ptr<const attention::CellTable>> get(const std::string& path,
                                                          const std::string& conventionWord) {
    namespace fs = std::filesystem;
    const Result<attention::MaskConvention> convention = attention::parseConvention(conventionWord);
    if (!convention) return convention.error();
    std::error_code ignored;
    const auto changed = fs::last_write_time(path, ignored);
    const auto size = ignored ? 0 : fs::file_size(path, ignored);
    const std::lock_guard lock(mutex_);
    Kept& kept = kept_[attention::fileKey(path, conventionWord)];
    if (kept.cells && !ignored && kept.changed == changed && kept.size == size) return kept.cells;
    Result<attention::MaskFile> file = attention::readMaskFile(path, *convention);
    if (!file) return file.error();
    kept = {changed, size, file->cells};
    return kept.cells;
  }

 private:
  struct Kept {
    std::filesystem::file_time_type changed;
    std::uintmax_t size = 0;
    std::shared_ptr<const attention::CellTable> cells;
  };
  std::mutex mutex_;
  std::map<std::string, Kept> kept_;
};

}  // namespace

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

Result<MaskSources> maskSources(const Setup& setup) {
  static FileShelf shelf;
  MaskSources sources;
  for (const auto& [name, table] : setup.mask.paintings) sources.paintings[name] = table.pointer();
  for (const attention::MaskLayers* layers : {&setup.mask.layers, &setup.mask.other})
    for (const auto& [path, convention] : attention::filesOf(*layers)) {
      Result<std::shared_ptr<const attention::CellTable>> cells = shelf.get(path, convention);
      if (!cells) return cells.error();
      sources.files[attention::fileKey(path, convention)] = *cells;
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
