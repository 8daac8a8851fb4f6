#include "app/labs/map/map_room.h"

#include <algorithm>

namespace headscope::app {

Index mapHead(const Scene& scene) {
  return std::max<Index>(0, scene.cursor.focus >= 0 ? scene.cursor.focus : scene.cursor.cell.head);
}

MapRoom::MapRoom(Workers& workers, Resources& resources)
    : cache_(kTileBudget, resources.memory),
      job_(workers, cache_, [&resources](const MapQuestion& question, std::stop_token stop) {
        return buildMapHead(question, resources, stop);
      }) {
  screen_.cache = &cache_;
  screen_.textures = &textures_;
}

bool MapRoom::beginFrame(View& view, bool quick) {
  textures_.beginFrame(quick);
  screen_.progress = job_.progress();
  screen_.visible.clear();
  screen_.near.clear();
  screen_.inView.clear();
  view.map = &screen_;
  std::shared_ptr<const MapState> state = job_.state();
  if (state == screen_.state) return false;
  screen_.state = std::move(state);
  if (!screen_.state->empty) cache_.keepOnly(screen_.state->field);
  return true;
}

void MapRoom::endFrame(const Scene& scene) {
  if (scene.cursor.page != Page::map) return job_.rest();
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

}  // namespace headscope::app
