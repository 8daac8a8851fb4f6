#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "app/scene/models/learned_skills.h"
#include "app/scene/models/source_texts.h"
#include "app/scene/subject.h"
#include "attention/cache/model_shape.h"
#include "attention/formats/recorded/recorded_attention.h"
#include "attention/models/model.h"
#include "attention/models/tokenizer/text_tokenizer.h"
#include "attention/models/vision/picture_model.h"

namespace headscope::app {

/// When a file was written last and how large it is: another one says that it was written again.
struct FileVersion {
  std::filesystem::file_time_type writtenAt = {};
  std::uintmax_t size = 0;  ///< 0: it can't be looked at
  bool operator==(const FileVersion&) const = default;
};
FileVersion versionOf(const std::filesystem::path& file);

/// A picture whose patches are tokens: what a model that reads pictures is on, or what lies beside recorded
/// attention, cut about its middle to the patches' shape.
struct OpenPicture {
  std::string name;  ///< of its file
  attention::RgbPicture seen;
  Index rows = 0, cols = 0;                                ///< of patches
  Index before = 0;                                        ///< tokens before the first patch
  std::vector<std::string> tokens = {};                    ///< of a model, what its tokens are called
  std::shared_ptr<const attention::Model> base = nullptr;  ///< of a model, itself without a picture

  Index tokenCount() const { return before + rows * cols; }
};

/// A checkpoint with its tokenizer, or attention that another program recorded. Any number of threads may use
/// one.
struct OpenModel {
  std::string name;  ///< what its folder is called, as people know it: "gpt2", "Llama-3.1-8B"
  std::shared_ptr<const attention::Model> model;  ///< null of recorded attention, like the tokenizer
  std::optional<attention::TextTokenizer> tokenizer = {};
  Learned learned = {};  ///< as the folder says
  std::optional<attention::RecordedAttention> recorded = {};
  FileVersion version = {};   ///< of recorded attention's file
  bool betweenTexts = false;  ///< queries are of another text than keys: cross heads, or recorded ones
  attention::ModelConfig recordedShape = {};  ///< layers, heads, kv heads and whether nothing sees its future
  std::shared_ptr<const OpenPicture> picture = {};  ///< null without one

  /// Whether it has no tokens before it has a picture.
  bool readsPictures() const { return model && model->config().picture.has_value(); }
  /// Of an encoder–decoder: what both stacks cost, as its config.json and files say.
  std::optional<attention::ModelShape> pairShape = {};
  /// Of a decoder that reads: what it read last.
  std::shared_ptr<SourceTexts> sources = nullptr;

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

/// The same with a PNG or JPEG, in place of one that it has. Errors: a model that reads text, recorded
/// attention whose keys are no patches of a picture, what modelOnPictureFile() and decodePicture() refuse.
attention::Result<std::shared_ptr<const OpenModel>> withPicture(
    const std::shared_ptr<const OpenModel>& opened, const std::filesystem::path& picture);
/// What is said of a picture where nothing is open that it could be for.
attention::Error pictureWithoutModel(const std::filesystem::path& picture);
/// Whether a file is called like a PNG or JPEG.
bool isPictureName(const std::filesystem::path& file);

}  // namespace headscope::app
