#include "app/commands/figure_table.h"

#include <fmt/core.h>

#include <cmath>

#include "app/compute/cache/cache_studies.h"
#include "app/compute/layer/snapshot.h"
#include "app/compute/model/model_study.h"
#include "app/scene/fields.h"

namespace headscope::app {
namespace {

using attention::asSize;
using attention::Error;
using attention::Result;

/// What a table is made from: the layer, and the line of the batch that the scene shows.
struct Layer {
  std::shared_ptr<const Snapshot> snapshot;
  const SequenceSnapshot& sequence;
  Index line, head;
  Resources& resources;
};

std::string tokenAt(const std::vector<attention::Token>& tokens, Index i) {
  return tokens[asSize(i)].text;
}

Result<FigureTable> cellTable(const Layer& layer, const Scene& scene, PictureKind what) {
  const SequenceSnapshot& shown = layer.sequence;
  const attention::Stack& scores = shown.attention.scores;
  const Index n = shown.queryLength, m = shown.keyLength;
  const bool one = what == PictureKind::head || (what == PictureKind::mask && !scene.cursor.studio.allHeads);
  const Index first = one ? layer.head : 0, count = one ? 1 : layer.snapshot->config.heads;
  if (n * m > kMostTableRows / count)
    return Error{
        fmt::format("{} heads of {} queries and {} keys are more than {} rows, expected --what head, or "
                    "headscope snapshot, which writes arrays",
                    count, n, m, kMostTableRows)};
  FigureTable table;
  const bool mask = what == PictureKind::mask;
  table.columns = {"head", "query", "query_token", "key", "key_token", "visible"};
  if (!mask) table.columns.insert(table.columns.end(), {"score", "weight"});
  table.definitions = {{"visible", "whether the mask lets the query see the key"}};
  if (!mask) {
    table.definitions.emplace_back("score", "after all score terms, before the softmax; none where masked");
    table.definitions.emplace_back("weight", "after the softmax, before dropout");
  }
  for (Index head = first; head < first + count; ++head)
    for (Index query = 0; query < n; ++query)
      for (Index key = 0; key < m; ++key) {
        const bool visible = attention::visible(shown.mask, head, query, key);
        auto& row = table.rows.emplace_back(std::vector<TableValue>{
            head, query, tokenAt(shown.queries, query), key, tokenAt(shown.keys, key), visible});
        if (mask) continue;
        row.emplace_back(visible && !scores.empty() ? TableValue(scores.at(head, query, key)) : TableValue());
        row.emplace_back(shown.probabilities().at(head, query, key));
      }
  return table;
}

Result<FigureTable> growthTable(const Layer& layer, const Scene& scene) {
  FigureTable table;
  table.columns = {"tokens", "bytes", "mha_bytes", "mqa_bytes", "mla_bytes"};
  table.definitions = {
      {"bytes",
       fmt::format("of the cached keys and values as {} in {} layers, as many kv heads as the layer has",
                   attention::rowOf(scene.cost.cache.stored).name, scene.cost.cache.layers)},
      {"mha_bytes", "if each query head had its own keys and values"},
      {"mqa_bytes", "if all heads shared one"},
      {"mla_bytes", "with multi-head latent attention"}};
  const CacheBytes each = bytesPerToken(scene, layer.snapshot->config);
  for (Index tokens = 1; tokens <= layer.sequence.keyLength; ++tokens) {
    const auto of = [&](std::uint64_t bytes) { return static_cast<Index>(bytes) * tokens; };
    table.rows.push_back({tokens, of(each.own), of(each.mha), of(each.mqa), of(each.mla)});
  }
  return table;
}

Result<FigureTable> precisionTable(const Layer& layer) {
  const auto study = studyPrecision({layer.snapshot, layer.line, layer.head}, layer.resources, {});
  if (!study) return study.error();
  FigureTable table;
  table.columns = {"format",       "bytes_per_token", "largest_weight_error",
                   "output_error", "token",           "token_output_error"};
  table.definitions = {{"bytes_per_token", "keys and values of one token in the layer, with their scales"},
                       {"largest_weight_error", "largest change of a weight, over all heads"},
                       {"output_error", "length of the change of all outputs over theirs"},
                       {"token_output_error", "the same for the outputs of one token"}};
  for (const PrecisionCase& each : study->cases)
    for (std::size_t token = 0; token < each.output.perToken.size(); ++token)
      table.rows.push_back({std::string(attention::rowOf(each.format).name), static_cast<Index>(each.bytes),
                            each.weightError, each.output.all, static_cast<Index>(token),
                            each.output.perToken[token]});
  return table;
}

Result<FigureTable> shapesTable(const Layer& layer, const Scene& scene) {
  const auto study =
      studyShapes(shapesQuestion(scene, layer.snapshot, layer.line, layer.head), layer.resources, {});
  if (!study) return study.error();
  FigureTable table;
  table.columns = {"shape",           "kv_heads",   "latent",       "rotary",
                   "bytes_per_token", "parameters", "output_error", "missing"};
  table.definitions = {{"output_error", "length of the change of all outputs from MHA's over theirs"},
                       {"missing", "why the shape can't be computed"}};
  for (const ShapeCase& each : study->cases) {
    const bool there = each.missing.empty();
    table.rows.push_back({each.name, each.kvHeads, each.latent, each.rotary,
                          static_cast<Index>(bytesPerToken(scene, each)), static_cast<Index>(each.parameters),
                          there ? TableValue(each.output.all) : TableValue(),
                          there ? TableValue() : TableValue(each.missing)});
  }
  return table;
}

Result<FigureTable> evictionTable(const Layer& layer, const Scene& scene) {
  const auto study =
      studyEviction(evictionQuestion(scene, layer.snapshot, layer.line, layer.head), layer.resources, {});
  if (!study) return study.error();
  FigureTable table;
  table.columns = {"policy", "budget", "token", "entries", "weight_lost", "output_error"};
  table.definitions = {{"budget", "entries that each kv head may keep"},
                       {"entries", "in the cache when the token reads it, over all kv heads"},
                       {"weight_lost", "weight of evicted keys in full attention, mean over heads"},
                       {"output_error", "length of the change of the token's outputs over theirs"}};
  for (const EvictionCase& each : study->cases)
    for (std::size_t token = 0; token < each.entries.size(); ++token)
      table.rows.push_back(
          {std::string(attention::kEvictionNames.at(static_cast<std::size_t>(each.rules.policy))),
           each.rules.budget, static_cast<Index>(token), each.entries[token], each.massLost[token],
           each.outputError[token]});
  return table;
}

Result<FigureTable> pagingTable(const Scene& scene, Resources& resources) {
  const CacheSetup& cache = scene.cost.cache;
  const auto study = studyPaging({cache.schedule, cache.block}, resources.memory);
  if (!study) return study.error();
  FigureTable table;
  table.columns = {"step", "running", "stored_tokens", "used_blocks", "block_tokens", "contiguous_tokens"};
  table.definitions = {{"used_blocks", "shared ones count once"},
                       {"contiguous_tokens", "if each running request reserved the longest one's length"}};
  for (std::size_t step = 0; step < study->steps.size(); ++step) {
    const attention::PagedStep& each = study->steps[step];
    table.rows.push_back({static_cast<Index>(step), std::ssize(each.running), each.storedTokens,
                          each.usedBlocks, static_cast<Index>(cache.block), each.contiguousTokens});
  }
  return table;
}

Result<FigureTable> cacheTable(const Layer& layer, const Scene& scene) {
  switch (scene.cursor.cacheView) {
    case CacheView::growth:
      return growthTable(layer, scene);
    case CacheView::precision:
      return precisionTable(layer);
    case CacheView::shapes:
      return shapesTable(layer, scene);
    case CacheView::eviction:
      return evictionTable(layer, scene);
    case CacheView::paging:
      break;
  }
  return pagingTable(scene, layer.resources);
}

}  // namespace

Result<FigureTable> layerTable(const Scene& scene, PictureKind what) {
  Resources resources(defaultLimits());
  const auto& opened = scene.setup.subject.opened;
  const bool recorded = opened && opened->recorded;
  const auto snapshot = std::make_shared<const Snapshot>(recorded ? recordedSnapshot(scene.setup, resources)
                                                                  : computeSnapshot(scene.setup, resources));
  if (snapshot->error) return Error{snapshot->error->message};
  const SequenceSnapshot* const shown = shownSequence(scene, snapshot.get());
  if (!shown) return Error{"the scene has no tokens: there is nothing to compute"};
  if (what == PictureKind::cache && recorded) return Error{"recorded attention has no cache"};
  const Layer layer{snapshot, *shown, shown - snapshot->sequences.data(),
                    std::clamp<Index>(scene.cursor.cell.head, 0, snapshot->config.heads - 1), resources};
  return what == PictureKind::cache ? cacheTable(layer, scene) : cellTable(layer, scene, what);
}

}  // namespace headscope::app
