#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/scene/subject.h"
#include "attention/cache/model_cost.h"
#include "attention/core/result.h"
#include "attention/core/tensor.h"
#include "attention/formats/recorded/recorded_attention.h"
#include "attention/models/model.h"
#include "attention/models/tokenizer/text_tokenizer.h"
#include "attention/models/vision/vision_model.h"

namespace headscope::app {

/// A model that is already on this machine.
struct CachedModel {
  std::string name;              ///< "openai/gpt2"
  std::filesystem::path folder;  ///< or a GGUF file
};

/// Returns "openai/gpt2" for "models--openai--gpt2/snapshots/4f…" in a hub's cache, and the last part of any
/// other path; for GGUF files without the extension and the part number of a split.
std::string modelName(const std::filesystem::path& folder);

/// The Hugging Face hub's download folder: $HF_HUB_CACHE, else $HF_HOME/hub, else huggingface/hub in
/// $XDG_CACHE_HOME or ~/.cache.
std::filesystem::path hubCache();

/// The models with a config.json in a hub's cache, sorted by name: of each the revision that refs/main names,
/// else the newest. Doesn't open the models. Empty if there is no cache.
std::vector<CachedModel> cachedModels(const std::filesystem::path& hub = hubCache());

/// The models that Ollama has downloaded, such as "llama3.2:1b", each a GGUF file: those whose manifests, in
/// `models`/manifests, name an existing file in `models`/blobs. Models of other users and registries keep the
/// prefix of their names.
std::vector<CachedModel> ollamaModels(const std::filesystem::path& models);

/// All GGUF models in a folder with LM Studio's layout, publisher/model/FILE.gguf, by file name; split models
/// once. Leaves out the picture encoders next to a model (mmproj).
std::vector<CachedModel> ggufModels(const std::filesystem::path& folder);

/// The models that other programs have downloaded to this machine: the hub's, Ollama's ($OLLAMA_MODELS,
/// ~/.ollama/models) and LM Studio's (~/.lmstudio/models, ~/.cache/lm-studio/models), each sorted by name.
std::vector<CachedModel> downloadedModels();

/// modelName(); for a file of Ollama's, whose name is a hash, Ollama's name for it.
std::string downloadedName(const std::filesystem::path& path);

/// One thing that the miniature has learned, with its figures from scores.json.
struct LearnedSkill {
  std::string name;   ///< in files: "got"
  std::string title;  ///< on screen: "Who got the key"
  std::string text;   ///< an example; if there is a `next`, it ends before that word
  std::string next;   ///< the word that the model predicts next; empty if nothing is asked
  /// Held-out sentences whose next word it predicts, and their total; 0 of 0 if nothing is asked.
  attention::Index right = 0, of = 0;
  /// The head that attends to the answer, and its mean weight there.
  struct Head {
    attention::Index layer = 0, head = 0;
    double score = 0;
  };
  std::optional<Head> head;
  /// A similar text after which the model predicts another word, `otherNext`; empty if there is none.
  std::string other = {}, otherNext = {};
};

/// What the miniature has learned, and the words that are single tokens, sorted. It reads other words in
/// pieces.
struct Learned {
  std::vector<LearnedSkill> skills;
  std::vector<std::string> words;
};

/// Reads scores.json in a model's folder. Returns an Error if it is missing or not such a file.
attention::Result<Learned> readLearned(const std::filesystem::path& folder);
/// The same from the file's text; Errors are prefixed by `name`.
attention::Result<Learned> parseLearned(std::string_view json, const std::string& name);

/// The words of the text that are not in `words`, each once, in order. Words are letters, digits and
/// non-ASCII characters, with apostrophes inside. Returns nothing if `words` is empty, as for other models.
std::vector<std::string> wordsOutside(const std::vector<std::string>& words, std::string_view text);

using attention::Index;

/// A text that an encoder has read for its decoder, or given output of an encoder not computed here.
struct SourceText {
  std::vector<Index> ids;                           ///< of the text
  std::shared_ptr<const attention::Matrix> memory;  ///< [m, modelDim], read by the decoder; null without text
  /// The decoder's own answer, always the most likely token, without the start and end tokens; at most
  /// kAnswerTokens.
  std::vector<Index> answer;
};
inline constexpr std::size_t kAnswerTokens = 32;

/// The texts that a model's encoder read last; every page requests the same ones. Thread-safe; no lock is
/// held while a text is read.
class SourceTexts {
 public:
  /// `features` is the file to read if the encoder isn't computed here. Returns the Errors of the tokenizer,
  /// the passes and readFeatures(), or one if there is no file or the text is too long to show all heads.
  attention::Result<std::shared_ptr<const SourceText>> of(
      const std::shared_ptr<const attention::Model>& decoder, const attention::TextTokenizer& tokenizer,
      const std::string& text, const std::string& features, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::shared_ptr<const SourceText>>> kept_;  ///< newest first
};

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
