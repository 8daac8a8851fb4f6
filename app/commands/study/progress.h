#pragma once

#include <functional>
#include <string>

#include "app/compute/model/text_study.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

/// The texts of a file, read one after another, so that the file may be larger than memory.
class TextReader {
 public:
  static attention::Result<TextReader> open(const std::string& path);
  /// Reads texts that are in memory. `name` is for messages.
  static TextReader of(std::string bytes, std::string name);
  /// Returns nothing at the end. Errors as parseStudiedLine(), and for a line of more than 16 MiB.
  attention::Result<std::optional<StudiedText>> next();
  const std::string& name() const { return name_; }

 private:
  TextReader(std::optional<attention::RegularFile> file, std::string name)
      : file_(std::move(file)), name_(std::move(name)) {}

  std::optional<attention::RegularFile> file_;  ///< nothing: all is in the buffer
  std::string name_, buffer_;
  std::size_t begin_ = 0;  ///< of the next line in the buffer
  std::uint64_t read_ = 0;
  Index line_ = 0;
};

/// The results of a study under way, in a file beside its output, OUTPUT.part: a line of JSON that says what
/// is studied, then one for each finished text. If the program ends early, they are there, and a study of the
/// same texts goes on after them.
class StudyProgress {
 public:
  /// Opens the file, or creates it. Returns an Error if the output or this file can't be written, if another
  /// program writes it, or if it belongs to another `question`, a line of JSON.
  static attention::Result<StudyProgress> open(const std::string& output, const std::string& question);

  const std::string& name() const { return name_; }
  /// The number of finished texts.
  Index done() const { return done_; }
  /// Appends a text. An Error leaves the file as it was.
  attention::Status add(const StudiedHeads& text, const std::string& piece);
  /// Calls `take` with every text in order, until it returns an Error.
  attention::Status each(const std::function<attention::Status(StudiedHeads)>& take) const;
  /// Returns an Error unless the finished texts are those that `next` returns, one after another; it returns
  /// nothing at the end.
  attention::Status check(const std::function<attention::Result<std::optional<StudiedText>>()>& next) const;
  void remove();

 private:
  StudyProgress(attention::Descriptor file, std::string name)
      : file_(std::move(file)), name_(std::move(name)) {}
  /// Reads the finished texts, and cuts off what a sudden end left unfinished.
  attention::Status readBack(const std::string& first);
  attention::Status append(const std::string& line);

  attention::Descriptor file_;
  std::string name_;
  std::uint64_t size_ = 0;
  Index done_ = 0;
};

}  // namespace headscope::app
