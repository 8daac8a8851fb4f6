#include "app/scene/models/open_model.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/platform/assets.h"

namespace headscope::app {

using attention::Error;
using attention::Result;
using attention::Status;

std::filesystem::path modelFolder(const std::string& model) {
  return model == kLearned ? miniatureFolder() : std::filesystem::path(model);
}

RecordedFile recordedFile(const std::string& model) {
  std::error_code ignored;
  const std::size_t mark = model.rfind('#');
  if (mark == std::string::npos || std::filesystem::exists(model, ignored)) return {model, ""};
  return {model.substr(0, mark), model.substr(mark + 1)};
}

std::string modelName(const std::filesystem::path& folder) {
  constexpr std::string_view kHub = "models--";
  std::filesystem::path clean = folder.lexically_normal();
  if (!clean.has_filename()) clean = clean.parent_path();
  const std::filesystem::path snapshots = clean.parent_path();
  std::string hub = snapshots.parent_path().filename().string();
  if (snapshots.filename() != "snapshots" || !hub.starts_with(kHub)) return clean.filename().string();
  hub.erase(0, kHub.size());
  if (const auto slash = hub.find("--"); slash != std::string::npos) hub.replace(slash, 2, "/");
  return hub;
}

namespace {

/// Whether no query of the first head has weight on a later key: what is recorded says nothing of masks. Of
/// more keys than queries these are the last tokens.
bool seemsCausal(const attention::RecordedAttention& file) {
  const Index before = file.keys() - file.queries();
  if (before < 0 || file.keys() > kMaxTokens || file.queries() < 2) return false;
  const auto first = file.readWeights(0, 0);
  if (!first) return false;
  for (Index row = 0; row + 1 < first->weights.rows(); ++row)
    if (!first->weights.row(row).tail(file.queries() - row - 1).isZero(0)) return false;
  return true;
}

/// Whether queries are of another text than keys: the file says so, or they aren't the text's last tokens.
bool isBetweenTexts(const attention::RecordedAttention& file, bool causal) {
  if (file.group() == "cross" || file.queries() > file.keys()) return true;
  const auto& queries = file.queryTokens();
  const bool last = std::equal(queries.begin(), queries.end(), file.keyTokens().end() - file.queries());
  return !last && (file.hasTokens() || !causal);
}

Result<std::shared_ptr<const OpenModel>> openRecorded(const RecordedFile& named) {
  auto file = attention::RecordedAttention::open(named.path, named.group);
  if (!file) return file.error();
  OpenModel opened{named.path.filename().string(), nullptr};
  const attention::RecordedLayer& first = file->layers().front();
  attention::ModelConfig& shape = opened.recordedShape;
  shape.heads = first.attention.heads;
  shape.kvHeads = first.k ? first.k->heads : shape.heads;
  shape.headDim = first.q ? first.q->cols : 1;
  shape.modelDim = shape.heads * shape.headDim;
  shape.maxPositions = file->keys();
  shape.layers.resize(file->layers().size());
  const bool causal = seemsCausal(*file);
  opened.betweenTexts = isBetweenTexts(*file, causal);
  shape.causal = causal && !opened.betweenTexts;
  opened.recorded = *std::move(file);
  return std::make_shared<const OpenModel>(std::move(opened));
}

/// Whether the model has all heads that the skills name.
bool fit(const std::vector<LearnedSkill>& skills, const attention::ModelConfig& config) {
  return std::all_of(skills.begin(), skills.end(), [&](const LearnedSkill& skill) {
    return !skill.head || (skill.head->layer < config.layerCount() && skill.head->head < config.heads);
  });
}

}  // namespace

Result<std::shared_ptr<const OpenModel>> openModel(const std::string& model, const std::stop_token& stop) {
  const std::filesystem::path folder = modelFolder(model);
  std::error_code ignored;
  if (const RecordedFile file = recordedFile(folder.string());
      std::filesystem::is_regular_file(file.path, ignored))
    return openRecorded(file);
  auto opened = attention::Model::open(folder);
  if (!opened) return opened.error();
  auto tokenizer = attention::TextTokenizer::open(folder, stop);
  if (!tokenizer) return tokenizer.error();
  auto learned = readLearned(folder);  // which few folders have
  if (learned && !fit(learned->skills, opened->config())) *learned = {};
  return std::make_shared<const OpenModel>(
      OpenModel{model == kLearned ? "Miniature" : modelName(folder),
                std::make_shared<const attention::Model>(*std::move(opened)), *std::move(tokenizer),
                learned ? *std::move(learned) : Learned{}});
}

namespace {

/// The sizes of the scene's layer are the model's.
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

/// The first thing the scene asks of the model that it doesn't have.
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
  setup.subject = {};
  setup.subject.model = model;
  setup.subject.opened = std::move(opened);
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
  if (before.input.text != setup.input.text && before.subject.written == setup.subject.written)
    setup.subject.written.clear();
}

Status fitSubject(Scene& scene) {
  if (std::string what = missing(scene.setup.subject); !what.empty()) return Error{std::move(what)};
  takeSizes(scene.setup);
  return attention::success();
}

Status openSubject(Scene& scene, const std::stop_token& stop) {
  SubjectSetup& subject = scene.setup.subject;
  if (subject.model.empty()) return attention::success();
  auto opened = openModel(subject.model, stop);
  if (!opened) {
    subject.problem = opened.error().message;
    // The file's sizes may be any.
    const ModelSetup fresh;
    ModelSetup& model = scene.setup.model;
    model.heads = fresh.heads;
    model.kvHeads = fresh.kvHeads;
    model.headDim = fresh.headDim;
    model.modelDim = fresh.modelDim;
    model.linked = fresh.linked;
    return attention::success();
  }
  subject.opened = *std::move(opened);
  return fitSubject(scene);
}

}  // namespace headscope::app
