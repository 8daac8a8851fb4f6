#include <algorithm>
#include <cmath>

#include "app/labs/heads/heads_page.h"
#include "app/scene/number_text.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/panel.h"

namespace headscope::app {

namespace {

std::string sizeText(Index value) {
  return std::to_string(value);
}

bool evenNeeded(const ModelSetup& model) {
  return model.position == PositionKind::rope;
}

/// Whether a head size can be, apart from how it was asked for.
bool headDimFits(const ModelSetup& model, Index headDim) {
  return headDim >= 1 && headDim <= kMaxHeadDim && !(evenNeeded(model) && headDim % 2 != 0);
}

/// Why modelDim can't be split over `heads`, or "".
std::string splitRefusal(const ModelSetup& model, Index modelDim, Index heads) {
  const std::string what =
      sizeText(modelDim) + " dimensions over " + sizeText(heads) + (heads == 1 ? " head" : " heads");
  if (modelDim % heads != 0)
    return what + " leaves " + numberText(static_cast<double>(modelDim) / static_cast<double>(heads)) +
           " a head, which is not whole. Choose a divisor, or unlink the head size.";
  const Index headDim = modelDim / heads;
  if (headDim > kMaxHeadDim)
    return what + " makes a head size of " + sizeText(headDim) + "; at most " + sizeText(kMaxHeadDim) +
           " can be.";
  if (evenNeeded(model) && headDim % 2 != 0)
    return what + " makes a head size of " + sizeText(headDim) +
           "; RoPE rotates pairs and needs an even one.";
  return "";
}

std::vector<Index> headStops(const ModelSetup& model) {
  std::vector<Index> stops;
  for (Index heads = 1; heads <= kMaxHeads; ++heads)
    if (!model.linked || splitRefusal(model, model.modelDim, heads).empty()) stops.push_back(heads);
  return stops.empty() ? std::vector<Index>{model.heads} : stops;
}

/// Sizes that are pleasant to drag over: every one at first, then in growing steps.
std::vector<Index> modelDimStops(const ModelSetup& model) {
  std::vector<Index> stops;
  const Index unit = model.linked ? model.heads * (evenNeeded(model) ? 2 : 1) : 1;
  Index last = 0;
  for (double wanted = 1; wanted <= kMaxModelDim * 1.0001; wanted *= 1.03) {
    Index value = std::max<Index>(1, std::lround(wanted / static_cast<double>(unit))) * unit;
    if (value > 64 && unit == 1) value = value / 8 * 8;
    const bool fits = value <= kMaxModelDim && (!model.linked || headDimFits(model, value / model.heads));
    if (fits && value > last) stops.push_back(last = value);
  }
  for (Index power = 16; power <= kMaxModelDim; power *= 2)
    if (power % unit == 0 && (!model.linked || headDimFits(model, power / model.heads)) &&
        !std::binary_search(stops.begin(), stops.end(), power))
      stops.insert(std::lower_bound(stops.begin(), stops.end(), power), power);
  return stops.empty() ? std::vector<Index>{model.modelDim} : stops;
}

std::vector<Index> headDimStops(const ModelSetup& model) {
  std::vector<Index> stops;
  const Index step = evenNeeded(model) ? 2 : 1;
  for (Index size = step; size <= kMaxHeadDim; size += size < 32 ? step : size < 128 ? 8 : 32)
    stops.push_back(size);
  return stops;
}

/// kvHeads after the number of heads changed: the same kind of sharing, the nearest divisor.
Index followKvHeads(const ModelSetup& before, Index heads) {
  const AttentionKind kind = kindOf(before);
  if (kind != AttentionKind::gqa) return kvHeadsFor(kind, heads);
  Index best = 1;
  for (Index d : divisors(heads))
    if (std::abs(d - before.kvHeads) < std::abs(best - before.kvHeads)) best = d;
  return best;
}

void relink(ModelSetup& model) {
  if (model.linked) model.headDim = model.modelDim / model.heads;
}

void kindChoice(ModelSetup& model, View& view, const std::string& locked) {
  const std::vector<Index> possible = divisors(model.heads);
  std::string gqa = locked, other = locked;
  if (gqa.empty() && possible.size() <= 2)
    gqa = sizeText(model.heads) + " heads have no divisor between 1 and " + sizeText(model.heads) +
          " to group by";
  const std::vector<Choice> choices{{"MHA", other, "mha"}, {"GQA", gqa, "gqa"}, {"MQA", other, "mqa"}};
  int chosen = static_cast<int>(kindOf(model));
  if (segmented(view, "kind", choices, chosen))
    model.kvHeads = kvHeadsFor(static_cast<AttentionKind>(chosen), model.heads);
}

void headSliders(Scene& scene, View& view, const std::string& locked) {
  ModelSetup& model = scene.setup.model;
  const ModelSetup before = model;
  const auto refuseHeads = [&](Index heads) {
    return before.linked ? splitRefusal(before, before.modelDim, heads) : "";
  };
  if (fieldSlider(view, scene, "model.heads", {locked, headStops(model), refuseHeads})) {
    model.kvHeads = followKvHeads(before, model.heads);
    relink(model);
  }
  const auto refuseKv = [&](Index kvHeads) {
    return sizeText(model.heads) + " query heads can't be shared evenly by " + sizeText(kvHeads) +
           " kv heads: it has to be a divisor.";
  };
  const std::string one = model.heads == 1 ? "One head has one kv head" : locked;
  fieldSlider(view, scene, "model.kv_heads",
              {one, divisors(model.heads), refuseKv, "divisors of " + sizeText(model.heads)});
}

void sizeSliders(Scene& scene, View& view, const std::string& locked) {
  ModelSetup& model = scene.setup.model;
  const ModelSetup before = model;
  const std::string fromTable = scene.setup.input.source == EmbeddingSource::table
                                    ? "The typed table has " + sizeText(model.modelDim) + " dimensions"
                                    : locked;
  const auto refuseModel = [&](Index modelDim) {
    return before.linked ? splitRefusal(before, modelDim, before.heads) : "";
  };
  if (fieldSlider(view, scene, "model.model_dim", {fromTable, modelDimStops(model), refuseModel}))
    relink(model);
  const std::string linked = model.linked ? "Follows model dim / heads; unlink to choose" : locked;
  const auto refuseHead = [&](Index headDim) {
    return headDimFits(model, headDim) ? "" : "RoPE rotates pairs of dimensions and needs an even head size.";
  };
  fieldSlider(view, scene, "model.head_dim", {linked, headDimStops(model), refuseHead});
  std::string cannotLink = locked;
  if (cannotLink.empty() && !model.linked) cannotLink = splitRefusal(model, model.modelDim, model.heads);
  if (fieldToggle(view, scene, "model.linked", cannotLink)) relink(model);
}

/// Which query heads read which kv head, in the colours of the groups.
void sharingHint(const ModelSetup& model, View& view) {
  const Index group = model.heads / model.kvHeads;
  std::string text;
  if (group == 1) {
    text = "Every query head has keys and values of its own.";
  } else {
    const Index shown = std::min<Index>(model.kvHeads, 3);
    for (Index kv = 0; kv < shown; ++kv)
      text += (kv ? ", h" : "H") + std::string("eads ") + sizeText(kv * group) + "–" +
              sizeText((kv + 1) * group - 1) + " read " + kvName(kv);
    text += shown < model.kvHeads ? " … up to " + kvName(model.kvHeads - 1) + "." : ".";
  }
  hint(view, text);
}

}  // namespace

void modelSection(Scene& scene, const Snapshot* snapshot, View& view) {
  ModelSetup& model = scene.setup.model;
  const std::string locked =
      scene.setup.weights.source == WeightSource::file ? "The weights file sets this" : "";
  sectionTitle(view, "ATTENTION", scene.setup.input.cross ? "cross" : "self");
  kindChoice(model, view, locked);
  gap(view, 4);
  headSliders(scene, view, locked);
  sizeSliders(scene, view, locked);
  fieldSlider(view, scene, "model.sharpness");
  sharingHint(model, view);
  if (const PlacedError* error = errorAt(snapshot, Place::model)) problem(view, error->message);
  if (const PlacedError* error = errorAt(snapshot, Place::memory)) problem(view, error->message);
}

void moreSection(Scene& scene, View& view) {
  const std::string locked =
      scene.setup.weights.source == WeightSource::file ? "The weights file sets this" : "";
  sectionTitle(view, "MORE");
  fieldToggle(view, scene, "model.scaled");
  fieldToggle(view, scene, "model.bias", locked);
  sectionSliders(view, scene, "MORE");
}

}  // namespace headscope::app
