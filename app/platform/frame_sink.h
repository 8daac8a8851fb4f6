#pragma once

#include <filesystem>
#include <memory>

#include "attention/core/result.h"
#include "render/image.h"

namespace headscope::app {

/// Takes the frames of a recording one after the other, all of one size.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual attention::Status add(const render::Image& frame) = 0;
  /// Whole from here on. Without it no film is left, however the program ends; of a folder the frames so far.
  virtual attention::Status finish() = 0;
};

/// What a recording is written as.
struct Recording {
  std::filesystem::path
      path;  ///< .mp4, .webm or .gif, which the program ffmpeg writes; else a folder of PNGs
  int width = 0, height = 0, framesPerSecond = 30;
};

/// Errors: another ending, ffmpeg is not installed, a folder that holds something, what can't be written.
attention::Result<std::unique_ptr<FrameSink>> openRecording(const Recording& recording);

}  // namespace headscope::app
