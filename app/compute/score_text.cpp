#include "app/compute/score_text.h"

#include "app/scene/number_text.h"

namespace headscope::app {

std::string stepText(const attention::ScoreStep& step) {
  if (step.term->kind == attention::TermKind::visibility) return step.value == 0 ? "visible" : "masked";
  return numberText(step.term->adds() ? step.value : step.score);
}

}  // namespace headscope::app
