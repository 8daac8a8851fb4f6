#include "app/compute/layer/layer_config.h"

#include <cmath>

#include "app/scene/models/open_model.h"
#include "attention/core/score_terms.h"

namespace headscope::app {

using attention::AttentionConfig;

namespace {
AttentionConfig modelConfigOf(const OpenModel& opened, Index layer) {
  return opened.model ? opened.model->attention(layer) : opened.config().attention(layer);
}

AttentionConfig syntheticConfigOf(const ModelSetup& model) {
  AttentionConfig config;
  config.modelDim = model.modelDim;
  config.heads = model.heads;
  config.kvHeads = model.kvHeads;
  config.headDim = model.headDim;
  config.scale = model.scaled ? 1 / std::sqrt(static_cast<float>(model.headDim)) : 1.0f;
  if (model.position == PositionKind::rope) config.ropeTheta = model.ropeTheta;
  return config;
}
}  // namespace

attention::ScoreSettings scoreSettings(const Setup& setup) {
  const ModelSetup& model = setup.model;
  attention::ScoreSettings settings;
  attention::joinNumbers(model, settings);
  settings.alibi = model.position == PositionKind::alibi;
  if (model.position == PositionKind::t5)
    settings.t5 =
        attention::BucketBias{model.t5Buckets, model.t5Distance, false, model.t5Strength, setup.weights.seed};
  if (model.dropout > 0) settings.dropout = {model.dropout, setup.weights.seed, 0};
  return settings;
}

AttentionConfig configOf(const Setup& setup) {
  const SubjectSetup& subject = setup.subject;
  AttentionConfig config =
      subject.opened ? modelConfigOf(*subject.opened, subject.layer) : syntheticConfigOf(setup.model);
  attention::joinSettings(scoreSettings(setup), config);
  return config;
}

}  // namespace headscope::app
