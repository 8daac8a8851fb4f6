#include "app/pages/cost/cost_page.h"

#include <fmt/core.h>

#include "app/platform/outside_files.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::cost_page {

using attention::ModelShape;
using attention::Result;

Page::Page(PageServices& services) : services_(services), page_(services.view) {}

void Page::reset() {
  page_.search.clear();
  page_.problem.clear();
}

namespace {

/// The first problem, and how many more there are.
std::string problemText(const std::vector<std::string>& problems) {
  return problems.size() == 1 ? problems.front()
                              : fmt::format("{} ({} more: run \"headscope cost --list\" to see all)",
                                            problems.front(), problems.size() - 1);
}

}  // namespace

/// Loads the person's own shapes and machines off the drawing thread, once each time the page is shown.
void Page::loadCatalogue() {
  if (std::exchange(catalogueAsked_, true)) return;
  const std::filesystem::path folder = configurationFolder();
  services_.files.read<CostCatalogue>(
      folder / kModelsFile, [folder] { return app::loadCatalogue(folder); },
      [this](Result<CostCatalogue> catalogue) {
        if (!catalogue) return services_.view.messages.fail(catalogue.error().message);
        const std::vector<std::string> before =
            std::exchange(page_.catalogue, *std::move(catalogue)).problems;
        const std::vector<std::string>& now = page_.catalogue.problems;
        std::string& error = services_.view.messages.error;
        if (now == before) return;
        if (!before.empty() && error == problemText(before)) error.clear();
        if (!now.empty()) services_.view.messages.fail(problemText(now));
      });
}

/// Reports a problem on the page, and also to `read`.
void Page::readConfig(const std::filesystem::path& path,
                      std::function<void(const Result<ModelShape>&)> read) {
  configAsked_ = path.string();
  services_.files.read<ModelShape>(
      path, [path] { return attention::readModelShape(path); },
      [this, path, read = std::move(read)](const Result<ModelShape>& shape) {
        page_.problem = shape.ok() ? "" : shape.error().message;
        if (shape.ok()) {
          page_.config = *shape;
          page_.configFile = path.string();
        }
        read(shape);
      });
}

/// Shows the cost of a file that the person opened.
void Page::openConfig(const std::filesystem::path& path, const Requester& requester, const Outcome& outcome) {
  readConfig(path, [path, requester, outcome](const Result<ModelShape>& shape) {
    const std::string name = path.filename().string();
    const auto taken = requester.edit(name, [&](Scene& scene) {
      scene.cursor.page = "cost";
      if (!shape) return;
      scene.cost.config = path.string();
      scene.cost.tokens = shape->context;
    });
    if (!shape) return outcome.fail(shape.error().message);
    taken ? outcome.done("Opened " + name) : outcome.fail(taken.error().message);
  });
}

bool Page::open(const NamedFile& file, const Requester& requester, const Outcome& outcome) {
  if (file.folder || file.path.filename() != "config.json") return false;
  std::error_code ignored;
  openConfig(std::filesystem::absolute(file.path, ignored), requester, outcome);
  return true;
}

void Page::prepare(Scene& scene) {
  const bool has = !scene.cost.config.empty() && page_.configFile == scene.cost.config;
  const auto shape = costShape(scene, page_.catalogue, has ? page_.config : std::optional<ModelShape>());
  page_.unknown = shape ? "" : shape.error().message;
  page_.figures = costFigures(scene.cost, shape ? *shape : page_.catalogue.shapes.front(), page_.catalogue);
  page_.gpus = gpuChoices(page_.figures, page_.catalogue);
}

void Page::draw(Scene& scene, const Layout& layout) {
  View& view = services_.view;
  const CostSetup before = scene.cost;
  controls(scene, page_, layout);
  if (scene.cost != before) prepare(scene);
  if (beginPanel(view, "cost", layout.center, 0, 0)) {
    handleKeys(scene);
    ImRect area = layout.center;
    area.Expand(ImVec2(-view.px(24), -view.px(6)));
    if (!page_.unknown.empty()) {
      const bool machine = !checkDevice(scene.cost, page_.catalogue).ok();
      paintMessage(view, area, machine ? "Choose a machine" : "Choose a model",
                   page_.unknown + (machine ? ". " : " ") + "Choose one from the list on the left.",
                   view.theme->text);
    } else {
      drawFigures(scene, area, layout.named);
    }
  }
  endPanel();
  if (scene.cost != before) view.redraw();
}

void Page::drawFigures(Scene& scene, const ImRect& area, std::string_view named) {
  View& view = services_.view;
  if (view.figure) view.fitFigure(ImVec2(view.px(1240), view.px(830)));
  const std::optional<double> before = page_.tokensLit;
  page_.tokensLit = std::exchange(page_.nextTokensLit, {});
  if (page_.tokensLit != before) view.redraw(2);
  const bool walks = view.present && !view.figure && page_.presented > 0;
  Board board(view, area, walks ? kPlotNames[asSize(page_.presented - 1)] : named);
  bytesAnswer(page_, board);
  bytesProduct(scene, page_, board);
  gpuRuler(scene, page_, board);
  plots(scene, page_, board);
  board.show();
}

void Page::showNext(int by) {
  const bool presents = services_.view.present;
  int& shown = presents ? page_.presented : page_.plotTab;
  const int count = static_cast<int>(std::ssize(kPlotNames)) + (presents ? 1 : 0);
  shown = (shown + by + count) % count;
}

void Page::handleKeys(Scene& scene) {
  View& view = services_.view;
  if (view.pressed(Key::slash)) page_.focusSearch = true;
  CostSetup& cost = scene.cost;
  const auto twice = [](Index& value, Index most) { value = std::min(most, value * 2); };
  if (view.pressed(Key::right)) twice(cost.tokens, kMaxCostTokens);
  if (view.pressed(Key::left)) cost.tokens = std::max<Index>(1, cost.tokens / 2);
  if (view.pressed(Key::right, {.shift = true})) twice(cost.batch, kMaxCostBatch);
  if (view.pressed(Key::left, {.shift = true})) cost.batch = std::max<Index>(1, cost.batch / 2);
  const int step = static_cast<int>(view.pressed(Key::down)) - static_cast<int>(view.pressed(Key::up));
  if (step == 0) return;
  const std::vector<std::string> models = listedModels(scene, page_);
  if (models.empty()) return;
  const auto at = std::find(models.begin(), models.end(), cost.config.empty() ? cost.model : cost.config);
  const auto count = static_cast<int>(models.size());
  const int now = at == models.end() ? (step > 0 ? -1 : count) : static_cast<int>(at - models.begin());
  chooseModel(scene, models[asSize(std::clamp(now + step, 0, count - 1))]);
}

void Page::ask(const Scene& scene) {
  loadCatalogue();
  if (!scene.cost.config.empty() && configAsked_ != scene.cost.config)
    readConfig(scene.cost.config, [](const Result<ModelShape>&) {});
}

std::vector<CaptionPart> Page::caption(const Scene&) const {
  const CostFigures& figures = page_.figures;
  const Theme& theme = *services_.view.theme;
  std::vector<CaptionPart> caption{
      {figures.shape.name + " caches ", theme.secondary},
      {figures.shape.decodes ? fourDigitBytes(figures.cost.total) : "nothing", theme.text},
      {figures.shape.decodes
           ? " of keys and values for " +
                 (figures.request.batch > 1 ? fmt::format("{} × ", figures.request.batch) : "") +
                 tokensText(figures.request.tokens) + " tokens"
           : ": it reads all tokens at once",
       theme.secondary}};
  // From right to left, as they are laid out: the items that Tab cycles through.
  for (int i = static_cast<int>(std::ssize(kPlotTabs)); i >= 0; --i)
    caption.push_back(
        {i == 0 ? "Bytes" : kPlotTabs[asSize(i - 1)], i == page_.presented ? theme.text : theme.faint, true});
  caption.push_back({"Tab:", theme.faint, true});
  return caption;
}

PageStatus Page::status(const Scene&) const {
  const CostFigures& figures = page_.figures;
  PageStatus status;
  status.figures.push_back({"cache", fourDigitBytes(figures.cost.total), 0});
  status.figures.push_back({"weights", fourDigitBytes(figures.cost.weights), 0});
  const ModelShape& shape = figures.shape;
  const std::string heads =
      std::to_string(shape.heads) + (shape.isLatent() ? "" : "/" + std::to_string(shape.kvHeads));
  status.shape = shape.name + " · " + attention::rowOf(figures.request.format).name + " · " +
                 attentionKind(shape) + " " + heads + " · d " + countText(shape.modelDim);
  return status;
}

std::optional<std::string> Page::error(const Scene&) const {
  return page_.unknown.empty() ? std::nullopt : std::optional(page_.unknown);
}

void Page::chooseGpus(Scene& scene, std::size_t choice) {
  scene.cursor.page = "cost";
  prepare(scene);
  const GpuChoice& gpus = page_.gpus[choice];
  if (gpus.reason.empty())
    scene.cost.gpus = gpus.gpus;
  else
    services_.view.messages.fail(gpus.reason);
}

std::vector<Action> Page::places() {
  std::vector<Action> places;
  for (const attention::ModelShape& shape : page_.catalogue.shapes)
    places.push_back({.id = "cost.model." + shape.name,
                      .name = shape.name,
                      .section = "model on Cost",
                      .run =
                          [name = shape.name](Scene& scene) {
                            scene.cursor.page = "cost";
                            chooseModel(scene, name);
                          },
                      .kind = ActionKind::model,
                      .about = "What it costs in memory, work and time"});
  return places;
}

std::vector<Action> Page::actions() {
  ActionList list;
  list.add({.id = "cost.open",
            .name = "Open a config.json to see its cost…",
            .section = "Scene",
            .whileTyping = true},
           [this](Scene&) {
             const auto chosen = [this](Scene&, const auto& path, const Outcome& outcome) {
               openConfig(path, services_.requester(), outcome);
             };
             services_.ask({"Open a config.json", {".json"}, "", chosen, "config.json"});
           });
  for (int i = 0; i < std::ssize(kPlotTabs); ++i)
    list.add({.id = fmt::format("cost.plot.{}", i), .name = fmt::format("Cost: {}", kPlotTabs[asSize(i)])},
             [this, i](Scene& scene) {
               scene.cursor.page = "cost";
               page_.plotTab = i;
             });
  if (!hasOutsideFiles())  // a browser keeps no file that a person can write
    list.add({.id = "cost.machines",
              .name = "Show where your own machines are kept",
              .whileTyping = true,
              .words = "edit add gpu hardware settings"},
             [this](Scene& scene) {
               scene.cursor.page = "cost";
               const std::filesystem::path folder = configurationFolder();
               if (folder.empty())
                 return services_.view.messages.fail(
                     "There is no folder for settings: neither XDG_CONFIG_HOME nor HOME is set.");
               services_.view.say(fmt::format("Your machines are in {}; the manual shows how to add one.",
                                              attention::shownPath(folder / kMachinesFile)));
             });
  list.add({.id = "cost.next_plot", .name = "Show the next plot", .shortcut = {Key::pageDown}},
           [this](Scene&) { showNext(1); });
  list.add({.id = "cost.previous_plot", .name = "Show the previous plot", .shortcut = {Key::pageUp}},
           [this](Scene&) { showNext(-1); });
  // With Shift, because the digits alone switch pages here too.
  for (std::size_t i = 0; i < kGpuCounts.size(); ++i)
    list.add({.id = fmt::format("cost.gpus.{}", kGpuCounts[i]),
              .name = fmt::format("Spread the model over {}", countedText(kGpuCounts[i], "GPU")),
              .shortcut = KeyPress{static_cast<Key>('1' + i), {.shift = true}}},
             [this, i](Scene& scene) { chooseGpus(scene, i); });
  return std::move(list.all);
}

}  // namespace headscope::app::cost_page
