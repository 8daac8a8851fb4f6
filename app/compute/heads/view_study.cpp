#include "app/compute/heads/view_study.h"

#include <algorithm>
#include <cmath>

#include "app/compute/layer/layer_stack.h"
#include "app/scene/text/number_text.h"
#include "attention/core/extremes.h"
#include "attention/heads/head_views.h"
#include "attention/heads/rollout.h"

namespace headscope::app {

using attention::Matrix;

namespace {

constexpr Index kSmall = 144;

Matrix valuesOf(const ViewQuestion& question, HeadPicture picture) {
  const LayerParts& layer = *question.layer;
  const attention::Stack& weights = layer.sequence().probabilities();
  switch (picture) {
    case HeadPicture::weights:
    case HeadPicture::valueWeighted:
    case HeadPicture::firstOut:
      return readWeights(layer, question.head, picture);
    case HeadPicture::mean:
      return attention::meanOverHeads(weights);
    case HeadPicture::max:
      return attention::maxOverHeads(weights);
    case HeadPicture::difference:
      return weights[question.head] - weights[question.other];
    case HeadPicture::rollout:
      break;  // needs other layers
  }
  return {};
}

/// Returns the attention rollout through all layers up to the shown one.
attention::Result<Matrix> rolloutOf(const LayerParts& layer, Resources& resources, std::stop_token stop) {
  const Setup& setup = layer.question.snapshot->setup;
  attention::Rollout rollout;
  if (const Index below = shownLayer(setup); below > 0) {
    auto run = prepareRun(setup, layer.question.sequence, resources, stop);
    if (!run) return run.error();
    run->request.depth = below;
    run->request.layers = std::vector<Index>();
    for (Index at = 0; at < below; ++at) run->request.layers->push_back(at);
    run->request.logits = attention::LogitRows::none;
    const std::uint64_t needed =
        attention::passBytes(run->opened->config(), std::ssize(run->text.ids), run->request);
    const MemoryShare share = resources.memory.reserve(needed, stop);
    if (!share)
      return attention::Error{"rollout through " + std::to_string(below) + " layers below would need " +
                              bytesText(static_cast<double>(needed)) + " more than the budget has left"};
    attention::ModelSession session(run->opened->model);
    const auto pass = session.append(run->text.ids, run->request, stop);
    if (!pass) return pass.error();
    for (const auto& one : pass->layers) rollout.add(one->weights);
  }
  rollout.add(layer.sequence().probabilities());
  return rollout.matrix();
}

/// Sets to −inf the values at keys that none of the heads involved can see.
void hide(const ViewQuestion& question, HeadPicture picture, Matrix& values) {
  const LayerParts& layer = *question.layer;
  const attention::Stack& scores = layer.sequence().attention.scores;
  if (picture == HeadPicture::rollout) {  // it combines several masks
    values = (values.array() == 0).select(-INFINITY, values);
    return;
  }
  const bool all = picture == HeadPicture::mean || picture == HeadPicture::max;
  for (Index row = 0; row < values.rows(); ++row)
    for (Index col = 0; col < values.cols(); ++col) {
      bool seen = false;
      if (all)
        for (Index head = 0; head < scores.count() && !seen; ++head)
          seen = scores.at(head, row, col) > -INFINITY;
      else
        seen = scores.at(question.head, row, col) > -INFINITY ||
               (picture == HeadPicture::difference && scores.at(question.other, row, col) > -INFINITY);
      if (!seen || (picture == HeadPicture::firstOut && col == 0)) values(row, col) = -INFINITY;
    }
}

}  // namespace

attention::Result<std::shared_ptr<const ViewStudy>> studyViews(const ViewQuestion& question,
                                                               Resources& resources, std::stop_token stop) {
  const auto made = std::make_shared<ViewStudy>();
  ViewStudy& study = *made;
  study.question = question;
  for (std::size_t i = 0; i < study.views.size() && !stop.stop_requested(); ++i) {
    const auto picture = static_cast<HeadPicture>(i);
    HeadView& view = study.views[i];
    view.values = valuesOf(question, picture);
    if (picture == HeadPicture::rollout) {
      if (question.layer->context.size() > 0) {
        study.noRollout = "Rollout needs self-attention; cross-attention reads a second text.";
        continue;
      }
      auto values = rolloutOf(*question.layer, resources, stop);
      if (values)
        view.values = *std::move(values);
      else
        study.noRollout = values.error().message;
      if (!values) continue;
    }
    if (picture == HeadPicture::difference) {
      view.high = std::max(attention::largestFinite(view.values), 0.01f);
      view.low = -view.high;
    }
    hide(question, picture, view.values);
    view.small.values = attention::poolByMagnitude(view.values, kSmall, kSmall);
    view.small.low = view.low;
    view.small.high = view.high;
  }
  return std::shared_ptr<const ViewStudy>(made);
}

}  // namespace headscope::app
