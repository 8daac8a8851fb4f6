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
    const double error = one.output.perToken[asSize(token)];
    if (!(error > 0)) continue;
    const float height = static_cast<float>(std::min(1.0, error / most)) * area.GetHeight();
    const float x = area.Min.x + each * static_cast<float>(token);
    list.AddRectFilled(ImVec2(x, area.Max.y - std::max(1.0f, height)),
                       ImVec2(std::max(x + 1, x + each * static_cast<float>(every) - gap), area.Max.y),
                       theme.secondary);
  }
}

/// A shape's weights in `area`, and each token's error below them on the same axis. `names`: room for tokens
/// left of the first shape's weights and below all of them.
void paintShape(const Scene& scene, const State& page, std::size_t at, double mostError,
                const NameRoom& names, const ImRect& area) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const ShapeCase& one = page.shapes->cases[at];
  const float gap = view.px(14), free = area.GetHeight() - gap - names.below;
  const float side = std::max(view.px(40), std::min(area.GetWidth(), free - view.px(34)));
  const ImRect map(area.Min, ImVec2(area.Min.x + side, area.Min.y + side));
  if (!one.missing.empty()) {
    list.AddRectFilled(map.Min, map.Max, view.theme->panel);
    paintParagraph(list, view.fonts->text, ImVec2(map.Min.x + gap, map.Min.y + gap), side - 2 * gap,
                   view.theme->secondary, one.missing);
    return;
  }
  render::HeatmapStyle style = styleFor(view, scene.look.colormap);
  paintPicture(view, page.shapes.picture(), static_cast<int>(at), map, style, {});
  const float bars = std::clamp(free - side, 0.0f, view.px(190));
  const ImRect errors(map.Min.x, map.Max.y + gap, map.Max.x, map.Max.y + gap + bars);
  errorBars(view, list, one, mostError, errors);
  const auto& question = page.shapes.request();
  paintNames(scene, view, map, question.snapshot->sequences[asSize(question.sequence)].keys, names, at == 0,
             errors.Max.y);
}

void shapeTile(const Scene& scene, const State& page, std::size_t at, double mostError, const NameRoom& names,
               Board& tile) {
  const ShapeCase& one = page.shapes->cases[at];
  const bool missing = !one.missing.empty();
  tile.title(one.name, {one.kvHeads > 0   ? countedText(one.kvHeads, "kv head")
                        : one.latent == 0 ? ""
                        : one.rotary > 0  ? fmt::format("latent {} + {} rotary", one.latent, one.rotary)
                                          : fmt::format("latent {}", one.latent)});
  const float below = names.below / page.view.unit;
  tile.picture("shape." + one.name, {110 + below, 240 + below, 1, tile.width() + 204 + below},
               [&scene, &page, at, mostError, names](const ImRect& area) {
                 paintShape(scene, page, at, mostError, names, area);
               });
  const std::uint64_t bytes = bytesPerToken(scene, one), mha = bytesPerToken(scene, page.shapes->cases[0]);
  const auto cached = static_cast<std::uint64_t>(std::max<Index>(1, decodeState(scene, page).tokens));
  tile.figure({"output error", "error"},
              missing   ? "–"
              : at == 0 ? "0"
                        : errorText(one.output.all),
              true)
      .apart(6);
  tile.figure({"cache per token", "per token"}, missing ? "–" : exactBytes(bytes), false,
              missing || bytes == mha ? "" : fractionText(bytes, mha));
  tile.figure({"last step reads", "last step"}, missing ? "–" : fourDigitBytes(bytes * cached)).leaves(1);
  tile.figure({"parameters", "weights"}, missing ? "–" : countText(one.parameters)).leaves(1);
}

/// The cache under the shape between MHA and MQA, or under the model's own latent, and what it costs.
void shapesHeadline(const Scene& scene, const State& page, bool labelled, Board& board) {
  const ShapesStudy& study = *page.shapes;
  const bool merges = study.cases.size() > 2;  // not only one kv head, and a latent
  // A model with its own latent is compared to what its heads' keys and values would take.
  const bool own = page.shapes.request().snapshot->config.latentDim > 0;
  const ShapeCase& between = own ? study.cases.back() : study.cases[merges ? 1 : 0];
  const std::uint64_t bytes = bytesPerToken(scene, between), mha = bytesPerToken(scene, study.cases[0]);
  const std::string head = headWords(page.shapes.request().snapshot->setup, page.shapes.request().head);
  std::vector<std::string> sentence{"per token. MQA already has one kv head: nothing to merge.",
                                    "per token. MQA has one kv head already."};
  if (own)
    sentence = {
        fmt::format("per token. The model’s own MLA needs {} of what MHA would.", fractionText(bytes, mha)),
        fmt::format("per token. MLA: {} of MHA's cache.", fractionText(bytes, mha))};
  else if (merges)
    sentence = {fmt::format("per token. {} ({}) needs {} of the cache; output error {}.", between.name,
                            countedText(between.kvHeads, "kv head"), fractionText(bytes, mha),
                            errorText(between.output.all)),
                fmt::format("per token. {}: {} of the cache, output error {}.", between.name,
                            fractionText(bytes, mha), errorText(between.output.all)),
                fmt::format("{}: output error {}.", between.name, errorText(between.output.all))};
  static constexpr std::array<const char*, 5> kCounts{"", "", "two", "three", "four"};
  std::string rest =
      fmt::format("One layer in {} shapes: kv heads merged by their mean, not retrained; weights of {}",
                  kCounts[study.cases.size()], head);
  if (own)
    rest = fmt::format(
        "MHA stores each head's keys and values in place of their latent; others merge them by "
        "their mean; weights of {}",
        head);
  else if (study.cases.size() == 3)
    rest += fmt::format("; no number between {} and 1 divides the kv heads", study.cases[0].kvHeads);
  const std::string brief = fmt::format("Merged by mean, not retrained; {}, query ↓ key →", head);
  board.headline({"cache.figure",
                  fourDigitBytes(bytes),
                  sentence,
                  {labelled ? rest : brief, "Merged by mean; query ↓ key →; bars: error per token"}});
}

}  // namespace

void shapesView(Scene& scene, State& page, Board& board) {
  if (viewIsEmpty(scene, page, board, page.shapes.problem(), !page.shapes)) return;
  const ShapesStudy& study = *page.shapes;
  const auto& question = page.shapes.request();
  const auto& tokens = question.snapshot->sequences[asSize(question.sequence)].keys;
  NameRoom names = nameRoom(page.view, tokens, tokens);
  const float gap = 20, gaps = gap * static_cast<float>(study.cases.size() - 1),
              left = names.left / page.view.unit;
  // Narrower maps have no names next to them.
  const bool labelled = (board.width() - left - gaps) / static_cast<float>(study.cases.size()) >= 320;
  if (!labelled) names = {};
  shapesHeadline(scene, page, labelled, board);
  double most = 0;
  for (const ShapeCase& one : study.cases)
    for (const double error : one.output.perToken) most = std::max(most, std::min(error, 2.0));
  const PartWidth widths[] = {{labelled ? left : 0, 0}, {0, 1}};
  board.columns(widths, 0, [&](std::size_t half, Board& maps) {
    if (half == 0) return;
    maps.tiles(study.cases.size(), gap,
               [&](std::size_t i, Board& tile) { shapeTile(scene, page, i, most, names, tile); });
  });
  std::string bars = "Bars: each token's error in the head outputs, before W_O";
  if (most > 0) bars += fmt::format(", against {}. The largest is {}.", study.cases[0].name, errorText(most));
  viewKey(scene, page, board, {bars, "Bars: error per token"}).inWindow();
}

namespace {

/// Draws a format's name and bytes, and those bytes as a bar; a click selects it.
void formatHead(Scene& scene, View& view, const PrecisionStudy& study, std::size_t at, const ImRect& area) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const PrecisionCase& one = study.cases[at];
  const bool chosen = scene.cost.cache.stored == one.format;
  const std::string name = attention::rowOf(one.format).name;
  const float high = view.px(34), y = area.Min.y + view.px(15), bar = view.px(10);
  if (hitArea("precision." + name, area.Min, ImVec2(area.GetWidth(), high)))
    scene.cost.cache.stored = one.format;
  if (ImGui::IsItemHovered()) tooltip(view, attention::rowOf(one.format).help);
  const std::uint32_t ink = chosen ? theme.text : theme.secondary;
  if (chosen)
    list.AddRectFilled(ImVec2(area.Min.x, area.Min.y + high - view.px(2)),
                       ImVec2(area.Max.x, area.Min.y + high), ink);
  paintText(list, chosen ? view.fonts->title : view.fonts->text, ImVec2(area.Min.x, y), ink, name);
  paintText(list, view.fonts->mono, ImVec2(area.Max.x, y), ink, exactBytes(one.bytes), Align::right);
  const auto whole = static_cast<float>(std::max<std::uint64_t>(study.cases[0].bytes, 1));
  const float half = area.GetWidth() * static_cast<float>(one.bytes) / whole / 2;
  const auto piece = [&](float from, float to, std::uint32_t color) {
    list.AddRectFilled(ImVec2(area.Min.x + from, area.Max.y - bar), ImVec2(area.Min.x + to, area.Max.y),
                       color);
  };
  piece(0, area.GetWidth(), theme.panel);
  piece(0, half, theme.key);
  piece(half, 2 * half, theme.value);
}

/// The keys in one format.
void paintStoredKeys(const State& page, std::size_t at, const ImRect& area) {
  render::HeatmapStyle keys = styleFor(page.view, Look{});
  keys.gap = 0;
  keys.tint = cacheColors(*page.view.theme).key;
  paintPicture(page.view, page.precision.picture(0), static_cast<int>(at), area, keys, {-1, 1});
}

/// How far the weights with one format are from those of fp32.
void paintDifferences(const Scene& scene, const State& page, std::size_t at, const ImRect& area) {
  render::HeatmapStyle map = styleFor(page.view, Look{});
  map.colormap = scene.look.colormap;
  map.gap = 0;
  const float most = std::max(page.precision->mostDifference, 1e-6f);
  const float side = std::min(area.GetWidth(), area.GetHeight()), left = area.GetCenter().x - side / 2;
  paintPicture(page.view, page.precision.picture(1), static_cast<int>(at),
               ImRect(left, area.Min.y, left + side, area.Min.y + side), map, {most * 1e-4f, most, true});
}

}  // namespace

void precisionView(Scene& scene, State& page, Board& board) {
  if (viewIsEmpty(scene, page, board, page.precision.problem(), !page.precision)) return;
  const PrecisionStudy& study = *page.precision;
  const auto& question = page.precision.request();
  const attention::AttentionConfig& config = question.snapshot->config;
  const PrecisionCase& chosen = study.cases[static_cast<std::size_t>(scene.cost.cache.stored)];
  const Index tokens = question.snapshot->sequences[asSize(question.sequence)].keyLength;
  const std::uint64_t all = chosen.bytes * static_cast<std::uint64_t>(tokens * scene.cost.cache.layers);
  const Index head = std::clamp<Index>(question.head, 0, config.heads - 1), kv = config.kvHeadOf(head);
  const std::string cached = tokens == 1 ? "the one token" : "all " + tokenCountText(tokens);
  board.headline(
      {"cache.figure",
       fourDigitBytes(all),
       {chosen.format == attention::NumberFormat::fp32
            ? "fp32 keeps every bit."
            : fmt::format("{} is {} of fp32; output error {}.", attention::rowOf(chosen.format).name,
                          fractionText(chosen.bytes, study.cases[0].bytes), errorText(chosen.output.all))},
       {layerPrefix(question.snapshot->setup) +
            fmt::format("keys and values of {} are quantised, then attention is recomputed", cached),
        fmt::format("keys and values of {}, quantised", cached)}});
  board.tiles(study.cases.size(), 14, [&](std::size_t i, Board& tile) {
    tile.area("", {46}, [&scene, &page, &study, i](const ImRect& area) {
      formatHead(scene, page.view, study, i, area);
    });
    tile.picture("", {24, 80, 0.5f, 400}, [&page, i](const ImRect& area) { paintStoredKeys(page, i, area); });
  });
  const std::string most = numberText(static_cast<double>(study.mostDifference), 3);
  board.words(
      {fmt::format("above: keys of KV {} as stored, dimensions ↓ tokens →     below: |Δ weights| of head {}, "
                   "query ↓ key →, logarithmic up to {}",
                   kv, head, most),
       fmt::format("above: keys of KV {}     below: |Δ weights| of head {}, logarithmic up to {}", kv, head,
                   most),
       fmt::format("above: keys of KV {}     below: |Δ weights| of head {}", kv, head)});
  board.tiles(study.cases.size(), 14, [&](std::size_t i, Board& tile) {
    tile.picture("", {60, 100, 1, tile.width()},
                 [&scene, &page, i](const ImRect& area) { paintDifferences(scene, page, i, area); });
    const PrecisionCase& one = study.cases[i];
    tile.figure({"weights, all heads", "weights", "ΔA"}, one.weightError == 0 ? "0"
                                                         : std::isnan(one.weightError)
                                                             ? "NaN"
                                                             : numberText(one.weightError, 3))
        .apart(6);
    tile.figure({"output", "ΔY"}, errorText(one.output.all));
  });
}

}  // namespace headscope::app::cache_page
