#include <fmt/core.h>

#include "app/pages/model/model_page.h"
#include "app/pages/model/model_pictures.h"
#include "app/pages/model/overview/overview_parts.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::model_page {

using attention::asSize;

// The model page's named actions: generation, the lens, choosing heads and switching them off, views.

const std::string& State::word(Index id) {
  auto [at, isNew] = model.words.try_emplace(id);
  if (isNew && id < 0)
    at->second = "—";
  else if (isNew && study && study->opened->model->classifies())
    at->second = study->opened->config().picture->classes[asSize(id)];
  else if (isNew && study)
    at->second = modelTokens(study->opened->tokenizer.value(), std::span(&id, 1)).front().text;
  return at->second;
}

std::string probabilityText(float probability) {
  if (probability >= 0.0005f || probability == 0) return fixedText(probability, 3);
  return numberText(probability, 1);
}

std::string filterName(const attention::HeadLabel& label) {
  return label.detector ? std::string(label.detector->title) : "mixed";
}

bool isDeliberate(const attention::HeadLabel& label) {
  if (!label.detector) return false;
  const std::string_view name = label.detector->name;
  return name == "previous" || name == "induction" || name == "same_token" || name == "offset";
}

bool isOff(const Scene& scene, Index layer, Index head) {
  const auto& off = scene.setup.subject.switchedOff;
  return std::any_of(off.begin(), off.end(),
                     [&](const SwitchedHead& one) { return one.layer == layer && one.head == head; });
}

void switchHead(Scene& scene, Index layer, Index head) {
  auto& off = scene.setup.subject.switchedOff;
  if (std::erase_if(off, [&](const SwitchedHead& one) { return one.layer == layer && one.head == head; }) ==
      0)
    off.push_back({layer, head, HeadOff::zero});
}

std::vector<Action> playActions(State& page) {
  ActionList list;
  list.add({.id = "model.play",
            .name = "Start or pause generation",
            .shortcut = {Key::space},
            .words = "generate sample"},
           [&page](Scene&) {
             page.writing.on = !page.writing.on && page.ready();
             page.writing.wroteAt = 0;
           });
  list.add({.id = "model.step",
            .name = "Generate one token",
            .shortcut = {Key::period},
            .repeats = true,
            .words = "generate next token"},
           [&page](Scene& scene) {
             page.writing.on = false;
             if (page.ready() && page.study.answers(modelQuestion(scene.setup)))
               page.writing.followsLast = writeOn(scene, *page.study);
           });
  // Removes generated tokens until `kept` are left.
  const auto keep = [&page](Scene& scene, Index kept) {
    page.writing.on = false;
    auto& written = scene.setup.subject.written;
    written.resize(asSize(std::clamp<Index>(kept, 0, std::ssize(written))));
  };
  list.add(
      {.id = "model.back", .name = "Remove one generated token", .shortcut = {Key::comma}, .repeats = true},
      [keep](Scene& scene) { keep(scene, std::ssize(scene.setup.subject.written) - 1); });
  list.add({.id = "model.forget",
            .name = "Clear generated text",
            .whileTyping = true,
            .words = "reset clear generated"},
           [keep](Scene& scene) { keep(scene, 0); });
  list.add({.id = "model.cut", .name = "Discard what was generated after this token", .whileTyping = true},
           [keep, &page](Scene& scene) {
             if (page.study) keep(scene, scene.cursor.cell.query + 1 - page.study->text.typed);
           });
  list.add({.id = "model.edit_token", .name = "Change this generated word"}, [&page](Scene& scene) {
    if (const std::string reason = cannotChange(page, scene.cursor.cell.query); !reason.empty())
      return page.view.say(reason);
    openTokenEdit(page, scene.cursor.cell.query);
  });
  return std::move(list.all);
}

/// Chooses the next head with a learned behaviour, layer by layer from the chosen head, wrapping around.
void nextNamed(Scene& scene, State& page) {
  if (!page.model.config || !page.ready()) return;
  const Index heads = page.model.config->heads, all = heads * page.model.config->layerCount();
  Cursor& cursor = scene.cursor;
  for (Index i = 1; i <= all; ++i) {
    const Index at = (cursor.model.layer * heads + cursor.cell.head + i) % all;
    const HeadSummary* head = page.summary(at / heads, at % heads);
    if (!head || !isDeliberate(head->label(scene.look.labelThreshold))) continue;
    cursor.model.layer = at / heads;
    cursor.cell.head = at % heads;
    return;
  }
  page.view.say("No head has a named behaviour.");
}

std::vector<Action> headActions(State& page) {
  ActionList list;
  const auto lens = [&](const char* id, const char* name, char key, Index by) {
    list.add(
        {.id = id, .name = name, .shortcut = {static_cast<Key>(key)}, .repeats = true, .words = "logit lens"},
        [&page, by](Scene& scene) {
          if (!page.model.config) return;
          const Index last = page.model.config->layerCount();
          Index& stop = scene.cursor.model.stop;
          stop = std::clamp<Index>((stop < 0 ? last : stop) + by, 0, last);
          if (stop == last) stop = -1;
        });
  };
  lens("model.lens_earlier", "Read predictions one layer earlier", '[', -1);
  lens("model.lens_later", "Read predictions one layer later", ']', 1);
  const auto step = [&](const char* id, const char* name, Key key, Index layers, Index heads) {
    list.add({.id = id, .name = name, .shortcut = {key}, .repeats = true},
             [&page, layers, heads](Scene& scene) {
               if (!page.model.config) return;
               Index &layer = scene.cursor.model.layer, &head = scene.cursor.cell.head;
               layer = std::clamp<Index>(layer + layers, 0, page.model.config->layerCount() - 1);
               head = std::clamp<Index>(head + heads, 0, page.model.config->heads - 1);
             });
  };
  step("model.left", "Head to the left", Key::left, 0, -1);
  step("model.right", "Head to the right", Key::right, 0, 1);
  step("model.up", "Layer above", Key::up, -1, 0);
  step("model.down", "Layer below", Key::down, 1, 0);
  list.add({.id = "model.next_named",
            .name = "Next head of the model with a clear behaviour",
            .shortcut = {static_cast<Key>('J')},
            .words = "behaviour jump"},
           [&page](Scene& scene) { nextNamed(scene, page); });
  list.add({.id = "model.heads", .name = "Open this layer on Heads", .shortcut = {Key::enter}},
           [&page](Scene& scene) {
             if (!page.model.config) return;
             // Heads recomputes a layer, which a recording doesn't allow: its heads are enlarged here, in
             // narrow windows in the drawer.
             if (page.model.opened && page.model.opened->recorded) {
               page.view.drawer = true;
               return;
             }
             scene.setup.subject.layer = scene.cursor.model.layer;
             scene.cursor.focus = scene.cursor.cell.head;
             scene.cursor.page = "heads";
           });
  list.add({.id = "model.all_heads",
            .name = "Show heads of every behaviour",
            .shortcut = {Key::d0, {.shift = true}}},
           [](Scene& scene) { scene.cursor.model.detector.clear(); });
  return std::move(list.all);
}

std::vector<Action> switchActions(const State& page) {
  ActionList list;
  list.add({.id = "model.switch",
            .name = "Switch this head off or on",
            .shortcut = {Key::x},
            .words = "turn off a head, remove a head, disable a head, ablate ablation prune, knock out"},
           [&page](Scene& scene) {
             if (page.model.config) switchHead(scene, scene.cursor.model.layer, scene.cursor.cell.head);
           });
  list.add({.id = "model.switch_alike",
            .name = "Switch all heads like this one off or on",
            .shortcut = {Key::x, {.shift = true}},
            .words = "ablate ablation prune knock out disable"},
           [&page](Scene& scene) {
             const HeadSummary* chosen = page.summary(scene.cursor.model.layer, scene.cursor.cell.head);
             if (!chosen) return;
             const float threshold = scene.look.labelThreshold;
             const std::string label = filterName(chosen->label(threshold));
             const bool on = !isOff(scene, scene.cursor.model.layer, scene.cursor.cell.head);
             for (Index l = 0; l < std::ssize(page.layers); ++l)
               for (Index h = 0; h < page.model.config->heads; ++h)
                 if (filterName(page.summary(l, h)->label(threshold)) == label && isOff(scene, l, h) != on)
                   switchHead(scene, l, h);
           });
  list.add({.id = "model.restore",
            .name = "Switch all heads on again",
            .shortcut = {Key::r, {.shift = true}},
            .words = "reset ablate ablation prune enable"},
           [](Scene& scene) { scene.setup.subject.switchedOff.clear(); });
  return std::move(list.all);
}

std::vector<Action> pairActions() {
  ActionList list;
  list.add({.id = "model.swap_texts", .name = "Swap text A and text B", .words = "clean corrupted prompt"},
           [](Scene& scene) {
             if (!scene.compare.other.empty()) swapTexts(scene);
           });
  list.add({.id = "model.patches.clear", .name = "Remove all kept patches", .words = "reset"},
           [](Scene& scene) { scene.compare.patches.clear(); });
  const auto tab = [&](ModelView view, const char* key, const char* name, const char* words) {
    list.add({.id = std::string("model.view.") + key, .name = name, .whileTyping = true, .words = words},
             [view](Scene& scene) {
               scene.cursor.page = "model";
               scene.cursor.model.view = view;
             });
  };
  tab(ModelView::heads, "heads", "Model: all heads", "");
  tab(ModelView::patch, "patch", "Model: patch pieces of one text into another",
      "patching circuit difference");
  tab(ModelView::attribution, "attribution", "Model: attribution, what each piece adds to the answer",
      "circuit");
  tab(ModelView::lens, "lens", "Model: lens, the top prediction after every layer", "logit");
  tab(ModelView::study, "study", "Model: study every head on many texts", "");
  return std::move(list.all);
}

// Keyboard actions that filter heads by behaviour, move between cells and zoom the thumbnails.

/// Filters heads by behaviour. The shortcuts need Shift because plain digits switch pages everywhere.
std::vector<Action> filterActions(const State& page) {
  ActionList list;
  for (std::size_t i = 0; i < 9; ++i)
    list.add({.id = fmt::format("model.filter.{}", i + 1),
              .name = fmt::format("Highlight heads by behaviour {}", i + 1),
              .shortcut = {static_cast<Key>('1' + i), {.shift = true}}},
             [&page, i](Scene& scene) {
               const std::vector<Behaviour> found = behavioursOf(page.layers, scene.look.labelThreshold);
               if (i >= found.size()) return;
               std::string& chosen = scene.cursor.model.detector;
               chosen = chosen == found[i].name ? "" : found[i].name;
             });
  return std::move(list.all);
}

std::vector<Action> moveActions(State& page) {
  ActionList list;
  const auto cell = [&](const char* id, const char* name, Key key, Index queries, Index keys) {
    list.add({.id = id, .name = name, .shortcut = {key, {.shift = true}}, .repeats = true},
             [&page, queries, keys](Scene& scene) {
               if (!page.ready()) return;
               Cell& at = scene.cursor.cell;
               at.query = std::clamp<Index>(at.query + queries, 0, page.queries() - 1);
               at.key = std::clamp<Index>(at.key + keys, 0, page.keys() - 1);
               if (keys != 0) scene.cursor.keyChosen = true;
             });
  };
  cell("model.key_before", "Previous key", Key::left, 0, -1);
  cell("model.key_after", "Next key", Key::right, 0, 1);
  cell("model.query_before", "Previous query", Key::up, -1, 0);
  cell("model.query_after", "Next query", Key::down, 1, 0);
  const auto zoom = [&page](float steps) { return [&page, steps](Scene&) { page.zoom.steps = steps; }; };
  list.add({.id = "model.larger",
            .name = "Enlarge thumbnails",
            .shortcut = {Key::equal},
            .repeats = true,
            .words = "zoom in"},
           zoom(1));
  list.add({.id = "model.smaller",
            .name = "Shrink thumbnails",
            .shortcut = {Key::minus},
            .repeats = true,
            .words = "zoom out"},
           zoom(-1));
  list.add({.id = "model.stop", .name = "Pause or resume computing layers", .whileTyping = true},
           [&page](Scene& scene) {
             if (page.run.stopped) return page.run.stopped.reset();
             if (!page.model.config || page.study.busySeconds() == 0) return;
             page.study.cancel();
             page.run.stopped = modelQuestion(scene.setup);
             page.writing.on = false;
           });
  list.add({.id = "model.all_in_sight",
            .name = "Show all heads",
            .shortcut = {Key::home},
            .words = "zoom out reset"},
           [&page](Scene&) { page.zoom = {}; });
  return std::move(list.all);
}

}  // namespace headscope::app::model_page
