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
/// At most so many are studied at once in the window.
inline constexpr Index kMostStudiedTexts = 5000;

/// Every head of a model on every text of a file, under the scene's changes of the model.
struct TextsQuestion {
  Setup setup;  ///< without its text
  std::shared_ptr<const TextFile> file;
  TextMeasures measures = {};
  bool operator==(const TextsQuestion&) const = default;
};
TextsQuestion textsQuestion(const Setup& setup, std::shared_ptr<const TextFile> file);

/// As far as it has come.
struct TextsStudy {
  TextsQuestion question;
  std::vector<StudiedHeads> texts;  ///< in the order of the file
  std::vector<HeadColumn> columns;  ///< those that any text has a number of
  Index problems = 0;               ///< texts that could not be studied
  std::string problem;              ///< of the first of them

  /// Null where there is no such column.
  const HeadColumn* column(const std::string& name) const;
};

/// A text by what one of its numbers of a head is.
struct TextOfHead {
  std::size_t text = 0;  ///< of TextsStudy::texts
  float value = 0;
};
/// The texts in which the head's number is largest, at most `most`.
std::vector<TextOfHead> textsOfHead(const TextsStudy& study, const std::string& column, Index layer,
                                    Index head, std::size_t most);

/// Studies one text after another on the back lane; between two of them other work of the lane has its turn.
/// On the calling thread, but for the work.
class TextsRun {
 public:
  TextsRun(Workers& workers, Resources& resources);

  /// Begins; what was studied for another question goes. The same question goes on where it stopped.
  void start(TextsQuestion question);
  /// What runs is stopped; what has come stays.
  void stop();
  void forget();

  struct Progress {
    std::shared_ptr<const TextsStudy> study;  ///< the newest; null before the first text
    Index done = 0, of = 0;
    bool runs = false;
    std::string problem;  ///< why none can be studied, in a sentence
  };
  Progress progress() const;

 private:
  void work(std::stop_token stop);
  /// Under the lock: takes a text that was studied; whether there are more.
  bool take(StudiedHeads text);

  Resources& resources_;
  mutable std::mutex mutex_;
  std::optional<TextsQuestion> question_;
  std::vector<StudiedHeads> texts_;
  std::shared_ptr<const TextsStudy> study_;
  bool runs_ = false;
  std::string problem_;
  MemoryShare memory_;
  Workers::Job job_;  // last: it ends before what its work touches goes
};

}  // namespace headscope::app
