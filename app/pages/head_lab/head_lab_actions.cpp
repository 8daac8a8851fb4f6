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
    actions.push_back({"lab." + std::string(row.key),
                       row.action,
                       "Lab",
                       {},
                       false,
                       false,
                       [key = row.key](Scene& scene) {
                         scene.cursor.page = "lab";
                         scene.cursor.lab.tab = key;
                       },
                       "",
                       row.words});
  actions.push_back({"lab.patch_sample",
                     "Patch from the same words in reverse",
                     "Lab",
                     {},
                     false,
                     false,
                     [](Scene& scene) {
                       scene.cursor.page = "lab";
                       scene.cursor.lab.tab = "ablation";
                       scene.cursor.lab.ablationView = AblationView::patch;
                       scene.cursor.lab.patchText = reversedWords(scene.setup.input.text);
                     },
                     "",
                     "activation patch causal tracing corrupted"});
  const Action keys[] = {
      {"lab.next", "Next step or mistake", "Lab", {Key::right, {}}, false, true, steps(1), "lab"},
      {"lab.previous", "Previous step or mistake", "Lab", {Key::left, {}}, false, true, steps(-1), "lab"},
      {"lab.first", "First step or mistake", "Lab", {Key::home, {}}, false, false, steps(-100), "lab"},
      {"lab.last", "Last step or mistake", "Lab", {Key::end, {}}, false, false, steps(100), "lab"},
      {"lab.play",
       "Play or pause the pipeline",
       "Lab",
       {Key::space, {}},
       false,
       false,
       [this](Scene& scene) {
         scene.cursor.page = "lab";
         scene.cursor.lab.tab = "pipeline";
         page_.playing = !page_.playing;
         page_.playedAt = services_.view.time;
         if (page_.playing && scene.cursor.lab.step == stepsOf(page_).back())
           scene.cursor.lab.step = Step::input;
       },
       "lab"},
      {"lab.query_down",
       "Next query in the lab",
       "Lab",
       {Key::down, {}},
       false,
       true,
       moves(&Cell::query, 1),
       "lab"},
      {"lab.query_up",
       "Previous query in the lab",
       "Lab",
       {Key::up, {}},
       false,
       true,
       moves(&Cell::query, -1),
       "lab"},
      {"lab.key_right",
       "Next key in the lab",
       "Lab",
       {Key::right, shift},
       false,
       true,
       moves(&Cell::key, 1),
       "lab"},
      {"lab.key_left",
       "Previous key in the lab",
       "Lab",
       {Key::left, shift},
       false,
       true,
       moves(&Cell::key, -1),
       "lab"},
      {"lab.switch",
       "Switch the pointed-at head off or on (Ablation)",
       "Lab",
       {Key::del, {}},
       false,
       false,
       [this](Scene& scene) { shown(scene).switchHead(scene); },
       "lab",
       "ablate ablation prune knock out disable"},
      {"lab.paste",
       "Paste a table of embeddings (Embeddings)",
       "Lab",
       {Key::v, {.ctrl = true}},
       false,
       false,
       [this](Scene& scene) { shown(scene).paste(scene); },
       "lab"}};
  actions.insert(actions.end(), std::begin(keys), std::end(keys));
  return actions;
}

}  // namespace headscope::app
