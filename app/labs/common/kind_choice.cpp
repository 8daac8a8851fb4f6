#include "app/labs/common/kind_choice.h"

#include <fmt/core.h>

#include <vector>

#include "app/compute/layer_inputs.h"
#include "app/scene/model_fit.h"
#include "app/widgets/controls.h"

namespace headscope::app {

namespace {

/// Why the heads can't share keys in that way, or "".
std::string kindRefusal(const Setup& setup, AttentionKind kind) {
  ModelSetup trial = setup.model;
  if (kind == AttentionKind::gqa && divisors(trial.heads).size() <= 2)
    return fmt::format("{0} heads have no divisor between 1 and {0} to group by", trial.heads);
  trial.kvHeads = kvHeadsFor(kind, trial.heads);
  return plantedRefusal(setup, trial);
}

}  // namespace

std::string plantedRefusal(const Setup& setup, const ModelSetup& model) {
  Setup trial = setup;
  trial.model = model;
  const std::string misfit = plantedMisfit(trial);
  return misfit.empty() ? "" : "Planted: " + misfit + ".";
}

void kindChoice(Setup& setup, View& view, const std::string& locked) {
  ModelSetup& model = setup.model;
  std::vector<Choice> choices{{"MHA", locked, "mha"}, {"GQA", locked, "gqa"}, {"MQA", locked, "mqa"}};
  for (std::size_t kind = 0; kind < choices.size() && locked.empty(); ++kind)
    choices[kind].disabledReason = kindRefusal(setup, static_cast<AttentionKind>(kind));
  int chosen = static_cast<int>(kindOf(model));
  if (segmented(
          view, "kind", choices, chosen,
          "MHA: every query head has keys and values of its own; GQA: groups of heads share them; MQA: all "
          "share one pair. The cache shrinks by kv_heads / heads."))
    model.kvHeads = kvHeadsFor(static_cast<AttentionKind>(chosen), model.heads);
}

}  // namespace headscope::app
