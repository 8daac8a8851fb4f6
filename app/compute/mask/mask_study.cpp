#include "app/compute/mask/mask_study.h"

#include <fmt/core.h>

#include <cctype>
#include <numeric>

#include "app/compute/layer/mask_inputs.h"
#include "attention/core/extremes.h"
#include "render/heatmap.h"

namespace headscope::app {

using attention::KeyRun;
using attention::MaskFormula;
using attention::Matrix;

namespace {

constexpr Index kCoarsest = 48, kSmallPicture = 48, kReachPicture = 512;

/// Whether `symbol` occurs in the formula as a whole word.
bool standsIn(const std::string& formula, std::string_view symbol) {
  const auto letter = [&](std::size_t at) {
    return at < formula.size() && std::isalpha(static_cast<unsigned char>(formula[at])) != 0;
  };
  for (std::size_t at = formula.find(symbol); at != std::string::npos; at = formula.find(symbol, at + 1))
    if ((at == 0 || !letter(at - 1)) && !letter(at + symbol.size())) return true;
  return false;
}

/// Returns the legend of the patterns' symbols in the formula, each once: ", L: keys before the padding".
std::string symbolsOf(const attention::MaskLayers& layers, const std::string& formula,
                      const std::string& before = "") {
  std::string text = before;
  for (const attention::Layer& layer : layers) {
    if (!layer.on) continue;
    text = symbolsOf(layer.isGroup() ? layer.group : layer.pattern.inner, formula, text);
    if (layer.isGroup()) continue;
    for (const attention::ParameterInfo& parameter : attention::infoOf(layer.pattern.kind).parameters) {
      const std::string line = fmt::format(", {}: {}", parameter.symbol, parameter.meaning);
      if (!parameter.symbol.empty() && standsIn(formula, parameter.symbol) &&
          text.find(line) == std::string::npos)
        text += line;
    }
  }
  return text;
}

/// Visible cells per square of factor × factor, and which rows of squares see nothing.
struct CellCounts {
  Matrix counts;
  std::vector<std::uint8_t> dead;
  Index queries = 0, keys = 0, factor = 1;
};

/// Adds each run's overlap with each column of `factor` keys.
void addRuns(const attention::KeyRuns& runs, Index factor, float* columns) {
  for (const KeyRun& run : runs)
    for (Index at = run.begin; at < run.end;) {
      const Index next = std::min(run.end, (at / factor + 1) * factor);
      columns[at / factor] += static_cast<float>(next - at);
      at = next;
    }
}

CellCounts countCells(const MaskFormula& mask, Index variant, Index factor) {
  CellCounts cells;
  cells.queries = mask.queries();
  cells.keys = mask.keys();
  cells.factor = factor;
  cells.counts =
      Matrix::Zero(attention::pooledSize(cells.queries, factor), attention::pooledSize(cells.keys, factor));
  cells.dead.assign(static_cast<std::size_t>(cells.counts.rows()), 1);
  attention::KeyRuns runs;
  for (Index i = 0; i < cells.queries; ++i) {
    mask.visibleRuns(variant, i, runs);
    if (!runs.empty()) cells.dead[static_cast<std::size_t>(i / factor)] = 0;
    float* const row = cells.counts.row(i / factor).data();
    if (factor == 1)
      for (const KeyRun& run : runs) std::fill(row + run.begin, row + run.end, 1.0f);
    else
      addRuns(runs, factor, row);
  }
  return cells;
}

CellCounts halved(const CellCounts& finer) {
  CellCounts cells;
  cells.queries = finer.queries;
  cells.keys = finer.keys;
  cells.factor = finer.factor * 2;
  cells.counts = Matrix::Zero(attention::pooledSize(finer.counts.rows(), 2),
                              attention::pooledSize(finer.counts.cols(), 2));
  cells.dead.assign(static_cast<std::size_t>(cells.counts.rows()), 1);
  for (Index row = 0; row < finer.counts.rows(); ++row) {
    const auto to = static_cast<std::size_t>(row / 2);
    cells.dead[to] = cells.dead[to] && finer.dead[static_cast<std::size_t>(row)];
    const float* from = finer.counts.row(row).data();
    float* const sums = cells.counts.row(row / 2).data();
    for (Index col = 0; col < finer.counts.cols(); ++col) sums[col / 2] += from[col];
  }
  return cells;
}

/// Returns the visible share of each square, with the marks of render/heatmap.h.
Matrix shares(const CellCounts& cells) {
  Matrix out = cells.counts;
  for (Index row = 0; row < out.rows(); ++row) {
    const Index height = std::min(cells.queries - row * cells.factor, cells.factor);
    const bool dead = cells.dead[static_cast<std::size_t>(row)];
    for (Index col = 0; col < out.cols(); ++col) {
      const Index width = std::min(cells.keys - col * cells.factor, cells.factor);
      float& cell = out(row, col);
      cell = dead        ? render::kDeadCell
             : cell == 0 ? render::kMaskedCell
                         : cell / static_cast<float>(height * width);
    }
  }
  return out;
}

bool sameCells(const MaskFormula& mask, Index a, Index b) {
  attention::KeyRuns left, right;
  for (Index row = 0; row < mask.queries(); ++row) {
    mask.visibleRuns(a, row, left);
    mask.visibleRuns(b, row, right);
    if (left != right) return false;
  }
  return true;
}

/// Returns how many of the heads' masks differ. Different formulas may hide the same cells.
Index distinctMasks(const MaskFormula& mask, std::stop_token stop) {
  std::vector<Index> found;
  for (Index variant = 0; variant < mask.variants() && !stop.stop_requested(); ++variant)
    if (std::none_of(found.begin(), found.end(),
                     [&](Index other) { return sameCells(mask, variant, other); }))
      found.push_back(variant);
  return static_cast<Index>(found.size());
}

/// `layers` are the scene's. A model's own layers may be added in front of them.
StudiedMask studyOne(const attention::MaskLayers& layers, const attention::MaskGeometry& geometry,
                     const attention::MaskSources& sources, const MaskQuestion& question,
                     std::stop_token stop) {
  StudiedMask studied;
  const attention::MaskLayers inForce = layersInForce(question.setup, layers);
  const auto compiled = attention::compileMask(inForce, geometry, sources);
  if (!compiled) {
    studied.error = compiled.error().message;
    return studied;
  }
  studied.formula = *compiled;
  const MaskFormula& mask = **compiled;
  const Index head = std::clamp<Index>(question.head, 0, geometry.heads - 1);
  studied.variant = mask.variantOf(head);
  studied.distinct = distinctMasks(mask, stop);
  const Index longer = std::max(mask.queries(), mask.keys());
  CellCounts cells = countCells(mask, studied.variant, 1);
  studied.levels.push_back(shares(cells));
  while (attention::pooledSize(longer, cells.factor) > kCoarsest && !stop.stop_requested()) {
    cells = halved(cells);
    studied.levels.push_back(shares(cells));
  }
  Index small = 1;
  while (attention::pooledSize(longer, small) > kSmallPicture) small *= 2;
  studied.thumbnails = attention::Stack(mask.variants(), attention::pooledSize(mask.queries(), small),
                                        attention::pooledSize(mask.keys(), small));
  for (Index variant = 0; variant < mask.variants() && !stop.stop_requested(); ++variant)
    studied.thumbnails[variant] = drawMask(mask, variant, small);
  studied.statistics = attention::measureMask(mask, studied.variant, 0, std::uint64_t{1} << 24, stop);
  studied.blocks = attention::mapBlocks(mask, studied.variant, question.blockSize, stop);
  attention::MaskLayers asked;
  for (const attention::Layer& layer : inForce)
    if (attention::omittedReason(layer, geometry).empty()) asked.push_back(layer);
  studied.formulaText = attention::maskFormula(asked, head, geometry.kvHeadOf(head), geometry.sequence);
  if (!asked.empty())
    studied.formulaLegend = "i: query, j: key, from 0" + symbolsOf(asked, studied.formulaText);
  for (const attention::Layer& layer : layers) {
    const bool applies = layer.on && (!layer.heads || layer.heads->contains(head, geometry.kvHeadOf(head))) &&
                         attention::omittedReason(layer, geometry).empty();
    const auto alone = applies ? attention::compileMask({layer}, geometry, sources) : compiled;
    studied.layers.push_back(applies && alone.ok() ? *alone : nullptr);
  }
  studied.seesFuture = !geometry.cross && seesFuture(mask);
  return studied;
}

std::uint64_t bytesOf(const StudiedMask& mask) {
  Index floats = mask.thumbnails.size();
  for (const Matrix& level : mask.levels) floats += level.size();
  const attention::BlockMap& blocks = mask.blocks;
  return static_cast<std::uint64_t>(floats) * sizeof(float) +
         blocks.visible.size() * sizeof(blocks.visible[0]) + blocks.kinds.size() * sizeof(blocks.kinds[0]);
}

/// Draws the first layer that reaches each cell; of the cells that share a pixel, the earliest counts.
Matrix drawReach(const attention::ReachMap& reach, Index factor) {
  Matrix out = Matrix::Constant(attention::pooledSize(reach.tokens, factor),
                                attention::pooledSize(reach.tokens, factor), render::kMaskedCell);
  for (Index i = 0; i < reach.tokens; ++i)
    for (Index j = 0; j < reach.tokens; ++j) {
      const Index layer = reach.layer[static_cast<std::size_t>(i * reach.tokens + j)];
      if (layer == 0) continue;
      float& cell = out(i / factor, j / factor);
      cell = std::max(cell, static_cast<float>(reach.layers + 1 - layer) / static_cast<float>(reach.layers));
    }
  return out;
}

}  // namespace

Matrix drawMask(const MaskFormula& mask, Index variant, Index factor) {
  return shares(countCells(mask, variant, factor));
}

MaskStudy studyMask(const MaskQuestion& question, InputCache& cache, std::stop_token stop) {
  MaskStudy study;
  study.question = question;
  TokenBatch batch = tokenizeBatch(question.setup);
  if (batch.error || batch.lines.empty()) return study;
  study.lines = std::move(batch.lines);
  study.sequence = std::clamp<Index>(question.sequence, 0, static_cast<Index>(study.lines.size()) - 1);
  study.geometry = geometryOf(question.setup, *study.line(), study.sequence);
  const auto sources = maskSources(question.setup, cache);
  if (!sources) {
    study.mask.error = sources.error().message;
    return study;
  }
  const MaskSetup& masks = question.setup.mask;
  study.mask = studyOne(masks.layers, study.geometry, *sources, question, stop);
  study.mask.notes = maskFileNotes(masks.layers, cache);
  if (!masks.compare || stop.stop_requested()) return study;
  study.other = studyOne(masks.other, study.geometry, *sources, question, stop);
  study.other->notes = maskFileNotes(masks.other, cache);
  return study;
}

MaskStudy studyMask(const MaskQuestion& question, std::stop_token stop) {
  InputCache own{MemoryBudget(defaultLimits().memoryBytes)};
  return studyMask(question, own, stop);
}

std::uint64_t bytesOf(const MaskStudy& study) {
  return bytesOf(study.mask) + (study.other ? bytesOf(*study.other) : 0);
}

std::uint64_t bytesOf(const ReachStudy& study) {
  return study.reach.layer.size() + static_cast<std::uint64_t>(study.picture.size()) * sizeof(float);
}

Matrix maskDifference(const Matrix& a, const Matrix& b) {
  const auto share = [](float cell) {
    return cell == render::kMaskedCell || cell == render::kDeadCell ? 0.0f : cell;
  };
  return a.binaryExpr(b, [&](float before, float after) {
    const bool neither = share(before) == 0 && share(after) == 0;
    // The dead mark is the larger one, so min() gives it only if both are dead.
    return neither ? std::min(before, after) : share(after) - share(before);
  });
}

std::vector<Index> variantsOf(const ReachQuestion& question) {
  if (question.variant >= 0) return {question.variant};
  std::vector<Index> all(static_cast<std::size_t>(question.mask->variants()));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

ReachStudy studyReach(const ReachQuestion& question, std::stop_token stop) {
  ReachStudy study;
  study.question = question;
  const MaskFormula& mask = *question.mask;
  const std::vector<Index> variants = variantsOf(question);
  study.reach = attention::reachAfter(mask, variants, question.layers, question.residual, stop);
  if (stop.stop_requested()) return study;
  while (attention::pooledSize(study.reach.tokens, study.factor) > kReachPicture) study.factor *= 2;
  study.picture = drawReach(study.reach, study.factor);
  study.leak = attention::shortestLeak(mask, variants);
  return study;
}

namespace {

using attention::Index;

constexpr Index kMaxSide = 4096;

struct Rgb {
  float r, g, b;
};
constexpr Rgb kMasked{22, 24, 31}, kVisible{226, 232, 244};

void setPixel(render::Image& image, std::size_t pixel, float light) {
  const auto mix = [&](float dark, float bright) {
    return static_cast<std::uint8_t>(std::lround(dark + (bright - dark) * light));
  };
  std::uint8_t* rgba = image.rgba.data() + 4 * pixel;
  rgba[0] = mix(kMasked.r, kVisible.r);
  rgba[1] = mix(kMasked.g, kVisible.g);
  rgba[2] = mix(kMasked.b, kVisible.b);
  rgba[3] = 255;
}

}  // namespace

Index cellsPerPixel(const attention::MaskFormula& mask) {
  return (std::max(mask.queries(), mask.keys()) + kMaxSide - 1) / kMaxSide;
}

render::Image maskImage(const attention::MaskFormula& mask, Index variant) {
  // A single visible cell among many masked ones must still show.
  constexpr float kFaintest = 0.2F;
  const Index cells = cellsPerPixel(mask);
  const attention::BlockMap map = attention::mapBlocks(mask, variant, cells);
  render::Image image{static_cast<int>(map.cols), static_cast<int>(map.rows), {}};
  image.rgba.resize(4 * map.visible.size());
  for (Index row = 0; row < map.rows; ++row) {
    const Index height = std::min(cells, mask.queries() - row * cells);
    for (Index col = 0; col < map.cols; ++col) {
      const Index width = std::min(cells, mask.keys() - col * cells);
      const auto pixel = static_cast<std::size_t>(row * map.cols + col);
      const float share = static_cast<float>(map.visible[pixel]) / static_cast<float>(width * height);
      setPixel(image, pixel, share > 0 ? kFaintest + (1 - kFaintest) * share : 0);
    }
  }
  return image;
}

attention::Status writeMaskPicture(const std::filesystem::path& path, const attention::MaskFormula& mask,
                                   Index variant) {
  return attention::writeFile(path, render::encodePng(maskImage(mask, variant)));
}

}  // namespace headscope::app
