#include <fmt/core.h>

#include <algorithm>

#include "app/compute/cache/cache_cost.h"
#include "app/pages/heads/heads_state.h"
#include "app/scene/text/number_text.h"
#include "attention/core/receipt.h"

namespace headscope::app::heads_page {

namespace {

using Caption = std::vector<CaptionPart>;

std::string quoted(const std::vector<attention::Token>& tokens, Index i) {
  return "“" + tokens[static_cast<std::size_t>(i)].text + "”";
}

Caption ofCell(const Snapshot& snapshot, const SequenceSnapshot& sequence, const Cell& cell,
               const Theme& theme) {
  const float score = sequence.attention.scores.at(cell.head, cell.query, cell.key);
  const CaptionPart query{quoted(sequence.queries, cell.query), theme.query},
      key{quoted(sequence.keys, cell.key), theme.key};
  if (sequence.attention.lse(cell.head, cell.query) == -INFINITY)
    return {query, {" sees no key, so its output is the bias alone.", theme.text}};
  if (score == -INFINITY)
    return {query, {" can't see ", theme.text}, key, {": the mask hides it.", theme.text}};
  const float weight = sequence.probabilities().at(cell.head, cell.query, cell.key);
  const float rest = 1 - attention::sinkShare(snapshot.config, sequence.attention, cell.head, cell.query);
  const auto others = (sequence.attention.scores[cell.head].row(cell.query).array() != -INFINITY).count() - 1;
  Caption caption{query, {" takes " + weightText(weight) + " of its output from ", theme.text}, key};
  caption.push_back({others == 0   ? ", the only key it sees."
                     : others == 1 ? fmt::format(". The other key gets {}.", weightText(rest - weight))
                                   : fmt::format(". The other {} keys share {}.", others,
                                                 weightText(std::max(0.0f, rest - weight))),
                     theme.text});
  if (rest < 1)
    caption.push_back({fmt::format(" The sink takes {}.", weightText(1 - rest)), theme.secondary});
  return caption;
}

/// The sentence for a row is about its strongest key, even if the crosshair is on another one.
Caption ofRow(const Snapshot& snapshot, const SequenceSnapshot& sequence, const Cell& cell,
              const Theme& theme) {
  const auto row = sequence.probabilities()[cell.head].row(cell.query);
  Index strongest = 0;
  const float most = row.maxCoeff(&strongest);
  if (strongest == cell.key || !(most > 0) || row(cell.key) == most)
    return ofCell(snapshot, sequence, cell, theme);
  Caption caption = ofCell(snapshot, sequence, {cell.head, cell.query, strongest}, theme);
  if (sequence.attention.scores.at(cell.head, cell.query, cell.key) == -INFINITY) return caption;
  caption.push_back({" ", theme.text});
  caption.push_back({quoted(sequence.keys, cell.key), theme.key});
  caption.push_back({" gets " + weightText(row(cell.key)) + ".", theme.text});
  return caption;
}

Caption ofStep(const Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence,
               const Theme& theme) {
  const attention::AttentionConfig& config = snapshot.config;
  const Index now = std::clamp<Index>(scene.cursor.step, 1, sequence.queryLength);
  const auto bytes = cacheBytes(snapshot, config.kvHeads, 1, scene.look.cacheBytes) /
                     static_cast<double>(snapshot.sequences.size());
  const bool latent = config.latentDim > 0;
  const std::string where = config.kvHeads == 1   ? "the one kv head"
                            : config.kvHeads == 2 ? "both kv heads"
                                                  : fmt::format("all {} kv heads", config.kvHeads);
  const std::string reused = now == 1   ? ""
                             : now == 2 ? " The previous token is reused."
                                        : fmt::format(" The {} previous tokens are reused.", now - 1);
  return {{quoted(sequence.keys, now - 1), theme.query},
          {latent ? " adds a latent, from which all heads' " : " adds a ", theme.text},
          {latent ? "keys" : "key", theme.key},
          {latent ? " and " : " and a ", theme.text},
          {latent ? "values" : "value", theme.value},
          {(latent ? fmt::format(" are made, {}.", bytesText(bytes))
                   : fmt::format(" to {}, {} in all.", where, bytesText(bytes))) +
               reused,
           theme.text},
          {fmt::format("{} of {}", now, sequence.queryLength), theme.secondary, true}};
}

}  // namespace

Cell litCell(const Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence,
             const View& view) {
  Cell cell = scene.cursor.cell;
  if (scene.cursor.focus >= 0) cell.head = scene.cursor.focus;
  if (view.hover.query >= 0) cell.query = view.hover.query;
  if (view.hover.key >= 0) cell.key = view.hover.key;
  if (view.hover.head >= 0) cell.head = view.hover.head;
  const auto last = [](const auto& tokens) { return static_cast<Index>(tokens.size()) - 1; };
  return {std::clamp<Index>(cell.head, 0, snapshot.config.heads - 1),
          std::clamp<Index>(cell.query, 0, last(sequence.queries)),
          std::clamp<Index>(cell.key, 0, last(sequence.keys))};
}

Caption captionOf(const Scene& scene, const Snapshot& snapshot, const SequenceSnapshot& sequence,
                  const View& view) {
  const Theme& theme = *view.theme;
  const Cell cell = litCell(scene, snapshot, sequence, view);
  const bool points = view.hover.key >= 0;
  if (scene.cursor.focus >= 0) return (points ? ofCell : ofRow)(snapshot, sequence, cell, theme);
  if (scene.cursor.decoding) return ofStep(scene, snapshot, sequence, theme);
  return {{"Each row is a ", theme.text},   {"query", theme.query},
          {", each column a ", theme.text}, {"key", theme.key},
          {": how much ", theme.text},      {quoted(sequence.queries, cell.query), theme.query},
          {" reads from ", theme.text},     {quoted(sequence.keys, cell.key), theme.key},
          {", in each head.", theme.text}};
}

}  // namespace headscope::app::heads_page
