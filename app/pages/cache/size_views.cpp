#include <fmt/core.h>

#include "app/pages/cache/cache_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/draw_text.h"

namespace headscope::app::cache_page {

namespace {

/// Draws how far each token's output is from MHA's, as bars below the picture, on the same axis.
void errorBars(const View& view, Canvas list, const ShapeCase& one, double most, const ImRect& area) {
  const Theme& theme = *view.theme;
  list.AddLine(ImVec2(area.Min.x, area.Max.y), area.Max, theme.line);
  const auto count = static_cast<Index>(one.output.perToken.size());
  if (count == 0 || !(most > 0)) return;
  const float each = area.GetWidth() / static_cast<float>(count), gap = each > view.px(6) ? view.px(2) : 0;
  const Index every = std::max<Index>(1, static_cast<Index>(1 / std::max(each, 1e-3f)));
  for (Index token = 0; token < count; token += every) {
    const double error = one.output.perToken[static_cast<std::size_t>(token)];
    if (!(error > 0)) continue;
    const float height = static_cast<float>(std::min(1.0, error / most)) * area.GetHeight();
    const float x = area.Min.x + each * static_cast<float>(token);
    list.AddRectFilled(ImVec2(x, area.Max.y - std::max(1.0f, height)),
                       ImVec2(std::max(x + 1, x + each * static_cast<float>(every) - gap), area.Max.y),
                       theme.secondary);
  }
}

void shapeTile(const Scene& scene, State& page, const ShapesStudy& study, std::size_t at, double mostError,
               const std::vector<attention::Token>& tokens, const ImRect& area, bool small) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const ShapeCase& one = study.cases[at];
  const std::string heads = one.kvHeads > 0   ? countedText(one.kvHeads, "kv head")
                            : one.latent == 0 ? ""
                            : one.rotary > 0  ? fmt::format("latent {} + {} rotary", one.latent, one.rotary)
                                              : fmt::format("latent {}", one.latent);
  float x = area.Min.x;
  x += paintText(list, view.fonts->title, ImVec2(x, area.Min.y + view.px(14)), theme.text, one.name) +
       view.px(10);
  paintText(list, view.fonts->text, ImVec2(x, area.Min.y + view.px(14)), theme.secondary, heads);
  const std::uint64_t bytes = bytesPerToken(scene, one), mha = bytesPerToken(scene, study.cases[0]);
  // While presenting, the maps matter most, and two figures suffice.
  const float figures = view.px(view.present ? 40
                                : small      ? 92
                                             : 116),
              least = view.px(view.present ? 34
                              : small      ? 40
                                           : 64);
  const NameRoom names = small ? NameRoom{} : nameRoom(view, tokens, tokens);
  const float free = area.GetHeight() - view.px(view.present ? 72 : 82) - figures - names.below;
  const float side = std::max(view.px(60), std::min(area.GetWidth(), free - least));
  const float bars = std::clamp(free - side, least, view.px(190));
  const ImRect map(area.Min.x, area.Min.y + view.px(34), area.Min.x + side, area.Min.y + view.px(34) + side);
  track("shape." + one.name, map.Min, map.Max);
  if (one.missing.empty()) {
    render::HeatmapStyle style = styleFor(view, scene.look);
    style.colormap = scene.look.colormap;
    paintPicture(view, page.shapes.picture(), static_cast<int>(at), map, style, {});
  } else {
    list.AddRectFilled(map.Min, map.Max, theme.panel);
    paintParagraph(list, view.fonts->text, ImVec2(map.Min.x + view.px(14), map.Min.y + view.px(14)),
                   side - view.px(28), theme.secondary, one.missing);
  }
  const ImRect errors(area.Min.x, map.Max.y + view.px(14), area.Min.x + side, map.Max.y + view.px(14) + bars);
  if (one.missing.empty()) errorBars(view, list, one, mostError, errors);
  if (at == 0 && !small && mostError > 0)
    paintParagraph(
        list, view.fonts->small, ImVec2(errors.Min.x, errors.Max.y - view.px(40)), side, theme.secondary,
        fmt::format(
            "Bars: each token's error in the head outputs, before W_O, against {}. The largest is {}.",
            one.name, errorText(mostError)));
  paintNames(scene, view, map, tokens, names, at == 0, errors.Max.y);
  float y = errors.Max.y + names.below + view.px(24);
  // The share uses the text font: the other font's fractions are too small to read.
  const auto figure = [&](const std::vector<std::string>& label, const std::string& value, bool bold = false,
                          const std::string& share = "") {
    const float right = area.Min.x + std::min(area.GetWidth(), std::max(side, view.px(190)));
    float taken = paintText(list, view.fonts->text, ImVec2(right, y), theme.text, share, Align::right);
    if (taken > 0) taken += view.px(10);
    taken += paintText(list, bold ? view.fonts->bold : view.fonts->mono, ImVec2(right - taken, y), theme.text,
                       value, Align::right);
    const float room = right - area.Min.x - taken - view.px(6);
    paintFitted(view, list, view.fonts->text, ImVec2(area.Min.x, y), room, theme.secondary,
                firstFitting(view.fonts->text, label, room));
    y += view.px(small ? 22 : 27);
  };
  figure({"output error", "error"},
         !one.missing.empty() ? "–"
         : at == 0            ? "0"
                              : errorText(one.output.all),
         true);
  if (!one.missing.empty()) return;
  figure({"cache per token", "per token"}, exactBytes(bytes), false,
         bytes == mha ? "" : fractionText(bytes, mha));
  if (view.present) return;
  const auto cached = static_cast<std::uint64_t>(std::max<Index>(1, decodeState(scene, page).tokens));
  figure({"last step reads", "last step"}, fourDigitBytes(bytes * cached));
  figure({"parameters", "weights"}, countText(one.parameters));
}

}  // namespace

void shapesView(Scene& scene, State& page, const ImRect& area, bool small) {
  View& view = page.view;
  if (viewIsEmpty(scene, page, area, page.shapes.problem(), !page.shapes)) return;
  const ShapesStudy& study = *page.shapes;
  const bool alone = study.cases.size() == 2;  // one kv head, and a latent
  // A model with its own latent is compared to what its heads' keys and values would take.
  const bool own = page.shapes.request().snapshot->config.latentDim > 0;
  const ShapeCase& between = own ? study.cases.back() : study.cases[alone ? 0 : 1];
  const std::uint64_t bytes = bytesPerToken(scene, between), mha = bytesPerToken(scene, study.cases[0]);
  const std::string head = headWords(page.shapes.request().snapshot->setup, page.shapes.request().head);
  std::vector<std::string> sentence{"per token. MQA already has one kv head: nothing to merge.",
                                    "per token. MQA has one kv head already."};
  if (own)
    sentence = {fmt::format("per token. The model’s own MLA needs {} of what MHA would.",
                            fractionText(bytes, mha)),
                fmt::format("per token. MLA: {} of MHA's cache.", fractionText(bytes, mha))};
  else if (!alone)
    sentence = {fmt::format("per token. {} ({}) needs {} of the cache; output error {}.", between.name,
                            countedText(between.kvHeads, "kv head"), fractionText(bytes, mha),
                            errorText(between.output.all)),
                fmt::format("per token. {}: {} of the cache, output error {}.", between.name,
                            fractionText(bytes, mha), errorText(between.output.all)),
                fmt::format("{}: output error {}.", between.name, errorText(between.output.all))};
  static constexpr std::array<const char*, 5> kCounts{"", "", "two", "three", "four"};
  std::string rest =
      small
          ? fmt::format("Merged by mean, not retrained; {}, query ↓ key →; bars: error per token", head)
          : fmt::format("One layer in {} shapes: kv heads merged by their mean, not retrained; weights of {}",
                        kCounts[study.cases.size()], head);
  if (own && !small)
    rest = fmt::format(
        "MHA stores each head's keys and values in place of their latent; others merge them by "
        "their mean; weights of {}",
        head);
  else if (study.cases.size() == 3 && !small)
    rest += fmt::format("; no number between {} and 1 divides the kv heads", study.cases[0].kvHeads);
  const float top = viewHeadline(view, area, fourDigitBytes(bytes), sentence,
                                 {rest, "Merged by mean; query ↓ key →; bars: error per token"}, small);
  if (!small)
    paintColourBar(view, scene.look.colormap, {"0", "weight", "1"},
                   ImVec2(area.Max.x, area.Min.y + view.px(24)), view.px(170));
  double most = 0;
  for (const ShapeCase& one : study.cases)
    for (const double error : one.output.perToken) most = std::max(most, std::min(error, 2.0));
  const auto& question = page.shapes.request();
  const auto& tokens = question.snapshot->sequences[static_cast<std::size_t>(question.sequence)].keys;
  const float space = view.px(small ? 18 : 32), names = small ? 0 : nameRoom(view, tokens, tokens).left;
  const auto count = static_cast<float>(study.cases.size());
  const float each = (area.GetWidth() - names - (count - 1) * space) / count;
  for (std::size_t i = 0; i < study.cases.size(); ++i) {
    const float left = area.Min.x + names + static_cast<float>(i) * (each + space);
    shapeTile(scene, page, study, i, most, tokens, ImRect(left, top, left + each, area.Max.y), small);
  }
}

namespace {

/// Draws a format's name, bytes and error above its two pictures; a click on the name selects it.
void column(Scene& scene, View& view, const Shown<PrecisionQuestion, PrecisionStudy>& precision,
            const PrecisionStudy& study, std::size_t at, const ImRect& area, float keysHeight,
            float mapSide) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const PrecisionCase& one = study.cases[at];
  const bool chosen = scene.cost.cache.stored == one.format;
  const std::string name = attention::rowOf(one.format).name;
  if (hitArea("precision." + name, area.Min, ImVec2(area.GetWidth(), view.px(34))))
    scene.cost.cache.stored = one.format;
  if (ImGui::IsItemHovered()) tooltip(view, attention::rowOf(one.format).help);
  if (chosen)
    list.AddRectFilled(ImVec2(area.Min.x, area.Min.y + view.px(32)),
                       ImVec2(area.Max.x, area.Min.y + view.px(34)), theme.text);
  paintText(list, chosen ? view.fonts->title : view.fonts->text, ImVec2(area.Min.x, area.Min.y + view.px(15)),
            chosen ? theme.text : theme.secondary, name);
  paintText(list, view.fonts->mono, ImVec2(area.Max.x, area.Min.y + view.px(15)),
            chosen ? theme.text : theme.secondary, exactBytes(one.bytes), Align::right);
  float y = area.Min.y + view.px(46);
  const auto share =
      static_cast<float>(one.bytes) / static_cast<float>(std::max<std::uint64_t>(study.cases[0].bytes, 1));
  list.AddRectFilled(ImVec2(area.Min.x, y), ImVec2(area.Max.x, y + view.px(10)), theme.panel);
  const float width = area.GetWidth() * share;
  list.AddRectFilled(ImVec2(area.Min.x, y), ImVec2(area.Min.x + width / 2, y + view.px(10)), theme.key);
  list.AddRectFilled(ImVec2(area.Min.x + width / 2, y), ImVec2(area.Min.x + width, y + view.px(10)),
                     theme.value);
  y += view.px(26);
  render::HeatmapStyle keys = styleFor(view, Look{});
  keys.gap = 0;
  keys.tint = cacheColors(theme).key;
  paintPicture(view, precision.picture(0), static_cast<int>(at),
               ImRect(area.Min.x, y, area.Max.x, y + keysHeight), keys, {-1, 1});
  y += keysHeight + view.px(34);
  render::HeatmapStyle map = styleFor(view, Look{});
  map.colormap = scene.look.colormap;
  map.gap = 0;
  const float most = std::max(study.mostDifference, 1e-6f);
  const float left = area.GetCenter().x - mapSide / 2;
  paintPicture(view, precision.picture(1), static_cast<int>(at), ImRect(left, y, left + mapSide, y + mapSide),
               map, {most * 1e-4f, most, true});
  y += mapSide + view.px(22);
  const auto figure = [&](const std::vector<std::string>& label, const std::string& value) {
    const float taken =
        paintText(list, view.fonts->mono, ImVec2(area.Max.x, y), theme.text, value, Align::right);
    const float room = area.GetWidth() - taken - view.px(6);
    paintFitted(view, list, view.fonts->text, ImVec2(area.Min.x, y), room, theme.secondary,
                firstFitting(view.fonts->text, label, room));
    y += view.px(24);
  };
  figure({"weights, all heads", "weights", "ΔA"}, one.weightError == 0 ? "0"
                                                  : std::isnan(one.weightError)
                                                      ? "NaN"
                                                      : numberText(one.weightError, 3));
  figure({"output", "ΔY"}, errorText(one.output.all));
}

}  // namespace

void precisionView(Scene& scene, State& page, const ImRect& area, bool small) {
  View& view = page.view;
  if (viewIsEmpty(scene, page, area, page.precision.problem(), !page.precision)) return;
  const PrecisionStudy& study = *page.precision;
  const attention::AttentionConfig& config = page.precision.request().snapshot->config;
  const PrecisionCase& chosen = study.cases[static_cast<std::size_t>(scene.cost.cache.stored)];
  const Index tokens = page.precision.request()
                           .snapshot->sequences[static_cast<std::size_t>(page.precision.request().sequence)]
                           .keyLength;
  const std::uint64_t all = chosen.bytes * static_cast<std::uint64_t>(tokens * scene.cost.cache.layers);
  const Index head = std::clamp<Index>(page.precision.request().head, 0, config.heads - 1);
  const std::string cached = tokens == 1 ? "the one token" : "all " + tokenCountText(tokens);
  const float top = viewHeadline(
      view, area, fourDigitBytes(all),
      {chosen.format == attention::NumberFormat::fp32
           ? "fp32 keeps every bit."
           : fmt::format("{} is {} of fp32; output error {}.", attention::rowOf(chosen.format).name,
                         fractionText(chosen.bytes, study.cases[0].bytes), errorText(chosen.output.all))},
      {layerPrefix(page.precision.request().snapshot->setup) +
           fmt::format("keys and values of {} are quantised, then attention is recomputed", cached),
       fmt::format("keys and values of {}, quantised", cached)},
      small);
  const float space = view.px(small ? 14 : 24), count = static_cast<float>(study.cases.size());
  const float each = (area.GetWidth() - (count - 1) * space) / count;
  const float rest = area.Max.y - top - view.px(46 + 26 + 34 + 22 + (view.present ? 48 : 90));
  // While presenting, the differences matter most, and the keys take the rest.
  const float map = std::min(each, rest * (view.present ? 0.84f : 0.66f));
  const float keys = std::clamp(rest - map, view.px(24), view.px(400));
  Canvas list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < study.cases.size(); ++i) {
    const float left = area.Min.x + static_cast<float>(i) * (each + space);
    column(scene, page.view, page.precision, study, i, ImRect(left, top, left + each, area.Max.y), keys, map);
  }
  const float keyWords = top + view.px(72) + keys + view.px(14);
  const std::string most = numberText(static_cast<double>(study.mostDifference), 3);
  const Index kv = config.kvHeadOf(head);
  const std::vector<std::string> words{
      fmt::format("above: keys of KV {} as stored, dimensions ↓ tokens →     below: |Δ weights| of head {}, "
                  "query ↓ key →, logarithmic up to {}",
                  kv, head, most),
      fmt::format("above: keys of KV {}     below: |Δ weights| of head {}, logarithmic up to {}", kv, head,
                  most),
      fmt::format("above: keys of KV {}     below: |Δ weights| of head {}", kv, head)};
  paintFitted(view, list, view.fonts->text, ImVec2(area.Min.x, keyWords), area.GetWidth(),
              view.theme->secondary, firstFitting(view.fonts->text, words, area.GetWidth()));
}

}  // namespace headscope::app::cache_page
