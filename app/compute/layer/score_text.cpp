#include "app/compute/layer/score_text.h"

#include "app/scene/text/number_text.h"

namespace headscope::app {

using attention::Index;

std::string stepText(const attention::ScoreStep& step) {
  if (step.term->kind == attention::TermKind::visibility) return step.value == 0 ? "visible" : "masked";
  return numberText(step.term->adds() ? step.value : step.score);
}

std::string addedText(const attention::AttentionConfig& config, const attention::MaskInput& mask, Index head,
                      Index query, Index key) {
  std::string text;
  for (const attention::ScoreStep& step : attention::scoreSteps(config, mask, head, query, key, 0))
    if (step.term->adds())
      text += (text.empty() ? "" : "\n") + step.term->label(config) + "  " + stepText(step);
  return text;
}

}  // namespace headscope::app
