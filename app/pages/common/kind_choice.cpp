#include "app/pages/common/kind_choice.h"

#include <fmt/core.h>

#include <vector>

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/layer_weights.h"
#include "app/scene/model_fit.h"
#include "app/scene/models/open_model.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"

namespace headscope::app {

namespace {

/// Why the heads can't use this kind of key sharing, or "".
std::string kindRefusal(const Setup& setup, AttentionKind kind) {
  ModelSetup trial = setup.model;
  if (kind == AttentionKind::gqa && divisors(trial.heads).size() <= 2)
    return fmt::format("{0} heads have no divisor between 1 and {0}, so there are no groups", trial.heads);
  trial.kvHeads = kvHeadsFor(kind, trial.heads);
  return plantedRefusal(setup, trial).empty()
             ? ""
             : fmt::format(
                   "{} of these heads would share keys of {}, too few for their planted "
                   "behaviours. Raise the model dim or choose random weights.",
                   trial.heads / trial.kvHeads, countedText(trial.headDim, "dimension"));
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
  const auto& opened = setup.subject.opened;
  if (const Index rank = opened ? opened->config().latent.rank : 0; rank > 0) {
    chosen = static_cast<int>(choices.size());
    choices.push_back({"MLA", locked, "mla"});
  }
  if (segmented(view, "kind", choices, chosen,
                "MHA: each query head has its own keys and values. GQA: groups of heads share them. MQA: all "
                "heads share one pair. The cache shrinks to kv_heads / heads."))
    model.kvHeads = kvHeadsFor(static_cast<AttentionKind>(chosen), model.heads);
}

std::vector<Action> kindActions(View& view) {
  struct Named {
    AttentionKind kind;
    const char *id, *name;
  };
  std::vector<Action> actions;
  for (const Named& named :
       {Named{AttentionKind::mha, "kind.mha", "Use MHA: each head has its own keys and values"},
        Named{AttentionKind::gqa, "kind.gqa", "Use GQA: groups of heads share keys and values"},
        Named{AttentionKind::mqa, "kind.mqa", "Use MQA: all heads share one pair of keys and values"}})
    actions.push_back({.id = named.id,
                       .name = named.name,
                       .section = "Settings",
                       .whileTyping = true,
                       .run = [&view, kind = named.kind](Scene& scene) {
                         Setup& setup = scene.setup;
                         const std::string reason = !setup.subject.model.empty() ? "Set by the opened model."
                                                    : setup.weights.source == WeightSource::file
                                                        ? "Set by the weights file."
                                                        : kindRefusal(setup, kind);
                         if (!reason.empty()) return view.messages.fail(reason);
                         setup.model.kvHeads = kvHeadsFor(kind, setup.model.heads);
                       }});
  return actions;
}

}  // namespace headscope::app
