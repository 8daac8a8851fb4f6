#pragma once

#include <tuple>

#include "app/compute/jobs/memory_budget.h"
#include "app/compute/layer/line_tokens.h"
#include "app/scene/model_fit.h"
#include "attention/models/layers/attention_file.h"
#include "attention/formats/masks/mask_file.h"
#include "attention/masks/plain_rules.h"

namespace headscope::app {

/// The attention inputs of one line.
struct LineInput {
  attention::Matrix x;        ///< [n, modelDim]
  attention::Matrix context;  ///< [m, modelDim]; empty for self-attention
};
/// Returns the embeddings of tokens first … first+count−1 of a line, [count, modelDim].
attention::Result<attention::Matrix> embedTokens(const Setup& setup,
                                                 const std::vector<attention::Token>& tokens, Index first,
                                                 Index count);
/// Returns the tokens' vectors without positions, named by token, as a table for the same layer would hold
/// them: [tokens, modelDim].
attention::Result<attention::Table> ownVectors(const Setup& setup,
                                               const std::vector<attention::Token>& tokens);

/// Embeds one line of the batch.
attention::Result<LineInput> embedLine(const Setup& setup, const LineTokens& line);

/// Returns the layout of embeddings for planted heads. For several layers it leaves space for what layers
/// write.
attention::Result<attention::EmbeddingLayout> plantedLayoutOf(const Setup& setup);
/// Whether embeddings have the layout for planted heads; false for an opened model.
bool usesPlantedEmbedding(const Setup& setup);

/// Returns the file's layer for the shown one, by the number in its names; −1 = the only one.
Index layerOfFile(const Setup& setup);
/// A layer read from a weights file.
struct LayerWeights {
  attention::AttentionConfig config;
  attention::Projections projections;
};
attention::Result<LayerWeights> readLayerWeights(const Setup& setup, std::uint64_t budget);
/// Returns an Error unless the file's layer has the scene's sizes.
attention::Status checkLayer(const Setup& setup, const attention::AttentionConfig& found);

/// Returns the number of positions that planted heads support for texts of `longest` tokens.
Index plantedReach(Index longest);

/// Returns the seed of the shown layer's weights: the scene's for the first layer, a derived one for each
/// other.
std::uint64_t layerSeed(const Setup& setup);
/// Whether a layer below the shown one has a planted head that attends to the previous token. The first such
/// layer carries that token to the layers above.
bool carriedBelow(const Setup& setup);
/// Whether the shown layer is that first one.
bool carriesPrevious(const Setup& setup);

/// Whether weights are made for a kv head per head and then merged. False for layers of a file or a model,
/// which stay as they are.
bool mergesKvHeads(const Setup& setup);
/// Returns the setup before its kv heads were merged; itself if they aren't.
Setup beforeMerge(Setup setup);
/// Returns the weights made for beforeMerge() with W_K and W_V merged to the model's kv heads: the mean of
/// each group's, as checkpoints are converted (Ainslie et al. 2023, GQA, section 2.1).
attention::Projections mergedProjections(const attention::Projections& whole, const ModelSetup& model);

/// Returns the shown layer's weights from the Setup's source: random, planted for texts of `longest` tokens,
/// or a file.
attention::Result<attention::Projections> buildProjections(const Setup& setup, Index longest);

/// Returns why the heads of a layer can't be planted in so few dimensions; "" if they can or aren't planted.
std::string plantedMisfit(const Setup& setup);
/// Returns the number of dimensions by which the shown layer's induction heads tell words apart if it is too
/// small to work well, otherwise 0.
Index narrowInduction(const Setup& setup);
/// Returns a function that tells whether the same heads can be planted in another model; empty if heads
/// aren't planted.
Suits plantingSuits(const Setup& setup);

/// Reads a layer's weights from a safetensors file or .npz. `layer` selects one layer of a whole model; −1 =
/// the file has only one. If the metadata gives neither the number nor the size of heads, which shapes alone
/// can't tell, assumes `heads` heads. Returns an Error if the weights take more than `budget` bytes.
attention::Result<attention::AttentionProblem> readLayerFile(const std::filesystem::path& path,
                                                             attention::Index layer, attention::Index heads,
                                                             std::uint64_t budget);

/// Returns an Error unless the file has the layers first … first+count−1, one for each of `count` synthetic
/// layers.
attention::Status checkFileLayers(const std::filesystem::path& path, attention::Index first,
                                  attention::Index count);

/// The layer sizes and masks that a weights file sets in the scene.
struct LoadedWeights {
  attention::AttentionConfig config;
  attention::PlainRules rules;
  bool bias = false;
  attention::Index layer = -1;  ///< for scene fields: the file's first layer; −1 = it has only one
  attention::Index layers = 1;  ///< number of layers in the file
};
/// Reads the LoadedWeights of the file's first layer. Returns an Error if a scene can't have such a layer.
attention::Result<LoadedWeights> readLoadedWeights(const std::filesystem::path& path, attention::Index heads);
/// Reads a table of embeddings, tokens × dimensions. Returns an Error if it is too large for the window.
attention::Result<attention::Table> readEmbeddings(const std::filesystem::path& path);

/// Returns a Setup's settings of a layer's scores and weights. T5's buckets are those of a causal mask.
attention::ScoreSettings scoreSettings(const Setup& setup);

/// Returns the attention config of a Setup. Only T5's buckets depend on the mask; Snapshot::config makes them
/// bidirectional if the mask isn't causal.
attention::AttentionConfig configOf(const Setup& setup);

/// Returns the switched-off heads of one of the subject's layers; empty if there are none. A single synthetic
/// layer is layer 0. Heads that the layer doesn't have are ignored.
attention::HeadSwitch headSwitch(const SubjectSetup& subject, Index layer, Index heads);

/// Switches this head off, or on again.
void switchHead(SubjectSetup& subject, const SwitchedHead& head, bool off);
/// Returns how the head is switched off; null if it is on.
const SwitchedHead* switchedOff(const SubjectSetup& subject, Index layer, Index head);
/// Returns the replacement for the layer's switched-off heads: `chosen` if none is off or any is off that
/// way, otherwise that of the first.
HeadOff standIn(const SubjectSetup& subject, Index layer, HeadOff chosen);

/// Caches what a layer is computed from until its inputs change: most sliders change neither weights nor
/// embeddings, and recomputing those takes longer than attention. Thread-safe; no lock is held while a value
/// is made.
class InputCache {
 public:
  /// The cached part of a mask file.
  struct MaskCells {
    attention::CellTable cells;
    std::uint64_t largeNumbers = 0;  ///< MaskFile::largeNumbers
    bool hasAddedNumbers = false;    ///< finite numbers other than 0, which are not part of the mask
  };

  /// Counts its contents as used in `memory`, and keeps at most a quarter of `memory` of each kind.
  explicit InputCache(MemoryBudget memory) : memory_(std::move(memory)) {}

  /// Returns buildProjections() of the shown layer. Reads a file again if it has changed.
  attention::Result<std::shared_ptr<const attention::Projections>> projections(const Setup& setup,
                                                                               Index longest);
  /// Returns embedLine() of each line of the batch.
  attention::Result<std::shared_ptr<const std::vector<LineInput>>> inputs(
      const Setup& setup, const std::vector<LineTokens>& lines);
  /// Returns each line's q, k and v: attention::project() of the results of the two functions above. Sliders
  /// for scores or masks don't change them. Returns an Error if `stop` was requested.
  attention::Result<std::shared_ptr<const std::vector<attention::AttentionResult>>> projected(
      const attention::AttentionConfig& config, std::shared_ptr<const attention::Projections> projections,
      std::shared_ptr<const std::vector<LineInput>> inputs, const std::stop_token& stop);
  /// Returns readMaskFile(). Reads the file again if it has changed.
  attention::Result<std::shared_ptr<const MaskCells>> maskFile(const std::string& path,
                                                               attention::MaskConvention convention);
  /// Returns only the cells of maskFile().
  attention::Result<std::shared_ptr<const attention::CellTable>> maskCells(
      const std::string& path, attention::MaskConvention convention);

 private:
  /// The most recent values by their keys, newest first: the heads page and the map may need different ones.
  template <class Key, class Value>
  class Shelf {
   public:
    explicit Shelf(std::size_t mostKept) : mostKept_(mostKept) {}
    /// Returns the value kept for `key`, or makes and keeps it.
    template <class Make>
    attention::Result<std::shared_ptr<const Value>> get(const MemoryBudget& memory, Key key, Make make);

   private:
    struct Kept {
      Key key;
      std::shared_ptr<const Value> value;
      std::uint64_t bytes = 0;
    };
    /// Moves the entry to the front so that it is kept longest; null if nothing is kept for `key`. The caller
    /// must hold the lock.
    std::shared_ptr<const Value> find(const Key& key);

    const std::size_t mostKept_;
    std::mutex mutex_;
    std::vector<Kept> kept_;
  };

  /// Everything that random and planted weights depend on.
  struct WeightsKey {
    WeightSetup weights;  ///< with a plan for each head if they are planted
    Index modelDim = 0, heads = 0, kvHeads = 0, headDim = 0;
    bool bias = false;
    attention::EmbeddingLayout layout;  ///< of planted heads
    bool carriesPrevious = false;
    Index longest = 0;
    bool operator==(const WeightsKey&) const = default;
  };
  /// A file's path, time of change and size, to notice changes.
  struct FileStamp {
    explicit FileStamp(const std::string& file);
    std::string path;
    std::filesystem::file_time_type changed;
    std::uintmax_t size = 0;
    bool operator==(const FileStamp&) const = default;
  };
  /// Everything that embeddings depend on.
  struct InputsKey {
    InputSetup input;
    Index modelDim = 0;
    bool sinusoidal = false;
    attention::EmbeddingLayout layout;  ///< for planted heads
    bool operator==(const InputsKey&) const = default;
  };
  /// Everything that q, k and v depend on. Keeps both objects alive, so their addresses can't be reused.
  struct ProjectedKey {
    std::shared_ptr<const attention::Projections> projections;
    std::shared_ptr<const std::vector<LineInput>> inputs;
    Index heads = 0, kvHeads = 0, headDim = 0, cacheLength = 0;
    std::optional<float> ropeTheta;
    bool operator==(const ProjectedKey&) const = default;
  };
  static WeightsKey weightsKey(const Setup& setup, Index longest);
  static InputsKey inputsKey(const Setup& setup);
  attention::Result<std::shared_ptr<const attention::Projections>> ofFile(const Setup& setup);

  const MemoryBudget memory_;
  Shelf<WeightsKey, attention::Projections> weights_{2 * kMaxStackLayers};
  /// Keyed by file, the layer in it and the scene's number of heads.
  Shelf<std::tuple<FileStamp, Index, Index>, LayerWeights> layers_{2 * kMaxStackLayers};
  Shelf<InputsKey, std::vector<LineInput>> inputs_{2};
  Shelf<ProjectedKey, std::vector<attention::AttentionResult>> projected_{1};
  /// A scene may use several.
  Shelf<std::pair<FileStamp, attention::MaskConvention>, MaskCells> masks_{16};
};

/// Shared by the computations of one window. Thread-safe.
struct Resources {
  explicit Resources(const Limits& limits) : memory(limits.memoryBytes), inputs(memory) {}

  MemoryBudget memory;
  InputCache inputs;
};

}  // namespace headscope::app
