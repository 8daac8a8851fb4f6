#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/compute/layer/layer_inputs.h"
#include "app/pages/cache/cache_state.h"
#include "app/pages/common/kind_choice.h"
#include "app/pages/common/model_facts.h"
#include "app/pages/common/unknown_words.h"
#include "app/platform/track.h"
#include "app/scene/models/open_model.h"
#include "app/scene/text/byte_text.h"
#include "app/scene/text/number_prose.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"
#include "app/widgets/text/text_box.h"
#include "attention/cache/model_cost.h"

namespace headscope::app::cache_page {

namespace {

void tokensSection(Scene& scene, State& page) {
  View& view = page.view;
  const SequenceSnapshot* sequence = shownSequence(scene, page.snapshot.get());
  sectionTitle(view, "TOKENS", sequence ? tokenCountText(sequence->keyLength) : "");
  if (const std::string patches = patchesText(scene); !patches.empty())
    hint(view, patches);
  else if (scene.setup.input.source == EmbeddingSource::text)
    textBox(view, "text", scene.setup.input.text, 2, "Type a sentence. Each line is a sequence.");
  else
    hint(view, "Tokens come from the typed table.");
  if (const PlacedError* error = errorAt(page.snapshot.get(), Place::input)) problem(view, error->message);
  unknownWords(scene, view);
}

/// Why the layer's heads can't be changed on this page, or "".
std::string lockedBy(const Setup& setup) {
  if (setup.subject.opened) return "Set by the opened model";
  return setup.weights.source == WeightSource::file ? "Set by the weights file" : "";
}

/// Recomputed only when a setting they depend on changes, because it tries every number of heads.
const HeadStops& headStops(const Setup& setup, HeadSliders& heads) {
  HeadStops& stops = heads.stops;
  const ModelSetup& model = setup.model;
  if (stops.model == model && stops.weights == setup.weights && stops.embedding == setup.input.source &&
      stops.chosen == heads.chosen && !stops.heads.empty())
    return stops;
  stops = {model, setup.weights, setup.input.source, heads.chosen};
  const Suits suits = plantingSuits(setup);
  for (Index count = 1; count <= kMaxHeads; ++count) {
    ModelSetup trial = model;
    const Index size = model.modelDim / count;
    const bool splits = !model.linked || (model.modelDim % count == 0 && size <= kMaxHeadDim &&
                                          (model.position != PositionKind::rope || size % 2 == 0));
    if (splits && ChosenHeads(heads.chosen).setHeads(trial, count, suits)) stops.heads.push_back(count);
  }
  if (stops.heads.empty()) stops.heads.push_back(model.heads);
  for (const Index count : divisors(model.heads)) {
    ModelSetup trial = model;
    trial.kvHeads = count;
    if (!suits || suits(trial)) stops.kvHeads.push_back(count);
  }
  if (stops.kvHeads.empty()) stops.kvHeads.push_back(model.kvHeads);
  return stops;
}

void headsSection(Scene& scene, View& view, HeadSliders& heads) {
  Setup& setup = scene.setup;
  const std::string locked = lockedBy(setup);
  sectionTitle(view, "ATTENTION");
  kindChoice(setup, view, locked);
  gap(view, 4);
  const Suits suits = plantingSuits(setup);
  const ModelSetup before = setup.model;
  const HeadStops& stops = headStops(setup, heads);
  const auto refuse = [](Index wanted) {
    return fmt::format("{} heads don't divide the model dim. Change it on Heads.", wanted);
  };
  if (fieldSlider(view, scene, "model.heads", {locked, stops.heads, refuse})) {
    const Index wanted = std::exchange(setup.model.heads, before.heads);
    heads.chosen.setHeads(setup.model, wanted, suits);
    if (setup.model.kvHeads != before.kvHeads) view.markAdjusted("kv_heads");
  }
  const std::string one = before.heads == 1 ? "One head has one kv head" : locked;
  const auto refuseKv = [&](Index wanted) {
    return fmt::format("{} don't divide evenly among {}.", countedText(before.heads, "query head"),
                       countedText(wanted, "kv head"));
  };
  fieldSlider(view, scene, "model.kv_heads",
              {one, stops.kvHeads, refuseKv, fmt::format("divisors of {}", before.heads)});
}

void decodeSection(Scene& scene, View& view, const DecodeState& state) {
  sectionTitle(view, "DECODE");
  const Index most = std::max<Index>(state.tokens, 1);
  std::vector<Index> stops;
  for (Index i = 1; i <= most; ++i) stops.push_back(i);
  SliderState prefill;
  prefill.disabledReason = state.reason;
  prefill.stops = stops;
  fieldSlider(view, scene, "prefill", prefill);
  Index& chunk = scene.cost.cache.chunk;
  std::vector<Index> chunks;
  for (Index i = 1; i < std::max<Index>(state.prefill, 1); i *= 2) chunks.push_back(i);
  chunks.push_back(std::max<Index>(state.prefill, 1));
  Index shown = chunk == 0 ? chunks.back() : std::min(chunk, chunks.back());
  SliderSpec spec{"cache.chunk", "Chunk size", state.reason, fmt::format("1 to {} tokens", chunks.back()),
                  "Prompt tokens that each prefill pass processes (chunked prefill)."};
  if (shown == chunks.back()) spec.shown = "whole";
  if (slider(view, spec, chunks, shown)) chunk = shown == chunks.back() ? 0 : shown;
  auto speed = static_cast<float>(scene.cost.cache.speed);
  const SliderSpec pace{"cache.speed", "Speed", state.reason, shownProse("0.5 to 200 steps a second"),
                        "Playback speed."};
  if (slider(view, pace, Range{0.5, 200}, {0.5, 200, Scale::logarithmic}, speed))
    scene.cost.cache.speed = static_cast<double>(speed);
}

void sequencesSection(Scene& scene, State& page) {
  View& view = page.view;
  if (!page.snapshot) return;
  const auto& sequences = page.snapshot->sequences;
  Index cached = 0;
  for (const SequenceSnapshot& each : sequences) cached += decodeState(scene, page, each).now;
  const std::uint64_t bytes = attention::saturatingMultiply(bytesPerToken(scene, page.snapshot->config).own,
                                                            static_cast<std::uint64_t>(cached));
  sectionTitle(view, "SEQUENCES",
               fmt::format("batch {}{}", sequences.size(),
                           sequences.size() > 1 ? " · " + fourDigitBytes(bytes) : std::string()));
  Canvas list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const SequenceSnapshot& each = sequences[i];
    const std::string name = fmt::format("cache.sequence.{}", i);
    const ImVec2 from = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = view.px(34);
    if (hitArea(name, ImVec2(width, height))) scene.cursor.sequence = static_cast<Index>(i);
    const bool chosen = scene.cursor.sequence == static_cast<Index>(i);
    const ImVec2 to(from.x + width, from.y + height);
    if (chosen || ImGui::IsItemHovered()) list.AddRectFilled(from, to, view.theme->raised, view.px(4));
    if (chosen) list.AddRectFilled(from, ImVec2(from.x + view.px(3), to.y), view.theme->text);
    std::string words;
    for (Index token = 0; token < std::min<Index>(each.keyLength, 12); ++token)
      words += (words.empty() ? "" : " ") + each.keys[static_cast<std::size_t>(token)].text;
    const std::string fill = fmt::format("{} of {}", decodeState(scene, page, each).now, each.keyLength);
    const float y = (from.y + to.y) / 2;
    const float taken = paintText(list, view.fonts->mono, ImVec2(to.x - view.px(10), y), view.theme->text,
                                  fill, Align::right);
    paintText(list, view.fonts->text, ImVec2(from.x + view.px(14), y),
              chosen ? view.theme->text : view.theme->secondary,
              fitted(view.fonts->text, words, width - taken - view.px(38)));
  }
  hint(view, "Each line of the text is a sequence with its own cache.");
}

/// A slider for the head whose pictures the views show.
void headSlider(Scene& scene, View& view, const std::shared_ptr<const Snapshot>& snapshot) {
  if (!snapshot) return;
  const Index heads = snapshot->config.heads;
  std::vector<Index> stops;
  for (Index head = 0; head < heads; ++head) stops.push_back(head);
  Index head = viewHead(scene, snapshot->config);
  const SliderSpec spec{"cache.head", "Head", heads == 1 ? "The layer has one head" : "",
                        fmt::format("0 to {}", heads - 1),
                        "The head whose weights and keys are drawn. Errors cover all heads."};
  if (slider(view, spec, stops, head)) scene.cursor.cell.head = head;
}

void shapesSection(Scene& scene, View& view, const std::shared_ptr<const Snapshot>& snapshot) {
  sectionTitle(view, "FOUR SHAPES");
  headSlider(scene, view, snapshot);
  const bool made = lockedBy(scene.setup).empty();
  if (!made && snapshot) {
    const Index kvHeads = snapshot->config.kvHeads;
    std::vector<Index> stops = mergesBetween(kvHeads);
    Index merged = mergedKvHeads(scene.setup, snapshot->config, scene.cost.cache.merged);
    SliderSpec spec{"cache.between", "Merge into", "", "divisors of the kv heads",
                    "Number of kv heads after merging. Merging takes the mean."};
    if (stops.empty()) {
      spec.disabledReason = kvHeads == 1
                                ? "The layer has one kv head"
                                : fmt::format("No number between {} and 1 divides the kv heads", kvHeads);
      spec.shown = "none";
      stops.push_back(merged = kvHeads);
    }
    if (slider(view, spec, stops, merged)) scene.cost.cache.merged = merged;
  }
  const bool own = snapshot && snapshot->config.latentDim > 0;
  const std::string latentNow = own ? std::to_string(snapshot->config.latentDim) : "",
                    rotaryNow = own ? std::to_string(snapshot->config.rotaryDim) : "";
  const char* const set = own ? "Set by the opened model" : "";
  fieldSlider(view, scene, "cost.cache.latent", {.disabledReason = set, .shown = latentNow.c_str()});
  std::vector<Index> even;
  for (Index i = 0; i <= std::min<Index>(turnedDims(snapshot), 512); i += 2) even.push_back(i);
  SliderState rotary;
  rotary.stops = even;
  if (even.size() < 2) rotary.disabledReason = "This layer's keys have no rotary part";
  if (even.size() < 2) rotary.shown = "none";
  if (own) rotary.disabledReason = set, rotary.shown = rotaryNow.c_str();
  fieldSlider(view, scene, "cost.cache.rotary_dim", rotary);
  hint(view,
       own ? "MLA is the model's own: one latent for all heads' keys and values, and one rotary key. MHA "
             "stores the keys and values computed from it, head by head, with the same output. KV heads are "
             "merged by their mean."
       : made
           ? "MHA is this layer with one kv head per query head, from the same seeds. GQA and MQA merge kv "
             "heads by their mean, as in the GQA paper. MLA stores one latent for keys and values (the best "
             "approximation of its rank) and, under RoPE, one rotary key for all heads."
           : "KV heads are merged by their mean, as in the GQA paper. MLA stores one latent for keys and "
             "values (the best approximation of its rank) and, under RoPE, one rotary key for all heads.");
}

void evictionSection(Scene& scene, View& view, const std::shared_ptr<const Snapshot>& snapshot,
                     const DecodeState& state) {
  sectionTitle(view, "EVICTION");
  headSlider(scene, view, snapshot);
  std::vector<Index> stops;
  for (Index i = 1; i <= std::max<Index>(state.tokens, 2); ++i) stops.push_back(i);
  SliderState budget;
  budget.stops = stops;
  fieldSlider(view, scene, "cost.cache.budget", budget);
  hint(view,
       "Tokens are decoded one by one. When a kv head exceeds its budget, the policy evicts one entry for "
       "good.");
}

void pagingSection(Scene& scene, View& view, PagingSchedule& paging) {
  sectionTitle(view, "PAGING");
  static const std::vector<Index> kBlocks{8, 16, 32, 64, 128, 256};
  SliderState block;
  block.stops = kBlocks;
  fieldSlider(view, scene, "cost.cache.block", block);
  gap(view, 8);
  sectionTitle(view, "SCHEDULE",
               paging.answer && paging.answer->value
                   ? countedText(std::ssize(paging.answer->value->requests), "request")
                   : "");
  textBox(view, "cache.schedule", scene.cost.cache.schedule, 7, "0: 40 + 24");
  if (paging.answer && !paging.answer->value) {
    problem(view, paging.answer->value.error().message);
    trackItem("cache.schedule.problem");
  }
  hint(view,
       "One request per line: STEP: PROMPT + ANSWER tokens. Add \"shares N with R\" to reuse the first N "
       "tokens of request R.");
}

/// A slider for the layers to count: of an opened model either one or all.
void layersSlider(Scene& scene, View& view) {
  SliderState state;
  const Index all = layerCount(scene.setup);
  const std::vector<Index> stops = all > 1 ? std::vector<Index>{1, all} : std::vector<Index>{1};
  if (scene.setup.subject.opened) {
    state.stops = stops;
    state.limits = fmt::format("1 or all {} of the model", all);
    if (all == 1) state.disabledReason = "The model has one layer";
  }
  fieldSlider(view, scene, "cost.cache.layers", state);
}

/// The model and a slider for its layer; nothing if there is only one layer.
void subjectSection(Scene& scene, View& view) {
  const SubjectSetup& subject = scene.setup.subject;
  if (layerCount(scene.setup) == 1) return;
  sectionTitle(view, "MODEL", subject.opened ? subject.opened->name : "synthetic");
  layerSlider(scene, view);
  gap(view, 10);
}

}  // namespace

void controls(Scene& scene, State& page, const Layout& layout) {
  View& view = page.view;
  const DecodeState state = decodeState(scene, page);
  fillSide(view, layout.left);
  if (beginPanel(view, "cache.controls", layout.left, 20, 16)) {
    tokensSection(scene, page);
    gap(view, 10);
    subjectSection(scene, view);
    headsSection(scene, page.view, page.heads);
    gap(view, 10);
    const CacheView shown = scene.cursor.cacheView;
    if (shown == CacheView::growth) decodeSection(scene, page.view, state);
    if (shown == CacheView::shapes) shapesSection(scene, view, page.snapshot);
    if (shown == CacheView::eviction) evictionSection(scene, view, page.snapshot, state);
    if (shown == CacheView::paging) pagingSection(scene, page.view, page.paging);
    if (shown == CacheView::precision) {
      sectionTitle(view, "PRECISION");
      headSlider(scene, view, page.snapshot);
    }
    gap(view, 10);
    sectionTitle(view, "STORED AS");
    fieldChoice(view, scene, "cost.cache.stored");
    gap(view, 4);
    layersSlider(scene, view);
    if (shown == CacheView::growth) {
      gap(view, 10);
      sectionTitle(view, "COMPARE WITH");
      fieldToggle(view, scene, "cost.cache.mha_stair");
      fieldToggle(view, scene, "cost.cache.mqa_stair");
      fieldToggle(view, scene, "cost.cache.mla_stair");
    }
    gap(view, 10);
    sequencesSection(scene, page);
    scrollEdge(view, layout.left);
  }
  endPanel();
}

}  // namespace headscope::app::cache_page
