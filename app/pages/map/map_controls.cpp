#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "app/kit/rows.h"
#include "app/pages/common/model_facts.h"
#include "app/pages/common/token_chips.h"
#include "app/pages/map/map_page.h"
#include "app/platform/keyboard_focus.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::map_page {

namespace {

/// The state if it has a head to show, else null.
const MapSnapshot* shownState(const State& page) {
  const MapSnapshot* state = page.state.get();
  return state && !state->empty ? state : nullptr;
}

void textSource(Rows& rows, Scene& scene) {
  constexpr std::size_t kEditable = 20000;
  InputSetup& input = scene.setup.input;
  if (const std::string patches = patchesText(scene); !patches.empty())
    rows.hint(patches);
  else if (input.source == EmbeddingSource::table)
    rows.hint("The typed embeddings from Heads.");
  else if (input.text.size() <= kEditable)
    textBox(rows.view(), "map.text", input.text, 3, "Type a sentence.");
  else
    rows.hint(bytesText(static_cast<double>(input.text.size())) + " of text; edit it on Heads.");
  unknownWords(scene, rows.view());
}

/// Powers of two, and one and a half times each.
const std::vector<Index>& lengthStops() {
  static const std::vector<Index> kStops = [] {
    std::vector<Index> stops;
    for (Index n = kMinMapTokens; n <= kMaxMapTokens; n *= 2) {
      stops.push_back(n);
      if (n < kMaxMapTokens) stops.push_back(n / 2 * 3);
    }
    return stops;
  }();
  return kStops;
}

/// The file's name and which part of it is shown.
void fileSource(Rows& rows, Scene& scene, const MapSnapshot* state) {
  const bool open = !scene.map.file.empty();
  std::string name = std::filesystem::path(scene.map.file).filename().string();
  if (open && state && state->question.source == MapSource::file && state->question.file == scene.map.file) {
    name += " · " + countedText(state->heads, "head");
    if (state->kvHeads < state->heads) name += fmt::format(" over {}", state->kvHeads);
    name += fmt::format(" of size {}", state->map->field().k.cols());
    if (!state->layerName.empty()) name += " · " + state->layerName;
    std::vector<Index> layers(asSize(state->layers));
    std::iota(layers.begin(), layers.end(), 0);
    const auto refuse = [&](Index) {
      return fmt::format("The file has {} layers, counted from 0.", state->layers);
    };
    if (state->layers > 1) rows.slider(scene, "map.layer", {"", layers, refuse});
  }
  if (open) rows.hint(name);
  rows.action("map.open", open ? "Open another…" : "Open Q and K…", "map.open");
}

void sourceSection(Rows& rows, Scene& scene, State& page) {
  const MapSnapshot* state = shownState(page);
  rows.section("TOKENS", state ? countText(std::max(state->queries, state->keys)) : "");
  // With this many keys, weights are small: a range from 0 to 1 would show nothing but the diagonal.
  if (rows.choice(scene, "map.source") && scene.map.source != MapSource::scene &&
      mapLook(scene).range == RangeMode::unit)
    scene.map.range = RangeMode::logarithmic;
  rows.space(4);
  if (scene.map.source == MapSource::scene) textSource(rows, scene);
  if (scene.map.source == MapSource::file) fileSource(rows, scene, state);
  if (scene.map.source != MapSource::generated) return;
  rows.slider(scene, "map.tokens", {"", lengthStops()});
  if (button(rows.view(), "map.another", "Another text")) ++scene.map.seed;
}

/// Draws the whole head with a frame around the visible part; clicking or dragging moves that part.
void minimap(Scene& scene, State& page) {
  View& view = page.view;
  const MapSnapshot* state = shownState(page);
  const float width = std::min(ImGui::GetContentRegionAvail().x, view.px(208));
  const float aspect = state ? static_cast<float>(state->queries) / static_cast<float>(state->keys) : 1;
  const auto side = [&](float share) { return std::max(view.px(24), std::round(width * share)); };
  hitArea("minimap", ImVec2(side(std::min(1.0f, 1 / aspect)), side(std::min(1.0f, aspect))));
  const ImRect area(ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  Canvas list = *ImGui::GetWindowDrawList();
  noteTabStopKind(TabStopKind::picture, {area.GetWidth() / 24, area.GetHeight() / 24});
  const bool held = ImGui::IsItemActive();
  if (!state || !drawWhole(scene, page, list, area))
    list.AddRectFilled(area.Min, area.Max, view.theme->background);
  compat::rectOutline(list, area.Min, area.Max, view.theme->line, 0, 1);
  if (!state || !page.window) return;
  MapCursor& cursor = scene.cursor.map;
  const MapWindow whole = wholeWindow(area, state->queries, state->keys), &window = *page.window;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (held) {
    cursor.row = std::clamp(whole.rowAt(mouse.y), 0.0, static_cast<double>(state->queries));
    cursor.col = std::clamp(whole.colAt(mouse.x), 0.0, static_cast<double>(state->keys));
  }
  const ImRect cells = window.cells();
  const auto inside = [&](ImVec2 point) {
    return ImVec2(whole.x(window.colAt(point.x)), whole.y(window.rowAt(point.y)));
  };
  ImVec2 from = inside(cells.Min), to = inside(cells.Max);
  const float least = view.px(7);  // keeps a frame around single cells visible
  for (float ImVec2::*axis : {&ImVec2::x, &ImVec2::y})
    if (to.*axis - from.*axis < least) {
      const float middle =
          std::clamp((from.*axis + to.*axis) / 2, area.Min.*axis + least / 2, area.Max.*axis - least / 2);
      from.*axis = middle - least / 2;
      to.*axis = middle + least / 2;
    }
  paintMark(view, list, "window", {from, to}, view.theme->text);
  track("minimap.window", from, to);
}

void goToBox(Rows& rows, Scene& scene, State& page) {
  const std::string before = page.goTo;
  const bool entered = rows.input("map.go_to", page.goTo, page.goToKeeps, "Go to a query, key or word");
  const MapSnapshot* state = shownState(page);
  if (entered && state) {
    const auto place = findPlace(page.goTo, *state, scene.cursor.map);
    page.goToProblem = place.ok() ? "" : place.error().message;
    page.goToField = state->field;
    if (place.ok()) goToCell(scene.cursor.map, page.view, place->query, place->key);
    page.goToKeeps = true;  // pressing Enter again finds the next match
  }
  // The message disappears with its cause: other words, another head or another text.
  if (page.goTo != before || (state && page.goToField != state->field)) page.goToProblem.clear();
  rows.problem(page.goToProblem, "map.go_to.problem");
}

void whereSection(Rows& rows, Scene& scene, State& page) {
  const std::optional<MapWindow>& window = page.window;
  rows.section("WHERE", window && shownState(page) ? zoomText(*window) : "");
  minimap(scene, page);
  rows.space(6);
  goToBox(rows, scene, page);
}

/// One button per head, marked with its KV group.
void headChoice(Rows& rows, Scene& scene, const State& page) {
  const View& view = page.view;
  const MapSnapshot* state = shownState(page);
  const Index heads = state ? state->heads : scene.setup.model.heads;
  const Index kvHeads = state ? state->kvHeads : scene.setup.model.kvHeads;
  rows.section("HEADS");
  constexpr Index kColumns = 8;
  const float space = view.px(4), side = std::min(view.px(30), (rows.width() - space * 7) / 8);
  Canvas list = *ImGui::GetWindowDrawList();
  const Index shown = std::min(shownHead(scene), heads - 1);
  for (Index head = 0; head < heads; ++head) {
    if (head % kColumns != 0) ImGui::SameLine(0, space);
    if (hitArea(fmt::format("map.head.{}", head), ImVec2(std::floor(side), std::floor(side))))
      scene.cursor.cell.head = head;
    const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
    const bool lit = head == shown, hovered = ImGui::IsItemHovered();
    list.AddRectFilled(from, to, lit || hovered ? view.theme->raised : view.theme->background, view.px(5));
    if (lit && drawsMark(list, "chosen head", from, to))
      compat::rectOutline(list, from, to, view.theme->text, view.px(5), view.px(1.6f));
    paintText(list, view.fonts->monoSmall, ImVec2((from.x + to.x) / 2, (from.y + to.y) / 2 - view.px(1)),
              lit ? view.theme->text : view.theme->secondary, std::to_string(head), Align::center);
    if (kvHeads > 1 && kvHeads < heads)
      list.AddRectFilled(ImVec2(from.x + view.px(6), to.y - view.px(5)),
                         ImVec2(to.x - view.px(6), to.y - view.px(3)),
                         groupColor(*view.theme, head / (heads / kvHeads)));
  }
}

void lookSection(Rows& rows, Scene& scene) {
  View& view = rows.view();
  rows.section("EACH PIXEL SHOWS");
  rows.choice(scene, "map.pooling");
  rows.space(2);
  static constexpr RangeMode kModes[] = {RangeMode::unit, RangeMode::perHead, RangeMode::logarithmic};
  static const std::vector<Choice> kRanges{
      {"0 to 1", "", "unit"}, {"0 to brightest in view", "", "per_head"}, {"Logarithmic", "", "logarithmic"}};
  const Look look = mapLook(scene);
  auto range = static_cast<int>(std::ranges::find(kModes, look.range) - std::begin(kModes));
  if (dropdown(view, "map.range", kRanges, range, 0, fieldAt("map.range").help))
    scene.map.range = kModes[range];
  ImGui::SameLine(0, view.px(8));
  std::vector<Choice> colormaps;
  for (const std::string_view name : kColormapNames)
    colormaps.push_back({std::string(name), "", std::string(name)});
  auto colormap = static_cast<int>(look.colormap);
  if (dropdown(view, "colormap", colormaps, colormap, 0, fieldAt("map.colormap").help))
    scene.map.colormap = static_cast<render::Colormap>(colormap);
}

void memorySection(Rows& rows, const State& page) {
  const MapSnapshot* state = shownState(page);
  if (!state) return;
  const auto text = [](auto bytes) { return bytesText(static_cast<double>(bytes)); };
  const auto pair = [&](const char* label, const std::string& value, const char* name = "") {
    rows.pair(label, value, {.type = Type::small, .name = name});
  };
  rows.section("MEMORY");
  pair("all weights",
       text(static_cast<double>(state->queries) * static_cast<double>(state->keys) * sizeof(float)));
  pair("for this head", text(state->bytes));
  pair("tiles", text(page.cache->bytes()) + " of " + text(page.cache->budget()), "map.tiles");
  pair("on the GPU", text(page.textures->bytes()) + " of " + text(Textures::kBudget));
  for (const std::string& sentence : state->omitted) rows.hint(sentence);
}

}  // namespace

void controls(Scene& scene, State& page, const Layout& layout) {
  leftPanel(page.view, layout, "map.controls", [&](Rows& rows) {
    sourceSection(rows, scene, page);
    whereSection(rows, scene, page);
    headChoice(rows, scene, page);
    lookSection(rows, scene);
    memorySection(rows, page);
  });
}

}  // namespace headscope::app::map_page
