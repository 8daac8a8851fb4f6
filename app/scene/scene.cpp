#include "app/scene/scene.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/scene/fields.h"
#include "app/scene/mask_rules.h"
#include "app/scene/model_fit.h"

namespace headscope::app {

using attention::Behaviour;
using attention::Error;
using attention::PlantedHead;
using attention::Status;

attention::MaskLayers openingMask() {
  return layersOf({});
}

Scene openingScene() {
  Scene scene;
  scene.setup.mask.layers = openingMask();
  scene.setup.input.text = "The animal didn't cross the street because it was too tired .";
  for (Index head = 0; head < scene.setup.model.heads; ++head)
    scene.setup.weights.planted.push_back(defaultPlant(head));
  return scene;
}

PlantedHead defaultPlant(Index head) {
  static constexpr std::array<PlantedHead, 8> kDefaults{{{Behaviour::offset, 1},
                                                         {Behaviour::firstToken, 1},
                                                         {Behaviour::offset, 0},
                                                         {Behaviour::uniform, 1},
                                                         {Behaviour::offset, 2},
                                                         {Behaviour::localBand, 1},
                                                         {Behaviour::sameToken, 1},
                                                         {Behaviour::random, 1}}};
  return kDefaults[static_cast<std::size_t>(head) % kDefaults.size()];
}

std::vector<PlantedHead> plantedHeads(const Setup& setup) {
  std::vector<PlantedHead> heads = setup.weights.planted;
  heads.resize(std::min<std::size_t>(heads.size(), setup.model.heads));
  while (static_cast<Index>(heads.size()) < setup.model.heads) heads.push_back(defaultPlant(heads.size()));
  return heads;
}

namespace {

/// What no field's own range can say.
std::string brokenRule(const Setup& setup) {
  const ModelSetup& model = setup.model;
  const std::string headDim = std::to_string(model.headDim);
  if (model.heads < 1 || model.kvHeads < 1 || model.headDim < 1 || model.modelDim < 1)
    return "the sizes of model are at least 1";
  if (model.heads % model.kvHeads != 0)
    return fmt::format("model.kv_heads is {}, expected a divisor of the {} heads", model.kvHeads,
                       model.heads);
  if (model.linked && model.headDim * model.heads != model.modelDim)
    return fmt::format("model.linked is true, but {} heads of size {} don't make model_dim {}", model.heads,
                       headDim, model.modelDim);
  if (model.position == PositionKind::rope && model.headDim % 2 != 0)
    return "model.head_dim is " + headDim + ", expected an even number: RoPE rotates dimensions in pairs";
  if (model.t5Distance <= model.t5Buckets / 2)
    return fmt::format("model.t5_distance is {}, expected more than half of the {} buckets", model.t5Distance,
                       model.t5Buckets);
  for (const auto& [field, text] :
       {std::pair("input.text", &setup.input.text), std::pair("input.context", &setup.input.contextText)})
    if (text->size() > kMaxTextBytes)
      return fmt::format("{} has {} bytes, expected at most {}", field, text->size(), kMaxTextBytes);
  if (setup.mask.marks->size() > static_cast<std::size_t>(kMaxLines))
    return fmt::format("mask.marks has {} lines, expected at most {}", setup.mask.marks->size(), kMaxLines);
  if (setup.weights.planted.size() > static_cast<std::size_t>(kMaxHeads))
    return fmt::format("weights.planted has {} entries, expected at most {}", setup.weights.planted.size(),
                       kMaxHeads);
  for (const PlantedHead& head : setup.weights.planted)
    if (head.offset < -kMaxTokens || head.offset > kMaxTokens)
      return fmt::format("weights.planted offset is {}, expected {} to {}", head.offset, -kMaxTokens,
                         kMaxTokens);
  return {};
}

}  // namespace

Status validate(const Scene& scene) {
  // The limits are those of layers made here; a model's sizes are its own.
  const bool ofModel = !scene.setup.subject.model.empty();
  const auto isSize = [](std::string_view path) {
    return path == "model.heads" || path == "model.kv_heads" || path == "model.head_dim" ||
           path == "model.model_dim";
  };
  for (const Field& field : allFields())
    if (ofModel && isSize(field.path))
      continue;
    else if (std::string illegal = illegalValue(field, scene); !illegal.empty())
      return Error{std::move(illegal)};
  // The sizes are positive from here on: the rules divide and multiply them.
  if (std::string broken = brokenRule(scene.setup); !broken.empty()) return Error{std::move(broken)};
  return attention::success();
}

AttentionKind kindOf(const ModelSetup& model) {
  if (model.kvHeads == model.heads) return AttentionKind::mha;
  return model.kvHeads == 1 ? AttentionKind::mqa : AttentionKind::gqa;
}

Index kvHeadsFor(AttentionKind kind, Index heads) {
  if (kind == AttentionKind::mha) return heads;
  if (kind == AttentionKind::mqa) return 1;
  const double wanted = std::sqrt(static_cast<double>(heads));
  Index best = 1;
  for (Index d : divisors(heads))
    if (d != 1 && d != heads && (best == 1 || std::abs(d - wanted) < std::abs(best - wanted))) best = d;
  return best;
}

}  // namespace headscope::app
