#include <fmt/core.h>

#include <numeric>

#include "app/kit/rows.h"
#include "app/pages/cache/cache_page.h"
#include "app/pages/common/model_facts.h"
#include "app/pages/common/token_chips.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::cache_page {

namespace {

std::vector<Index> wholeNumbers(Index from, Index to) {
  std::vector<Index> all;
  for (Index i = from; i <= to; ++i) all.push_back(i);
  return all;
}

void tokensSection(Rows& rows, Scene& scene, State& page) {
  const SequenceSnapshot* sequence = shownSequence(scene, page.snapshot.get());
  rows.section("TOKENS", sequence ? tokenCountText(sequence->keyLength) : "");
  if (const std::string patches = patchesText(scene); !patches.empty())
    rows.hint(patches);
  else if (scene.setup.input.source == EmbeddingSource::text)
    textBox(page.view, "text", scene.setup.input.text, 2, "Type a sentence. Each line is a sequence.");
  else
    rows.hint("Tokens come from the typed table.");
  if (const PlacedError* error = errorAt(page.snapshot.get(), Place::input)) rows.problem(error->message);
  unknownWords(scene, page.view);
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
  stops.heads = heads.chosen.headCounts(model, suits);
  stops.kvHeads = kvHeadCounts(model, suits);
  return stops;
}

void headsSection(Rows& rows, Scene& scene, HeadSliders& heads) {
  View& view = rows.view();
  Setup& setup = scene.setup;
  const std::string locked = lockedBy(setup);
  rows.section("ATTENTION");
  kindChoice(setup, view, locked);
  rows.space(4);
  const Suits suits = plantingSuits(setup);
  const ModelSetup before = setup.model;
  const HeadStops& stops = headStops(setup, heads);
  const auto refuse = [](Index wanted) {
    return fmt::format("{} heads don't divide the model dim. Change it on Heads.", wanted);
  };
  if (rows.slider(scene, "model.heads", {locked, stops.heads, refuse})) {
    const Index wanted = std::exchange(setup.model.heads, before.heads);
    heads.chosen.setHeads(setup.model, wanted, suits);
    if (setup.model.kvHeads != before.kvHeads) view.markAdjusted("kv_heads");
  }
  const std::string one = before.heads == 1 ? "One head has one kv head" : locked;
  const auto refuseKv = [&](Index wanted) {
    return fmt::format("{} don't divide evenly among {}.", countedText(before.heads, "query head"),
                       countedText(wanted, "kv head"));
  };
  rows.slider(scene, "model.kv_heads",
              {one, stops.kvHeads, refuseKv, fmt::format("divisors of {}", before.heads), "",
               kvHeadsLimit(setup, stops.kvHeads)});
}

void decodeSection(Rows& rows, Scene& scene, const DecodeState& state) {
  rows.section("DECODE");
  rows.slider(scene, "prefill", {state.reason, wholeNumbers(1, std::max<Index>(state.tokens, 1))});
  Index& chunk = scene.cost.cache.chunk;
  std::vector<Index> chunks;
  for (Index i = 1; i < std::max<Index>(state.prefill, 1); i *= 2) chunks.push_back(i);
  chunks.push_back(std::max<Index>(state.prefill, 1));
  Index shown = chunk == 0 ? chunks.back() : std::min(chunk, chunks.back());
  SliderSpec spec{"cache.chunk", "Chunk size", state.reason, fmt::format("1 to {} tokens", chunks.back()),
                  "Prompt tokens that each prefill pass processes (chunked prefill)."};
  if (shown == chunks.back()) spec.shown = "whole";
  if (slider(rows.view(), spec, chunks, shown)) chunk = shown == chunks.back() ? 0 : shown;
  auto speed = static_cast<float>(scene.cost.cache.speed);
  const SliderSpec pace{"cache.speed", "Speed", state.reason, shownProse("0.5 to 200 steps per second"),
                        "Playback speed."};
  if (slider(rows.view(), pace, Range{0.5, 200}, {0.5, 200, Scale::logarithmic}, speed))
    scene.cost.cache.speed = static_cast<double>(speed);
}

void sequencesSection(Rows& rows, Scene& scene, const State& page) {
  if (!page.snapshot) return;
  const auto& sequences = page.snapshot->sequences;
  Index cached = 0;
  for (const SequenceSnapshot& each : sequences) cached += decodeState(scene, page, each).now;
  const std::uint64_t bytes = attention::saturatingMultiply(bytesPerToken(scene, page.snapshot->config).own,
                                                            static_cast<std::uint64_t>(cached));
  rows.section("SEQUENCES",
               fmt::format("batch {}{}", sequences.size(),
                           sequences.size() > 1 ? " · " + fourDigitBytes(bytes) : std::string()));
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const SequenceSnapshot& each = sequences[i];
    std::string words;
    for (Index token = 0; token < std::min<Index>(each.keyLength, 12); ++token)
      words += (words.empty() ? "" : " ") + each.keys[static_cast<std::size_t>(token)].text;
    if (rows.option(fmt::format("cache.sequence.{}", i), words,
                    fmt::format("{} of {}", decodeState(scene, page, each).now, each.keyLength),
                    scene.cursor.sequence == static_cast<Index>(i)))
      scene.cursor.sequence = static_cast<Index>(i);
  }
  rows.hint("Each line of the text is a sequence with its own cache.");
}

/// A slider for the head whose pictures the views show.
void headSlider(Rows& rows, Scene& scene, const std::shared_ptr<const Snapshot>& snapshot) {
  if (!snapshot) return;
  const Index heads = snapshot->config.heads;
  const std::vector<Index> stops = wholeNumbers(0, heads - 1);
  Index head = viewHead(scene, snapshot->config);
  const SliderSpec spec{"cache.head", "Head", heads == 1 ? "The layer has one head" : "",
                        fmt::format("0 to {}", heads - 1),
                        "The head whose weights and keys are drawn. Errors cover all heads."};
  if (slider(rows.view(), spec, stops, head)) scene.cursor.cell.head = head;
}

void shapesSection(Rows& rows, Scene& scene, const std::shared_ptr<const Snapshot>& snapshot) {
  rows.section("FOUR SHAPES");
  headSlider(rows, scene, snapshot);
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
    if (slider(rows.view(), spec, stops, merged)) scene.cost.cache.merged = merged;
  }
  const bool own = snapshot && snapshot->config.latentDim > 0;
  const std::string latentNow = own ? std::to_string(snapshot->config.latentDim) : "",
                    rotaryNow = own ? std::to_string(snapshot->config.rotaryDim) : "";
  const char* const set = own ? "Set by the opened model" : "";
  rows.slider(scene, "cost.cache.latent", {.disabledReason = set, .shown = latentNow.c_str()});
  std::vector<Index> even;
  for (Index i = 0; i <= std::min<Index>(turnedDims(snapshot), 512); i += 2) even.push_back(i);
  SliderState rotary;
  rotary.stops = even;
  if (even.size() < 2) rotary.disabledReason = "This layer's keys have no rotary part";
  if (even.size() < 2) rotary.shown = "none";
  if (own) rotary.disabledReason = set, rotary.shown = rotaryNow.c_str();
  rows.slider(scene, "cost.cache.rotary_dim", rotary);
  rows.hint(
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

/// The heads whose weights the stored type changes most.
void precisionSection(Rows& rows, Scene& scene, const State& page) {
  rows.section("PRECISION");
  headSlider(rows, scene, page.snapshot);
  if (!page.precision || scene.cost.cache.stored == attention::NumberFormat::fp32) return;
  const auto& errors = page.precision->cases[static_cast<std::size_t>(scene.cost.cache.stored)].headErrors;
  std::vector<std::size_t> heads(errors.size());
  std::iota(heads.begin(), heads.end(), std::size_t{0});
  std::ranges::stable_sort(heads, [&](std::size_t a, std::size_t b) {
    return std::isnan(errors[a]) ? !std::isnan(errors[b]) : errors[a] > errors[b];
  });
  std::vector<std::pair<std::string, std::string>> most;
  for (const std::size_t head : std::span(heads).first(std::min<std::size_t>(heads.size(), 6)))
    most.push_back({headName(static_cast<Index>(head)), numberText(errors[head], 2)});
  rows.section("MOST CHANGED HEADS", "largest |Δ weight|");
  rows.pairs("precision.heads", most);
}

void evictionSection(Rows& rows, Scene& scene, const std::shared_ptr<const Snapshot>& snapshot,
                     const DecodeState& state) {
  rows.section("EVICTION");
  headSlider(rows, scene, snapshot);
  rows.slider(scene, "cost.cache.budget", {"", wholeNumbers(1, std::max<Index>(state.tokens, 2))});
  rows.hint(
      "Tokens are decoded one by one. When a kv head exceeds its budget, the policy evicts one entry for "
      "good.");
}

void pagingSection(Rows& rows, Scene& scene, const Shown<PagingQuestion, PagingStudy>& paging) {
  static const std::vector<Index> kBlocks{8, 16, 32, 64, 128, 256};
  rows.section("PAGING");
  rows.slider(scene, "cost.cache.block", {"", kBlocks});
  const PagingStudy* study = paging.get();
  rows.section("SCHEDULE", study ? countedText(std::ssize(study->requests), "request") : "");
  textBox(rows.view(), "cache.schedule", scene.cost.cache.schedule, 7, "0: 40 + 24");
  rows.problem(paging.problem(), "cache.schedule.problem");
  rows.hint(
      "One request per line: STEP: PROMPT + ANSWER tokens. Add \"shares N with R\" to reuse the first N "
      "tokens of request R.");
}

/// A slider for the layers to count: of an opened model either one or all.
void layersSlider(Rows& rows, Scene& scene) {
  SliderState state;
  const Index all = layerCount(scene.setup);
  const std::vector<Index> stops = all > 1 ? std::vector<Index>{1, all} : std::vector<Index>{1};
  if (scene.setup.subject.opened) {
    state.stops = stops;
    state.limits = fmt::format("1 or all {} of the model", all);
    if (all == 1) state.disabledReason = "The model has one layer";
  }
  rows.slider(scene, "cost.cache.layers", state);
}

/// The model and a slider for its layer; nothing if there is only one layer.
void subjectSection(Rows& rows, Scene& scene) {
  const SubjectSetup& subject = scene.setup.subject;
  if (layerCount(scene.setup) == 1) return;
  rows.section("MODEL", subject.opened ? subject.opened->name : "synthetic");
  layerSlider(scene, rows.view());
}

/// What the view's own settings are.
void viewSection(Rows& rows, Scene& scene, State& page) {
  const DecodeState state = decodeState(scene, page);
  switch (scene.cursor.cacheView) {
    case CacheView::growth:
      return decodeSection(rows, scene, state);
    case CacheView::shapes:
      return shapesSection(rows, scene, page.snapshot);
    case CacheView::precision:
      return precisionSection(rows, scene, page);
    case CacheView::eviction:
      return evictionSection(rows, scene, page.snapshot, state);
    case CacheView::paging:
      return pagingSection(rows, scene, page.paging);
  }
}

}  // namespace

void controls(Scene& scene, State& page, const Layout& layout) {
  leftPanel(page.view, layout, "cache.controls", [&](Rows& rows) {
    tokensSection(rows, scene, page);
    subjectSection(rows, scene);
    headsSection(rows, scene, page.heads);
    const bool grows = scene.cursor.cacheView == CacheView::growth;
    viewSection(rows, scene, page);
    rows.section("STORED AS");
    rows.choice(scene, "cost.cache.stored");
    rows.space(4);
    layersSlider(rows, scene);
    if (grows) {
      rows.section("COMPARE WITH");
      for (const char* stair : {"cost.cache.mha_stair", "cost.cache.mqa_stair", "cost.cache.mla_stair"})
        rows.toggle(scene, stair);
    }
    sequencesSection(rows, scene, page);
  });
}

}  // namespace headscope::app::cache_page
