#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "attention/formats/layers/qk_layers.h"
#include "attention/formats/tensor_source.h"

namespace headscope::attention {

/// Queries and keys in a tensor file (see TensorSource), read head by head, so a file may be much larger than
/// memory. findQkLayers() decides which tensors they are. Move-only. Thread-safe.
class QkFile {
 public:
  /// Reads only the header and allocates nothing for heads. Returns the errors of TensorSource and
  /// findQkLayers(), each in one sentence.
  static Result<QkFile> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// The file's layers, at least one.
  const std::vector<QkLayer>& layers() const { return layers_; }

  /// Reads a head's queries, [queries, headDim]; its keys if queriesFromKeys. Takes the memory of one head
  /// and a small buffer. Returns an Error for a value that isn't finite as a float, too little memory, or a
  /// file that became shorter. Throws std::invalid_argument if there is no such layer or head.
  Result<Matrix> readQueries(Index layer, Index head) const;
  /// Reads a kv head's keys, [keys, headDim], otherwise like readQueries(). config.kvHeadOf(h) is the kv head
  /// of query head h.
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
