#include <fmt/core.h>

#include "app/pages/cost/cost_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::cost_page {

namespace {

/// A row of the list and its shape.
struct ModelRow {
  std::string name;  ///< as in a scene
  std::string label;
  attention::ModelShape shape;
};

std::vector<ModelRow> allRows(const Scene& scene, const State& page) {
  std::vector<ModelRow> rows{{kThisLayer, "This layer", shapeOfLayer(scene.setup)}};
  Scene opened = {};
  opened.cost.model = kOpenedModel;
  opened.setup.subject = scene.setup.subject;
  if (scene.setup.subject.opened)
    if (auto shape = costShape(opened, page.catalogue, {}); shape.ok())
      rows.push_back({kOpenedModel, shape->name, *shape});
  if (page.config && page.configFile == scene.cost.config)
    rows.push_back({scene.cost.config, page.config->name, *page.config});
  for (const attention::ModelShape& shape : page.catalogue.shapes)
    rows.push_back({shape.name, shape.name, shape});
  return rows;
}

std::vector<ModelRow> foundRows(const Scene& scene, const State& page) {
  std::vector<ModelRow> rows = allRows(scene, page);
  const std::string wanted = attention::plainModelName(page.search);
  std::erase_if(rows, [&](const ModelRow& row) {
    return attention::plainModelName(row.label).find(wanted) == std::string::npos;
  });
  return rows;
}

/// "320 KiB", or "≤ 496 KiB" if a window limits the cache.
std::string perTokenText(const attention::ModelShape& shape, attention::NumberFormat format) {
  if (!shape.decodes) return "no cache";
  const std::uint64_t perToken = attention::cacheCost(shape, {.format = format}).perToken;
  if (perToken == 0) return "a state";
  const std::string bytes = fourDigitBytes(perToken);
  return (shape.window > 0 || attention::isHybrid(shape) ? "≤ " : "") + bytes;
}

std::string shapeHelp(const attention::ModelShape& shape) {
  std::string heads = shape.heads == 0   ? std::string("no attention")
                      : shape.isLatent() ? fmt::format("{} over a latent of {}",
                                                       countedText(shape.heads, "head"), latentNumbers(shape))
                                         : fmt::format("{} over {} of {}", countedText(shape.heads, "head"),
                                                       countedText(shape.kvHeads, "kv head"), shape.headDim);
  for (const attention::LayerGroup& group : attention::layerGroups(shape))
    if (group.span > 0 && group.layers > 0)
      heads += fmt::format(", {} {} in {} of {} layers",
                           attention::kCacheKindNames[static_cast<std::size_t>(group.kind)], group.span,
                           group.layers, shape.layers);
  const std::string context = shape.contextKnown
                                  ? fmt::format("trained on up to {} tokens", tokensText(shape.context))
                                  : "training length unknown";
  return fmt::format("{}, {}, model dim {}, {}.\n{}", countedText(shape.layers, "layer"), heads,
                     shape.modelDim, context, shape.source);
}

void modelList(Scene& scene, State& page, float height) {
  View& view = page.view;
  const std::vector<ModelRow> rows = foundRows(scene, page);
  const float rowHeight = view.px(31);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::BeginChild("models", ImVec2(ImGui::GetContentRegionAvail().x, height), false,
                    ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground);
  if (rows.empty()) hint(view, "No model has this name.");
  const std::string chosen = scene.cost.config.empty() ? scene.cost.model : scene.cost.config;
  for (const ModelRow& row : rows) {
    Canvas list = *ImGui::GetWindowDrawList();
    const ImVec2 from = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const std::string name = "model." + (row.name.empty() ? "this_layer" : row.name);
    if (hitArea(name, ImVec2(width, rowHeight))) chooseModel(scene, row.name);
    if (row.name == chosen && page.scrolledTo != chosen) {
      // Scroll by whole rows, leaving some rows above it visible.
      const auto at = static_cast<float>(&row - rows.data());
      if (!ImGui::IsItemVisible())
        ImGui::SetScrollY(rowHeight * std::max(0.0f, at - std::floor(height / rowHeight / 2)));
      page.scrolledTo = chosen;
    }
    const bool lit = row.name == chosen, hovered = ImGui::IsItemHovered();
    const ImVec2 to(from.x + width, from.y + rowHeight);
    if (lit || hovered)
      list.AddRectFilled(from, to, lit ? view.theme->raised : view.theme->background, view.px(4));
    if (lit) list.AddRectFilled(from, ImVec2(from.x + view.px(3), to.y), view.theme->text);
    const float y = from.y + rowHeight / 2;
    const std::string bytes = perTokenText(row.shape, scene.cost.format);
    const float right = to.x - view.px(10);
    const float taken = paintText(list, view.fonts->mono, ImVec2(right, y),
                                  lit ? view.theme->text : view.theme->secondary, bytes, Align::right);
    paintText(list, lit ? view.fonts->bold : view.fonts->text, ImVec2(from.x + view.px(14), y),
              view.theme->text, fitted(view.fonts->text, row.label, right - taken - from.x - view.px(24)));
    if (hovered) hoverHelp(view, name, shapeHelp(row.shape).c_str());
  }
  compat::endChild();
  ImGui::PopStyleVar(2);
}

/// 1, 2, 3, 4, 6, 8, 12, … up to `most`; without `halves` only the powers of two.
std::vector<Index> doublings(Index most, bool halves) {
  std::vector<Index> stops;
  for (Index stop = 1; stop <= most; stop *= 2) {
    stops.push_back(stop);
    if (halves && stop >= 2 && stop + stop / 2 < most) stops.push_back(stop + stop / 2);
  }
  return stops;
}

void requestSection(Scene& scene, State& page) {
  View& view = page.view;
  static const std::vector<Index> kTokens = doublings(Index{1} << 24, true), kBatch = doublings(4096, true);
  static const std::vector<Index> kBlocks{8, 16, 32, 64, 128, 256};
  const CostFigures& figures = page.figures;
  sectionTitle(view, "REQUEST");
  SliderState tokens;
  tokens.stops = kTokens;
  // Longer numbers would overlap the track.
  const std::string many = tokensText(scene.cost.tokens);
  if (scene.cost.tokens >= kTokens.back() && many.size() < 9) tokens.shown = many.c_str();
  fieldSlider(view, scene, "cost.tokens", tokens);
  if (figures.shape.contextKnown && scene.cost.tokens > figures.shape.context &&
      !figures.shape.name.empty() && !isSynthetic(figures.shape))
    hint(view, fmt::format("The model was trained on up to {} tokens.", tokensText(figures.shape.context)));
  SliderState batch;
  batch.stops = kBatch;
  fieldSlider(view, scene, "cost.batch", batch);
  SliderState block;
  block.stops = kBlocks;
  fieldSlider(view, scene, "cost.block", block);
}

void machineSection(Scene& scene, State& page) {
  View& view = page.view;
  if (sectionTitle(view, "MACHINE", "machines.edit", "Edit…")) view.request("cost.machines");
  std::vector<Choice> choices;
  int chosen = 0;
  for (const attention::Machine& machine : page.catalogue.machines) {
    if (machine.name == page.figures.machine.name) chosen = static_cast<int>(choices.size());
    choices.push_back(
        {fmt::format("{} · {} TB/s · {} TFLOP/s", machineText(machine, "   "),
                     roundedText(machine.bandwidth / 1e12, 4), roundedText(machine.flops / 1e12, 4)),
         "", machine.name});
  }
  if (dropdown(view, "machine", choices, chosen, ImGui::GetContentRegionAvail().x,
               page.figures.machine.source.c_str()))
    scene.cost.device = page.catalogue.machines[static_cast<std::size_t>(chosen)].name;
  gap(view, 4);
  std::vector<Index> stops;
  for (const Index gpus : kGpuCounts)
    if (attention::splits(page.figures.shape, gpus).ok()) stops.push_back(gpus);
  SliderState state;
  state.stops = stops;
  state.refuse = [&](Index gpus) {
    const auto fits = attention::splits(page.figures.shape, gpus);
    return fits.ok() ? std::string() : fits.error().message + ".";
  };
  fieldSlider(view, scene, "cost.gpus", state);
  auto price = static_cast<float>(scene.cost.price);
  const SliderSpec spec{"cost.price", "Price/hour", "", "0 to 1,000,000",
                        "Price of a GPU per hour, for the cost of a million tokens; 0 if unknown."};
  if (slider(view, spec, Range{0, 1000000}, {0, 20}, price))
    scene.cost.price = std::round(static_cast<double>(price) * 1000) / 1000;  // as typed, not as a float
}

}  // namespace

std::vector<std::string> listedModels(const Scene& scene, const State& page) {
  std::vector<std::string> names;
  for (const ModelRow& row : foundRows(scene, page)) names.push_back(row.name);
  return names;
}

void chooseModel(Scene& scene, const std::string& model) {
  if (model == scene.cost.config && !model.empty()) return;
  scene.cost.config.clear();
  scene.cost.model = model;
}

void controls(Scene& scene, State& page, const Layout& layout) {
  View& view = page.view;
  fillSide(view, layout.left);
  if (beginPanel(view, "cost.controls", layout.left, 20, 16)) {
    sectionTitle(view, "MODEL", std::to_string(page.catalogue.shapes.size()) + " shapes");
    const float width = ImGui::GetContentRegionAvail().x;
    if (lineBox(view, "cost.search", page.search, width, std::exchange(page.focusSearch, false),
                "Search   /"))
      if (const std::vector<std::string> found = listedModels(scene, page); !found.empty())
        chooseModel(scene, found.front());
    gap(view, 6);
    // In a window that is high enough, what is below the list stays visible.
    const float rows = std::clamp(std::floor((layout.left.GetHeight() / view.unit - 584) / 31), 3.0f, 16.0f);
    modelList(scene, page, view.px(31 * rows));
    gap(view, 8);
    if (button(view, "cost.open", "Open config.json…")) view.request("cost.open");
    if (!page.problem.empty()) {
      problem(view, page.problem);
      trackItem("cost.problem");
    }
    gap(view, 10);
    sectionTitle(view, "CACHE, WEIGHTS, ACTIVATIONS");
    fieldChoice(view, scene, "cost.dtype", {}, ImGui::GetContentRegionAvail().x);
    gap(view, 4);
    const float half = (width - view.px(8)) / 2;
    fieldChoice(view, scene, "cost.weights_dtype", {}, half);
    ImGui::SameLine(0, view.px(8));
    fieldChoice(view, scene, "cost.activations_dtype", {}, half);
    gap(view, 10);
    requestSection(scene, page);
    gap(view, 10);
    machineSection(scene, page);
    scrollEdge(view, layout.left);
  }
  endPanel();
}

}  // namespace headscope::app::cost_page
