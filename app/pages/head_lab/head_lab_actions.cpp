#include <algorithm>
#include <sstream>

#include "app/pages/head_lab/head_lab_page.h"

namespace headscope::app {

namespace {

/// The words of the first line from the last to the first.
std::string reversedWords(const std::string& text) {
  std::istringstream line(text.substr(0, text.find('\n')));
  std::string all;
  for (std::string word; line >> word;) all = all.empty() ? word : word + " " + all;
  return all;
}

}  // namespace

std::vector<Action> HeadLabPage::actions() {
  const auto steps = [this](int by) {
    return [this, by](Scene& scene) {
      scene.cursor.page = "lab";
      page_.playing = false;
      if (shown(scene).move(scene, by)) return;
      scene.cursor.lab.tab = "pipeline";
      moveStep(scene, page_, by);
    };
  };
  // Cells beyond the last are brought back inside by the fit.
  const auto moves = [](Index Cell::*place, Index by) {
    return [place, by](Scene& scene) {
      scene.cursor.page = "lab";
      scene.cursor.cell.*place = std::max<Index>(0, scene.cursor.cell.*place + by);
    };
  };
  const Mods shift{.shift = true};
  std::vector<Action> actions;
  for (const HeadLabTabRow& row : headLabTabs())
    actions.push_back({.id = "lab." + std::string(row.key),
                       .name = row.action,
                       .section = "Lab",
                       .words = row.words,
                       .run = [key = row.key](Scene& scene) {
                         scene.cursor.page = "lab";
                         scene.cursor.lab.tab = key;
                       }});
  actions.push_back({.id = "lab.patch_sample",
                     .name = "Patch from the same words in reverse",
                     .section = "Lab",
                     .words = "activation patch causal tracing corrupted",
                     .run = [](Scene& scene) {
                       scene.cursor.page = "lab";
                       scene.cursor.lab.tab = "ablation";
                       scene.cursor.lab.ablationView = AblationView::patch;
                       scene.cursor.lab.patchText = reversedWords(scene.setup.input.text);
                     }});
  const Action keys[] = {{.id = "lab.next",
                          .name = "Next step or mistake",
                          .section = "Lab",
                          .shortcut = {Key::right, {}},
                          .repeats = true,
                          .page = "lab",
                          .run = steps(1)},
                         {.id = "lab.previous",
                          .name = "Previous step or mistake",
                          .section = "Lab",
                          .shortcut = {Key::left, {}},
                          .repeats = true,
                          .page = "lab",
                          .run = steps(-1)},
                         {.id = "lab.first",
                          .name = "First step or mistake",
                          .section = "Lab",
                          .shortcut = {Key::home, {}},
                          .page = "lab",
                          .run = steps(-100)},
                         {.id = "lab.last",
                          .name = "Last step or mistake",
                          .section = "Lab",
                          .shortcut = {Key::end, {}},
                          .page = "lab",
                          .run = steps(100)},
                         {.id = "lab.play",
                          .name = "Play or pause the pipeline",
                          .section = "Lab",
                          .shortcut = {Key::space, {}},
                          .page = "lab",
                          .run =
                              [this](Scene& scene) {
                                scene.cursor.page = "lab";
                                scene.cursor.lab.tab = "pipeline";
                                page_.playing = !page_.playing;
                                page_.playedAt = services_.view.time;
                                if (page_.playing && scene.cursor.lab.step == stepsOf(page_).back())
                                  scene.cursor.lab.step = Step::input;
                              }},
                         {.id = "lab.query_down",
                          .name = "Next query in the lab",
                          .section = "Lab",
                          .shortcut = {Key::down, {}},
                          .repeats = true,
                          .page = "lab",
                          .run = moves(&Cell::query, 1)},
                         {.id = "lab.query_up",
                          .name = "Previous query in the lab",
                          .section = "Lab",
                          .shortcut = {Key::up, {}},
                          .repeats = true,
                          .page = "lab",
                          .run = moves(&Cell::query, -1)},
                         {.id = "lab.key_right",
                          .name = "Next key in the lab",
                          .section = "Lab",
                          .shortcut = {Key::right, shift},
                          .repeats = true,
                          .page = "lab",
                          .run = moves(&Cell::key, 1)},
                         {.id = "lab.key_left",
                          .name = "Previous key in the lab",
                          .section = "Lab",
                          .shortcut = {Key::left, shift},
                          .repeats = true,
                          .page = "lab",
                          .run = moves(&Cell::key, -1)},
                         {.id = "lab.switch",
                          .name = "Switch the pointed-at head off or on (Ablation)",
                          .section = "Lab",
                          .shortcut = {Key::del, {}},
                          .page = "lab",
                          .words = "ablate ablation prune knock out disable",
                          .run = [this](Scene& scene) { shown(scene).switchHead(scene); }},
                         {.id = "lab.paste",
                          .name = "Paste a table of embeddings (Embeddings)",
                          .section = "Lab",
                          .shortcut = {Key::v, {.ctrl = true}},
                          .page = "lab",
                          .run = [this](Scene& scene) { shown(scene).paste(scene); }}};
  actions.insert(actions.end(), std::begin(keys), std::end(keys));
  return actions;
}

}  // namespace headscope::app
