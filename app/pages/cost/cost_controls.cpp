#include <fmt/core.h>

#include "app/kit/rows.h"
#include "app/pages/cost/cost_page.h"
#include "app/platform/outside_files.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::cost_page {

namespace {

/// A row of the list and its shape.
struct ModelRow {
  std::string name;  ///< as in a scene
  std::string label;
  attention::ModelShape shape;
};

/// The layer that the person made on Heads.
ModelRow layerRow(const Scene& scene) {
  return {kThisLayer, scene.setup.subject.opened ? "One layer" : "Your layer", shapeOfLayer(scene.setup)};
}

std::vector<ModelRow> allRows(const Scene& scene, const State& page) {
  std::vector<ModelRow> rows{layerRow(scene)};
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

/// "Your layer  8 heads, 1 kv head"
std::string layerLabel(const ModelRow& own) {
  const attention::ModelShape& shape = own.shape;
  return own.label + "  " + countedText(shape.heads, "head") +
         (shape.isLatent() ? "" : ", " + countedText(shape.kvHeads, "kv head"));
}

void modelSection(Rows& rows, Scene& scene, State& page) {
  rows.section("MODEL", "KV cache per token");
  const ModelRow own = layerRow(scene);  // visible whatever is chosen
  if (rows.option("model.this_layer", layerLabel(own), perTokenText(own.shape, scene.cost.format),
                  scene.cost.config.empty() && scene.cost.model == kThisLayer, shapeHelp(own.shape)))
    chooseModel(scene, kThisLayer);
  rows.space(4);
  if (rows.input("cost.search", page.search, page.focusSearch, "Search   /"))
    if (const std::vector<std::string> found = listedModels(scene, page); !found.empty())
      chooseModel(scene, found.front());
  rows.space(6);
  const std::string now = scene.cost.config.empty() ? scene.cost.model : scene.cost.config;
  std::vector<ModelRow> found = foundRows(scene, page);
  if (found.empty()) rows.hint("No model has this name.");
  std::erase_if(found, [](const ModelRow& row) { return row.name == kThisLayer; });  // it stands above
  std::vector<Rows::Option> lines;
  int chosen = -1;
  for (const ModelRow& row : found) {
    if (row.name == now) chosen = static_cast<int>(lines.size());
    lines.push_back({"model." + row.name, row.label, perTokenText(row.shape, scene.cost.format)});
  }
  const int clicked = rows.options("models", lines, chosen, 500,
                                   [&](std::size_t line) { return shapeHelp(found[line].shape); });
  if (clicked >= 0) chooseModel(scene, found[asSize(clicked)].name);
  rows.space(8);
  rows.action("cost.open", "Open config.json…", "cost.open");
  rows.problem(page.problem, "cost.problem");
}

/// 1, 2, 3, 4, 6, 8, 12, … up to `most`.
std::vector<Index> doublings(Index most) {
  std::vector<Index> stops;
  for (Index stop = 1; stop <= most; stop *= 2) {
    stops.push_back(stop);
    if (stop >= 2 && stop + stop / 2 < most) stops.push_back(stop + stop / 2);
  }
  return stops;
}

void requestSection(Rows& rows, Scene& scene, const CostFigures& figures) {
  static const std::vector<Index> kTokens = doublings(Index{1} << 24), kBatch = doublings(4096);
  static const std::vector<Index> kBlocks{8, 16, 32, 64, 128, 256};
  rows.section("REQUEST");
  SliderState tokens{"", kTokens};
  // Longer numbers would overlap the track.
  const std::string many = tokensText(scene.cost.tokens);
  if (scene.cost.tokens >= kTokens.back() && many.size() < 9) tokens.shown = many.c_str();
  rows.slider(scene, "cost.tokens", tokens);
  if (figures.shape.contextKnown && scene.cost.tokens > figures.shape.context &&
      !figures.shape.name.empty() && !isSynthetic(figures.shape))
    rows.hint(fmt::format("The model was trained on up to {} tokens.", tokensText(figures.shape.context)));
  rows.slider(scene, "cost.batch", {"", kBatch});
  rows.slider(scene, "cost.block", {"", kBlocks});
}

void machineSection(Rows& rows, Scene& scene, const State& page) {
  if (hasOutsideFiles())
    rows.section("MACHINE");
  else
    rows.section("MACHINE", {"machines.edit", "Edit…", "cost.machines"});
  std::vector<Choice> choices;
  int chosen = 0;
  for (const attention::Machine& machine : page.catalogue.machines) {
    if (machine.name == page.figures.machine.name) chosen = static_cast<int>(choices.size());
    choices.push_back(
        {fmt::format("{} · {} TB/s", machineText(machine, "   "), roundedText(machine.bandwidth / 1e12, 4)),
         "", machine.name});
  }
  if (rows.list("machine", choices, chosen, page.figures.machine.source.c_str()))
    scene.cost.device = page.catalogue.machines[asSize(chosen)].name;
  rows.space(4);
  std::vector<Index> stops;
  for (const Index gpus : kGpuCounts)
    if (attention::splits(page.figures.shape, gpus).ok()) stops.push_back(gpus);
  const auto refuse = [&](Index gpus) {
    const auto fits = attention::splits(page.figures.shape, gpus);
    return fits.ok() ? std::string() : fits.error().message + ".";
  };
  rows.slider(scene, "cost.gpus", {"", stops, refuse});
  auto price = static_cast<float>(scene.cost.price);
  const SliderSpec spec{"cost.price", "Price/hour", "", "0 to 1,000,000",
                        "Price of a GPU per hour, for the cost of a million tokens; 0 if unknown."};
  if (slider(rows.view(), spec, Range{0, 1000000}, {0, 20}, price))
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
  leftPanel(page.view, layout, "cost.controls", [&](Rows& rows) {
    modelSection(rows, scene, page);
    rows.section("CACHE, WEIGHTS, ACTIVATIONS");
    rows.choices(scene, {"cost.dtype"});
    rows.space(4);
    rows.choices(scene, {"cost.weights_dtype", "cost.activations_dtype"});
    requestSection(rows, scene, page.figures);
    machineSection(rows, scene, page);
  });
}

}  // namespace headscope::app::cost_page
