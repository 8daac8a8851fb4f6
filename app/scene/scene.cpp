#include "app/scene/scene.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/scene/fields.h"
#include "app/scene/mask_rules.h"
#include "app/scene/model_fit.h"
#include "app/scene/models/open_model.h"

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

bool isStack(const Setup& setup) {
  return setup.subject.model.empty() && setup.model.layers > 1;
}

Index layerCount(const Setup& setup) {
  if (setup.subject.opened) return setup.subject.opened->config().layerCount();
  return isStack(setup) ? setup.model.layers : 1;
}

Index shownLayer(const Setup& setup) {
  if (!setup.subject.model.empty()) return setup.subject.layer;
  return isStack(setup) ? std::min(setup.subject.layer, setup.model.layers - 1) : 0;
}

namespace {

/// Whether the two setups differ in nothing but the layer that is looked at.
bool sameButLayer(const Setup& a, const Setup& b) {
  if (a.subject.layer == b.subject.layer || a.subject.scope == EditScope::one) return a == b;
  return withLayer(a, b.subject.layer) == b;
}

}  // namespace

bool sameDocument(const Scene& a, const Scene& b) {
  return sameButLayer(a.setup, b.setup) && a.look == b.look && a.map == b.map && a.cost == b.cost &&
         a.generation == b.generation && a.cursor.lab.patchText == b.cursor.lab.patchText;
}

void takeDocument(Scene& scene, const Scene& from) {
  const SubjectSetup looked = scene.setup.subject;
  const bool sameLayers =
      looked.model == from.setup.subject.model && layerCount(scene.setup) == layerCount(from.setup);
  scene.setup = from.setup;
  if (sameLayers && from.setup.subject.scope == EditScope::all) scene.setup.subject.layer = looked.layer;
  scene.look = from.look;
  scene.map = from.map;
  scene.cost = from.cost;
  scene.generation = from.generation;
  scene.cursor.lab.patchText = from.cursor.lab.patchText;
}

void shareSubject(Scene& scene) {
  Cursor& cursor = scene.cursor;
  SubjectSetup& subject = scene.setup.subject;
  if (cursor.page != "model")
    cursor.model.layer = shownLayer(scene.setup);
  else if (subject.scope == EditScope::all && (subject.opened || isStack(scene.setup)))
    subject.layer = std::min(cursor.model.layer, layerCount(scene.setup) - 1);
  if (cursor.focus < 0) return;
  (cursor.page == "heads" ? cursor.cell.head : cursor.focus) =
      cursor.page == "heads" ? cursor.focus : cursor.cell.head;
}

Setup withLayer(Setup setup, Index layer) {
  setup.subject.layer = layer;
  return setup;
}

PlantedHead defaultPlant(Index head, Index layer) {
  static constexpr std::array<PlantedHead, 8> kLater{{{Behaviour::induction},
                                                      {Behaviour::firstToken},
                                                      {Behaviour::uniform},
                                                      {Behaviour::separator},
                                                      {Behaviour::offset, 1},
                                                      {Behaviour::offset, 0},
                                                      {Behaviour::localBand},
                                                      {Behaviour::sameToken}}};
  if (layer > 0) return kLater[static_cast<std::size_t>(head) % kLater.size()];
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
  const Index layer = shownLayer(setup);
  const auto above = static_cast<std::size_t>(std::max<Index>(layer - 1, 0));
  std::vector<PlantedHead> heads;
  if (layer == 0)
    heads = setup.weights.planted;
  else if (above < setup.weights.plantedAbove.size())
    heads = setup.weights.plantedAbove[above];
  heads.resize(std::min<std::size_t>(heads.size(), setup.model.heads));
  while (std::ssize(heads) < setup.model.heads) heads.push_back(defaultPlant(std::ssize(heads), layer));
  return heads;
}

void plantHead(Setup& setup, Index head, const PlantedHead& plant) {
  WeightSetup& weights = setup.weights;
  const Index layer = shownLayer(setup);
  if (layer > std::ssize(weights.plantedAbove)) weights.plantedAbove.resize(static_cast<std::size_t>(layer));
  std::vector<PlantedHead>& planted =
      layer == 0 ? weights.planted : weights.plantedAbove[static_cast<std::size_t>(layer - 1)];
  while (std::ssize(planted) <= head) planted.push_back(defaultPlant(std::ssize(planted), layer));
  planted[static_cast<std::size_t>(head)] = plant;
}

namespace {

std::string brokenPlan(std::string_view field, const std::vector<PlantedHead>& planted) {
  if (planted.size() > static_cast<std::size_t>(kMaxHeads))
    return fmt::format("{} has {} entries, expected at most {}", field, planted.size(), kMaxHeads);
  for (const PlantedHead& head : planted)
    if (head.offset < -kMaxTokens || head.offset > kMaxTokens)
      return fmt::format("{} offset is {}, expected {} to {}", field, head.offset, -kMaxTokens, kMaxTokens);
  return {};
}

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
  if (isStack(setup) && setup.input.cross)
    return fmt::format("input.cross is true, but the {} layers of model.layers read one text", model.layers);
  if (isStack(setup) && setup.subject.layer >= model.layers)
    return fmt::format("subject.layer is {}, expected 0 to {}: model.layers is {}", setup.subject.layer,
                       model.layers - 1, model.layers);
  if (setup.weights.plantedAbove.size() >= static_cast<std::size_t>(kMaxMadeLayers))
    return fmt::format("weights.planted_above has lists for {} layers, expected at most {}",
                       setup.weights.plantedAbove.size(), kMaxMadeLayers - 1);
  std::string broken = brokenPlan("weights.planted", setup.weights.planted);
  for (const auto& planted : setup.weights.plantedAbove)
    if (broken.empty()) broken = brokenPlan("weights.planted_above", planted);
  return broken;
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
