#include "app/commands/mask_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "app/scene/text/number_text.h"
#include "attention/core/noun.h"
#include "attention/masks/statistics.h"

namespace headscope::app {
namespace {

using attention::Index;
using attention::MaskStatistics;

constexpr Index kBlockSize = 128;

std::string countOf(Index value) {
  return countText(static_cast<std::uint64_t>(value));
}

/// "12.50%". Only nothing is "0%", and only everything is "100%".
std::string shareText(double share) {
  if (share <= 0) return "0%";
  if (share >= 1) return "100%";
  if (share > 0.9999) return "more than 99.99%";
  if (share < 0.0001) return "less than 0.01%";
  return fmt::format("{:.2f}%", share * 100);
}

/// "3 (0, 5, 6)", listing the first few; "none" if the count is 0.
std::string somePositions(Index count, const std::vector<Index>& first) {
  constexpr std::size_t kMax = 8;
  if (count == 0) return "none";
  const auto shown = std::span(first).first(std::min(first.size(), kMax));
  const bool more = static_cast<Index>(shown.size()) < count;
  return fmt::format("{} ({}{})", countOf(count), fmt::join(shown, ", "), more ? ", …" : "");
}

std::string futureText(const MaskStatistics& statistics) {
  if (!statistics.firstFuture) return "none";
  return fmt::format("{}, the first: query {} sees key {}", countText(statistics.future),
                     statistics.firstFuture->query, statistics.firstFuture->key);
}

std::string variantReport(const attention::MaskFormula& mask, Index variant, Index cacheLength) {
  const MaskStatistics statistics = attention::measureMask(mask, variant, cacheLength);
  const attention::BlockMap blocks = attention::mapBlocks(mask, variant, kBlockSize);
  const std::string of =
      statistics.sampled ? " in " + countedText(statistics.rowsCounted, "sampled row") : "";
  std::string text = "  density: " + shareText(statistics.density()) + ", " + countText(statistics.visible) +
                     " of " + countText(statistics.cells) + " cells" + of + "\n";
  text += "  rows that see nothing: " + somePositions(statistics.emptyRows, statistics.firstEmptyRows) + of +
          "\n";
  text += "  keys no query sees: " +
          (statistics.unseenKeys < 0 ? "not counted, rows were sampled"
                                     : somePositions(statistics.unseenKeys, statistics.firstUnseenKeys)) +
          "\n";
  text += "  future pairs: " + futureText(statistics) + of + "\n";
  text += fmt::format("  blocks of {}: {} full, {} partial, {} empty\n", kBlockSize, countOf(blocks.full),
                      countOf(blocks.partial), countOf(blocks.empty));
  text += "  FLOPs saved by skipping empty blocks: " + shareText(1 - blocks.computedShare()) + "\n";
  return text;
}

/// "heads 0-2, 5".
std::string headsText(const std::vector<Index>& heads) {
  std::string text = attention::nounFor(heads.size(), "head") + " ";
  for (std::size_t i = 0; i < heads.size();) {
    std::size_t last = i;
    while (last + 1 < heads.size() && heads[last + 1] == heads[last] + 1) ++last;
    text += (i == 0 ? "" : ", ") + std::to_string(heads[i]);
    if (last > i) text += fmt::format("-{}", heads[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace

std::string parameterText(const attention::ParameterInfo& parameter) {
  using Kind = attention::ParameterKind;
  std::string text(parameter.name);
  if (parameter.kind == Kind::count) {
    text += parameter.step == 1 ? fmt::format(": {} to {}", parameter.low, parameter.high)
                                : fmt::format(": {}, {}, … {}", parameter.low, parameter.low + parameter.step,
                                              parameter.high);
    if (!parameter.notAbove.empty()) text += fmt::format(" and at most {}", parameter.notAbove);
    if (!parameter.fromText) text += fmt::format(", default {}", parameter.defaultValue);
  } else if (parameter.kind == Kind::positions) {
    text += ": [0, 11]";
  } else if (parameter.kind == Kind::spans) {
    text += ": [0-3, 8-11]";
  } else if (parameter.kind == Kind::parents) {
    text += ": [-1, 0, 0]";
  } else {
    text += parameter.kind == Kind::convention ? ": visible, masked or additive" : ": \"…\"";
  }
  if (parameter.fromText) text += ", default: from the text";
  return text + "; " + std::string(parameter.meaning);
}

std::string maskReport(const attention::MaskLayers& layers, const attention::MaskGeometry& geometry,
                       const attention::MaskFormula& mask, std::optional<Index> head, bool cacheGiven) {
  std::string size = countedText(mask.queries(), "query") + " × " + countedText(mask.keys(), "key") + ", " +
                     countedText(mask.heads(), "head");
  if (geometry.cacheLength > 0) size += ", " + countedText(geometry.cacheLength, "token") + " cached";
  if (geometry.queries != geometry.keys && !cacheGiven)
    size += ", first query at position 0 (--cache is not given)";
  std::string text = "mask: " + (layers.empty() ? "everything" : maskText(layers)) + "\nsize: " + size + "\n";
  for (const auto& [layer, reason] : omittedLayers(layers, geometry))
    text += "omitted: " + layer + " (" + reason + ")\n";
  for (Index variant = 0; variant < mask.variants(); ++variant) {
    std::vector<Index> heads;
    for (Index h = 0; h < mask.heads(); ++h)
      if (mask.variantOf(h) == variant && (!head || *head == h)) heads.push_back(h);
    if (heads.empty()) continue;
    const Index kvHead = geometry.kvHeadOf(heads[0]);
    text += headsText(heads) + ": " + maskFormula(layers, heads[0], kvHead, geometry.sequence) + "\n";
    text += variantReport(mask, variant, geometry.cacheLength);
  }
  return text;
}

std::string patternList() {
  std::string text;
  for (const attention::PatternInfo& info : attention::patternTable()) {
    text += std::string(info.name) + ": " + std::string(info.formula) + "\n";
    text += "  " + std::string(info.title) + "; " + std::string(info.users) + "\n";
    text += "  " + std::string(info.help) + "\n";
    if (info.takesInner) text += "  first, a mask over positions inside the document; default full\n";
    for (const auto& parameter : info.parameters) text += "  " + parameterText(parameter) + "\n";
    if (!info.example.empty()) text += "  for example " + std::string(info.example) + "\n";
  }
  return text;
}

}  // namespace headscope::app
