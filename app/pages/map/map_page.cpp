#include "app/pages/map/map_page.h"

#include <algorithm>

#include "app/pages/common/layer_status.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/file_picker.h"

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
  Request request;
  request.question = mapQuestion(scene, shownHead(scene));
  request.pooling = scene.map.pooling;
  request.field = page_.state ? page_.state->field : 0;
  request.visible = page_.visible;
  request.near = page_.near;
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
  const auto action = [](const char* id, const char* name, std::function<void(Scene&)> run,
                         const char* words = "") {
    return Action{.id = id, .name = name, .words = words, .run = std::move(run)};
  };
  const auto openFileOf = [this](Scene&) {
    FileQuestion question{"Map queries and keys", {".safetensors"}, "", {}};
    question.chosen = [this](Scene& scene, const auto& path, const Outcome& outcome) {
      openFile(path, scene);
      outcome.done();
    };
    services_.view.dialog = std::make_shared<FilePicker>(std::move(question), services_.folders);
  };
  return {{.id = "map.open",
           .name = "Map queries and keys from a file…",
           .section = "Scene",
           .whileTyping = true,
           .words = "import load",
           .run = openFileOf},
          action("map.cells", "Zoom to the marked cell",
                 [this](Scene& scene) {
                   const MapCursor& cursor = scene.cursor.map;
                   if (cursor.query < 0 || cursor.key < 0)
                     return services_.view.messages.fail("No cell is marked. Click one on the map.");
                   scene.cursor.page = "map";
                   goToCell(scene.cursor.map, services_.view, cursor.query, cursor.key);
                 }),
          action(
              "map.whole", "Show the whole head on the map",
              [](Scene& scene) {
                scene.cursor.page = "map";
                scene.cursor.map.cellsPerPixel = 0;
              },
              "zoom out reset"),
          action("map.copy_place", "Copy the position of the marked cell",
                 [this](Scene& scene) { copyPlace(scene); })};
}

}  // namespace headscope::app::map_page
