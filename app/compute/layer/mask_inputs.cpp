#include "app/compute/layer/mask_inputs.h"

#include <fmt/core.h>

#include "app/compute/layer/line_tokens.h"
#include "app/scene/mask_rules.h"

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
  geometry.cross = isCross(setup);
  const auto at = static_cast<std::size_t>(sequence);
  const attention::TextMarks marks =
      at < setup.mask.marks->size() ? (*setup.mask.marks)[at] : attention::TextMarks{};
  // Structure is that of the text alone; padding has no sentences.
  geometry.structure =
      attention::structureOf(std::span(line.queries).first(static_cast<std::size_t>(line.queryLength)),
                             std::span(line.keys).first(static_cast<std::size_t>(line.keyLength)), marks);
  return geometry;
}

Result<MaskSources> maskSources(const Setup& setup, InputCache& cache) {
  MaskSources sources;
  for (const auto& [name, table] : setup.mask.paintings) sources.paintings[name] = table.pointer();
  for (const attention::MaskLayers* layers : {&*setup.mask.layers, &*setup.mask.other})
    for (const auto& [path, word] : attention::filesOf(*layers)) {
      const Result<attention::MaskConvention> convention = attention::parseConvention(word);
      if (!convention) return convention.error();
      Result<std::shared_ptr<const attention::CellTable>> cells = cache.maskCells(path, *convention);
      if (!cells) return cells.error();
      sources.files[attention::fileKey(path, word)] = *std::move(cells);
    }
  return sources;
}

std::vector<std::string> maskFileNotes(const std::string& path, std::uint64_t largeNumbers,
                                       bool hasAddedNumbers) {
  std::vector<std::string> notes;
  const std::string name = attention::shownPath(path);
  if (largeNumbers > 0) notes.push_back(name + ": " + attention::largeNumbersText(largeNumbers));
  if (hasAddedNumbers)
    notes.push_back(name + ": holds finite numbers besides -inf; a mask can't add them to the scores");
  return notes;
}

std::vector<std::string> maskFileNotes(const attention::MaskLayers& layers, InputCache& cache) {
  std::vector<std::string> notes;
  for (const auto& [path, word] : attention::filesOf(layers)) {
    const Result<attention::MaskConvention> convention = attention::parseConvention(word);
    if (!convention) continue;
    const auto file = cache.maskFile(path, *convention);
    if (!file) continue;
    for (std::string& note : maskFileNotes(path, (*file)->largeNumbers, (*file)->hasAddedNumbers))
      notes.push_back(std::move(note));
  }
  return notes;
}

std::vector<std::string> maskFileNotes(const Setup& setup, InputCache& cache) {
  std::vector<std::string> notes = maskFileNotes(setup.mask.layers, cache);
  if (!setup.mask.compare) return notes;
  for (std::string& note : maskFileNotes(setup.mask.other, cache))
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
  return notes;
}

Result<attention::Stack> additiveOf(const Setup& setup, Index queries, Index keys) {
  const attention::Matrix& given = setup.mask.additive->values;
  if (given.size() == 0 || given.isZero(0)) return attention::Stack();
  if (given.rows() != queries || given.cols() != keys)
    return attention::Error{
        fmt::format("The added matrix is {} × {}, expected {} × {}: a row for each query, a column for "
                    "each key.",
                    given.rows(), given.cols(), queries, keys)};
  attention::Stack additive(1, queries, keys);
  additive[0] = given;
  return additive;
}

void fitAdditive(const InputSetup& before, Setup& setup) {
  const attention::Matrix& given = setup.mask.additive->values;
  if (given.size() == 0 || before == setup.input) return;
  const auto sizeOf = [&](const InputSetup& input) {
    Setup asked = setup;
    asked.input = input;
    const TokenBatch batch = tokenizeBatch(asked);
    if (batch.lines.empty()) return std::pair<Index, Index>(0, 0);
    return std::pair(static_cast<Index>(batch.lines.front().queries.size()),
                     static_cast<Index>(batch.lines.front().keys.size()));
  };
  const auto old = sizeOf(before), now = sizeOf(setup.input);
  const std::pair size(given.rows(), given.cols());
  if (now.first == 0 || now == size || (old.first != 0 && old != size)) return;
  attention::Matrix fitting = attention::Matrix::Zero(now.first, now.second);
  const Index rows = std::min(now.first, size.first), cols = std::min(now.second, size.second);
  fitting.topLeftCorner(rows, cols) = given.topLeftCorner(rows, cols);
  setup.mask.additive.edit().values = std::move(fitting);
}

attention::Stack rowsOf(const attention::Stack& whole, Index from, Index count) {
  attention::Stack rows = attention::Stack::uninitialized(whole.count(), count, whole.cols());
  for (Index i = 0; i < whole.count(); ++i) rows[i] = whole[i].middleRows(from, count);
  return rows;
}

attention::MaskInput maskPartOf(const attention::MaskInput& whole, Index from, Index count) {
  attention::MaskInput part;
  part.formula = attention::maskPart(whole.formula, from, count, from + count);
  if (!whole.additive.empty()) {
    part.additive = attention::Stack(1, count, from + count);
    part.additive[0] = whole.additive[0].block(from, 0, count, from + count);
  }
  return part;
}

std::vector<attention::OmittedLayer> omittedLayers(const Setup& setup) {
  const TokenBatch batch = tokenizeBatch(setup);
  std::vector<attention::OmittedLayer> all;
  const auto gather = [&](const attention::MaskLayers& layers, const std::string& prefix) {
    std::vector<attention::OmittedLayer> everywhere;
    for (std::size_t line = 0; line < batch.lines.size(); ++line) {
      const auto here =
          attention::omittedLayers(layers, geometryOf(setup, batch.lines[line], static_cast<Index>(line)));
      if (line == 0) everywhere = here;
      std::erase_if(everywhere, [&](const attention::OmittedLayer& omitted) {
        return std::none_of(here.begin(), here.end(),
                            [&](const attention::OmittedLayer& other) { return other.text == omitted.text; });
      });
    }
    for (attention::OmittedLayer& layer : everywhere)
      all.push_back({prefix + layer.text, std::move(layer.reason)});
  };
  gather(setup.mask.layers, "");
  if (setup.mask.compare) gather(setup.mask.other, "mask B: ");
  return all;
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

using attention::Error;

Result<std::vector<LineMasks>> compileMasks(const Setup& setup, const std::vector<LineTokens>& lines,
                                            InputCache& cache) {
  const Result<attention::MaskSources> sources = maskSources(setup, cache);
  if (!sources) return sources.error();
  std::vector<LineMasks> masks;
  for (const LineTokens& line : lines) {
    const attention::MaskGeometry geometry = geometryOf(setup, line, static_cast<Index>(masks.size()));
    const auto mask = attention::compileMask(layersInForce(setup, setup.mask.layers), geometry, *sources);
    if (!mask) return mask.error();
    auto additive = additiveOf(setup, geometry.queries, geometry.keys);
    if (!additive) return additive.error();
    masks.push_back({*mask, nullptr, *std::move(additive)});
    if (!setup.mask.compare) continue;
    const auto other = attention::compileMask(layersInForce(setup, setup.mask.other), geometry, *sources);
    if (!other) return Error{"Mask B: " + other.error().message};
    masks.back().other = *other;
  }
  return masks;
}

std::vector<std::string> futureHiders(const Setup& setup, const LineTokens& line, InputCache& cache) {
  std::vector<std::string> titles;
  const Result<attention::MaskSources> sources = maskSources(setup, cache);
  // A model hides later tokens itself.
  if (!sources || setup.subject.opened || hasRule(setup.mask.layers, attention::PatternKind::causal))
    return titles;
  const attention::MaskGeometry geometry = geometryOf(setup, line, 0);
  for (const attention::Layer& layer : setup.mask.layers) {
    if (!layer.on) continue;
    const auto alone = attention::compileMask({layer}, geometry, *sources);
    if (alone.ok() && !seesFuture(**alone)) titles.push_back(layerTitle(layer));
  }
  return titles;
}

}  // namespace headscope::app
