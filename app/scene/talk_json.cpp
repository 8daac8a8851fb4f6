#include "app/scene/talk_json.h"

#include <fmt/core.h>

#include "app/scene/patch_json.h"
#include "app/scene/validate.h"

namespace headscope::app {

namespace {

void limit(ObjectReader& reader, const char* key, const std::string& text, std::size_t most) {
  if (text.size() > most)
    reader.note(fmt::format("{} has {} bytes, expected at most {}", reader.at(key), text.size(), most));
}

/// Keeps a model's own sizes, whatever a view says about them.
void keepSizes(Scene& scene, const Scene& base) {
  if (scene.setup.subject.model.empty()) return;
  ModelSetup& model = scene.setup.model;
  const ModelSetup& own = base.setup.model;
  model.heads = own.heads;
  model.kvHeads = own.kvHeads;
  model.headDim = own.headDim;
  model.modelDim = own.modelDim;
  model.linked = own.linked;
  model.bias = own.bias;
}

Scene readViewScene(ObjectReader& patch) {
  Scene scene = openingScene();
  std::vector<std::string> changed;
  readPatchFields(patch, "", scene, changed);
  if (!patch.fault().empty()) return scene;
  keepSizes(scene, sceneWithModel(openingScene(), scene.setup.subject.model));
  if (const attention::Status valid = validate(scene); !valid) patch.note(patch.at(valid.error().message));
  return scene;
}

TalkView readView(ObjectReader& reader) {
  TalkView view;
  reader.read("name", view.name);
  reader.read("notes", view.notes);
  limit(reader, "name", view.name, kMaxViewName);
  limit(reader, "notes", view.notes, kMaxViewNotes);
  Scene scene = openingScene();
  reader.object("scene", [&](ObjectReader& patch) { scene = readViewScene(patch); });
  reader.read("page", scene.cursor.page);
  view.scene = viewScene(scene);
  return view;
}

}  // namespace

void readTalk(ObjectReader& root, Scene& scene) {
  Talk talk;
  root.objects("talk", 0, kMaxTalkViews,
               [&](ObjectReader& reader) { talk.views.push_back(readView(reader)); });
  if (!talk.views.empty()) scene.talk = std::move(talk);
}

Json talkJson(const Scene& scene) {
  Json list = Json::array();
  const Scene opening = openingScene();
  for (const TalkView& view : scene.talk->views) {
    Json entry = Json::object();
    if (!view.name.empty()) entry["name"] = view.name;
    if (!view.notes.empty()) entry["notes"] = view.notes;
    entry["page"] = view.scene->cursor.page;
    entry["scene"] = patchJson(opening, *view.scene, "");
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace headscope::app
