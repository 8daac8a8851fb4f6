#pragma once

#include "app/compute/heads/map_scores.h"
#include "app/compute/model/pair_study.h"
#include "attention/models/value_biases.h"

namespace headscope::app {

/// One line of a file of texts.
struct StudiedText {
  Index line = 0;                    ///< of the file, from 1
  std::string text, other;           ///< if `other` is empty, nothing is patched
  std::string answer, otherAnswer;   ///< empty = the most likely token, as in PairQuestion
  std::vector<Index> ids, otherIds;  ///< token ids in place of `text` and `other`
};
/// Reads one text per line, or JSON lines with `text` or `input_ids`, and optionally `other` or
/// `other_input_ids`, `answer` and `other_answer`. Skips empty lines. Returns an Error that names the line if
/// it is invalid JSON, lacks a text or has an unknown name, or if there are no texts.
attention::Result<std::vector<StudiedText>> parseStudiedTexts(std::string_view bytes,
                                                              const std::string& name);
/// Reads one line, without its line feed, as parseStudiedTexts() does; nothing for an empty line. Leaves out
/// a byte-order mark at the start of line 1.
attention::Result<std::optional<StudiedText>> parseStudiedLine(std::string_view bytes, Index line,
                                                               const std::string& name);

/// The end of the names of columns with DetectorScore::overAllRows().
inline constexpr const char* kOverAllRows = "_over_all_rows";

/// What to measure for every head on every text.
struct TextMeasures {
  bool detectors = true, loss = true, attribution = true, patch = true;
  attention::Piece piece = attention::Piece::head;  ///< the piece to patch
  /// For `loss` and `attribution`. Folded, a head that is switched off still writes its values' bias, as in
  /// TransformerLens.
  attention::ValueBiases biases = attention::ValueBiases::folded;
  bool operator==(const TextMeasures&) const = default;
};

/// The results for one text. Matrices are [layers, heads], empty if not requested.
struct StudiedHeads {
  StudiedText asked;
  std::string problem;  ///< why there are no results, in a sentence; "" = there are
  std::vector<std::string> tokens;
  std::vector<Index> ids;  ///< of the tokens
  std::vector<Index> answerIds, otherAnswerIds;
  std::string answer, otherAnswer;  ///< as the model's tokens read
  /// What both answers begin with: the text goes on with it, and the tokens after it are compared.
  std::string shared;
  /// Σ ln p of each answer's tokens after the text (and `shared`) and those before it.
  double logProbability = 0, otherLogProbability = 0;
  double difference = 0, otherDifference = 0;  ///< of the logits, after the text and after the other one
  std::vector<attention::Matrix> detectors;    ///< of each of allDetectors(), raw; NaN if it has no case
  std::vector<attention::Matrix> overAllRows;  ///< the same for those of detect_head(); else empty
  attention::Matrix loss;         ///< −ln p(answer) without the head minus that with it, in nats
  attention::Matrix attribution;  ///< of the logit difference
  /// Whether `patch` has a column for each head; else columns are kv heads for keys and values, tokens for
  /// streams and MLPs.
  bool patchPerHead = true;
  /// PatchSides::recovered() with the piece patched into the other text: 0 = the other text's logit
  /// difference, 1 = this text's.
  attention::Matrix patch;
  /// The largest weight of each head on an earlier key, and its place: [layers, heads].
  attention::Matrix strongest;
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> query, key;
};

/// Studies one text. Errors, including "stopped", are in `problem`. Detectors that use maps are missing
/// without `ofMaps`.
StudiedHeads studyText(const Setup& setup, const StudiedText& text, const TextMeasures& measures,
                       Resources& resources, std::stop_token stop, const MapScores& ofMaps = {});

/// Returns the ids of a typed answer: those of the text with a space before it, as within a text, or, if only
/// that is a single token, without. Returns an Error if it is empty.
attention::Result<std::vector<Index>> answerIds(const OpenModel& opened, const std::string& answer);
/// Returns the id of an answer of one token; an Error for several.
attention::Result<Index> answerId(const OpenModel& opened, const std::string& answer);

/// Mean and standard deviation over the texts, and the text with the largest value, of one number per head.
struct HeadColumn {
  std::string name;                ///< in files: "induction", "loss"
  std::string title;               ///< on screen
  attention::Matrix mean, spread;  ///< [layers, heads]; NaN if no text has a value
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> most;   ///< index; −1 = none
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> texts;  ///< number with a value
};
/// Summarises texts one after another, without keeping them.
class TextSummary {
 public:
  TextSummary(Index layers, Index heads) : layers_(layers), heads_(heads) {}
  /// `at` is what HeadColumn::most names the text by.
  void add(Index at, const StudiedHeads& text);
  std::vector<HeadColumn> columns() const;

 private:
  struct Sums {
    HeadColumn column;       ///< its spread holds sums of squared deviations
    attention::Matrix most;  ///< the largest values
  };
  Sums& sumsOf(const std::string& name);

  Index layers_, heads_;
  std::vector<Sums> all_;
};
std::vector<HeadColumn> summariseTexts(const std::vector<StudiedHeads>& texts, Index layers, Index heads);
/// Returns a text's measured columns in order: name and matrix, [layers, heads] but for a patch not per head.
std::vector<std::pair<std::string, const attention::Matrix*>> columnsOf(const StudiedHeads& text);

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
  std::shared_ptr<const MapScores> ofMaps_;  ///< mapScores() of the question's model
  bool runs_ = false;
  std::string problem_;
  MemoryShare memory_;
  Workers::Job job_;  // last member: destroyed first, so its work ends before the data it uses
};

}  // namespace headscope::app
