#pragma once

#include <filesystem>
#include <memory>

#include "attention/core/result.h"
#include "render/image.h"

namespace headscope::app {

/// A destination for the frames of a recording, which all have the same size.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual attention::Status add(const render::Image& frame) = 0;
  /// Completes the recording. Otherwise no film is left, however the program ends; a folder keeps the frames
  /// so far.
  virtual attention::Status finish() = 0;
};

/// The target and format of a recording.
struct Recording {
  std::filesystem::path path;  ///< .mp4, .webm or .gif, written by ffmpeg; otherwise a folder of PNG files
  int width = 0, height = 0, framesPerSecond = 30;
};

/// Returns an Error if the ending is unknown, ffmpeg isn't installed, the folder isn't empty or the file
/// can't be written.
attention::Result<std::unique_ptr<FrameSink>> openRecording(const Recording& recording);

}  // namespace headscope::app
