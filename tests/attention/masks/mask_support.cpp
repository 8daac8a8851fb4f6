#include "tests/attention/masks/mask_support.h"

#include <gtest/gtest.h>

#include "attention/masks/runs.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {

MaskGeometry geometryOf(Index queries, Index keys, Index cacheLength, Index heads, Index kvHeads) {
  MaskGeometry geometry;
  geometry.queries = queries;
  geometry.keys = geometry.keyLength = keys;
  geometry.cacheLength = cacheLength;
  geometry.heads = heads;
  geometry.kvHeads = kvHeads;
  geometry.structure = structureOf(queries, keys, {});
  return geometry;
}

MaskLayers layersOf(const std::string& text) {
  ParsedMask parsed = parseMask(text);
  EXPECT_FALSE(parsed.error) << text << ": " << (parsed.error ? parsed.error->message : "");
  return parsed.layers;
}

std::shared_ptr<const MaskFormula> compiled(const MaskLayers& layers, const MaskGeometry& geometry,
                                            const MaskSources& sources) {
  auto mask = compileMask(layers, geometry, sources);
  if (mask) return *mask;
  ADD_FAILURE() << maskText(layers) << ": " << mask.error().message;
  return *compileMask({}, geometryOf(0, 0));
}

std::shared_ptr<const MaskFormula> compiled(const std::string& text, const MaskGeometry& geometry,
                                            const MaskSources& sources) {
  return compiled(layersOf(text), geometry, sources);
}

bool wellFormed(const KeyRuns& runs, Index keys) {
  Index from = -1;
  for (const KeyRun& run : runs) {
    if (run.begin <= from || run.begin < 0 || run.begin >= run.end || run.end > keys) return false;
    from = run.end;
  }
  return true;
}

MaskInput maskFor(const std::string& text, const AttentionConfig& config, Index queries, Index keys) {
  return {compiled(text, geometryOf(queries, keys, config.cacheLength, config.heads, config.kvHeads)), {}};
}

std::shared_ptr<const CellTable> cellsOf(const Stack& masked) {
  if (masked.empty()) return nullptr;
  auto cells = std::make_shared<CellTable>(CellTable{masked.count(), masked.rows(), masked.cols(), {}});
  for (Index head = 0; head < masked.count(); ++head)
    for (Index row = 0; row < masked.rows(); ++row) {
      auto cellRow = std::make_shared<CellRow>();
      for (Index j = 0; j < masked.cols(); ++j)
        appendRun(masked.at(head, row, j) != 0 ? cellRow->masked : cellRow->visible, j, j + 1);
      cells->rows.push_back(std::move(cellRow));
    }
  return cells;
}

MaskPicture pictureOf(const MaskFormula& mask, Index head) {
  MaskPicture picture;
  KeyRuns runs{{3, 1}};
  for (Index row = 0; row < mask.queries(); ++row) {
    mask.visibleRuns(mask.variantOf(head), row, runs);
    EXPECT_TRUE(wellFormed(runs, mask.keys())) << "row " << row;
    std::string cells(static_cast<std::size_t>(mask.keys()), '.');
    for (const KeyRun& run : runs)
      for (Index key = run.begin; key < run.end; ++key) cells.at(static_cast<std::size_t>(key)) = '#';
    picture.push_back(std::move(cells));
  }
  return picture;
}

std::string picture(const std::string& text, const MaskGeometry& geometry, const MaskSources& sources,
                    Index head) {
  std::string joined;
  for (const std::string& row : pictureOf(*compiled(text, geometry, sources), head))
    joined += (joined.empty() ? "" : "/") + row;
  return joined;
}

std::string errorOf(const std::string& text, const MaskGeometry& geometry, const MaskSources& sources) {
  return messageOf(compileMask(layersOf(text), geometry, sources));
}

std::shared_ptr<const CellTable> cellsOf(const std::vector<MaskPicture>& heads) {
  auto table = std::make_shared<CellTable>();
  table->heads = static_cast<Index>(heads.size());
  table->queries = static_cast<Index>(heads.at(0).size());
  for (const MaskPicture& head : heads) {
    for (const std::string& cells : head) {
      table->keys = static_cast<Index>(cells.size());
      CellRow row;
      for (Index key = 0; key < table->keys; ++key) {
        const char cell = cells[static_cast<std::size_t>(key)];
        if (cell == '#') appendRun(row.visible, key, key + 1);
        if (cell == '.') appendRun(row.masked, key, key + 1);
      }
      const bool leftAlone = row.visible.empty() && row.masked.empty();
      table->rows.push_back(leftAlone ? nullptr : std::make_shared<const CellRow>(std::move(row)));
    }
  }
  return table;
}

Index pick(Random& random, Index below) {
  return static_cast<Index>(random.next() % static_cast<std::uint64_t>(below));
}

MaskPicture randomPicture(Random& random, Index queries, Index keys, const std::string& characters) {
  MaskPicture picture(static_cast<std::size_t>(queries), std::string(static_cast<std::size_t>(keys), ' '));
  for (std::string& row : picture)
    for (char& cell : row)
      cell = characters[static_cast<std::size_t>(pick(random, static_cast<Index>(characters.size())))];
  return picture;
}

}  // namespace headscope::attention::test
