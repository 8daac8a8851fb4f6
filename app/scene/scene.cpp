#include "app/scene/scene.h"

#include "app/scene/models/open_model.h"
#include "app/scene/talk.h"
#include "attention/masks/plain_rules.h"

namespace headscope::app {

using attention::Behaviour;
using attention::PlantedHead;

attention::MaskLayers openingMask() {
  return attention::layersOf({});
}

Scene openingScene() {
  Scene scene;
  scene.setup.mask.layers = openingMask();
  scene.setup.input.text = "The animal didn't cross the street because it was too tired .";
  for (Index head = 0; head < scene.setup.model.heads; ++head)
    scene.setup.weights.planted.push_back(defaultPlant(head));
  return scene;
}

bool isStack(const Setup& setup) {
  return setup.subject.model.empty() && setup.model.layers > 1;
}

bool isCross(const Setup& setup) {
  const auto& opened = setup.subject.opened;
  return opened && opened->model ? opened->config().cross() : setup.input.cross;
}

Index layerCount(const Setup& setup) {
  if (setup.subject.opened) return setup.subject.opened->config().layerCount();
  return isStack(setup) ? setup.model.layers : 1;
}

Index shownLayer(const Setup& setup) {
  if (!setup.subject.model.empty()) return setup.subject.layer;
  return isStack(setup) ? std::min(setup.subject.layer, setup.model.layers - 1) : 0;
}

namespace {

/// Whether the two setups differ at most in the layer that is shown.
bool sameButLayer(const Setup& a, const Setup& b) {
  if (a.subject.layer == b.subject.layer || a.subject.scope == EditScope::one) return a == b;
  return withLayer(a, b.subject.layer) == b;
}

}  // namespace

bool sameDocument(const Scene& a, const Scene& b) {
  return sameButLayer(a.setup, b.setup) && a.look == b.look && a.map == b.map && a.cost == b.cost &&
         a.generation == b.generation && a.compare == b.compare && a.talk == b.talk &&
         a.cursor.lab.patchText == b.cursor.lab.patchText;
}

void takeDocument(Scene& scene, const Scene& from) {
  const SubjectSetup looked = scene.setup.subject;
  const bool sameLayers =
      looked.model == from.setup.subject.model && layerCount(scene.setup) == layerCount(from.setup);
  scene.setup = from.setup;
  if (sameLayers && from.setup.subject.scope == EditScope::all) scene.setup.subject.layer = looked.layer;
  scene.look = from.look;
  scene.map = from.map;
  scene.cost = from.cost;
  scene.generation = from.generation;
  scene.compare = from.compare;
  scene.talk = from.talk;
  scene.cursor.lab.patchText = from.cursor.lab.patchText;
}

void choose(Cursor& cursor, const Cell& cell) {
  cursor.keyChosen = !(cursor.keyChosen && cursor.cell == cell);
  cursor.cell = cell;
}

void shareSubject(Scene& scene) {
  Cursor& cursor = scene.cursor;
  SubjectSetup& subject = scene.setup.subject;
  if (cursor.page != "model")
    cursor.model.layer = shownLayer(scene.setup);
  else if (subject.scope == EditScope::all && (subject.opened || isStack(scene.setup)))
    subject.layer = std::min(cursor.model.layer, layerCount(scene.setup) - 1);
  if (cursor.focus < 0) return;
  (cursor.page == "heads" ? cursor.cell.head : cursor.focus) =
      cursor.page == "heads" ? cursor.focus : cursor.cell.head;
}

Setup withLayer(Setup setup, Index layer) {
  setup.subject.layer = layer;
  return setup;
}

PlantedHead defaultPlant(Index head, Index layer) {
  static constexpr std::array<PlantedHead, 8> kLater{{{Behaviour::induction},
                                                      {Behaviour::firstToken},
                                                      {Behaviour::uniform},
                                                      {Behaviour::separator},
                                                      {Behaviour::offset, 1},
                                                      {Behaviour::offset, 0},
                                                      {Behaviour::localBand},
                                                      {Behaviour::sameToken}}};
  if (layer > 0) return kLater[static_cast<std::size_t>(head) % kLater.size()];
  static constexpr std::array<PlantedHead, 8> kDefaults{{{Behaviour::offset, 1},
                                                         {Behaviour::firstToken, 1},
                                                         {Behaviour::offset, 0},
                                                         {Behaviour::uniform, 1},
                                                         {Behaviour::offset, 2},
                                                         {Behaviour::localBand, 1},
                                                         {Behaviour::sameToken, 1},
                                                         {Behaviour::random, 1}}};
  return kDefaults[static_cast<std::size_t>(head) % kDefaults.size()];
}

std::vector<PlantedHead> plantedHeads(const Setup& setup) {
  const Index layer = shownLayer(setup);
  const auto above = static_cast<std::size_t>(std::max<Index>(layer - 1, 0));
  std::vector<PlantedHead> heads;
  if (layer == 0)
    heads = setup.weights.planted;
  else if (above < setup.weights.plantedAbove.size())
    heads = setup.weights.plantedAbove[above];
  heads.resize(std::min<std::size_t>(heads.size(), setup.model.heads));
  while (std::ssize(heads) < setup.model.heads) heads.push_back(defaultPlant(std::ssize(heads), layer));
  return heads;
}

void plantHead(Setup& setup, Index head, const PlantedHead& plant) {
  WeightSetup& weights = setup.weights;
  const Index layer = shownLayer(setup);
  if (layer > std::ssize(weights.plantedAbove)) weights.plantedAbove.resize(static_cast<std::size_t>(layer));
  std::vector<PlantedHead>& planted =
      layer == 0 ? weights.planted : weights.plantedAbove[static_cast<std::size_t>(layer - 1)];
  while (std::ssize(planted) <= head) planted.push_back(defaultPlant(std::ssize(planted), layer));
  planted[static_cast<std::size_t>(head)] = plant;
}

bool operator==(const TalkView& a, const TalkView& b) {
  return a.name == b.name && a.notes == b.notes &&
         (a.scene == b.scene || (a.scene && b.scene && *a.scene == *b.scene));
}

std::shared_ptr<const Scene> viewScene(const Scene& scene) {
  auto view = std::make_shared<Scene>(scene);
  view->talk = {};
  view->cursor.view = 0;
  view->cursor.lesson = {};
  return view;
}

namespace {

bool fileExists(const Scene& scene, int at) {
  return at >= 0 && at < std::ssize(scene.talk->views);
}

}  // namespace

int addView(Scene& scene, TalkView view, int after) {
  const auto count = static_cast<int>(scene.talk->views.size());
  if (static_cast<std::size_t>(count) >= kMaxTalkViews) return -1;
  const int at = std::clamp(after + 1, 0, count);
  auto& views = scene.talk.edit().views;
  views.insert(views.begin() + at, std::move(view));
  return at;
}

void moveView(Scene& scene, int from, int to) {
  if (!fileExists(scene, from) || !fileExists(scene, to) || from == to) return;
  auto& views = scene.talk.edit().views;
  const auto first = views.begin();
  if (from < to)
    std::rotate(first + from, first + from + 1, first + to + 1);
  else
    std::rotate(first + to, first + from, first + from + 1);
}

void removeView(Scene& scene, int at) {
  if (!fileExists(scene, at)) return;
  auto& views = scene.talk.edit().views;
  views.erase(views.begin() + at);
}

std::vector<TalkView> talkViews(const Scene& scene) {
  return scene.talk->views;
}

std::string viewTitle(const TalkView& view, std::size_t at) {
  return view.name.empty() ? "View " + std::to_string(at + 1) : view.name;
}

}  // namespace headscope::app
