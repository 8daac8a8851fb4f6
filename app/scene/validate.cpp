#include "app/scene/validate.h"

#include <fmt/core.h>

#include "app/scene/fields.h"

namespace headscope::app {

using attention::Error;
using attention::PlantedHead;
using attention::Status;

namespace {

std::string brokenPlan(std::string_view field, const std::vector<PlantedHead>& planted) {
  if (planted.size() > static_cast<std::size_t>(kMaxHeads))
    return fmt::format("{} has {} entries, expected at most {}", field, planted.size(), kMaxHeads);
  for (const PlantedHead& head : planted)
    if (head.offset < -kMaxTokens || head.offset > kMaxTokens)
      return fmt::format("{} offset is {}, expected {} to {}", field, head.offset, -kMaxTokens, kMaxTokens);
  return {};
}

/// What is wrong beyond the fields' own ranges; "" if nothing is.
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
  if (isStack(setup) && setup.input.cross)
    return fmt::format("input.cross is true, but the {} layers of model.layers read one text", model.layers);
  if (isStack(setup) && setup.subject.layer >= model.layers)
    return fmt::format("subject.layer is {}, expected 0 to {}: model.layers is {}", setup.subject.layer,
                       model.layers - 1, model.layers);
  if (setup.weights.plantedAbove.size() >= static_cast<std::size_t>(kMaxStackLayers))
    return fmt::format("weights.planted_above has lists for {} layers, expected at most {}",
                       setup.weights.plantedAbove.size(), kMaxStackLayers - 1);
  std::string broken = brokenPlan("weights.planted", setup.weights.planted);
  for (const auto& planted : setup.weights.plantedAbove)
    if (broken.empty()) broken = brokenPlan("weights.planted_above", planted);
  return broken;
}

}  // namespace

Status validate(const Scene& scene) {
  // The limits are those of synthetic layers; a model has its own sizes.
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
  // After the ranges, since the rules divide and multiply the sizes.
  if (std::string broken = brokenRule(scene.setup); !broken.empty()) return Error{std::move(broken)};
  return attention::success();
}

}  // namespace headscope::app
