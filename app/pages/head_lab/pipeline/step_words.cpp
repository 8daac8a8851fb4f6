#include <fmt/core.h>

#include <cmath>

#include "app/pages/head_lab/head_lab_state.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

namespace {

std::string quoted(const std::vector<attention::Token>& tokens, Index at) {
  return "“" + tokens[static_cast<std::size_t>(at)].text + "”";
}

/// A sum of so many products spreads like its root: divided by it, or not.
StepWords scaleWords(const HeadLabState& page) {
  const attention::AttentionConfig& config = page.layer->config();
  const Index dim = config.headDim;
  const float scale = config.effectiveScale(), factor = page.head->steps.factor;
  const bool divided = std::abs(scale * std::sqrt(static_cast<float>(dim)) - 1) < 1e-6f;
  std::string text = fmt::format("A sum of {} products spreads like √{}", dim, dim);
  if (divided)
    text += "; dividing by it keeps the softmax from choosing one key alone.";
  else if (scale == 1)
    text += ". It is not divided by that here, and the softmax leans towards one key alone.";
  else
    text += fmt::format("; here it is multiplied by {:.4g} in place of being divided by that.", scale);
  if (config.gain != 1)
    text += fmt::format(" Sharpness multiplies every score by {:.4g}: {}.", config.gain,
                        config.gain > 1   ? "fewer keys take the row"
                        : config.gain > 0 ? "the row spreads over more keys"
                                          : "all visible keys share alike");
  const char* title = divided && config.gain == 1 ? "Kept small whatever the dimension"
                      : factor == 0               ? "Every score becomes 0"
                      : factor == 1               ? "Scores left as they are"
                      : factor > 1                ? "Scores made larger"
                                                  : "Scores made smaller";
  return {title, {{std::move(text), page.view.theme->secondary}}};
}

/// What is added goes by the place, the soft-cap by the score alone; whichever comes first is said first.
StepWords biasWords(const HeadLabState& page, const CaptionPart& query, const CaptionPart& key) {
  const std::uint32_t plain = page.view.theme->secondary;
  const BiasTerms terms = biasTerms(page);
  const std::string capped = fmt::format("{0:.4g}·tanh(score ÷ {0:.4g})", terms.cap);
  const CaptionPart place{"Besides the words, the place of ", plain}, as{" as ", plain};
  if (terms.cap == 0)
    return {"What else counts", {place, key, as, query, {" sees it changes the score.", plain}}};
  const std::string within = fmt::format("within ±{:.4g}", terms.cap);
  if (!terms.adds())
    return {"Kept " + within,
            {{"The soft-cap makes the score of ", plain},
             key,
             {" for ", plain},
             query,
             {" " + capped +
                  ": from the score alone, the same at every place. Small scores stay nearly as "
                  "they are.",
              plain}}};
  if (terms.distance)
    return {
        "What else counts, then a cap",
        {place,
         key,
         as,
         query,
         {" sees it changes the score. The soft-cap then keeps it " + within + ": " + capped + ".", plain}}};
  return {"A cap, then what else counts",
          {{"The soft-cap keeps the score " + within + ": " + capped + ". Then the place of ", plain},
           key,
           as,
           query,
           {" sees it changes it.", plain}}};
}

StepWords softmaxWords(const CaptionPart& query, bool seesNone, std::uint32_t plain) {
  if (seesNone)
    return {"Nothing to share out",
            {query, {" sees no key: every score is −∞, and all its weights are 0.", plain}}};
  return {"Scores become shares",
          {{"e to the score, divided by the row's sum: the weights of ", plain},
           query,
           {" are positive and add up to 1.", plain}}};
}

StepWords mixWords(const HeadLabState& page, const CaptionPart& query, bool seesNone) {
  const Theme& theme = *page.view.theme;
  const std::uint32_t plain = theme.secondary;
  const char* title = "The values, mixed by the weights";
  if (seesNone)
    return {title, {query, {" sees no key: it takes nothing, and this head's output is 0.", plain}}};
  const float dropout = page.layer->config().dropout.probability;
  const std::string last =
      dropout > 0 ? fmt::format(
                        " as much as dropout leaves of its weight: nothing by a chance of {:.4g}, else "
                        "the weight ÷ {:.4g}.",
                        dropout, 1 - dropout)
                  : " as much as its weight says, dimension by dimension.";
  return {title, {query, {" takes from each ", plain}, {"value", theme.value}, {last, plain}}};
}

}  // namespace

StepWords stepWords(const Scene& scene, const HeadLabState& page) {
  const Theme& theme = *page.view.theme;
  const LayerParts& layer = *page.layer;
  const attention::AttentionConfig& config = layer.config();
  const SequenceSnapshot& sequence = layer.sequence();
  const Cell cell = headLabCell(scene, page);
  const std::uint32_t plain = theme.secondary;
  const std::string query = quoted(sequence.queries, cell.query), key = quoted(sequence.keys, cell.key);
  const std::string q = withIndex("q", cell.query), k = withIndex("k", cell.key),
                    v = withIndex("v", cell.key);
  const bool hidden = sequence.attention.scores.at(cell.head, cell.query, cell.key) == -INFINITY;
  const bool seesNone = sequence.attention.scores[cell.head].row(cell.query).maxCoeff() == -INFINITY;
  switch (scene.cursor.lab.step) {
    case Step::input:
      return {"A row of numbers for each token",
              {{query, theme.query},
               {" is " + countedText(layer.x.cols(), "number") + "; all heads read the same rows.", plain}}};
    case Step::project:
      return {"Three views of the same token",
              {{"The same rows through three learned matrices: ", plain},
               {"queries", theme.query},
               {" ask, ", plain},
               {"keys", theme.key},
               {" answer, ", plain},
               {"values", theme.value},
               {" are passed on.", plain}}};
    case Step::split: {
      const Index group = config.groupSize();
      if (group == 1)
        return {"Cut into heads",
                {{fmt::format("{} are {} of {}; each head has keys and values of its own.",
                              countedText(config.heads * config.headDim, "number"),
                              countedText(config.heads, "head"), config.headDim),
                  plain}}};
      return {"Cut into heads",
              {{fmt::format("{} query heads of {} read {} of ", config.heads,
                            countedText(config.headDim, "number"), config.kvHeads),
                plain},
               {"keys", theme.key},
               {" and ", plain},
               {"values", theme.value},
               {fmt::format(": {} heads share one.", group), plain}}};
    }
    case Step::dot:
      return {"Every query meets every key",
              {{"The dot product of ", plain},
               {q, theme.query},
               {" and ", plain},
               {k, theme.key},
               {" says how well ", plain},
               {key, theme.key},
               {" answers ", plain},
               {query, theme.query},
               {": multiply dimension by dimension and add up.", plain}}};
    case Step::scale:
      return scaleWords(page);
    case Step::bias:
      return biasWords(page, {query, theme.query}, {key, theme.key});
    case Step::mask:
      return {hidden ? "Hidden" : "Visible",
              {{query, theme.query},
               {hidden ? " must not see " : " may see ", plain},
               {key, theme.key},
               {hidden ? ": its score becomes −∞." : ": its score stays as it is.", plain}}};
    case Step::softmax:
      return softmaxWords({query, theme.query}, seesNone, plain);
    case Step::mix:
      return mixWords(page, {query, theme.query}, seesNone);
    case Step::concat:
      return {"Heads side by side",
              {{fmt::format(
                    "The outputs of {} heads, {} numbers each, stand beside each other: {} for each token.",
                    config.heads, config.headDim, config.heads * config.headDim),
                plain}}};
    case Step::output:
      return {"Back into the residual stream",
              {{"The output projection mixes what all heads found into ", plain},
               {countedText(config.modelDim, "number"), theme.text},
               {" for ", plain},
               {query, theme.query},
               {", which are added to what the token was.", plain}}};
  }
  return {};
}

}  // namespace headscope::app
