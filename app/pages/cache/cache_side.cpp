#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/compute/cost/cost_figures.h"
#include "app/pages/cache/cache_state.h"
#include "app/platform/track.h"
#include "app/scene/text/byte_text.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"
#include "attention/formats/quote.h"
#include "attention/models/config/model_catalogue.h"

namespace headscope::app::cache_page {

namespace {

/// Draws a line with a label on the left and a value on the right, over a hairline.
void row(const View& view, const std::string& label, const std::string& value, bool line = true) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(33);
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = at.y + height / 2;
  const float taken =
      paintText(list, view.fonts->mono, ImVec2(at.x + width, y), view.theme->text, value, Align::right);
  paintFitted(view, list, view.fonts->text, ImVec2(at.x, y), width - taken - view.px(8),
              view.theme->secondary, label);
  if (line) list.AddLine(ImVec2(at.x, at.y + height), ImVec2(at.x + width, at.y + height), view.theme->line);
  ImGui::Dummy(ImVec2(width, height));
}

std::string tokenText(const SequenceSnapshot& sequence, Index token) {
  return token >= 0 && token < std::ssize(sequence.keys) ? sequence.keys[static_cast<std::size_t>(token)].text
                                                         : "";
}

void stepSection(const Scene& scene, State& page, const DecodeState& state, const CacheField& field) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const SequenceSnapshot& sequence = *shownSequence(scene, page.snapshot.get());
  const attention::AttentionConfig& config = page.snapshot->config;
  sectionTitle(view, "THIS STEP", fmt::format("{} of {}", state.now, state.tokens));
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, y = at.y + view.px(16);
  const auto newest = static_cast<std::size_t>(state.now - 1);
  const Index read = field.read[newest], each = read / std::max<Index>(config.kvHeads, 1);
  const std::string what = tokenCountText(each);
  const float room = width - textWidth(view.fonts->hero, " reads " + what);
  float x = at.x;
  x += paintText(list, view.fonts->hero, ImVec2(x, y), theme.query,
                 fitted(view.fonts->hero, tokenText(sequence, state.now - 1), room));
  x += paintText(list, view.fonts->hero, ImVec2(x, y), theme.secondary, " reads ");
  paintText(list, view.fonts->hero, ImVec2(x, y), theme.key, what);
  paintFitted(view, list, view.fonts->text, ImVec2(at.x, y + view.px(28)), width, theme.secondary,
              fmt::format("query {}, {} through {}", state.now - 1, countedText(config.heads, "head"),
                          countedText(config.kvHeads, "kv head")));
  track("cache.step", at, ImVec2(at.x + width, y + view.px(38)));
  ImGui::Dummy(ImVec2(width, view.px(66)));
  const CacheBytes bytes = bytesPerToken(scene, config);
  const auto entry = static_cast<double>(bytes.own) / static_cast<double>(config.kvHeads);
  const Index appended = state.now - state.before;
  row(view, appended == 1 ? "appended" : fmt::format("appended, {} at once", appended),
      exactBytes(bytes.own * static_cast<std::uint64_t>(appended)));
  row(view, "read", exactBytes(static_cast<std::uint64_t>(std::llround(entry * static_cast<double>(read)))));
  if (config.kvHeads < config.heads)
    row(view, "read as MHA",
        exactBytes(static_cast<std::uint64_t>(
            std::llround(entry * static_cast<double>(read) * static_cast<double>(config.heads) /
                         static_cast<double>(config.kvHeads)))));
}

/// Draws the work of every step with and without the cache, as bars over the tokens.
void workBars(View& view, const DecodeState& state, const CacheField& field) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(150);
  const ImRect area(at.x, at.y + view.px(6), at.x + width, at.y + height);
  const double most = field.uncachedFlops.back();
  const auto count = static_cast<Index>(field.flops.size());
  const float each = width / static_cast<float>(count), gap = each > view.px(8) ? view.px(5)
                                                              : each > 3        ? 1.0f
                                                                                : 0;
  const Index every = std::max<Index>(1, static_cast<Index>(std::floor(1 / std::max(each, 1e-3f))));
  const std::uint32_t grey = mixed(theme.background, theme.secondary, 0.42f),
                      lit = mixed(theme.background, theme.secondary, 0.7f);
  for (Index token = 0; token < count; token += every) {
    const auto i = static_cast<std::size_t>(token);
    const float x = area.Min.x + each * static_cast<float>(token),
                to = std::max(x + 1, x + each * static_cast<float>(every) - gap);
    const auto y = [&](double flops) {
      return area.Max.y - static_cast<float>(flops / most) * area.GetHeight();
    };
    if (token >= state.now) {
      if (gap > 0)
        compat::rectOutline(list, ImVec2(x, y(field.uncachedFlops[i])), ImVec2(to, area.Max.y), theme.line, 0,
                            1);
      continue;
    }
    list.AddRectFilled(ImVec2(x, y(field.uncachedFlops[i])), ImVec2(to, area.Max.y),
                       token + every >= state.now ? lit : grey);
    list.AddRectFilled(ImVec2(x, std::min(y(field.flops[i]), area.Max.y - 1)), ImVec2(to, area.Max.y),
                       theme.text);
    if (token + every >= state.now)
      list.AddRectFilled(ImVec2(x, area.Max.y + view.px(3)), ImVec2(to, area.Max.y + view.px(5)),
                         theme.query);
  }
  const auto legend = [&](float y, std::uint32_t color, const char* text) {
    list.AddRectFilled(ImVec2(at.x, y - view.px(4)), ImVec2(at.x + view.px(8), y + view.px(4)), color);
    paintText(list, view.fonts->text, ImVec2(at.x + view.px(15), y), theme.secondary, text);
  };
  legend(at.y + view.px(14), lit, "the whole prefix");
  legend(at.y + view.px(36), theme.text, "one token");
  const float below = area.Max.y + view.px(16);
  paintText(list, view.fonts->small, ImVec2(at.x, below), theme.secondary, "token 0");
  paintText(list, view.fonts->small, ImVec2(at.x + width, below), theme.secondary, std::to_string(count - 1),
            Align::right);
  track("cache.work", area.Min, area.Max);
  ImGui::Dummy(ImVec2(width, height + view.px(30)));
}

/// Formats `flops` in the unit of `smaller` for comparison, unless the number becomes too long.
std::string flopsBeside(double flops, double smaller) {
  const std::string unit = flopsText(smaller).substr(flopsText(smaller).find(' '));
  double one = 1;
  for (const char* each : {" kFLOP", " MFLOP", " GFLOP", " TFLOP", " PFLOP"}) {
    one *= 1000;
    if (unit == each && flops < one * 1e5)
      return countText(static_cast<std::uint64_t>(std::llround(flops / one))) + unit;
  }
  return flopsText(flops);
}

void workSection(const Scene& scene, View& view, const DecodeState& state, const CacheField& field) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Index layers = scene.cost.cache.layers;
  sectionTitle(view, "COMPUTE FOR THIS STEP", layers == 1 ? "" : countedText(layers, "layer"));
  const StepWork work = stepWork(scene, state, field);
  const auto line = [&](const char* label, double flops, std::uint32_t color) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, y = at.y + view.px(14);
    paintText(list, view.fonts->title, ImVec2(at.x, y), color, label);
    paintText(list, view.fonts->monoTitle, ImVec2(at.x + width, y), color, flopsBeside(flops, work.with),
              Align::right);
    ImGui::Dummy(ImVec2(width, view.px(28)));
  };
  line("with the cache", work.with, view.theme->text);
  line("without the cache", work.without, view.theme->secondary);
  workBars(view, state, field);
  double saved = 0;
  for (Index token = state.prefill; token < state.now; ++token) {
    const auto i = static_cast<std::size_t>(token);
    saved += field.uncachedFlops[i] - field.flops[i];
  }
  const Index steps = std::max<Index>(0, state.now - state.prefill);
  row(view, "without ÷ with", fixedText(work.without / work.with, 1) + "×");
  row(view, "saved in " + countedText(steps, "step"),
      flopsBeside(saved * static_cast<double>(scene.cost.cache.layers), work.with));
}

/// Says where the cached decode deviates most, with both values.
std::vector<std::string> faultLines(const SequenceSnapshot& sequence, const DecodeProof& proof) {
  const auto number = [](float value) { return numberText(static_cast<double>(value), 4); };
  return {fmt::format("largest in head {} at step {}, {}: {} cached, {} in the full pass", proof.head,
                      proof.token + 1, attention::quotedText(tokenText(sequence, proof.token)),
                      number(proof.cached), number(proof.full)),
          "rounding allows " + numberText(static_cast<double>(proof.tolerance), 2)};
}

/// "compared just now: outputs of a 4-token prefill and 8 decode steps".
std::string proofText(const DecodeProof& proof, bool rounded) {
  const Index all = proof.steps + proof.left;
  return fmt::format("compared just now: outputs of a {}-token prefill and {}{}{}", proof.prefill,
                     proof.left > 0 ? countText(attention::asSize(proof.steps)) + " of " : "",
                     countedText(all, "decode step"),
                     rounded ? " with an fp32 cache; see Precision for smaller types" : "");
}

/// The comparison of the shown sequence so far: complete, or only the first steps, which came with the layer.
struct ShownProof {
  DecodeProof proof;
  bool whole = false;
};
ShownProof shownProof(const State& page, const SequenceSnapshot& sequence) {
  const DecodeCheck& check = sequence.decode;
  if (page.proof && page.proof->value && page.proof->request.snapshot == page.snapshot &&
      &page.snapshot->sequences[static_cast<std::size_t>(page.proof->request.sequence)] == &sequence)
    return {*page.proof->value, true};
  DecodeProof first;
  first.prefill = check.prefill;
  first.steps = check.steps;
  first.left = sequence.queryLength - check.prefill - check.steps;
  first.maxDifference = check.maxDifference;
  return {first, false};
}

void proofSection(const Scene& scene, State& page) {
  View& view = page.view;
  const SequenceSnapshot& sequence = *shownSequence(scene, page.snapshot.get());
  if (!sequence.decode.applies) return;
  const auto [proof, whole] = shownProof(page, sequence);
  const bool fails = whole && !proof.holds();
  gap(view, 12);
  sectionTitle(view, "CHECK");
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  paintFitted(view, list, view.fonts->title, ImVec2(at.x, at.y + view.px(13)),
              ImGui::GetContentRegionAvail().x, fails ? view.theme->error : view.theme->text,
              fails   ? "Cached decode ≠ full pass"
              : whole ? "Cached decode = full pass"
                      : "Comparing cached decode with full pass");
  ImGui::Dummy(ImVec2(1, view.px(26)));
  row(view, "largest difference", numberText(static_cast<double>(proof.maxDifference), 2), false);
  track("cache.proof", at, ImVec2(at.x + view.px(200), at.y + view.px(50)));
  if (fails)
    for (const std::string& line : faultLines(sequence, proof)) hint(view, line);
  hint(view, proofText(proof, scene.cost.cache.stored != attention::NumberFormat::fp32));
}

/// The same for a real model's size, taken from the cost page.
void costSection(const Scene& scene, State& page) {
  View& view = page.view;
  const attention::ModelShape* found = attention::findShape(attention::modelShapes(), scene.cost.model);
  const attention::ModelShape shape = found ? *found : shapeOfLayer(scene.setup);
  gap(view, 12);
  sectionTitle(view, "AT FULL SIZE");
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  paintFitted(view, list, view.fonts->title, ImVec2(at.x, at.y + view.px(13)),
              ImGui::GetContentRegionAvail().x, view.theme->text,
              fmt::format("{}, {} tokens", shape.name, tokensText(scene.cost.tokens)));
  ImGui::Dummy(ImVec2(1, view.px(28)));
  const auto bytes = [&](const attention::ModelShape& each) {
    return fourDigitBytes(
        attention::cacheBytes(each, scene.cost.tokens, scene.cost.batch, scene.cost.format));
  };
  const std::string own =
      shape.isLatent() ? "MLA"
                       : std::string(attentionKind(shape)) + ", " + countedText(shape.kvHeads, "kv head");
  row(view, own, bytes(shape));
  if (shape.kvHeads < shape.heads || shape.isLatent())
    row(view, fmt::format("MHA, {}", shape.heads), bytes(attention::withKvHeads(shape, shape.heads)));
  gap(view, 10);
  if (button(view, "open_cost", "Open in Cost…")) view.request("page.cost");
}

}  // namespace

void sidePanel(Scene& scene, State& page, const Layout& layout) {
  View& view = page.view;
  if (!layout.narrow) fillSide(view, layout.right);
  if (beginPanel(view, "cache.side", layout.right, 20, 16)) {
    fillDrawer(view, layout, {"cache.page"});
    const DecodeState state = decodeState(scene, page);
    const SequenceSnapshot* sequence = shownSequence(scene, page.snapshot.get());
    const CacheField* field = shownField(scene, page);
    if (sequence && field && state.reason.empty() && state.now > 0) {
      stepSection(scene, page, state, *field);
      gap(view, 12);
      workSection(scene, page.view, state, *field);
    } else if (sequence) {
      sectionTitle(view, "THIS STEP");
      hint(view, !state.reason.empty() ? state.reason
                 : state.now == 0      ? "The cache is empty. Press Play to fill it."
                                       : "Counting…");
    }
    if (sequence) proofSection(scene, page);
    costSection(scene, page);
    scrollEdge(view, layout.right);
  }
  endPanel();
}

}  // namespace headscope::app::cache_page
