#include "app/scene/scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "app/scene/mask_rules.h"

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

/// Collects the first field that is out of range.
class RangeCheck {
 public:
  template <typename T>
  void in(const char* field, T value, T low, T high) {
    if (error_.empty() && !(value >= low && value <= high)) {
      std::ostringstream text;
      text << field << " is " << value << ", expected " << low << " to " << high;
      error_ = text.str();
    }
  }
  void that(bool holds, const std::string& message) {
    if (error_.empty() && !holds) error_ = message;
  }
  Status status() const { return error_.empty() ? attention::success() : Status(Error{error_}); }

 private:
  std::string error_;
};

}  // namespace

Status validate(const Scene& scene) {
  const ModelSetup& model = scene.setup.model;
  const MaskSetup& mask = scene.setup.mask;
  const StudioCursor& studio = scene.cursor.studio;
  RangeCheck check;
  check.in<Index>("model.heads", model.heads, 1, kMaxHeads);
  check.in<Index>("model.kv_heads", model.kvHeads, 1, kMaxHeads);
  check.in<Index>("model.head_dim", model.headDim, 1, kMaxHeadDim);
  check.in<Index>("model.model_dim", model.modelDim, 1, kMaxModelDim);
  // What follows divides and multiplies them.
  if (const Status sizes = check.status(); !sizes) return sizes;
  check.that(model.heads % model.kvHeads == 0, "model.kv_heads is " + std::to_string(model.kvHeads) +
                                                   ", expected a divisor of the " +
                                                   std::to_string(model.heads) + " heads");
  check.that(!model.linked || model.headDim * model.heads == model.modelDim,
             "model.linked is true, but " + std::to_string(model.heads) + " heads of size " +
                 std::to_string(model.headDim) + " don't make model_dim " + std::to_string(model.modelDim));
  check.in("model.sharpness", model.sharpness, 0.0f, 100.0f);
  check.in("model.softcap", model.softcap, 0.0f, 1000.0f);
  check.in("model.dropout", model.dropout, 0.0f, 0.95f);
  check.in("model.rope_theta", model.ropeTheta, 1.0, 1e9);
  check.that(model.position != PositionKind::rope || model.headDim % 2 == 0,
             "model.head_dim is " + std::to_string(model.headDim) +
                 ", expected an even number: RoPE rotates dimensions in pairs");
  check.in<Index>("model.t5_buckets", model.t5Buckets, 4, kMaxT5Buckets);
  check.that(model.t5Buckets % 2 == 0,
             "model.t5_buckets is " + std::to_string(model.t5Buckets) + ", expected an even number");
  check.in<Index>("model.t5_distance", model.t5Distance, model.t5Buckets / 2 + 1, kMaxTokens);
  check.in("model.t5_strength", model.t5Strength, 0.0f, 100.0f);
  check.that(mask.marks.size() <= static_cast<std::size_t>(kMaxLines),
             "mask.marks has " + std::to_string(mask.marks.size()) + " lines, expected at most " +
                 std::to_string(kMaxLines));
  check.in<Index>("cursor.studio.block_size", studio.blockSize, 16, 128);
  check.in<Index>("cursor.studio.layers", studio.layers, 1, kMaxReachLayers);
  check.in("cursor.studio.wipe", studio.wipe, 0.0f, 1.0f);
  check.in<Index>("map.tokens", scene.map.tokens, kMinMapTokens, kMaxMapTokens);
  check.in<Index>("map.layer", scene.map.layer, 0, kMaxMapLayers - 1);
  const MapCursor& map = scene.cursor.map;
  const auto farthest = static_cast<double>(kMaxMapTokens);
  // The middle of a wide window lies beyond a head that stands at its edge.
  check.in("cursor.map.row", map.row, -100 * farthest, 100 * farthest);
  check.in("cursor.map.col", map.col, -100 * farthest, 100 * farthest);
  check.in("cursor.map.cells_per_pixel", map.cellsPerPixel, 0.0, farthest);
  check.in<Index>("prefill", scene.setup.prefill, 1, kMaxTokens);
  check.that(scene.setup.weights.planted.size() <= static_cast<std::size_t>(kMaxHeads),
             "weights.planted has " + std::to_string(scene.setup.weights.planted.size()) +
                 " entries, expected at most " + std::to_string(kMaxHeads));
  for (const PlantedHead& head : scene.setup.weights.planted)
    check.in<Index>("weights.planted offset", head.offset, -kMaxTokens, kMaxTokens);
  check.that(scene.look.cacheBytes == 4 || scene.look.cacheBytes == 2 || scene.look.cacheBytes == 1,
             "look.cache_bytes is " + std::to_string(scene.look.cacheBytes) + ", expected 4, 2 or 1");
  return check.status();
}

AttentionKind kindOf(const ModelSetup& model) {
  if (model.kvHeads == model.heads) return AttentionKind::mha;
  return model.kvHeads == 1 ? AttentionKind::mqa : AttentionKind::gqa;
}

std::vector<Index> divisors(Index n) {
  std::vector<Index> result;
  for (Index d = 1; d <= n; ++d)
    if (n % d == 0) result.push_back(d);
  return result;
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

void fitModelTo(ModelSetup& model) {
  if (!model.linked) return;
  const bool even = model.position == PositionKind::rope;
  const auto fits = [&](Index heads) {
    const Index headDim = model.modelDim / heads;
    return model.modelDim % heads == 0 && headDim <= kMaxHeadDim && !(even && headDim % 2 != 0);
  };
  Index heads = 0;
  for (Index candidate = 1; candidate <= kMaxHeads; ++candidate)
    if (fits(candidate) && (heads == 0 || std::abs(candidate - model.heads) < std::abs(heads - model.heads)))
      heads = candidate;
  if (heads == 0) {
    model.linked = false;
    return;
  }
  const AttentionKind kind = kindOf(model);
  model.heads = heads;
  if (heads % model.kvHeads != 0 || kind != AttentionKind::gqa) model.kvHeads = kvHeadsFor(kind, heads);
  model.headDim = model.modelDim / heads;
}

}  // namespace headscope::app
