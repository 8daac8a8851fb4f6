#include "app/scene/models/open_model.h"

#include <algorithm>

#include "app/platform/assets.h"
#include "app/scene/limits.h"
#include "app/scene/models/downloads.h"
#include "attention/models/config/model_shape_reader.h"
#include "attention/models/gguf/gguf_source.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

std::filesystem::path modelFolder(const std::string& model) {
  return model == kLearned ? miniatureFolder() : std::filesystem::path(model);
}

RecordedFile recordedFile(const std::string& model) {
  std::error_code ignored;
  const std::size_t mark = model.rfind('#');
  if (mark == std::string::npos || std::filesystem::exists(model, ignored)) return {model, ""};
  return {model.substr(0, mark), model.substr(mark + 1)};
}

FileVersion versionOf(const std::filesystem::path& file) {
  std::error_code unreadable;
  const auto size = std::filesystem::file_size(file, unreadable);
  if (unreadable) return {};
  const auto writtenAt = std::filesystem::last_write_time(file, unreadable);
  return unreadable ? FileVersion{} : FileVersion{writtenAt, size};
}

namespace {

/// Whether no query of the first head without NaN has weight on a later key, since recordings don't include
/// masks. If there are more keys than queries, the queries are the last tokens.
bool seemsCausal(const attention::RecordedAttention& file) {
  const Index before = file.keys() - file.queries();
  if (before < 0 || file.keys() > kMaxTokens || file.queries() < 2) return false;
  auto first = file.readWeights(0, 0);
  for (attention::Index head = 1; first && first->faults.notFinite > 0; ++head) {
    if (head == file.layers().front().attention.heads) return false;
    first = file.readWeights(0, head);
  }
  if (!first) return false;
  for (Index row = 0; row + 1 < first->weights.rows(); ++row)
    if (!first->weights.row(row).tail(file.queries() - row - 1).isZero(0)) return false;
  return true;
}

/// Whether queries come from another text than keys: the file says so, or they aren't the text's last tokens.
bool isBetweenTexts(const attention::RecordedAttention& file, bool causal) {
  if (file.group() == "cross" || file.queries() > file.keys()) return true;
  const auto& queries = file.queryTokens();
  const bool last = std::equal(queries.begin(), queries.end(), file.keyTokens().end() - file.queries());
  return !last && (file.hasTokens() || !causal);
}

Result<std::shared_ptr<const OpenModel>> openRecorded(const RecordedFile& named) {
  const FileVersion version = versionOf(named.path);
  auto file = attention::RecordedAttention::open(named.path, named.group);
  if (!file) return file.error();
  OpenModel opened{named.path.filename().string(), nullptr};
  opened.version = version;
  const attention::RecordedLayer& first = file->layers().front();
  attention::ModelConfig& shape = opened.recordedShape;
  shape.heads = first.attention.heads;
  shape.kvHeads = first.k ? first.k->heads : shape.heads;
  shape.headDim = first.q ? first.q->cols : 1;
  shape.modelDim = shape.heads * shape.headDim;
  shape.maxPositions = file->keys();
  shape.layers.resize(file->layers().size());
  const bool causal = seemsCausal(*file);
  opened.isCrossAttention = isBetweenTexts(*file, causal);
  shape.causal = causal && !opened.isCrossAttention;
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
  const std::filesystem::path name = modelFolder(model), folder = attention::groupedPath(name).path;
  std::error_code ignored;
  const bool gguf = attention::isGguf(folder);
  if (const RecordedFile file = recordedFile(name.string());
      !gguf && std::filesystem::is_regular_file(file.path, ignored))
    return openRecorded(file);
  auto opened = attention::Model::open(name);
  if (!opened) return opened.error();
  if (opened->config().picture)
    return std::make_shared<const OpenModel>(
        OpenModel{downloadedName(folder), std::make_shared<const attention::Model>(*std::move(opened))});
  auto tokenizer = attention::TextTokenizer::open(folder, stop);
  if (!tokenizer) return tokenizer.error();
  auto learned = readLearned(folder);  // only few folders have these
  if (learned && !fit(learned->skills, opened->config())) *learned = {};
  OpenModel open{model == kLearned ? "Miniature" : downloadedName(folder),
                 std::make_shared<const attention::Model>(*std::move(opened)), *std::move(tokenizer),
                 learned ? *std::move(learned) : Learned{}};
  open.isCrossAttention = open.config().cross();
  if (open.config().group != attention::HeadGroup::only)
    if (auto shape = attention::readModelShape(gguf ? folder : folder / "config.json"))
      open.pairShape = *std::move(shape);
  if (open.config().reads()) open.sources = std::make_shared<SourceTexts>();
  return std::make_shared<const OpenModel>(std::move(open));
}

}  // namespace headscope::app
