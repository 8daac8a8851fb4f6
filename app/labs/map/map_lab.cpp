#include "app/labs/map/map_lab.h"

#include <algorithm>

#include "app/labs/layer_status.h"
#include "app/scene/number_text.h"
#include "app/widgets/file_picker.h"

namespace headscope::app {

Index mapHead(const Scene& scene) {
  return std::max<Index>(0, scene.cursor.focus >= 0 ? scene.cursor.focus : scene.cursor.cell.head);
}

MapLab::MapLab(LabServices& services)
    : services_(services),
      cache_(kTileBudget, services.resources.memory),
      screen_(services.view),
      job_(services.workers, cache_,
           [&resources = services.resources](const MapQuestion& question, std::stop_token stop) {
             return buildMapHead(question, resources, stop);
           }) {
  screen_.cache = &cache_;
  screen_.textures = &textures_;
}

bool MapLab::take(const Scene&) {
  screen_.progress = job_.progress();
  std::shared_ptr<const MapState> state = job_.state();
  if (state == screen_.state) return false;
  screen_.state = std::move(state);
  if (!screen_.state->empty) cache_.keepOnly(screen_.state->field);
  return true;
}

/// Heads there are to choose from: a file has its own.
Index MapLab::heads(const Scene& scene) const {
  const MapState* state = screen_.state.get();
  const bool file = scene.map.source == MapSource::file;
  return file && state && !state->empty ? state->heads : scene.setup.model.heads;
}

void MapLab::prepare(Scene& scene) {
  scene.cursor.decoding = false;
  textures_.beginFrame(services_.view.quickFrames);
  screen_.visible.clear();
  screen_.near.clear();
  screen_.inView.clear();
  const Index last = heads(scene) - 1;
  scene.cursor.focus = std::clamp<Index>(scene.cursor.focus, -1, last);
  scene.cursor.cell.head = std::clamp<Index>(scene.cursor.cell.head, 0, last);
}

void MapLab::draw(Scene& scene, const Layout& layout) {
  const MapCursor before = scene.cursor.map;
  mapControls(scene, screen_, layout);
  mapPanel(scene, screen_, layout);
  if (before != scene.cursor.map || textures_.unfinished()) services_.view.redraw(2);
}

void MapLab::ask(const Scene& scene) {
  cache_.keepInView(screen_.inView);
  MapRequest request;
  request.question = mapQuestion(scene, mapHead(scene));
  request.pooling = scene.map.pooling;
  request.field = screen_.state ? screen_.state->field : 0;
  request.visible = screen_.visible;
  request.near = screen_.near;
  screen_.catchingUp = !screen_.state || screen_.state->question != request.question;
  job_.look(request);
}

void MapLab::leave() {
  job_.rest();
}

LabStatus MapLab::status(const Scene& scene) const {
  const auto text = [](std::uint64_t bytes) { return bytesText(static_cast<double>(bytes)); };
  LabStatus status;
  if (screen_.state && !screen_.state->empty)
    status.figures.push_back({"held", text(screen_.state->bytes), 0});
  status.figures.push_back({"tiles", text(cache_.bytes()) + " of " + text(cache_.budget()), 0});
  // A file's queries and keys are no layer of the scene's model.
  status.shape = scene.map.source == MapSource::file ? "Q and K from a file"
                                                     : layerShape(scene, services_.layer.snapshot().get());
  status.busySeconds = screen_.progress.seconds;
  status.busyWords = screen_.progress.building || screen_.progress.overview >= 1
                         ? "mapping for " + timeText(screen_.progress.seconds)
                         : "exact overview " + percentText(screen_.progress.overview);
  status.busyName = "map.progress";
  return status;
}

std::optional<std::string> MapLab::error(const Scene&) const {
  return screen_.state ? screen_.state->error : std::nullopt;
}

double MapLab::nextFrameIn() const {
  return screen_.progress.seconds > 0 ? 0.2 : std::numeric_limits<double>::infinity();
}

/// The file's queries and keys become the map.
void MapLab::openFile(const std::filesystem::path& path, Scene& scene) const {
  scene.map.source = MapSource::file;
  scene.map.file = std::filesystem::absolute(path).string();
  scene.map.layer = 0;
  scene.cursor.page = "map";
  scene.cursor.map = {};
}

bool MapLab::open(const std::filesystem::path& path, Scene& scene) {
  if (path.extension() != ".safetensors") return false;
  openFile(path, scene);
  return true;
}

std::vector<Action> MapLab::actions() {
  return {{"map.open", "Map queries and keys from a file…", "Scene", {}, true, false, [this](Scene&) {
             FileQuestion question{"Map queries and keys", {".safetensors"}, "", {}};
             question.chosen = [this](Scene& scene, const auto& path) { openFile(path, scene); };
             services_.view.dialog = std::make_shared<FilePicker>(std::move(question), services_.folder);
           }}};
}

}  // namespace headscope::app
