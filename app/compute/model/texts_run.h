#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/compute/jobs/workers.h"
#include "app/compute/model/text_study.h"

namespace headscope::app {

/// Texts that are studied together.
struct TextFile {
  std::string name;  ///< "stories.jsonl"
  std::vector<StudiedText> texts;
};
/// The most texts studied at once in the window.
inline constexpr Index kMaxStudiedTexts = 5000;

/// Every head of a model on every text of a file, with the scene's changes of the model.
struct TextsQuestion {
  Setup setup;  ///< without its text
  std::shared_ptr<const TextFile> file;
  TextMeasures measures = {};
  bool operator==(const TextsQuestion&) const = default;
};
TextsQuestion textsQuestion(const Setup& setup, std::shared_ptr<const TextFile> file);

/// The results so far.
struct TextsStudy {
  TextsQuestion question;
  std::vector<StudiedHeads> texts;  ///< in the order of the file
  std::vector<HeadColumn> columns;  ///< columns in which any text has a value
  Index problems = 0;               ///< number of texts that could not be studied
  std::string problem;              ///< of the first of them

  /// Returns null if there is no such column.
  const HeadColumn* column(const std::string& name) const;
};

/// A text and one of a head's values on it.
struct TextOfHead {
  std::size_t text = 0;  ///< index into TextsStudy::texts
  float value = 0;
};
/// Returns the texts with the largest values for the head, at most `most`, largest first.
std::vector<TextOfHead> textsOfHead(const TextsStudy& study, const std::string& column, Index layer,
                                    Index head, std::size_t most);

/// Studies texts one by one on the back lane, letting other work of the lane run in between. All else happens
/// on the calling thread.
class TextsRun {
 public:
  TextsRun(Workers& workers, Resources& resources);

  /// Starts studying. Discards the results of a different question; the same question continues where it
  /// stopped.
  void start(TextsQuestion question);
  /// Stops the work and keeps the results so far.
  void stop();
  void forget();

  struct Progress {
    std::shared_ptr<const TextsStudy> study;  ///< the newest; null before the first text
    Index done = 0, of = 0;
    bool runs = false;
    std::string problem;  ///< why no text can be studied, in a sentence
  };
  Progress progress() const;

 private:
  void work(std::stop_token stop);
  /// Adds a studied text; the lock must be held. Returns whether there are more to study.
  bool take(StudiedHeads text);

  Resources& resources_;
  mutable std::mutex mutex_;
  std::optional<TextsQuestion> question_;
  std::vector<StudiedHeads> texts_;
  std::shared_ptr<const TextsStudy> study_;
  std::shared_ptr<const attention::Matrix> copying_;  ///< copyingOfHeads() of the question's model
  bool runs_ = false;
  std::string problem_;
  MemoryShare memory_;
  Workers::Job job_;  // last member: destroyed first, so its work ends before the data it uses
};

}  // namespace headscope::app
