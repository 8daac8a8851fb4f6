#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "attention/formats/layers/qk_layers.h"
#include "attention/formats/tensor_source.h"

namespace headscope::attention {

/// Queries and keys in a safetensors file, read head by head, so that a file may be
/// much larger than memory. Which tensors are taken for them: findQkLayers(). Move-only; several threads may
/// read at once.
class QkFile {
 public:
  /// Reads the header alone. Errors, each in one sentence: what RegularFile, the format and findQkLayers()
  /// refuse. Nothing is allocated for a head.
  static Result<QkFile> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// At least one.
  const std::vector<QkLayer>& layers() const { return layers_; }

  /// [queries, headDim] of a head; keys where queriesFromKeys. Takes the memory of one head and a small
  /// buffer. Errors: a value that isn't finite as a float, too little memory, a file that became shorter.
  /// Throws std::invalid_argument if there is no such layer or head.
  Result<Matrix> readQueries(Index layer, Index head) const;
  /// [keys, headDim] of a kv head, which query head h shares as config.kvHeadOf(h) says; else as
  /// readQueries().
  Result<Matrix> readKeys(Index layer, Index kvHead) const;

 private:
  QkFile(std::filesystem::path path, TensorSource tensors, std::vector<QkLayer> layers)
      : path_(std::move(path)), tensors_(std::move(tensors)), layers_(std::move(layers)) {}
  const QkLayer& layerAt(Index layer) const;
  Result<Matrix> readHead(const QkTensor& tensor, Index head) const;

  std::filesystem::path path_;
  TensorSource tensors_;
  std::vector<QkLayer> layers_;
};

}  // namespace headscope::attention
