#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "app/scene/scene.h"
#include "attention/core/config.h"
#include "attention/formats/mask_file.h"

namespace headscope::app {

/// A file to read or to write away from the thread that draws, with everything that takes.
struct FileRequest {
  enum class Kind { scene, weights, table, inspectMask, mask, saveMask, saveScene } kind = Kind::scene;
  std::filesystem::path path;
  Index heads = 1;  ///< for weights whose file doesn't say how many heads there are
  Index head = 0;   ///< the head whose mask becomes a picture
  attention::MaskConvention convention = attention::MaskConvention::visible;  ///< of a mask file
  std::shared_ptr<const attention::MaskFormula> formula = nullptr;            ///< the mask to save
  std::shared_ptr<const Scene> scene = nullptr;                               ///< the scene to save
  std::uint64_t ticket = 0;                                                   ///< tells answers apart
};

/// Whether the request writes its file.
bool writes(const FileRequest& request);

/// The layer sizes a weights file asks the sliders to take.
struct LoadedWeights {
  attention::AttentionConfig config;
  bool bias = false;
};

/// What a mask file's numbers can mean.
using Conventions = std::vector<attention::MaskConvention>;
/// A file that was written.
struct Saved {};

struct FileAnswer {
  FileRequest request;
  std::variant<attention::Error, Scene, LoadedWeights, attention::Table, Conventions, attention::MaskFile,
               Saved>
      content;
};

FileAnswer readRequested(const FileRequest& request);

/// What a dropped or named file is, by its ending: .json a scene, .safetensors weights, .npy .csv .tsv .txt a
/// table.
attention::Result<FileRequest> requestFor(const std::filesystem::path& path);

}  // namespace headscope::app
