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

/// What a layer is computed from, kept until something it is made of changes: most sliders change neither the
/// weights nor the embeddings, and making those anew takes longer than the attention. Safe from several
/// threads; nothing is locked while something is made.
class InputCache {
 public:
  /// What is kept of a mask file.
  struct MaskCells {
    attention::CellTable cells;
    std::uint64_t largeNumbers = 0;  ///< as MaskFile::largeNumbers
    bool hasAddedNumbers = false;    ///< other finite numbers than 0, which are no part of the mask
  };

  /// Counts what it keeps as used of `memory`, and keeps at most a quarter of it of each kind.
  explicit InputCache(MemoryBudget memory) : memory_(std::move(memory)) {}

  /// As buildProjections, of the shown layer. A file is read again when it has changed.
  attention::Result<std::shared_ptr<const attention::Projections>> projections(const Setup& setup,
                                                                               Index longest);
  /// As embedLine, for each line of the batch.
  attention::Result<std::shared_ptr<const std::vector<LineInput>>> inputs(
      const Setup& setup, const std::vector<LineTokens>& lines);
  /// q, k and v of each line, as attention::project makes them of what the two above gave: a slider on the
  /// scores or the mask changes none. An error where `stop` came first.
  attention::Result<std::shared_ptr<const std::vector<attention::AttentionResult>>> projected(
      const attention::AttentionConfig& config, std::shared_ptr<const attention::Projections> projections,
      std::shared_ptr<const std::vector<LineInput>> inputs, const std::stop_token& stop);
  /// A mask file, as readMaskFile. It is read again when it has changed.
  attention::Result<std::shared_ptr<const MaskCells>> maskFile(const std::string& path,
                                                               attention::MaskConvention convention);
  /// Its cells alone.
  attention::Result<std::shared_ptr<const attention::CellTable>> maskCells(
      const std::string& path, attention::MaskConvention convention);

 private:
  /// The last values by what they were made from, newest first: the heads page and the map may differ.
  template <class Key, class Value>
  class Shelf {
   public:
    explicit Shelf(std::size_t mostKept) : mostKept_(mostKept) {}
    /// What is kept for `key`, else what `make` makes.
    template <class Make>
    attention::Result<std::shared_ptr<const Value>> get(const MemoryBudget& memory, Key key, Make make);

   private:
    struct Kept {
      Key key;
      std::shared_ptr<const Value> value;
      std::uint64_t bytes = 0;
    };
    /// Put first, so that it is kept longest; null where nothing is kept for `key`. The caller holds the
    /// lock.
    std::shared_ptr<const Value> find(const Key& key);

    const std::size_t mostKept_;
    std::mutex mutex_;
    std::vector<Kept> kept_;
  };

  /// Everything that drawn and planted weights are made from.
  struct WeightsKey {
    WeightSetup weights;  ///< with a plan for each head where they are planted
    Index modelDim = 0, heads = 0, kvHeads = 0, headDim = 0;
    bool bias = false;
    attention::EmbeddingLayout layout;  ///< of planted heads
    bool carriesPrevious = false;
    Index longest = 0;
    bool operator==(const WeightsKey&) const = default;
  };
  /// A file, while it stays as it was.
  struct FileStamp {
    explicit FileStamp(const std::string& file);
    std::string path;
    std::filesystem::file_time_type changed;
    std::uintmax_t size = 0;
    bool operator==(const FileStamp&) const = default;
  };
  /// Everything that embeddings are made from.
  struct InputsKey {
    InputSetup input;
    Index modelDim = 0;
    bool sinusoidal = false;
    attention::EmbeddingLayout layout;  ///< for planted heads
    bool operator==(const InputsKey&) const = default;
  };
  /// Everything that q, k and v are made from; what is kept alive is never another at the same place.
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
  /// By the file's layer, and the heads the scene wants.
  Shelf<std::tuple<FileStamp, Index, Index>, LayerWeights> layers_{2 * kMaxStackLayers};
  Shelf<InputsKey, std::vector<LineInput>> inputs_{2};
  Shelf<ProjectedKey, std::vector<attention::AttentionResult>> projected_{1};
  /// One scene may name several.
  Shelf<std::pair<FileStamp, attention::MaskConvention>, MaskCells> masks_{16};
};

}  // namespace headscope::app
