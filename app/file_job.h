#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "app/scene.h"
#include "attention/core/config.h"

namespace headscope::app {

/// Something to read, away from the thread that draws.
struct FileRequest {
  enum class Kind { scene, weights, table } kind = Kind::scene;
  std::filesystem::path path;
  Index heads = 1;           ///< for weights whose file doesn't say how many heads there are
  std::uint64_t ticket = 0;  ///< tells answers apart
};

/// The layer sizes a weights file asks the sliders to take.
struct LoadedWeights {
  attention::AttentionConfig config;
  bool bias = false;
};

struct FileAnswer {
  FileRequest request;
  std::variant<attention::Error, Scene, LoadedWeights, attention::Table> content;
};

FileAnswer readRequested(const FileRequest& request);

/// What a dropped or named file is, by its ending: .json a scene, .safetensors weights, .npy .csv .tsv .txt a
/// table.
attention::Result<FileRequest> requestFor(const std::filesystem::path& path);

}  // namespace headscope::app
