// Keyboard actions that filter heads by behaviour, move between cells and zoom the thumbnails.

#include <fmt/core.h>

#include <algorithm>

#include "app/pages/model/model_parts.h"
#include "app/pages/model/overview/overview_parts.h"

namespace headscope::app::model_page {

/// Filters heads by behaviour. The shortcuts need Shift because plain digits switch pages everywhere.
std::vector<Action> filterActions(const State& page) {
  std::vector<Action> actions;
  for (std::size_t i = 0; i < 9; ++i)
    actions.push_back({.id = fmt::format("model.filter.{}", i + 1),
                       .name = fmt::format("Highlight heads by behaviour {}", i + 1),
                       .shortcut = KeyPress{static_cast<Key>('1' + i), {.shift = true}},
                       .run = [&page, i](Scene& scene) {
                         const std::vector<Behaviour> found =
                             behavioursOf(page.layers, scene.look.labelThreshold);
                         if (i >= found.size()) return;
                         std::string& chosen = scene.cursor.model.detector;
                         chosen = chosen == found[i].name ? "" : found[i].name;
                       }});
  return actions;
}

std::vector<Action> moveActions(State& page, StudyRun& run) {
  const auto cell = [&page](Index queries, Index keys) {
    return [&page, queries, keys](Scene& scene) {
      if (!page.ready()) return;
      page.view.nextHover = page.view.hover = {};
      Cell& at = scene.cursor.cell;
      at.query = std::clamp<Index>(at.query + queries, 0, page.queries() - 1);
      at.key = std::clamp<Index>(at.key + keys, 0, page.keys() - 1);
    };
  };
  const auto arrow = [&](const char* id, const char* name, Key key, Index queries, Index keys) {
    return Action{.id = id,
                  .name = name,
                  .shortcut = {key, {.shift = true}},
                  .repeats = true,
                  .run = cell(queries, keys)};
  };
  const auto zoom = [&page](float steps) { return [&page, steps](Scene&) { page.zoom.steps = steps; }; };
  return {
      arrow("model.key_before", "Previous key", Key::left, 0, -1),
      arrow("model.key_after", "Next key", Key::right, 0, 1),
      arrow("model.query_before", "Previous query", Key::up, -1, 0),
      arrow("model.query_after", "Next query", Key::down, 1, 0),
      {.id = "model.larger",
       .name = "Enlarge thumbnails",
       .shortcut = {Key::equal},
       .repeats = true,
       .words = "zoom in",
       .run = zoom(1)},
      {.id = "model.smaller",
       .name = "Shrink thumbnails",
       .shortcut = {Key::minus},
       .repeats = true,
       .words = "zoom out",
       .run = zoom(-1)},
      {.id = "model.stop",
       .name = "Pause or resume computing layers",
       .whileTyping = true,
       .run =
           [&page, &run](Scene& scene) {
             if (page.run.stopped) return page.run.stopped.reset();
             if (!page.model.config || run.busySeconds() == 0) return;
             run.cancel();
             page.run.stopped = modelQuestion(scene.setup);
             page.writing.on = false;
           }},
      {.id = "model.all_in_sight",
       .name = "Show all heads",
       .shortcut = {Key::home},
       .words = "zoom out reset",
       .run = [&page](Scene&) { page.zoom = {}; }},
  };
}

}  // namespace headscope::app::model_page
