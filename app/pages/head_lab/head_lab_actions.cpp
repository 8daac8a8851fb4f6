#include <algorithm>
#include <sstream>

#include "app/pages/head_lab/head_lab_page.h"

namespace headscope::app::head_lab_page {

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
      page_.playing = false;
      if (shown(scene).move(scene, by)) return;
      scene.cursor.lab.tab = "pipeline";
      moveStep(scene, page_, by);
    };
  };
  // The cursor fit brings cells beyond the last one back inside.
  const auto moves = [](Index Cell::*place, Index by) {
    return [place, by](Scene& scene) {
      scene.cursor.page = "lab";
      scene.cursor.cell.*place = std::max<Index>(0, scene.cursor.cell.*place + by);
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
  const auto play = [this](Scene& scene) {
    scene.cursor.page = "lab";
    scene.cursor.lab.tab = "pipeline";
    page_.playing = !page_.playing;
    page_.playedAt = services_.view.time;
    if (page_.playing && scene.cursor.lab.step == stepsOf(page_).back()) scene.cursor.lab.step = Step::input;
  };
  const Mods shift{.shift = true};
  return {key("next", "Next step or mistake", {Key::right, {}}, steps(1), true),
          key("previous", "Previous step or mistake", {Key::left, {}}, steps(-1), true),
          key("first", "First step or mistake", {Key::home, {}}, steps(-100)),
          key("last", "Last step or mistake", {Key::end, {}}, steps(100)),
          key("play", "Play or pause the pipeline", {Key::space, {}}, play),
          key("query_down", "Next query in the lab", {Key::down, {}}, moves(&Cell::query, 1), true),
          key("query_up", "Previous query in the lab", {Key::up, {}}, moves(&Cell::query, -1), true),
          key("key_right", "Next key in the lab", {Key::right, shift}, moves(&Cell::key, 1), true),
          key("key_left", "Previous key in the lab", {Key::left, shift}, moves(&Cell::key, -1), true),
          key(
              "switch", "Switch the pointed-at head off or on (Ablation)", {Key::del, {}},
              [this](Scene& scene) { shown(scene).switchHead(scene); }, false,
              "ablate ablation prune knock out disable"),
          key("paste", "Paste a table of embeddings (Embeddings)", {Key::v, {.ctrl = true}},
              [this](Scene& scene) { shown(scene).paste(scene); })};
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
