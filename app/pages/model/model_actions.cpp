// What can be done with a model by name: writing on, and switching heads off.

#include <algorithm>
#include <utility>

#include "app/pages/model/model_page.h"
#include "app/pages/model/overview/strip_parts.h"
#include "app/scene/models/open_model.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::model_page {

const std::string& State::word(Index id) {
  auto [at, isNew] = model.words.try_emplace(id);
  if (isNew && id < 0)
    at->second = "—";
  else if (isNew && study && study->opened->model->classifies())
    at->second = study->opened->config().picture->classes[attention::asSize(id)];
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

std::vector<Action> Page::playActions() {
  const auto key = [](Key key) { return KeyPress{key, {}}; };
  return {
      {.id = "model.play",
       .name = "Start or pause generation",
       .shortcut = key(Key::space),
       .words = "generate sample",
       .run =
           [this](Scene&) {
             page_.writing.on = !page_.writing.on && page_.ready();
             page_.writing.wroteAt = 0;
           }},
      {.id = "model.step",
       .name = "Generate one token",
       .shortcut = key(Key::period),
       .repeats = true,
       .words = "generate next token",
       .run =
           [this](Scene& scene) {
             page_.writing.on = false;
             if (page_.ready() && run_.upToDate(modelQuestion(scene.setup)))
               page_.writing.followsLast = writeOn(scene, *page_.study);
           }},
      {.id = "model.back",
       .name = "Remove one generated token",
       .shortcut = key(Key::comma),
       .repeats = true,
       .run =
           [this](Scene& scene) {
             page_.writing.on = false;
             auto& written = scene.setup.subject.written;
             if (!written.empty()) written.pop_back();
           }},
      {.id = "model.forget",
       .name = "Clear generated text",
       .whileTyping = true,
       .words = "reset clear generated",
       .run =
           [this](Scene& scene) {
             page_.writing.on = false;
             scene.setup.subject.written.clear();
           }},
      {.id = "model.cut",
       .name = "Discard what was generated after this token",
       .whileTyping = true,
       .run =
           [this](Scene& scene) {
             page_.writing.on = false;
             if (!page_.study) return;
             const Index keep = std::max<Index>(0, scene.cursor.cell.query + 1 - page_.study->text.typed);
             auto& written = scene.setup.subject.written;
             if (static_cast<Index>(written.size()) > keep) written.resize(static_cast<std::size_t>(keep));
           }},
      {.id = "model.edit_token",
       .name = "Change this generated word",
       .run =
           [this](Scene& scene) {
             if (const std::string reason = cannotChange(page_, scene.cursor.cell.query); !reason.empty())
               return page_.view.say(reason);
             openTokenEdit(page_, scene.cursor.cell.query);
           }},
  };
}

std::vector<Action> Page::lensActions() {
  const auto lens = [this](Index by) {
    return [this, by](Scene& scene) {
      if (!page_.model.config) return;
      const Index last = page_.model.config->layerCount();
      Index& stop = scene.cursor.model.stop;
      stop = std::clamp<Index>((stop < 0 ? last : stop) + by, 0, last);
      if (stop == last) stop = -1;
    };
  };
  return {
      {.id = "model.lens_earlier",
       .name = "Read predictions one layer earlier",
       .shortcut = {static_cast<Key>('[')},
       .repeats = true,
       .words = "logit lens",
       .run = lens(-1)},
      {.id = "model.lens_later",
       .name = "Read predictions one layer later",
       .shortcut = {static_cast<Key>(']')},
       .repeats = true,
       .words = "logit lens",
       .run = lens(1)},
  };
}

/// The next head that learned something on purpose, from the chosen one on, layer by layer and round.
void Page::nextNamed(Scene& scene) {
  if (!page_.model.config || !page_.ready()) return;
  const Index heads = page_.model.config->heads, all = heads * page_.model.config->layerCount();
  Cursor& cursor = scene.cursor;
  for (Index i = 1; i <= all; ++i) {
    const Index at = (cursor.model.layer * heads + cursor.cell.head + i) % all;
    const HeadSummary* head = page_.summary(at / heads, at % heads);
    if (!head || !isDeliberate(head->label(scene.look.labelThreshold))) continue;
    page_.view.nextHover = page_.view.hover = {};
    cursor.model.layer = at / heads;
    cursor.cell.head = at % heads;
    lookAtStrongest(cursor);
    return;
  }
  page_.view.say("No head has a named behaviour.");
}

std::vector<Action> Page::headActions() {
  const auto step = [this](Index layers, Index heads) {
    return [this, layers, heads](Scene& scene) {
      if (!page_.model.config) return;
      page_.view.nextHover = page_.view.hover = {};
      Cursor& cursor = scene.cursor;
      cursor.model.layer =
          std::clamp<Index>(cursor.model.layer + layers, 0, page_.model.config->layerCount() - 1);
      cursor.cell.head = std::clamp<Index>(cursor.cell.head + heads, 0, page_.model.config->heads - 1);
      lookAtStrongest(cursor);
    };
  };
  const auto arrow = [&](const char* id, const char* name, Key key, Index layers, Index heads) {
    return Action{.id = id, .name = name, .shortcut = {key}, .repeats = true, .run = step(layers, heads)};
  };
  return {
      arrow("model.left", "Previous head", Key::left, 0, -1),
      arrow("model.right", "Next head", Key::right, 0, 1),
      arrow("model.up", "Layer above", Key::up, -1, 0),
      arrow("model.down", "Layer below", Key::down, 1, 0),
      {.id = "model.next_named",
       .name = "Next head with a clear behaviour",
       .shortcut = {static_cast<Key>('J')},
       .words = "behaviour jump",
       .run = [this](Scene& scene) { nextNamed(scene); }},
      {.id = "model.hold",
       .name = "Pin or unpin the large head",
       .shortcut = {static_cast<Key>('H')},
       .run = [this](Scene&) { page_.head.held = !page_.head.held; }},
      {.id = "model.heads",
       .name = "Open this layer on Heads",
       .shortcut = {Key::enter},
       .run =
           [this](Scene& scene) {
             if (!page_.model.config) return;
             scene.setup.subject.layer = scene.cursor.model.layer;
             scene.cursor.focus = scene.cursor.cell.head;
             scene.cursor.page = "heads";
           }},
      {.id = "model.all_heads",
       .name = "Show heads of every behaviour",
       .shortcut = {Key::d0, {.shift = true}},
       .run = [](Scene& scene) { scene.cursor.model.detector.clear(); }},
  };
}

std::vector<Action> Page::switchActions() {
  const auto alike = [this](Scene& scene) {
    const HeadSummary* chosen = page_.summary(scene.cursor.model.layer, scene.cursor.cell.head);
    if (!chosen) return;
    const float threshold = scene.look.labelThreshold;
    const std::string label = filterName(chosen->label(threshold));
    const bool on = !isOff(scene, scene.cursor.model.layer, scene.cursor.cell.head);
    for (Index l = 0; l < static_cast<Index>(page_.layers.size()); ++l)
      for (Index h = 0; h < page_.model.config->heads; ++h)
        if (filterName(page_.summary(l, h)->label(threshold)) == label && isOff(scene, l, h) != on)
          switchHead(scene, l, h);
  };
  return {
      {.id = "model.switch",
       .name = "Switch this head off or on",
       .shortcut = {Key::x},
       .words = "ablate ablation prune knock out disable",
       .run =
           [this](Scene& scene) {
             if (page_.model.config) switchHead(scene, scene.cursor.model.layer, scene.cursor.cell.head);
           }},
      {.id = "model.switch_alike",
       .name = "Switch all heads like this one off or on",
       .shortcut = {Key::x, {.shift = true}},
       .words = "ablate ablation prune knock out disable",
       .run = alike},
      {.id = "model.restore",
       .name = "Switch all heads on again",
       .shortcut = {Key::r, {.shift = true}},
       .words = "reset ablate ablation prune enable",
       .run = [](Scene& scene) { scene.setup.subject.switchedOff.clear(); }},
  };
}

std::vector<Action> Page::actions() {
  std::vector<Action> all = openActions();
  all.push_back(pictureAction());
  for (auto&& more : {pairActions(), textsActions(), playActions(), lensActions(), headActions(),
                      switchActions(), filterActions(), moveActions()}) {
    std::vector<Action> shown = onShown(more);
    all.insert(all.end(), std::make_move_iterator(shown.begin()), std::make_move_iterator(shown.end()));
  }
  return all;
}

}  // namespace headscope::app::model_page
