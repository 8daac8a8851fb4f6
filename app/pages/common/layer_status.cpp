#include "app/pages/common/layer_status.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "app/compute/layer/head_switches.h"
#include "app/scene/model_fit.h"
#include "app/scene/models/open_model.h"
#include "app/scene/text/number_text.h"

namespace headscope::app {

std::string layerShape(const Scene& scene, bool causal) {
  const ModelSetup& model = scene.setup.model;
  static constexpr std::array kNames{"MHA", "GQA", "MQA"};
  const SubjectSetup& subject = scene.setup.subject;
  const std::string of = subject.opened ? fmt::format("{} layer {} · ", subject.opened->name, subject.layer)
                         : isStack(scene.setup) ? fmt::format("layer {} of {} · ", shownLayer(scene.setup),
                                                              layerCount(scene.setup))
                                                : "";
  if (subject.opened && subject.opened->config().latent.rank > 0)
    return of + fmt::format("MLA, {} heads · d {}", model.heads, model.modelDim) +
           (causal ? " · causal" : "");
  std::string text = of + fmt::format("{} {}/{} · d {}", kNames[static_cast<std::size_t>(kindOf(model))],
                                      model.heads, model.kvHeads, model.modelDim);
  if (isCross(scene.setup))
    text += " · cross";
  else if (causal)
    text += " · causal";
  return text;
}

std::optional<std::string> layerError(const Snapshot* snapshot) {
  return snapshot && snapshot->error ? std::optional(snapshot->error->message) : std::nullopt;
}

void fitHover(Crosshair& hover, const Scene& scene, const Snapshot& snapshot) {
  const SequenceSnapshot& sequence = *shownSequence(scene, &snapshot);
  if (hover.query >= static_cast<Index>(sequence.queries.size())) hover.query = -1;
  if (hover.key >= static_cast<Index>(sequence.keys.size())) hover.key = -1;
  if (hover.head >= snapshot.config.heads) hover.head = -1;
}

PageStatus layerStatus(const PageServices& services, const Scene& scene) {
  PageStatus status;
  const Snapshot* snapshot = services.layer.snapshot().get();
  const bool timings = services.view.showTimings;
  if (snapshot && timings) status.figures.push_back({"compute", timeText(snapshot->seconds), 0});
  if (snapshot) status.figures.push_back({"matrices", bytesText(static_cast<double>(snapshot->bytes)), 0});
  if (timings)  // of the machine's memory
    status.figures.push_back({"of", bytesText(static_cast<double>(services.resources.memory.total())), 420});
  const auto off =
      std::ranges::count(scene.setup.subject.switchedOff, shownLayer(scene.setup), &SwitchedHead::layer);
  if (off > 0) status.figures.push_back({"switched off", countedText(off, "head"), 0});
  if (snapshot) status.notFinite = snapshot->notFinite;
  status.shape = layerShape(scene, snapshot && snapshot->causal);
  status.busySeconds = services.layer.busySeconds();
  status.busyWords = "computing for " + timeText(status.busySeconds);
  status.canStop = true;
  status.hasPicture = snapshot != nullptr;
  return status;
}

}  // namespace headscope::app
