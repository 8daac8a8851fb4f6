#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "attention/core/result.h"
#include "render/image.h"

namespace headscope::app {

/// Prepares the standard streams: closed ones are opened on nothing, and bytes stay as they are written.
void openStandardStreams();

/// Checks the limit on address space in advance, since OpenGL and ImGui end the program if they get no memory
/// for shaders and fonts. Throws std::runtime_error if it leaves less than they need plus `pictureBytes`.
void requireAddressSpace(double pictureBytes = 0);

/// A scope in which `ended` is called before exit() ends the program. Xlib calls exit() from within any call
/// when the connection to the display is lost.
class ExitWatch {
 public:
  explicit ExitWatch(std::function<void()> ended);
  ~ExitWatch();
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;

 private:
  std::shared_ptr<std::function<void()>> ended_;
};

/// A scope in which Ctrl+C, a hang-up and a termination request call `asked` with the signal number on a
/// separate thread, instead of ending the program. A signal that the program was started to ignore, such as
/// by nohup, stays ignored. SIGUSR2 has no effect, and SIGPIPE none but a failed write: a window goes on when
/// nobody reads its messages any more. Create it before other threads, which inherit the blocked signals.
class QuitSignals {
 public:
  explicit QuitSignals(std::function<void(int signal)> asked);
  ~QuitSignals();
  QuitSignals(const QuitSignals&) = delete;
  QuitSignals& operator=(const QuitSignals&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

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
