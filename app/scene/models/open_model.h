#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "app/scene/models/learned_skills.h"
#include "app/scene/subject.h"
#include "attention/formats/recorded/recorded_attention.h"
#include "attention/models/model.h"
#include "attention/models/tokenizer/text_tokenizer.h"

namespace headscope::app {

/// When a file was written last and how large it is: another one says that it was written again.
struct FileVersion {
  std::filesystem::file_time_type writtenAt = {};
  std::uintmax_t size = 0;  ///< 0: it can't be looked at
  bool operator==(const FileVersion&) const = default;
};
FileVersion versionOf(const std::filesystem::path& file);

/// A checkpoint with its tokenizer, or attention that another program recorded. Any number of threads may use
/// one.
struct OpenModel {
  std::string name;  ///< what its folder is called, as people know it: "gpt2", "Llama-3.1-8B"
  std::shared_ptr<const attention::Model> model;  ///< null of recorded attention, like the tokenizer
  std::optional<attention::TextTokenizer> tokenizer = {};
  Learned learned = {};  ///< as the folder says
  std::optional<attention::RecordedAttention> recorded = {};
  FileVersion version = {};   ///< of recorded attention's file
  bool betweenTexts = false;  ///< recorded attention whose queries are of another text than its keys
  attention::ModelConfig recordedShape = {};  ///< layers, heads, kv heads and whether nothing sees its future

  const attention::ModelConfig& config() const { return model ? model->config() : recordedShape; }
};

/// The folder that a scene's model stands for.
std::filesystem::path modelFolder(const std::string& model);

/// A file of recorded attention, and which group of it: "t5.npz#cross" is the group cross of t5.npz. The
/// group is "" where the name says none, or a file has that name itself.
struct RecordedFile {
  std::filesystem::path path;
  std::string group;
};
RecordedFile recordedFile(const std::string& model);

/// Opens what `model` names: of a folder or a GGUF file reads config and tokenizer, and maps the weights;
/// another file is attention that another program recorded. Errors as Model::open(), TextTokenizer::open()
/// and RecordedAttention::open() have them.
attention::Result<std::shared_ptr<const OpenModel>> openModel(const std::string& model,
                                                              const std::stop_token& stop = {});

}  // namespace headscope::app
