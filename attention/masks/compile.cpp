#include "attention/masks/compile.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "attention/core/noun.h"
#include "attention/masks/evaluate.h"
#include "attention/masks/patterns/definition.h"
#include "attention/masks/resolve.h"

namespace headscope::attention {
namespace {

bool byDistance(const MaskProgram& program) {
  return std::all_of(program.begin(), program.end(), [](const Step& step) {
    return step.group.empty() ? step.rule.pattern->byDistance : byDistance(step.group);
  });
}

class CompiledMask : public MaskFormula {
 public:
  CompiledMask(MaskPrograms programs, const MaskGeometry& geometry)
      : programs_(std::move(programs)),
        queries_(geometry.queries),
        keys_(geometry.keys),
        cacheLength_(geometry.cacheLength) {}

  Index heads() const override { return static_cast<Index>(programs_.variantOf.size()); }
  Index queries() const override { return queries_; }
  Index keys() const override { return keys_; }
  Index variants() const override { return static_cast<Index>(programs_.variants.size()); }

  Index variantOf(Index head) const override {
    if (head < 0 || head >= heads()) refuse("head", head, heads());
    return programs_.variantOf[static_cast<std::size_t>(head)];
  }

  void visibleRuns(Index variant, Index row, KeyRuns& runs) const override {
    if (variant < 0 || variant >= variants()) refuse("variant", variant, variants());
    if (row < 0 || row >= queries_) refuse("row", row, queries_);
    thread_local RowEvaluator evaluator;
    evaluator.visibleRuns(programs_.variants[static_cast<std::size_t>(variant)],
                          {row, cacheLength_ + row, keys_, cacheLength_}, runs);
  }

  bool dependsOnDistance(Index variant) const override {
    return byDistance(programs_.variants.at(static_cast<std::size_t>(variant)));
  }

 private:
  /// Separate, so that the evaluation of rows builds no text.
  [[noreturn]] static void refuse(const char* what, Index found, Index count) {
    throw std::invalid_argument(fmt::format("mask has no {} {}, expected below {}", what, found, count));
  }

  MaskPrograms programs_;
  Index queries_, keys_, cacheLength_;
};

std::string textOf(const PatternUse& use, std::size_t parameter) {
  return parameter < use.arguments.size() && use.arguments[parameter] ? use.arguments[parameter]->text : "";
}

void gatherFiles(const MaskLayers& layers, std::vector<std::pair<std::string, std::string>>& files) {
  for (const Layer& layer : layers) {
    gatherFiles(layer.group, files);
    if (layer.isGroup()) continue;
    gatherFiles(layer.pattern.inner, files);
    if (layer.pattern.kind != PatternKind::file) continue;
    std::pair file(textOf(layer.pattern, 0), textOf(layer.pattern, 1));
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(std::move(file));
  }
}

bool namesAHead(const HeadSet& set, const MaskGeometry& geometry) {
  for (Index head = 0; head < geometry.heads; ++head)
    if (set.contains(head, geometry.kvHeadOf(head))) return true;
  return false;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> filesOf(const MaskLayers& layers) {
  std::vector<std::pair<std::string, std::string>> files;
  gatherFiles(layers, files);
  return files;
}

Result<std::shared_ptr<const MaskFormula>> compileMask(const MaskLayers& layers, const MaskGeometry& geometry,
                                                       const MaskSources& sources) {
  require(geometry.queries >= 0 && geometry.keys >= 0 && geometry.cacheLength >= 0,
          "a mask's sizes must not be negative");
  require(geometry.heads >= 1 && geometry.kvHeads >= 1, "a mask needs heads");
  auto programs = resolveMask(layers, geometry, sources);
  if (!programs) return programs.error();
  return std::shared_ptr<const MaskFormula>(
      std::make_shared<const CompiledMask>(std::move(programs).value(), geometry));
}

std::string omittedReason(const Layer& layer, const MaskGeometry& geometry) {
  if (!layer.on) return "switched off";
  // Sequences have no kv heads.
  if (layer.sequences && !layer.sequences->contains(geometry.sequence, -1))
    return fmt::format("for sequences other than {}", geometry.sequence);
  if (layer.heads && !namesAHead(*layer.heads, geometry)) return "for heads that don't exist";
  if (layer.isGroup()) {
    std::string first;
    for (const Layer& inner : layer.group) {
      std::string reason = omittedReason(inner, geometry);
      if (reason.empty()) return "";
      if (first.empty()) first = std::move(reason);
    }
    return first;
  }
  return "";
}

std::vector<OmittedLayer> omittedLayers(const MaskLayers& layers, const MaskGeometry& geometry) {
  std::vector<OmittedLayer> omitted;
  for (const Layer& layer : layers) {
    if (std::string reason = omittedReason(layer, geometry); !reason.empty()) {
      omitted.push_back({layerText(layer), std::move(reason)});
      continue;
    }
    for (OmittedLayer& inner : omittedLayers(layer.isGroup() ? layer.group : layer.pattern.inner, geometry))
      omitted.push_back(std::move(inner));
  }
  return omitted;
}

bool comparesPositions(const MaskLayers& layers) {
  return std::any_of(layers.begin(), layers.end(), [](const Layer& layer) {
    if (!layer.on) return false;
    return layer.isGroup() ? comparesPositions(layer.group) : infoOf(layer.pattern.kind).comparesPositions;
  });
}

std::string positionRule(Index queries, Index keys, Index cacheLength) {
  return fmt::format("causal masks compare positions, j ≤ i; with {} over {}, the first query is at i = {}",
                     counted(queries, "query"), counted(keys, "key"), cacheLength);
}

}  // namespace headscope::attention
