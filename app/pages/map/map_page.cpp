#include "app/pages/map/map_page.h"

#include <bit>
#include <charconv>

#include "app/compute/plots/plot_data.h"
#include "app/pages/common/model_facts.h"
#include "app/scene/text/number_text.h"
#include "attention/text/ascii.h"

namespace headscope::app::map_page {

Index shownHead(const Scene& scene) {
  return std::max<Index>(0, scene.cursor.cell.head);
}

Page::Page(PageServices& services)
    : services_(services),
      cache_(kTileBudget, services.resources.memory),
      page_(services.view),
      job_(services.workers, cache_,
           [&resources = services.resources](const MapQuestion& question, std::stop_token stop) {
             return buildMapHead(question, resources, stop);
           }) {
  page_.cache = &cache_;
  page_.textures = &textures_;
}

bool Page::take(const Scene&) {
  page_.progress = job_.progress();
  std::shared_ptr<const MapSnapshot> state = job_.state();
  if (state == page_.state) return false;
  page_.state = std::move(state);
  if (!page_.state->empty) cache_.keepOnly(page_.state->field);
  return true;
}

/// A file brings its own number of heads.
Index Page::heads(const Scene& scene) const {
  const MapSnapshot* state = page_.state.get();
  const bool file = scene.map.source == MapSource::file;
  return file && state && !state->empty ? state->heads : scene.setup.model.heads;
}

void Page::prepare(Scene& scene) {
  textures_.beginFrame(services_.view.quickFrames);
  page_.visible.clear();
  page_.near.clear();
  page_.inView.clear();
  const Index last = heads(scene) - 1;
  scene.cursor.focus = std::clamp<Index>(scene.cursor.focus, -1, last);
  scene.cursor.cell.head = std::clamp<Index>(scene.cursor.cell.head, 0, last);
}

void Page::draw(Scene& scene, const Layout& layout) {
  const MapCursor before = scene.cursor.map;
  controls(scene, page_, layout);
  mapPanel(scene, page_, layout);
  if (before != scene.cursor.map || textures_.unfinished()) services_.view.redraw(2);
}

void Page::ask(const Scene& scene) {
  cache_.keepInView(page_.inView);
  const Request request{mapQuestion(scene, shownHead(scene)), scene.map.pooling,
                        page_.state ? page_.state->field : 0, page_.visible, page_.near};
  page_.catchingUp = !page_.state || page_.state->question != request.question;
  job_.look(request);
}

void Page::leave() {
  job_.pause();
}

PageStatus Page::status(const Scene& scene) const {
  const auto text = [](std::uint64_t bytes) { return bytesText(static_cast<double>(bytes)); };
  PageStatus status;
  if (page_.state && !page_.state->empty) status.figures.push_back({"held", text(page_.state->bytes), 0});
  status.figures.push_back({"tiles", text(cache_.bytes()) + " of " + text(cache_.budget()), 0});
  // A file's queries and keys aren't a layer of the scene's model.
  status.shape = scene.map.source == MapSource::file ? "Q and K from a file"
                                                     : layerShape(scene, page_.state && page_.state->causal);
  if (page_.state) status.notFinite = page_.state->notFinite;
  status.busySeconds = page_.progress.seconds;
  status.busyWords = page_.progress.building || page_.progress.overview >= 1
                         ? "mapping for " + timeText(page_.progress.seconds)
                         : "exact overview " + percentText(page_.progress.overview);
  status.busyName = "map.progress";
  return status;
}

std::optional<std::string> Page::error(const Scene&) const {
  return page_.state ? page_.state->error : std::nullopt;
}

double Page::nextFrameIn() const {
  return page_.progress.seconds > 0 ? 0.2 : std::numeric_limits<double>::infinity();
}

/// Shows the file's queries and keys as the map.
void Page::openFile(const std::filesystem::path& path, Scene& scene) const {
  scene.map.source = MapSource::file;
  scene.map.file = std::filesystem::absolute(path).string();
  scene.map.layer = 0;
  scene.cursor.page = "map";
  scene.cursor.map = {};
}

bool Page::open(const NamedFile& file, const Requester& requester, const Outcome& outcome) {
  if (file.path.extension() != ".safetensors") return false;
  const auto taken = requester.edit(attention::shownPath(file.path.filename()),
                                    [&](Scene& scene) { openFile(file.path, scene); });
  // The page itself reports a file that can't be mapped.
  taken ? outcome.done() : outcome.fail(taken.error().message);
  return true;
}

/// Copies the marked cell and, if computed, its weight.
void Page::copyPlace(const Scene& scene) {
  View& view = services_.view;
  const MapCursor& cursor = scene.cursor.map;
  if (!page_.state || page_.state->empty || cursor.query < 0 || cursor.key < 0)
    return view.messages.fail("No cell is marked. Click one on the map.");
  std::string text = std::to_string(cursor.query) + ", " + std::to_string(cursor.key);
  ImGui::SetClipboardText(text.c_str());
  view.tell("Copied " + text + " for use in “Go to”", view.pressedAt);
}

std::vector<Action> Page::actions() {
  ActionList list;
  list.add({.id = "map.open",
            .name = "Map queries and keys from a file…",
            .section = "Scene",
            .whileTyping = true,
            .words = "import load"},
           [this](Scene&) {
             const auto chosen = [this](Scene& scene, const auto& path, const Outcome& outcome) {
               openFile(path, scene);
               outcome.done();
             };
             services_.ask({"Map queries and keys", {".safetensors"}, "", chosen});
           });
  list.add({.id = "map.cells", .name = "Zoom to the marked cell"}, [this](Scene& scene) {
    const MapCursor& cursor = scene.cursor.map;
    if (cursor.query < 0 || cursor.key < 0)
      return services_.view.messages.fail("No cell is marked. Click one on the map.");
    scene.cursor.page = "map";
    goToCell(scene.cursor.map, services_.view, cursor.query, cursor.key);
  });
  list.add({.id = "map.whole", .name = "Show the whole head on the map", .words = "zoom out reset"},
           [](Scene& scene) {
             scene.cursor.page = "map";
             scene.cursor.map.cellsPerPixel = 0;
           });
  list.add({.id = "map.copy_place", .name = "Copy the position of the marked cell"},
           [this](Scene& scene) { copyPlace(scene); });
  return std::move(list.all);
}

ImRect MapWindow::cells() const {
  return {std::max(area.Min.x, x(0)), std::max(area.Min.y, y(0)),
          std::min(area.Max.x, x(static_cast<double>(m))), std::min(area.Max.y, y(static_cast<double>(n)))};
}

int MapWindow::level() const {
  // A size slightly below a pixel still counts as one pixel.
  return std::countr_zero(
      static_cast<std::uint64_t>(powerOfTwoStep(1, cellsPerPixel * (1 - 1e-6), std::max<Index>({n, m, 1}))));
}

double wholeZoom(const ImRect& area, Index n, Index m) {
  return std::max(static_cast<double>(n) / static_cast<double>(std::max(1.0f, area.GetHeight())),
                  static_cast<double>(m) / static_cast<double>(std::max(1.0f, area.GetWidth())));
}

MapWindow wholeWindow(const ImRect& area, Index n, Index m) {
  MapWindow whole;
  whole.area = area;
  whole.n = n;
  whole.m = m;
  whole.cellsPerPixel = static_cast<double>(n) / static_cast<double>(area.GetHeight());
  whole.wide = whole.cellsPerPixel * static_cast<double>(area.GetWidth()) / static_cast<double>(m);
  return whole;
}

namespace {

/// The first visible cell for a wanted middle, with `all` cells inside the window or filling it.
double firstCell(double& middle, double shown, double all) {
  const double one = shown / 2, other = all - shown / 2;
  middle = std::clamp(middle, std::min(one, other), std::max(one, other));
  return middle - shown / 2;
}

}  // namespace

MapWindow mapWindow(MapCursor& cursor, const View& view, const ImRect& area, Index n, Index m) {
  MapWindow window;
  window.area = area;
  window.n = n;
  window.m = m;
  const double whole = wholeZoom(area, n, m);
  const double closest = window.closest = std::min(whole, 1 / static_cast<double>(view.px(96)));
  const bool all = cursor.cellsPerPixel <= 0 || cursor.cellsPerPixel >= whole * (1 - 1e-9);
  if (all) {
    cursor.cellsPerPixel = 0;
    cursor.row = static_cast<double>(n) / 2;
    cursor.col = static_cast<double>(m) / 2;
  }
  window.cellsPerPixel = all ? whole : std::max(cursor.cellsPerPixel, closest);
  if (!all) cursor.cellsPerPixel = window.cellsPerPixel;
  // While presenting, a short text fills the screen: its cells may be wider than high.
  constexpr Index kShort = 64;
  constexpr double kWidest = 1.6;
  if (all && view.present && std::max(n, m) <= kShort)
    window.wide = std::clamp(area.GetWidth() * whole / static_cast<double>(m), 1.0, kWidest);
  window.row = firstCell(cursor.row, area.GetHeight() * window.cellsPerPixel, static_cast<double>(n));
  window.col =
      firstCell(cursor.col, area.GetWidth() * window.cellsPerPixel / window.wide, static_cast<double>(m));
  return window;
}

void zoomMap(MapCursor& cursor, const MapWindow& window, double factor, ImVec2 about) {
  // Stops at the closest zoom, so that the cell under the pointer stays there.
  const double next = std::max(window.cellsPerPixel * factor, window.closest);
  const double fromMiddleX = about.x - window.area.GetCenter().x,
               fromMiddleY = about.y - window.area.GetCenter().y;
  cursor.row = window.rowAt(about.y) - fromMiddleY * next;
  cursor.col = window.colAt(about.x) - fromMiddleX * next;
  cursor.cellsPerPixel = next;
}

void panMap(MapCursor& cursor, const MapWindow& window, float dx, float dy) {
  cursor.col += static_cast<double>(dx) * window.cellsPerPixel / window.wide;
  cursor.row += static_cast<double>(dy) * window.cellsPerPixel;
}

void goToCell(MapCursor& cursor, const View& view, Index query, Index key) {
  cursor.query = query;
  cursor.key = key;
  cursor.row = static_cast<double>(query) + 0.5;
  cursor.col = static_cast<double>(key) + 0.5;
  const double readable = 1 / static_cast<double>(view.px(24));
  if (cursor.cellsPerPixel <= 0 || cursor.cellsPerPixel > readable) cursor.cellsPerPixel = readable;
}

std::string zoomText(const MapWindow& window) {
  const auto number = [](double value) { return numberText(value, value < 10 ? 2 : 3); };
  if (window.cellsPerPixel >= 1) {
    const std::string side = number(window.cellsPerPixel);
    return "1 pixel = " + side + " × " + side + " cells";
  }
  return "1 cell = " + number(window.cellPixels()) + " pixels";
}

Index labelStep(const MapWindow& window, float room) {
  return roundStep(1, static_cast<double>(room) * window.cellsPerPixel, std::max(window.n, window.m));
}

std::vector<CaptionPart> captionOf(const State& page) {
  const MapSnapshot* state = page.state.get();
  if (!state || state->empty || !state->text) return {};
  const Theme& theme = *page.view.theme;
  const auto count = [](Index cells) { return countText(cells); };
  return {
      {count(state->queries) + " queries", theme.query},
      {" over ", theme.text},
      {count(state->keys) + " keys", theme.key},
      {" in one head: " + count(state->queries) + " × " + count(state->keys) + " weights, " +
           bytesText(static_cast<double>(state->queries) * static_cast<double>(state->keys) * sizeof(float)) +
           " if stored at once.",
       theme.text}};
}

using attention::Error;
using attention::Result;

namespace {

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

/// Returns the position given as a number, or the next position after `from` (wrapping around) whose token
/// contains the text.
Result<Index> findOne(const std::string& part, const std::vector<attention::Token>& tokens, Index count,
                      Index from, const char* what) {
  Index number = 0;
  const auto parsed = std::from_chars(part.data(), part.data() + part.size(), number);
  const bool whole = parsed.ptr == part.data() + part.size();
  if (whole && parsed.ec != std::errc::invalid_argument) {
    if (parsed.ec == std::errc() && number >= 0 && number < count) return number;
    return Error{std::string(what) + " " + part + " doesn't exist; expected 0 to " + countText(count - 1) +
                 "."};
  }
  if (tokens.empty()) return Error{"No text to search. Enter numbers: query, key."};
  const std::string wanted = attention::lowerCase(part);
  for (Index step = 1; step <= count; ++step) {
    const Index at = (std::max<Index>(from, -1) + step) % count;
    if (attention::lowerCase(tokens[asSize(at)].text).find(wanted) != std::string::npos) return at;
  }
  return Error{std::string("No ") + what + " contains “" + part + "”."};
}

}  // namespace

Result<Destination> findPlace(const std::string& line, const MapSnapshot& state, const MapCursor& from) {
  // A lone comma is searched for as a token.
  const std::size_t comma = line.size() > 1 ? line.find(',') : std::string::npos;
  const std::string first = trimmed(std::string_view(line).substr(0, comma));
  const std::string second =
      comma == std::string::npos ? "" : trimmed(std::string_view(line).substr(comma + 1));
  if (first.empty() && second.empty())
    return Error{"Type query, key as numbers such as 120, 40, or as parts of tokens."};
  Destination place{std::clamp<Index>(from.query, 0, state.queries - 1),
                    std::clamp<Index>(from.key, 0, state.keys - 1)};
  if (!first.empty()) {
    const Result<Index> query = findOne(first, state.text->queries, state.queries, from.query, "query");
    if (!query) return query.error();
    place.query = *query;
    // Both axes show the same text, so a single word means a position on the diagonal.
    if (comma == std::string::npos && state.text->one) place.key = std::min(*query, state.keys - 1);
  }
  if (!second.empty()) {
    const Result<Index> key = findOne(second, state.text->keys, state.keys, from.key, "key");
    if (!key) return key.error();
    place.key = *key;
  }
  return place;
}

}  // namespace headscope::app::map_page
