#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attention/formats/files/file_io.h"

namespace headscope::app {

/// ffmpeg in another process, which writes or reads one film.
class FilmProgram {
 public:
  explicit FilmProgram(const attention::Replacement& film);
  /// Waits for it to end.
  ~FilmProgram();
  FilmProgram(const FilmProgram&) = delete;
  FilmProgram& operator=(const FilmProgram&) = delete;

  /// The film's name for ffmpeg.
  const std::string& filmName() const;
  /// Starts ffmpeg, which reads from feed() or has no input. Returns 0 or the error number; ENOENT if it
  /// isn't installed.
  int run(const std::vector<std::string>& words, bool fed);
  /// Returns false if ffmpeg doesn't take the bytes any more.
  bool feed(std::span<const std::uint8_t> bytes);
  /// Ends its input and waits for it. Returns whether it has ended with success.
  bool end();
  /// What it wrote to standard error and to standard output since it was started, up to 64 KiB of each.
  std::string said() const;
  std::string printed() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headscope::app
