#include <fmt/core.h>

#include <cmath>

#include "app/pages/head_lab/head_lab_page.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::head_lab_page {

namespace {

std::string quoted(const std::vector<attention::Token>& tokens, Index at) {
  return "“" + tokens[static_cast<std::size_t>(at)].text + "”";
}

/// A sum of dₖ products spreads like √dₖ; says whether scores are divided by it.
StepWords scaleWords(const State& page) {
  const attention::AttentionConfig& config = page.layer->config();
  const Index dim = config.headDim;
  const float scale = config.effectiveScale(), factor = page.head->steps.factor;
  const bool divided = std::abs(scale * std::sqrt(static_cast<float>(dim)) - 1) < 1e-6f;
  std::string text = fmt::format("{}-dimensional dot products spread by about √{}", dim, dim);
  if (divided)
    text += ". Dividing by it keeps the softmax from picking a single key.";
  else if (scale == 1)
    text += ". Without the division the softmax tends to pick a single key.";
  else
    text +=
        fmt::format(". Here scores are multiplied by {} instead of divided by it.", roundedText(scale, 4));
  if (config.sharpness != 1)
    text += fmt::format(" Sharpness multiplies every score by {}: {}.", roundedText(config.sharpness, 4),
                        config.sharpness > 1   ? "fewer keys take most of the weight"
                        : config.sharpness > 0 ? "weight spreads over more keys"
                                               : "all visible keys get equal weight");
  const char* title = divided && factor == scale ? "Scores scaled by 1/√dₖ"
                      : factor == 0              ? "Every score becomes 0"
                      : factor == 1              ? "Scores unchanged"
                      : factor > 1               ? "Scores scaled up"
                                                 : "Scores scaled down";
  return {title, {{std::move(text), page.view.theme->secondary}}};
}

/// A bias depends on the position, the soft-cap only on the score; the one that acts first is named first.
StepWords biasWords(const State& page, const CaptionPart& query, const CaptionPart& key) {
  const std::uint32_t plain = page.view.theme->secondary;
  const BiasTerms terms = biasTerms(page);
  const std::string capped = fmt::format("{0}·tanh(score ÷ {0})", roundedText(terms.cap, 4));
  const CaptionPart place{"Besides the words, the position of ", plain}, as{" as ", plain};
  if (terms.cap == 0)
    return {"Position bias", {place, key, as, query, {" sees it changes the score.", plain}}};
  const std::string within = fmt::format("within ±{}", roundedText(terms.cap, 4));
  if (!terms.adds())
    return {"Kept " + within,
            {{"The soft-cap makes the score of ", plain},
             key,
             {" for ", plain},
             query,
             {" " + capped + ", the same at every position. Small scores hardly change.", plain}}};
  if (terms.distance)
    return {
        "Position bias, then soft-cap",
        {place,
         key,
         as,
         query,
         {" sees it changes the score. The soft-cap then keeps it " + within + ": " + capped + ".", plain}}};
  return {"Soft-cap, then position bias",
          {{"The soft-cap keeps the score " + within + ": " + capped + ". Then the position of ", plain},
           key,
           as,
           query,
           {" sees it changes it.", plain}}};
}

StepWords softmaxWords(const CaptionPart& query, bool seesNone, std::uint32_t plain) {
  if (seesNone)
    return {"No visible key", {query, {" sees no key: every score is −∞ and every weight is 0.", plain}}};
  return {"Scores become weights",
          {{"exp(score) divided by the row's sum: the weights of ", plain},
           query,
           {" are positive and sum to 1.", plain}}};
}

StepWords mixWords(const State& page, const CaptionPart& query, bool seesNone) {
  const Theme& theme = *page.view.theme;
  const std::uint32_t plain = theme.secondary;
  const char* title = "Values averaged by the weights";
  if (seesNone) return {title, {query, {" sees no key, so this head's output is 0.", plain}}};
  const float dropout = page.layer->config().dropout.probability;
  const std::string last = dropout > 0 ? fmt::format(
                                             " in proportion to its weight after dropout: 0 with probability "
                                             "{}, otherwise weight ÷ {}.",
                                             roundedText(dropout, 4), roundedText(1 - dropout, 4))
                                       : " in proportion to its weight, dimension by dimension.";
  return {title, {query, {" takes from each ", plain}, {"value", theme.value}, {last, plain}}};
}

StepWords splitWords(const attention::AttentionConfig& config, const Theme& theme) {
  const Index group = config.groupSize();
  if (group == 1)
    return {"Split into heads",
            {{fmt::format("{} are {} of {}. Each head has its own keys and values.",
                          countedText(config.heads * config.headDim, "number"),
                          countedText(config.heads, "head"), config.headDim),
              theme.secondary}}};
  return {"Split into heads",
          {{fmt::format("{} query heads of {} read {} of ", config.heads,
                        countedText(config.headDim, "number"), config.kvHeads),
            theme.secondary},
           {"keys", theme.key},
           {" and ", theme.secondary},
           {"values", theme.value},
           {fmt::format(": {} heads share one.", group), theme.secondary}}};
}

}  // namespace

StepWords stepWords(const Scene& scene, const State& page) {
  const Theme& theme = *page.view.theme;
  const LayerParts& layer = *page.layer;
  const attention::AttentionConfig& config = layer.config();
  const SequenceSnapshot& sequence = layer.sequence();
  const Cell cell = selectedCell(scene, page);
  const std::uint32_t plain = theme.secondary;
  const std::string query = quoted(sequence.queries, cell.query), key = quoted(sequence.keys, cell.key);
  const std::string q = withIndex("q", cell.query), k = withIndex("k", cell.key),
                    v = withIndex("v", cell.key);
  const bool hidden = sequence.attention.scores.at(cell.head, cell.query, cell.key) == -INFINITY;
  const bool seesNone = sequence.attention.scores[cell.head].row(cell.query).maxCoeff() == -INFINITY;
  switch (scene.cursor.lab.step) {
    case Step::input:
      return {
          "One vector per token",
          {{query, theme.query},
           {" is " + countedText(layer.x.cols(), "number") + ". All heads read the same vectors.", plain}}};
    case Step::project:
      return {"Three projections of each token",
              {{"The same vectors times three learned matrices: ", plain},
               {"queries", theme.query},
               {" ask, ", plain},
               {"keys", theme.key},
               {" answer, ", plain},
               {"values", theme.value},
               {" carry the content.", plain}}};
    case Step::split:
      return splitWords(config, theme);
    case Step::dot:
      return {"Every query times every key",
              {{"The dot product of ", plain},
               {q, theme.query},
               {" and ", plain},
               {k, theme.key},
               {" measures how well ", plain},
               {key, theme.key},
               {" matches ", plain},
               {query, theme.query},
               {": multiply dimension by dimension, then sum.", plain}}};
    case Step::scale:
      return scaleWords(page);
    case Step::bias:
      return biasWords(page, {query, theme.query}, {key, theme.key});
    case Step::mask:
      return {hidden ? "Hidden" : "Visible",
              {{query, theme.query},
               {hidden ? " can't see " : " sees ", plain},
               {key, theme.key},
               {hidden ? ": its score becomes −∞." : ": its score is unchanged.", plain}}};
    case Step::softmax:
      return softmaxWords({query, theme.query}, seesNone, plain);
    case Step::mix:
      return mixWords(page, {query, theme.query}, seesNone);
    case Step::concat:
      return {"Heads side by side",
              {{fmt::format("The outputs of {}, {} each, are concatenated: {} per token.",
                            countedText(config.heads, "head"), countedText(config.headDim, "number"),
                            config.heads * config.headDim),
                plain}}};
    case Step::output:
      return {"Back into the residual stream",
              {{"The output projection combines all heads into ", plain},
               {countedText(config.modelDim, "number"), theme.text},
               {" for ", plain},
               {query, theme.query},
               {", which are added to the token's vector.", plain}}};
  }
  return {};
}

}  // namespace headscope::app::head_lab_page
