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
#include "attention/models/vision/vision_model.h"

namespace headscope::app {

/// A file's last write time and size. If they differ, the file was written again.
struct FileVersion {
  std::filesystem::file_time_type writtenAt = {};
  std::uintmax_t size = 0;  ///< 0 = the file can't be examined
  bool operator==(const FileVersion&) const = default;
};
FileVersion versionOf(const std::filesystem::path& file);

/// A picture whose patches are tokens: the input of a model that reads pictures, or shown with recorded
/// attention, then cropped around its middle to the patches' shape.
struct OpenPicture {
  std::string name;  ///< of its file
  attention::RgbImage seen;
  Index rows = 0, cols = 0;                                ///< of patches
  Index before = 0;                                        ///< tokens before the first patch
  std::vector<std::string> tokens = {};                    ///< for a model: its tokens' names
  std::shared_ptr<const attention::Model> base = nullptr;  ///< for a model: itself without a picture

  Index tokenCount() const { return before + rows * cols; }
};

/// A checkpoint with its tokenizer, or attention recorded by another program. Thread-safe.
struct OpenModel {
  std::string name;                               ///< display name of its folder: "gpt2", "Llama-3.1-8B"
  std::shared_ptr<const attention::Model> model;  ///< null for recorded attention, like the tokenizer
  std::optional<attention::TextTokenizer> tokenizer = {};
  Learned learned = {};  ///< from the folder's scores.json
  std::optional<attention::RecordedAttention> recorded = {};
  FileVersion version = {};       ///< of the file with recorded attention
  bool isCrossAttention = false;  ///< queries come from another text than keys: cross heads, or recorded ones
  attention::ModelConfig recordedShape = {};  ///< if recorded: layers, heads, kv heads and whether causal
  std::shared_ptr<const OpenPicture> picture = {};  ///< null if there is none

  /// Whether it has no tokens until it has a picture.
  bool readsPictures() const { return model && model->config().picture.has_value(); }
  /// For an encoder–decoder: the shape of both stacks, for costs, from its config.json and files.
  std::optional<attention::ModelShape> pairShape = {};
  /// For a decoder that reads an encoder: the texts read last.
  std::shared_ptr<SourceTexts> sources = nullptr;

  const attention::ModelConfig& config() const { return model ? model->config() : recordedShape; }
};

/// The folder that a scene's model name refers to.
std::filesystem::path modelFolder(const std::string& model);

/// A file of recorded attention and a group in it: "t5.npz#cross" is the group cross of t5.npz. The group is
/// "" if the name has none, or if a file with the whole name exists.
struct RecordedFile {
  std::filesystem::path path;
  std::string group;
};
RecordedFile recordedFile(const std::string& model);

/// Opens what `model` names. From a folder or a GGUF file, reads config and tokenizer, and maps the weights;
/// any other file is attention recorded by another program. Returns the Errors of Model::open(),
/// TextTokenizer::open() and RecordedAttention::open().
attention::Result<std::shared_ptr<const OpenModel>> openModel(const std::string& model,
                                                              const std::stop_token& stop = {});

/// The same model with a PNG or JPEG, in place of one that it has. Returns an Error for a model of text,
/// recorded attention whose keys aren't patches, or as modelOnPictureFile() and decodeImage() do.
attention::Result<std::shared_ptr<const OpenModel>> withPicture(
    const std::shared_ptr<const OpenModel>& opened, const std::filesystem::path& picture,
    const std::stop_token& stop = {});
/// The Error for a picture if nothing is open that could use it.
attention::Error pictureWithoutModel(const std::filesystem::path& picture);
/// Whether a file has the extension of a PNG or JPEG.
bool isPictureName(const std::filesystem::path& file);

}  // namespace headscope::app
