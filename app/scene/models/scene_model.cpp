#include "app/scene/models/scene_model.h"

#include <fmt/core.h>

#include <map>

namespace headscope::app {

using attention::Error;
using attention::Status;

namespace {

/// Gives the scene's layer the model's sizes.
void takeSizes(Setup& setup) {
  const attention::ModelConfig& config = setup.subject.opened->config();
  ModelSetup& model = setup.model;
  model.heads = config.heads;
  model.kvHeads = config.kvHeads;
  model.headDim = config.headDim;
  model.modelDim = config.modelDim;
  model.linked = config.heads * config.headDim == config.modelDim;
  model.bias = config.qkvBias;
  setup.input.cross = false;
  setup.input.source = EmbeddingSource::text;
}

/// The first thing that the scene names and the model lacks; "" if there is none.
std::string missing(const SubjectSetup& subject) {
  const attention::ModelConfig& config = subject.opened->config();
  const auto layerError = [&](const char* field, Index layer) {
    return fmt::format("{} is {}, {} has layers 0 to {}", field, layer, subject.opened->name,
                       config.layerCount() - 1);
  };
  if (subject.layer >= config.layerCount()) return layerError("subject.layer", subject.layer);
  for (const SwitchedHead& off : subject.switchedOff) {
    if (off.layer >= config.layerCount()) return layerError("subject.switched_off layer", off.layer);
    if (off.head >= config.heads)
      return fmt::format("subject.switched_off head is {}, {} has heads 0 to {}", off.head,
                         subject.opened->name, config.heads - 1);
  }
  for (const Index id : subject.written)
    if (id >= config.vocabulary)
      return fmt::format("subject.written has the id {}, {} has ids 0 to {}", id, subject.opened->name,
                         config.vocabulary - 1);
  return {};
}

}  // namespace

void forgetLayer(Setup& setup) {
  const Scene fresh = openingScene();
  setup.model = fresh.setup.model;
  setup.model.position = PositionKind::none;
  setup.weights = fresh.setup.weights;
  setup.mask = {};
}

void adoptModel(Scene& scene, const std::string& model, std::shared_ptr<const OpenModel> opened) {
  Setup& setup = scene.setup;
  const auto files = [](const std::string& name) { return attention::groupedPath(name).path; };
  const bool same = files(setup.subject.model) == files(model);  // but possibly with other heads shown
  std::string features = same ? std::move(setup.subject.features) : std::string();
  setup.subject = {};
  setup.subject.features = std::move(features);
  setup.subject.model = model;
  setup.subject.opened = std::move(opened);
  // Text for another model's decoder, or for a synthetic layer, is no start for this decoder's text.
  if (!same && setup.subject.opened && setup.subject.opened->sources) setup.input.contextText = {};
  forgetLayer(setup);
  takeSizes(setup);
  scene.cursor.focus = -1;
  scene.cursor.sequence = 0;
  scene.cursor.decoding = false;
}

void leaveModel(Scene& scene) {
  const Scene fresh = openingScene();
  scene.setup.subject = {};
  scene.setup.model = fresh.setup.model;
  scene.setup.weights = fresh.setup.weights;
  scene.setup.mask = fresh.setup.mask;
  scene.cursor.focus = -1;
  scene.cursor.decoding = false;
}

void forgetWritten(const Setup& before, Setup& setup) {
  const bool ofDecoder = setup.subject.opened && setup.subject.opened->sources &&
                         before.input.contextText != setup.input.contextText;
  if ((ofDecoder || before.input.text != setup.input.text) && before.subject.written == setup.subject.written)
    setup.subject.written.clear();
}

void forgetAlignment(const Scene& before, Scene& scene) {
  const bool other =
      before.setup.input.text != scene.setup.input.text || before.compare.other != scene.compare.other;
  if (other && before.compare.alignment == scene.compare.alignment) scene.compare.alignment.clear();
}

Status fitSubject(Scene& scene) {
  if (std::string what = missing(scene.setup.subject); !what.empty()) return Error{std::move(what)};
  takeSizes(scene.setup);
  return attention::success();
}

namespace {

/// Opened models, or why they couldn't be opened, by name.
using OpenedModels = std::map<std::string, attention::Result<std::shared_ptr<const OpenModel>>>;

Status openOwnSubject(Scene& scene, OpenedModels& known, const std::stop_token& stop) {
  SubjectSetup& subject = scene.setup.subject;
  if (subject.model.empty()) return attention::success();
  auto found = known.find(subject.model);
  if (found == known.end()) found = known.emplace(subject.model, openModel(subject.model, stop)).first;
  const auto& opened = found->second;
  if (!opened) {
    subject.problem = opened.error().message;
    // The sizes in the file may be anything.
    const ModelSetup fresh;
    ModelSetup& model = scene.setup.model;
    model.heads = fresh.heads;
    model.kvHeads = fresh.kvHeads;
    model.headDim = fresh.headDim;
    model.modelDim = fresh.modelDim;
    model.linked = fresh.linked;
    return attention::success();
  }
  subject.opened = *opened;
  if (!subject.picture.empty()) {
    auto on = withPicture(*opened, subject.picture, stop);
    if (on)
      subject.opened = *std::move(on);
    else
      subject.problem = on.error().message;
  }
  return fitSubject(scene);
}

}  // namespace

Status openSubject(Scene& scene, const std::stop_token& stop) {
  OpenedModels known;
  if (Status own = openOwnSubject(scene, known, stop); !own) return own;
  for (std::size_t i = 0; i < scene.talk->views.size(); ++i) {
    if (scene.talk->views[i].scene->setup.subject.model.empty()) continue;
    Scene view = *scene.talk->views[i].scene;
    if (Status opened = openOwnSubject(view, known, stop); !opened)
      return Error{"talk[" + std::to_string(i) + "]: " + opened.error().message};
    scene.talk.edit().views[i].scene = std::make_shared<const Scene>(std::move(view));
  }
  return attention::success();
}

}  // namespace headscope::app
