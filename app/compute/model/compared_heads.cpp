// Compares two studies of one text each, head by head.

#include <fmt/core.h>

#include <map>

#include "app/compute/model/model_study.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

namespace {

/// Numbers words so that equal words of both lists get equal numbers.
class Words {
 public:
  std::vector<Index> numbers(const std::vector<attention::Token>& tokens) {
    std::vector<Index> ids;
    for (const attention::Token& token : tokens)
      ids.push_back(known_.try_emplace(token.text, static_cast<Index>(known_.size())).first->second);
    return ids;
  }

 private:
  std::map<std::string, Index> known_;
};

}  // namespace

PartnersInB partnersInB(const ModelStudy& a, const ModelStudy& b, std::span<const attention::TokenTie> ties) {
  if (!a.opened->recorded) {
    auto with = attention::alignTokens(a.text.ids, b.text.ids, ties).otherOfText;
    if (!a.opened->config().cross()) return {with, with};
    return {with, attention::alignTokens(a.text.sourceIds, b.text.sourceIds, {}).otherOfText};
  }
  Words words;
  const auto align = [&](const auto& of, const auto& with) {
    const auto ids = words.numbers(of), others = words.numbers(with);
    return attention::alignTokens(ids, others, ties).otherOfText;
  };
  return {align(a.queryTokens(), b.queryTokens()), align(a.text.tokens, b.text.tokens)};
}

Result<std::vector<std::shared_ptr<const LayerSummary>>> comparedLayers(
    const ModelStudy& a, const ModelStudy& b, std::span<const attention::TokenTie> ties, bool difference,
    std::stop_token stop) {
  const attention::ModelConfig &own = a.opened->config(), &other = b.opened->config();
  if (own.layerCount() != other.layerCount() || own.heads != other.heads)
    return Error{fmt::format("B has {} of {}, A has {} of {}; both need the same numbers",
                             countedText(other.layerCount(), "layer"), countedText(other.heads, "head"),
                             countedText(own.layerCount(), "layer"), countedText(own.heads, "head"))};
  const PartnersInB with = partnersInB(a, b, ties);
  const Index before = a.opened->isCrossAttention ? 0 : a.tokens() - a.queries();
  const attention::HeadText text = headTextOf(a, before);
  std::vector<std::shared_ptr<const LayerSummary>> layers;
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    layers.push_back(comparedLayer(*a.layers[i], *b.layers[i], with, difference, text, stop));
    if (stop.stop_requested()) return Error{"stopped"};
  }
  return layers;
}

}  // namespace headscope::app
