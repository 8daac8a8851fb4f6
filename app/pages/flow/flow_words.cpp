#include <fmt/format.h>

#include "app/pages/flow/flow_page.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::flow_page {

namespace {

/// The words of a shot, with its tokens in their colours.
struct Words {
  const Shot& shot;
  const Theme& theme;

  CaptionPart plain(std::string text) const { return {std::move(text), theme.secondary}; }
  CaptionPart query() const { return {shot.query(shot.cell.query), theme.query}; }
  CaptionPart key() const { return {shot.key(shot.cell.key), theme.key}; }
  CaptionPart number(double value) const { return {cellText(value), theme.text}; }
  double score(Step step) const { return shot.score(step, shot.cell.query, shot.cell.key); }
  bool seesNone() const {
    return shot.sequence.attention.scores[shot.cell.head].row(shot.cell.query).maxCoeff() == -INFINITY;
  }
  Index visibleKeys() const {
    Index count = 0;
    for (Index j = 0; j < shot.m(); ++j) count += shot.visible(shot.cell.query, j) ? 1 : 0;
    return count;
  }

  std::vector<CaptionPart> input() const {
    return {query(), plain(fmt::format(" becomes a row of {}. All heads read the same rows.",
                                       countedText(shot.layer.x.cols(), "number")))};
  }
  std::vector<CaptionPart> project() const {
    if (shot.cross())
      return {{"Queries", theme.query}, plain(" come from this text, "), {"keys", theme.key},
              plain(" and "),           {"values", theme.value},         plain(" from the other one.")};
    return {plain("The row of "),
            query(),
            plain(" runs under three matrices: "),
            {"query", theme.query},
            plain(", "),
            {"key", theme.key},
            plain(" and "),
            {"value", theme.value},
            plain(" stay.")};
  }
  std::vector<CaptionPart> split(std::size_t beat) const {
    const Index group = shot.config.groupSize();
    if (beat == 0)
      return {plain(fmt::format("{} for each of {}. Nothing is computed.",
                                countedText(shot.config.headDim, "number"),
                                countedText(shot.config.heads, "head")))};
    if (group == 1)
      return {plain("Each head has its own keys and values. They step up to where they can be read.")};
    return {
        plain(fmt::format("Head {} reads {}, as {} do. Keys and values step up to where they can be read.",
                          shot.cell.head, kvName(shot.kvHead()), countedText(group, "head")))};
  }
  std::vector<CaptionPart> dot(std::size_t beat) const {
    if (beat == 0) return {plain("Row from the left, column from above: each cell is a query times a key.")};
    if (beat == 1)
      return {plain("The row of "), query(), plain(" swings onto the column of "), key(),
              plain(": multiply pair by pair, then add.")};
    if (beat == 2) return {query(), plain(" goes on over the other keys: one score for each.")};
    return {plain(
        fmt::format("And so on: {} × {}.", countedText(shot.n(), "query"), countedText(shot.m(), "key")))};
  }
  std::vector<CaptionPart> scale(std::size_t beat) const {
    if (shot.film.steps.factor == 1) return {plain("The scores aren't scaled.")};
    if (beat == 1) return withoutDivision();
    return {plain("The score of "),     key(),     plain(": "), number(score(Step::dot)), plain(" becomes "),
            number(score(Step::scale)), plain(".")};
  }
  std::vector<CaptionPart> withoutDivision() const {
    const SoftmaxSum before = shot.softmax(Step::dot), after = shot.softmax(Step::scale);
    if (before.key < 0) return {query(), plain(" sees no key.")};
    const auto share = [&](const SoftmaxSum& sum, Step step) {
      return std::exp(shot.score(step, shot.cell.query, before.key) - sum.largest) / sum.whole;
    };
    return {{shot.key(before.key), theme.key},
            plain(" would get "),
            number(share(before, Step::dot)),
            plain(fmt::format(" of the weight without the {}; with it, ", shot.scaling())),
            number(share(after, Step::scale)),
            plain(".")};
  }
  std::vector<CaptionPart> bias() const {
    return {plain("The score of "),
            key(),
            plain(" for "),
            query(),
            plain(" goes from "),
            number(score(Step::scale)),
            plain(" to "),
            number(score(Step::bias)),
            plain(": " + whatActs() + ".")};
  }
  /// What acts on a score between the scale and the mask, in its order.
  std::string whatActs() const {
    const std::string cap = roundedText(shot.config.softcap, 3);
    std::vector<std::string> acts;
    for (const attention::TermKind kind : biasKinds(shot))
      acts.push_back(kind == attention::TermKind::distance ? "a number for their distance is added"
                     : kind == attention::TermKind::cell
                         ? "a number for this cell is added"
                         : fmt::format("{0}·tanh(score ÷ {0}) keeps it within ±{0}", cap));
    return fmt::format("{}", fmt::join(acts, ", then "));
  }
  std::vector<CaptionPart> mask() const {
    if (visibleKeys() == shot.m()) return {plain("Nothing is hidden from "), query(), plain(".")};
    return {query(), plain(fmt::format(" sees {} of {}. What is hidden gets −∞, and no weight.",
                                       visibleKeys(), countedText(shot.m(), "key")))};
  }
  std::vector<CaptionPart> softmax(std::size_t beat) const {
    if (seesNone()) return {query(), plain(" sees no key: all its weights are 0.")};
    const double sum = shot.softmax(Step::mask).whole;
    if (beat == 0) return {plain("The largest score moves to 0; the others keep their distance.")};
    if (beat == 1) return {plain("e to the power of each: none is negative, and the largest is 1.")};
    if (beat == 2)
      return {plain(shot.config.sinks.empty() ? "Laid end to end, they add up to "
                                              : "With the head's sink, they add up to "),
              number(sum), plain(".")};
    if (beat == 3)
      return {plain("Only the ruler changes: "), number(sum),
              plain(" is now 1. Each bar's share is its weight.")};
    return {query(),
            plain(" gives "),
            key(),
            plain(" a weight of "),
            {weightText(static_cast<float>(shot.weight(shot.cell.query, shot.cell.key))), theme.text},
            plain(".")};
  }
  std::vector<CaptionPart> mix(std::size_t beat) const {
    if (seesNone()) return {query(), plain(" sees no key, so this head's output is 0.")};
    if (beat == 0) return {plain("Each weight lights the value of its key.")};
    if (beat == 1)
      return {plain("Values fall into the row of "), query(),
              plain(shot.config.dropout.probability > 0
                        ? ", each as strong as its weight after dropout, and add up."
                        : ", each as strong as its weight, and add up.")};
    return {plain("Every row is an average of values.")};
  }
  std::vector<CaptionPart> concat() const {
    return {plain(fmt::format("{} · {} = {} numbers for each token. Nothing is computed.", shot.config.heads,
                              shot.config.headDim, shot.config.heads * shot.config.headDim))};
  }
  std::vector<CaptionPart> output(std::size_t beat) const {
    if (beat == 0) return {plain("Each head adds its share to each number that the layer writes.")};
    return {plain("The layer writes "),
            {countedText(shot.config.modelDim, "number"), theme.text},
            plain(" for "),
            query(),
            plain(", which are added to its row.")};
  }
};

}  // namespace

ShotWords shotWords(const Shot& shot, const Theme& theme) {
  const Words words{shot, theme};
  const std::size_t beat = beatOf(shot.at);
  switch (shot.at.stage) {
    case Step::input:
      return {"Words become rows", words.input()};
    case Step::project:
      return {shot.cross() ? "Two texts, three matrices" : "A row runs under three matrices",
              words.project()};
    case Step::split:
      return {"Heads part, keys and values step up", words.split(beat)};
    case Step::dot:
      return {"Every query meets every key", words.dot(beat)};
    case Step::scale:
      return {shot.film.steps.factor < 1   ? "The same bars, shorter"
              : shot.film.steps.factor > 1 ? "The same bars, longer"
                                           : "Scores aren't scaled",
              words.scale(beat)};
    case Step::bias:
      return {"Positions and caps change the scores", words.bias()};
    case Step::mask:
      return {words.visibleKeys() == shot.m() ? "The mask hides nothing here" : "The mask hides keys",
              words.mask()};
    case Step::softmax:
      return {"A row of scores becomes shares of one", words.softmax(beat)};
    case Step::mix:
      return {"Values fall and add up", words.mix(beat)};
    case Step::concat:
      return {"Heads side by side", words.concat()};
    case Step::output:
      return {"All heads write one row", words.output(beat)};
  }
  return {};
}

}  // namespace headscope::app::flow_page
