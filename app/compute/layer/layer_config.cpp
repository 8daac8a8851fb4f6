#include "app/compute/layer/layer_config.h"

#include <cmath>

#include "app/scene/models/open_model.h"

namespace headscope::app {

using attention::AttentionConfig;

namespace {
/// The terms that a scene sets alike on every layer; a model keeps its own soft-cap where the scene has none.
void setTerms(const Setup& setup, AttentionConfig& config) {
  const ModelSetup& model = setup.model;
  if (model.position == PositionKind::t5)
    config.t5 =
        attention::BucketBias{model.t5Buckets, model.t5Distance, false, model.t5Strength, setup.weights.seed};
  if (model.softcap > 0) config.softcap = model.softcap;
  config.dropout = {model.dropout, setup.weights.seed, 0};
}

/// The model's own numbers, and where the scene's act on its layer, those beside them.
AttentionConfig modelConfigOf(const Setup& setup) {
  const ModelSetup& model = setup.model;
  const OpenModel& opened = *setup.subject.opened;
  AttentionConfig config = opened.model ? opened.model->attention(setup.subject.layer)
                                        : opened.config().attention(setup.subject.layer);
  config.gain *= model.sharpness;
  config.alibi |= model.position == PositionKind::alibi;
  setTerms(setup, config);
  return config;
}
}  // namespace

AttentionConfig configOf(const Setup& setup) {
  const ModelSetup& model = setup.model;
  if (setup.subject.opened) return modelConfigOf(setup);
  AttentionConfig config;
  config.modelDim = model.modelDim;
  config.heads = model.heads;
  config.kvHeads = model.kvHeads;
  config.headDim = model.headDim;
  config.scale = model.scaled ? 1 / std::sqrt(static_cast<float>(model.headDim)) : 1.0f;
  config.gain = model.sharpness;
  if (model.position == PositionKind::rope) config.ropeTheta = model.ropeTheta;
  config.alibi = model.position == PositionKind::alibi;
  setTerms(setup, config);
  return config;
}

}  // namespace headscope::app
