#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>

#include "app/scene/models/learned_skills.h"
#include "app/scene/scene.h"
#include "attention/formats/recorded/recorded_attention.h"
#include "attention/models/model.h"
#include "attention/models/tokenizer/text_tokenizer.h"

namespace headscope::app {

/// A checkpoint with its tokenizer, or attention that another program recorded. Any number of threads may use
/// one.
struct OpenModel {
  std::string name;  ///< what its folder is called, as people know it: "gpt2", "Llama-3.1-8B"
  std::shared_ptr<const attention::Model> model;  ///< null of recorded attention, like the tokenizer
  std::optional<attention::TextTokenizer> tokenizer = {};
  Learned learned = {};  ///< as the folder says
  std::optional<attention::RecordedAttention> recorded = {};
  bool betweenTexts = false;  ///< recorded attention whose queries are of another text than its keys
  attention::ModelConfig recordedShape = {};  ///< layers, heads, kv heads and whether nothing sees its future

  const attention::ModelConfig& config() const { return model ? model->config() : recordedShape; }
};

/// The folder that a scene's model stands for.
std::filesystem::path modelFolder(const std::string& model);
/// "models--openai--gpt2/snapshots/4f…" of a hub's cache is "openai/gpt2"; other folders are their last part.
std::string modelName(const std::filesystem::path& folder);

/// A file of recorded attention, and which group of it: "t5.npz#cross" is the group cross of t5.npz. The
/// group is "" where the name says none, or a file has that name itself.
struct RecordedFile {
  std::filesystem::path path;
  std::string group;
};
RecordedFile recordedFile(const std::string& model);

/// Opens what `model` names: of a folder reads config and tokenizer, and maps the weights; a file is
/// attention that another program recorded. Errors as Model::open(), TextTokenizer::open() and
/// RecordedAttention::open() have them.
attention::Result<std::shared_ptr<const OpenModel>> openModel(const std::string& model,
                                                              const std::stop_token& stop = {});

/// Nothing is masked or added to scores but by the model itself.
void forgetLayer(Setup& setup);
/// Makes a layer of an opened model the scene's: its sizes, no masks and numbers besides its own, the text as
/// it is.
void adoptModel(Scene& scene, const std::string& model, std::shared_ptr<const OpenModel> opened);
/// The opening scene's layer again, with the text as it is.
void leaveModel(Scene& scene);

/// After an edit: what a model wrote behind another text than today's goes.
void forgetWritten(const Setup& before, Setup& setup);

/// Gives a scene whose subject was opened the model's sizes. The error is for what the model doesn't have: a
/// layer, a head.
attention::Status fitSubject(Scene& scene);
/// Opens the model that a scene names, which came out of a file; `problem` says why where that failed. The
/// error is for what the model doesn't have: a layer, a head.
attention::Status openSubject(Scene& scene, const std::stop_token& stop = {});

}  // namespace headscope::app
