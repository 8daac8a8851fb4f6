#include "app/pages/head_lab/head_lab_page.h"

#include <sstream>

#include "app/pages/common/model_facts.h"
#include "app/widgets/paint.h"

namespace headscope::app::head_lab_page {

namespace {

/// The index of the scene's tab in the table; 0 if it isn't there.
std::size_t placeOf(const Scene& scene) {
  const auto rows = tabTable();
  const auto found = std::ranges::find(rows, std::string_view(scene.cursor.lab.tab), &TabRow::key);
  return found == rows.end() ? 0 : static_cast<std::size_t>(found - rows.begin());
}

}  // namespace

Page::Page(PageServices& services) : services_(services), page_(services) {
  for (const TabRow& row : tabTable()) tabs_.push_back(row.make(services, page_));
}

Tab& Page::shown(const Scene& scene) const {
  return *tabs_[placeOf(scene)];
}

bool Page::take(const Scene&) {
  const bool any = page_.snapshot != services_.layer.snapshot();
  page_.snapshot = services_.layer.snapshot();
  const bool newAnswers = page_.shown.take();
  return any || newAnswers;
}

void Page::prepare(Scene& scene) {
  if (scene.cursor.lab.tab.empty()) scene.cursor.lab.tab = tabTable().front().key;
  shown(scene).prepare(scene);
  if (!page_.snapshot || page_.snapshot->sequences.empty()) return;
  fit_.apply(scene.cursor, *page_.snapshot, false);
  fitHover(services_.view.hover, scene, *page_.snapshot);
}

void Page::draw(Scene& scene, const Layout& layout) {
  View& view = services_.view;
  ImRect area = layout.center;
  area.Min.x = layout.left.Min.x;  // the page has no left panel
  Layout whole = layout;
  whole.center = area;
  if (beginPanel(view, "lab.page", area, 0, 0,
                 ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoScrollbar)) {
    if (!layout.presents) area.Min.y = tabLine(scene, page_, shown(scene), whole);
    // A tab that is too high scrolls below the line of tabs.
    ImGui::SetCursorScreenPos(area.Min);
    ImGui::BeginChild(("lab." + scene.cursor.lab.tab).c_str(), ImMax(area.GetSize(), ImVec2(1, 1)), false,
                      ImGuiWindowFlags_NoBackground);
    if (!tabTable()[placeOf(scene)].needsLayer) {
      shown(scene).draw(scene, area, layout);
    } else if (page_.missing()) {
      paintMissingLayer(view, *page_.snapshot, area);
    } else if (const std::string problem = page_.problem(); !problem.empty()) {
      paintMessage(view, area, "Can't take this layer apart", problem, view.theme->text);
    } else if (page_.head) {
      shown(scene).draw(scene, area, layout);
    }
    compat::endChild();
  }
  endPanel();
}

void Page::askHead(const Scene& scene) {
  const std::shared_ptr<const Snapshot>& snapshot = services_.layer.snapshot();
  if (!snapshot || snapshot->sequences.empty()) return;
  const auto last = static_cast<Index>(snapshot->sequences.size()) - 1;
  page_.parts.ask({snapshot, std::clamp<Index>(scene.cursor.sequence, 0, last)}, Lane::front);
  if (!page_.parts || page_.parts.request().snapshot != snapshot) return;
  page_.head.ask(
      {page_.parts.shared(), std::clamp<Index>(scene.cursor.cell.head, 0, snapshot->config.heads - 1), 0},
      Lane::front);
}

void Page::ask(const Scene& scene) {
  services_.layer.ask(scene.setup, Lane::front);
  if (tabTable()[placeOf(scene)].needsLayer) askHead(scene);
  shown(scene).ask(scene);
}

void Page::leave() {
  page_.shown.forget();  // a hidden page must not keep a snapshot alive
  for (const auto& tab : tabs_) tab->leave();
  page_.layer.reset();
  page_.snapshot.reset();
  page_.pictures.clear();
}

void Page::reset() {
  fit_.reset();
}

std::vector<CaptionPart> Page::caption(const Scene& scene) const {
  return shown(scene).caption(scene);
}

PageStatus Page::status(const Scene& scene) const {
  PageStatus status = layerStatus(services_, scene);
  if (const std::string shape = shown(scene).shape(); !shape.empty()) status.shape = shape;
  return status;
}

std::optional<std::string> Page::error(const Scene& scene) const {
  if (!tabTable()[placeOf(scene)].needsLayer) return std::nullopt;
  if (const auto error = layerError(page_.snapshot.get())) return error;
  const std::string problem = page_.problem();
  return problem.empty() ? std::nullopt : std::optional(problem);
}

double Page::nextFrameIn() const {
  return services_.layer.busySeconds() > 0 ? 0.2 : std::numeric_limits<double>::infinity();
}

std::size_t Page::gpuBytes() const {
  std::size_t bytes = 0;
  for (const auto& [name, textures] : page_.pictures) bytes += textures.bytes();
  return bytes;
}

namespace {

/// The first line's words in reverse order.
std::string reversedWords(const std::string& text) {
  std::istringstream line(text.substr(0, text.find('\n')));
  std::string all;
  for (std::string word; line >> word;) all = all.empty() ? word : word + " " + all;
  return all;
}

}  // namespace

std::vector<Action> Page::keyActions() {
  const auto steps = [this](int by) {
    return [this, by](Scene& scene) {
      scene.cursor.page = "lab";
      shown(scene).move(scene, by);
    };
  };
  const auto key = [](std::string id, std::string name, KeyPress shortcut, std::function<void(Scene&)> run,
                      bool repeats = false, std::string words = "") {
    return Action{.id = "lab." + std::move(id),
                  .name = std::move(name),
                  .shortcut = shortcut,
                  .repeats = repeats,
                  .words = std::move(words),
                  .run = std::move(run)};
  };
  std::vector<Action> actions{
      key("next", "Next view, head count or mistake", {Key::right, {}}, steps(1), true),
      key("previous", "Previous view, head count or mistake", {Key::left, {}}, steps(-1), true),
      key("first", "First view, head count or mistake", {Key::home, {}}, steps(-100)),
      key("last", "Last view, head count or mistake", {Key::end, {}}, steps(100)),
      key(
          "switch", "Switch the selected head off or on (Ablation)", {Key::del, {}},
          [this](Scene& scene) { shown(scene).switchHead(scene); }, false,
          "ablate ablation prune knock out disable"),
      key("paste", "Paste a table of embeddings (Embeddings)", {Key::v, {.ctrl = true}},
          [this](Scene& scene) { shown(scene).paste(scene); })};
  for (Action& move : cellActions("lab", "the lab")) actions.push_back(std::move(move));
  return actions;
}

std::vector<Action> Page::actions() {
  std::vector<Action> actions;
  for (const TabRow& row : tabTable())
    actions.push_back({.id = "lab." + std::string(row.key),
                       .name = row.action,
                       .words = row.words,
                       .run = [key = row.key](Scene& scene) {
                         scene.cursor.page = "lab";
                         scene.cursor.lab.tab = key;
                       }});
  actions.push_back({.id = "lab.patch_sample",
                     .name = "Patch from the same words in reverse",
                     .words = "activation patch causal tracing corrupted",
                     .run = [](Scene& scene) {
                       scene.cursor.page = "lab";
                       scene.cursor.lab.tab = "ablation";
                       scene.cursor.lab.ablationView = AblationView::patch;
                       scene.cursor.lab.patchText = reversedWords(scene.setup.input.text);
                     }});
  for (Action& action : keyActions()) actions.push_back(std::move(action));
  return actions;
}

}  // namespace headscope::app::head_lab_page
