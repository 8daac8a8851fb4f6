#include <fmt/core.h>

#include "app/labs/lab/lab_page.h"

namespace headscope::app {

namespace {

std::string quoted(const std::vector<attention::Token>& tokens, Index at) {
  return "“" + tokens[static_cast<std::size_t>(at)].text + "”";
}

}  // namespace

StepWords stepWords(const Scene& scene, const LabPage& page) {
  const Theme& theme = *page.view.theme;
  const LayerParts& layer = *page.layer;
  const attention::AttentionConfig& config = layer.config();
  const SequenceSnapshot& sequence = layer.sequence();
  const Cell cell = labCell(scene, page);
  const std::uint32_t plain = theme.secondary;
  const std::string query = quoted(sequence.queries, cell.query), key = quoted(sequence.keys, cell.key);
  const std::string q = withIndex("q", cell.query), k = withIndex("k", cell.key),
                    v = withIndex("v", cell.key);
  const bool hidden = sequence.attention.scores.at(cell.head, cell.query, cell.key) == -INFINITY;
  switch (scene.cursor.lab.step) {
    case Step::input:
      return {"A row of numbers for each token",
              {{query, theme.query},
               {fmt::format(" is {} numbers; all heads read the same rows.", layer.x.cols()), plain}}};
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
                {{fmt::format("{} numbers are {} heads of {}; each head has keys and values of its own.",
                              config.heads * config.headDim, config.heads, config.headDim),
                  plain}}};
      return {"Cut into heads",
              {{fmt::format("{} query heads of {} numbers read {} of ", config.heads, config.headDim,
                            config.kvHeads),
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
      return {"Kept small whatever the dimension",
              {{fmt::format("A sum of {} products spreads like √{}; dividing by it keeps the softmax from "
                            "choosing one key alone.",
                            config.headDim, config.headDim),
                plain}}};
    case Step::bias:
      return {"What else counts",
              {{"Besides the words, the place of ", plain},
               {key, theme.key},
               {" as ", plain},
               {query, theme.query},
               {" sees it changes the score.", plain}}};
    case Step::mask:
      return {hidden ? "Hidden" : "Visible",
              {{query, theme.query},
               {hidden ? " must not see " : " may see ", plain},
               {key, theme.key},
               {hidden ? ": its score becomes −∞." : ": its score stays as it is.", plain}}};
    case Step::softmax:
      return {"Scores become shares",
              {{"e to the score, divided by the row's sum: the weights of ", plain},
               {query, theme.query},
               {" are positive and add up to 1.", plain}}};
    case Step::mix:
      return {"The values, mixed by the weights",
              {{query, theme.query},
               {" takes from each ", plain},
               {"value", theme.value},
               {" as much as its weight says, dimension by dimension.", plain}}};
    case Step::concat:
      return {"Heads side by side",
              {{fmt::format(
                    "The outputs of {} heads, {} numbers each, stand beside each other: {} for each token.",
                    config.heads, config.headDim, config.heads * config.headDim),
                plain}}};
    case Step::output:
      return {"Back into the residual stream",
              {{"The output projection mixes what all heads found into ", plain},
               {fmt::format("{} numbers", config.modelDim), theme.text},
               {" for ", plain},
               {query, theme.query},
               {", which are added to what the token was.", plain}}};
  }
  return {};
}

}  // namespace headscope::app
