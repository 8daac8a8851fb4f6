#include "app/scene/document.h"
#include "app/scene/fields.h"
#include "app/scene/json_text.h"
#include "app/scene/models/scene_model.h"
#include "attention/text/ascii.h"

namespace headscope::app {

using attention::Status;

namespace {

constexpr std::string_view kModelPath = "subject.model";

/// Sizes that an opened model determines.
bool isSize(std::string_view path) {
  return path == "model.heads" || path == "model.kv_heads" || path == "model.head_dim" ||
         path == "model.model_dim" || path == "model.linked" || path == "model.bias";
}

/// The page, and the position in a lesson or talk: steps and views state these themselves.
bool isPlace(std::string_view path) {
  return path == "cursor.page" || path == "cursor.view" || path.starts_with("cursor.lesson.");
}

const Field* findField(std::string_view path) {
  for (const auto& [former, now] : kFormerPaths)
    if (path == former) path = now;
  if (path == "cursor.lab.step") path = "cursor.flow.stage";  // Lab once showed these steps
  const auto& fields = allFields();
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.path == path; });
  return found == fields.end() ? nullptr : &*found;
}

std::string unknownField(const std::string& path) {
  std::vector<std::string_view> paths;
  for (const Field& field : allFields()) paths.push_back(field.path);
  return attention::quotedText(path) + " is not a field of a scene" + attention::suggestion(path, paths);
}

Status openIn(Scene& scene, OpenModels& models, const std::stop_token& stop) {
  SubjectSetup& subject = scene.setup.subject;
  std::shared_ptr<const OpenModel>& model = models[subject.model];
  if (!model) {
    auto opened = openModel(subject.model, stop);
    if (!opened) return opened.error();
    model = *std::move(opened);
  }
  subject.opened = model;
  return fitSubject(scene);
}

}  // namespace

Scene sceneWithModel(const Scene& scene, const std::string& model) {
  Scene with = scene;
  if (model == scene.setup.subject.model) return with;
  leaveModel(with);
  if (model.empty()) return with;
  with.setup.subject.model = model;
  forgetLayer(with.setup);
  with.cursor.sequence = 0;
  return with;
}

void readPatchFields(ObjectReader& patch, const std::filesystem::path& folder, Scene& scene,
                     std::vector<std::string>& changed) {
  const std::vector<std::string> names = patch.names();
  if (std::find(names.begin(), names.end(), kModelPath) != names.end()) {
    Scene named = scene;
    readField(patch, kModelPath.data(), fieldAt(kModelPath), named);
    resolveFiles(named, folder);
    scene = sceneWithModel(scene, named.setup.subject.model);
  }
  for (const std::string& name : names) {
    (void)patch.value(name.c_str());  // so that messages give the place of an unknown name, too
    // Of a former tab, whose step Flow shows.
    if (name == "cursor.lab.map" || (name == "cursor.lab.step" && patch.has("cursor.flow.stage"))) continue;
    const Field* field = findField(name);
    if (!field) return patch.note(patch.at(name) + ": " + unknownField(name));
    if (name != kModelPath) readField(patch, name.c_str(), *field, scene);
    if (!patch.fault().empty()) return;
    changed.emplace_back(field->path);
  }
  dropEmptyNames(scene.setup.mask.additive);
  resolveFiles(scene, folder);
}

void readPatch(ObjectReader& patch, const std::filesystem::path& folder, OpenModels& models,
               const std::stop_token& stop, Scene& scene, std::vector<std::string>& changed) {
  readPatchFields(patch, folder, scene, changed);
  if (!patch.fault().empty()) return;
  if (!scene.setup.subject.model.empty())
    if (const Status opened = openIn(scene, models, stop); !opened) return patch.note(opened.error().message);
  if (const Status valid = validate(scene); !valid) patch.note(valid.error().message);
}

Json patchJson(const Scene& before, const Scene& now, const std::filesystem::path& folder) {
  const std::string& model = now.setup.subject.model;
  const Scene base = sceneWithModel(before, model);
  Scene named = now;
  if (!folder.empty()) relativeFiles(named, folder);
  Json patch = Json::object();
  if (model != before.setup.subject.model) patch[std::string(kModelPath)] = named.setup.subject.model;
  for (const Field& field : allFields()) {
    if (field.path == kModelPath || isPlace(field.path)) continue;
    if (!model.empty() && isSize(field.path)) continue;
    if (fieldJson(field, base) != fieldJson(field, now))
      patch[std::string(field.path)] = fieldJson(field, named);
  }
  // A key alone means, as in older files, that somebody chose it.
  if (patch.contains("cursor.key")) patch["cursor.key_chosen"] = now.cursor.keyChosen;
  return patch;
}

}  // namespace headscope::app
