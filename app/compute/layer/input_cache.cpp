#include "app/compute/layer/layer_inputs.h"

namespace headscope::app {

using attention::Projections;
using attention::Result;

namespace {

std::uint64_t bytesOf(const Projections& projections) {
  std::uint64_t floats = 0;
  for (const attention::Linear* linear : {&projections.q, &projections.k, &projections.v, &projections.o})
    floats += static_cast<std::uint64_t>(linear->weight.size() + linear->bias.size());
  return floats * sizeof(float);
}

std::uint64_t bytesOf(const std::vector<LineInput>& inputs) {
  std::uint64_t floats = 0;
  for (const LineInput& input : inputs)
    floats += static_cast<std::uint64_t>(input.x.size() + input.context.size());
  return floats * sizeof(float);
}

std::uint64_t bytesOf(const std::vector<attention::AttentionResult>& lines) {
  std::uint64_t floats = 0;
  for (const attention::AttentionResult& line : lines)
    floats += static_cast<std::uint64_t>(line.q.size() + line.k.size() + line.v.size());
  return floats * sizeof(float);
}

std::uint64_t bytesOf(const LayerWeights& layer) {
  return bytesOf(layer.projections);
}

std::uint64_t bytesOf(const InputCache::MaskCells& mask) {
  const attention::CellTable& cells = mask.cells;
  std::uint64_t bytes = cells.rows.size() * sizeof(cells.rows[0]);
  for (const auto& row : cells.rows)
    if (row) bytes += sizeof(*row) + (row->visible.size() + row->masked.size()) * sizeof(attention::KeyRun);
  return bytes;
}

}  // namespace

template <class Key, class Value>
std::shared_ptr<const Value> InputCache::Shelf<Key, Value>::find(const Key& key) {
  const auto found =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.key == key; });
  if (found == kept_.end()) return nullptr;
  std::rotate(kept_.begin(), found, found + 1);
  return kept_.front().value;
}

template <class Key, class Value>
template <class Make>
Result<std::shared_ptr<const Value>> InputCache::Shelf<Key, Value>::get(const MemoryBudget& memory, Key key,
                                                                        Make make) {
  {
    const std::lock_guard lock(mutex_);
    if (auto kept = find(key)) return kept;
    if (kept_.size() >= mostKept_) kept_.pop_back();  // makes space for one more
  }
  Result<Value> made = make();
  if (!made) return made.error();
  struct Counted {
    Value value;
    MemoryShare share;
  };
  const std::uint64_t bytes = bytesOf(*made);
  const auto counted = std::make_shared<const Counted>(Counted{*std::move(made), memory.count(bytes)});
  std::shared_ptr<const Value> value(counted, &counted->value);
  const std::lock_guard lock(mutex_);
  if (auto kept = find(key)) return kept;  // another thread was faster
  kept_.insert(kept_.begin(), Kept{std::move(key), value, bytes});
  std::uint64_t held = 0;
  const auto surplus = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
    return (held += kept.bytes) > memory.total() / 4;
  });
  kept_.erase(surplus, kept_.end());
  return value;
}

InputCache::WeightsKey InputCache::weightsKey(const Setup& setup, Index longest) {
  const ModelSetup& model = setup.model;
  WeightsKey key{
      setup.weights, model.modelDim, model.heads, model.kvHeads, model.headDim, model.bias, {}, false, 0};
  key.weights.seed = layerSeed(setup);
  key.weights.merged = mergesKvHeads(setup);
  key.weights.file.clear();
  key.weights.layer = -1;
  key.weights.planted.clear();
  key.weights.plantedAbove.clear();
  if (setup.weights.source == WeightSource::planted) {
    key.weights.planted = plantedHeads(setup);
    if (const auto layout = plantedLayoutOf(setup)) key.layout = *layout;
    key.carriesPrevious = carriesPrevious(setup);
    key.longest = plantedReach(longest);
  }
  return key;
}

InputCache::InputsKey InputCache::inputsKey(const Setup& setup) {
  InputsKey key{setup.input, setup.model.modelDim, setup.model.position == PositionKind::sinusoidal, {}};
  if (usesPlantedEmbedding(setup)) {
    const auto layout = plantedLayoutOf(setup);
    key.layout = layout ? *layout : attention::EmbeddingLayout{-1};  // an invalid layout: embedding fails
  }
  InputSetup& input = key.input;
  if (!input.cross) input.contextText = "";
  if (input.source == EmbeddingSource::text) {
    input.table = {};
  } else {
    const SharedTable table = input.table;
    input = {};
    input.source = EmbeddingSource::table;
    input.table = table;
  }
  return key;
}

InputCache::FileStamp::FileStamp(const std::string& file) : path(file) {
  std::error_code unreadable;  // reading the file reports it better
  changed = std::filesystem::last_write_time(path, unreadable);
  if (!unreadable) size = std::filesystem::file_size(path, unreadable);
}

Result<std::shared_ptr<const Projections>> InputCache::ofFile(const Setup& setup) {
  const Result<std::shared_ptr<const LayerWeights>> layer =
      layers_.get(memory_, {FileStamp(setup.weights.file), layerOfFile(setup), setup.model.heads},
                  [&] { return readLayerWeights(setup, memory_.total()); });
  if (!layer) return layer.error();
  if (const attention::Status fits = checkLayer(setup, (*layer)->config); !fits) return fits.error();
  return std::shared_ptr<const Projections>(*layer, &(*layer)->projections);
}

Result<std::shared_ptr<const Projections>> InputCache::projections(const Setup& setup, Index longest) {
  if (setup.weights.source == WeightSource::file) return ofFile(setup);
  return weights_.get(memory_, weightsKey(setup, longest), [&]() -> Result<Projections> {
    if (!mergesKvHeads(setup)) return buildProjections(setup, longest);
    // The drift of the heads needs these, too, and so does the next number of kv heads.
    const auto whole = projections(beforeMerge(setup), longest);
    if (!whole) return whole.error();
    return mergedProjections(**whole, setup.model);
  });
}

Result<std::shared_ptr<const std::vector<LineInput>>> InputCache::inputs(
    const Setup& setup, const std::vector<LineTokens>& lines) {
  return inputs_.get(memory_, inputsKey(setup), [&]() -> Result<std::vector<LineInput>> {
    std::vector<LineInput> made;
    for (const LineTokens& line : lines) {
      Result<LineInput> input = embedLine(setup, line);
      if (!input) return input.error();
      made.push_back(*std::move(input));
    }
    return made;
  });
}

Result<std::shared_ptr<const std::vector<attention::AttentionResult>>> InputCache::projected(
    const attention::AttentionConfig& config, std::shared_ptr<const Projections> projections,
    std::shared_ptr<const std::vector<LineInput>> inputs, const std::stop_token& stop) {
  const ProjectedKey key{projections,        inputs,          config.heads, config.kvHeads, config.headDim,
                         config.cacheLength, config.ropeTheta};
  return projected_.get(memory_, key, [&]() -> Result<std::vector<attention::AttentionResult>> {
    std::vector<attention::AttentionResult> made;
    for (const LineInput& line : *inputs)
      made.push_back(attention::project(config, *projections, line.x,
                                        line.context.size() ? line.context : line.x, stop));
    if (stop.stop_requested()) return attention::Error{"stopped"};
    return made;
  });
}

Result<std::shared_ptr<const InputCache::MaskCells>> InputCache::maskFile(
    const std::string& path, attention::MaskConvention convention) {
  return masks_.get(memory_, {FileStamp(path), convention}, [&]() -> Result<MaskCells> {
    const Result<attention::MaskFile> file = attention::readMaskFile(path, convention, memory_.total());
    if (!file) return file.error();
    return MaskCells{*file->cells, file->largeNumbers, !file->additive.empty()};
  });
}

Result<std::shared_ptr<const attention::CellTable>> InputCache::maskCells(
    const std::string& path, attention::MaskConvention convention) {
  auto file = maskFile(path, convention);
  if (!file) return file.error();
  return std::shared_ptr<const attention::CellTable>(*file, &(*file)->cells);
}

}  // namespace headscope::app
