#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <tuple>
#include <utility>
#include <vector>

#include "app/compute/jobs/memory_budget.h"
#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/layer_weights.h"
#include "attention/core/attention.h"
#include "attention/formats/masks/mask_file.h"

namespace headscope::app {

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

}  // namespace headscope::app
