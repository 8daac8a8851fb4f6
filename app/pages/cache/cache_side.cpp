#include <fmt/core.h>

#include "app/compute/cost/cost_figures.h"
#include "app/kit/rows.h"
#include "app/pages/cache/cache_page.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "attention/models/config/model_catalogue.h"

namespace headscope::app::cache_page {

namespace {

std::string tokenText(const SequenceSnapshot& sequence, Index token) {
  return token >= 0 && token < std::ssize(sequence.keys) ? sequence.keys[asSize(token)].text : "";
}

void stepSection(Rows& rows, const Scene& scene, const State& page, const DecodeState& state,
                 const CacheField& field) {
  const SequenceSnapshot& sequence = *shownSequence(scene, page.snapshot.get());
  const attention::AttentionConfig& config = page.snapshot->config;
  const CacheBytes bytes = bytesPerToken(scene, config);
  const Index read = field.read[asSize(state.now - 1)], appended = state.now - state.before;
  // Each kv head reads its own entries, which differ in number if masks do.
  const double readBytes =
      static_cast<double>(bytes.own) / static_cast<double>(config.kvHeads) * static_cast<double>(read);
  const auto exact = [](double count) { return exactBytes(static_cast<std::uint64_t>(std::llround(count))); };
  rows.section("THIS STEP", fmt::format("{} of {}", state.now, state.tokens));
  rows.line(Type::hero,
            {{tokenText(sequence, state.now - 1), rows.theme().query},
             {" reads ", rows.theme().secondary},
             {tokenCountText(read / std::max<Index>(config.kvHeads, 1)), rows.theme().key}},
            "cache.step");
  rows.line(Type::text,
            {{fmt::format("query {}, {} through {}", state.now - 1, countedText(config.heads, "head"),
                          countedText(config.kvHeads, "kv head")),
              rows.theme().secondary}});
  rows.pair(appended == 1 ? "appended" : fmt::format("appended, {} at once", appended),
            exactBytes(bytes.own * static_cast<std::uint64_t>(appended)));
  rows.pair("read", exact(readBytes));
  if (config.kvHeads < config.heads)
    rows.pair("read as MHA",
              exact(readBytes * static_cast<double>(config.heads) / static_cast<double>(config.kvHeads)));
}

/// Draws the work of every step with and without the cache, as bars over the tokens.
void workBars(Rows& rows, const DecodeState& state, const CacheField& field) {
  const View& view = rows.view();
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const ImRect area = rows.area("cache.work", 150), axis = rows.area("", 28);
  const float width = area.GetWidth();
  const double most = field.uncachedFlops.back();
  const auto count = static_cast<Index>(field.flops.size());
  const float each = width / static_cast<float>(count), gap = each > view.px(8) ? view.px(5)
                                                              : each > 3        ? 1.0f
                                                                                : 0;
  const Index every = std::max<Index>(1, static_cast<Index>(std::floor(1 / std::max(each, 1e-3f))));
  const std::uint32_t grey = mixed(theme.background, theme.secondary, 0.42f),
                      lit = mixed(theme.background, theme.secondary, 0.7f);
  for (Index token = 0; token < count; token += every) {
    const auto i = asSize(token);
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
    list.AddRectFilled(ImVec2(area.Min.x, y - view.px(4)), ImVec2(area.Min.x + view.px(8), y + view.px(4)),
                       color);
    paintText(list, view.fonts->text, ImVec2(area.Min.x + view.px(15), y), theme.secondary, text);
  };
  legend(area.Min.y + view.px(8), lit, "the whole prefix");
  legend(area.Min.y + view.px(30), theme.text, "one token");
  const float below = axis.GetCenter().y;
  paintText(list, view.fonts->small, ImVec2(axis.Min.x, below), theme.secondary, "token 0");
  paintText(list, view.fonts->small, ImVec2(axis.Max.x, below), theme.secondary, std::to_string(count - 1),
            Align::right);
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

void workSection(Rows& rows, const Scene& scene, const DecodeState& state, const CacheField& field) {
  const Index layers = scene.cost.cache.layers;
  const StepWork work = stepWork(scene, state, field);
  double saved = 0;
  for (Index token = state.prefill; token < state.now; ++token) {
    const auto i = asSize(token);
    saved += field.uncachedFlops[i] - field.flops[i];
  }
  rows.section("COMPUTE FOR THIS STEP", layers == 1 ? "" : countedText(layers, "layer"));
  rows.pair("with the cache", flopsText(work.with), {.type = Type::title});
  rows.pair("without the cache", flopsBeside(work.without, work.with),
            {.color = rows.theme().secondary, .type = Type::title});
  workBars(rows, state, field);
  rows.pair("more without the cache", fixedText(work.without / work.with, 1) + "×");
  rows.pair("saved over " + countedText(std::max<Index>(0, state.now - state.prefill), "step"),
            flopsBeside(saved * static_cast<double>(layers), work.with));
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
  if (page.proof && page.proof.request().snapshot == page.snapshot &&
      &page.snapshot->sequences[static_cast<std::size_t>(page.proof.request().sequence)] == &sequence)
    return {*page.proof, true};
  DecodeProof first;
  first.prefill = check.prefill;
  first.steps = check.steps;
  first.left = sequence.queryLength - check.prefill - check.steps;
  first.maxDifference = check.maxDifference;
  return {first, false};
}

void proofSection(Rows& rows, const Scene& scene, const State& page) {
  const SequenceSnapshot& sequence = *shownSequence(scene, page.snapshot.get());
  if (!sequence.decode.applies) return;
  const auto [proof, whole] = shownProof(page, sequence);
  const bool fails = whole && !proof.holds();
  rows.section("CHECK");
  rows.line(Type::title,
            {{fails   ? "Cached decode ≠ full pass"
              : whole ? "Cached decode = full pass"
                      : "Comparing cached decode with full pass",
              fails ? rows.theme().error : rows.theme().text}},
            "cache.proof");
  rows.pair("largest difference", numberText(static_cast<double>(proof.maxDifference), 2));
  if (fails)
    for (const std::string& line : faultLines(sequence, proof)) rows.hint(line);
  rows.hint(proofText(proof, scene.cost.cache.stored != attention::NumberFormat::fp32));
}

/// The same for a real model's size, taken from the cost page.
void costSection(Rows& rows, const Scene& scene) {
  const CostSetup& cost = scene.cost;
  const attention::ModelShape* found = attention::findShape(attention::modelShapes(), cost.model);
  const attention::ModelShape shape = found ? *found : shapeOfLayer(scene.setup);
  const auto bytes = [&](const attention::ModelShape& each) {
    return fourDigitBytes(attention::cacheBytes(each, cost.tokens, cost.batch, cost.format));
  };
  rows.section("AT FULL SIZE");
  rows.line(Type::title, {{fmt::format("{}, {} tokens", shape.name, tokensText(cost.tokens))}});
  rows.pair(shape.isLatent()
                ? "MLA"
                : std::string(attentionKind(shape)) + ", " + countedText(shape.kvHeads, "kv head"),
            bytes(shape));
  if (shape.kvHeads < shape.heads || shape.isLatent())
    rows.pair(fmt::format("MHA, {}", shape.heads), bytes(attention::withKvHeads(shape, shape.heads)));
  rows.space(8);
  rows.action("open_cost", "Open in Cost…", "page.cost");
}

}  // namespace

void sidePanel(Scene& scene, State& page, const Layout& layout) {
  rightPanel(page.view, layout, "cache.side", {"cache.page"}, [&](Rows& rows) {
    const DecodeState state = decodeState(scene, page);
    const SequenceSnapshot* sequence = shownSequence(scene, page.snapshot.get());
    const CacheField* field = shownField(scene, page);
    if (sequence && field && state.reason.empty() && state.now > 0) {
      stepSection(rows, scene, page, state, *field);
      workSection(rows, scene, state, *field);
    } else if (sequence) {
      rows.section("THIS STEP");
      rows.hint(!state.reason.empty() ? state.reason
                : state.now == 0      ? "The cache is empty. Press Play to fill it."
                                      : "Counting…");
    }
    if (sequence) proofSection(rows, scene, page);
    costSection(rows, scene);
  });
}

}  // namespace headscope::app::cache_page
