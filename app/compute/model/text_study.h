#pragma once

#include <functional>
#include <string>

#include "app/compute/model/patch_grid.h"

namespace headscope::app {

/// One line of a file of texts.
struct StudiedText {
  Index line = 0;                   ///< of the file, from 1
  std::string text, other;          ///< if `other` is empty, nothing is patched
  std::string answer, otherAnswer;  ///< one token each; empty = the most likely, as in PairQuestion
};
/// Reads one text per line, or JSON lines with `text` and optionally `other`, `answer` and `other_answer`.
/// Skips empty lines. Returns an Error that names the line if it is invalid JSON, lacks `text` or has an
/// unknown name, or if there are no texts.
attention::Result<std::vector<StudiedText>> parseStudiedTexts(std::string_view bytes,
                                                              const std::string& name);
/// Reads one line, without its line feed, as parseStudiedTexts() does; nothing for an empty line. Leaves out
/// a byte-order mark at the start of line 1.
attention::Result<std::optional<StudiedText>> parseStudiedLine(std::string_view bytes, Index line,
                                                               const std::string& name);

/// What to measure for every head on every text.
struct TextMeasures {
  bool detectors = true, loss = true, attribution = true, patch = true;
  attention::Piece piece = attention::Piece::head;  ///< the piece to patch
  bool operator==(const TextMeasures&) const = default;
};

/// The results for one text. Matrices are [layers, heads], empty if not requested.
struct StudiedHeads {
  StudiedText asked;
  std::string problem;  ///< why there are no results, in a sentence; "" = there are
  std::vector<std::string> tokens;
  attention::Answers answers;
  std::string answer, otherAnswer;             ///< as the model's tokens read
  double difference = 0, otherDifference = 0;  ///< of the logits, after the text and after the other one
  std::vector<attention::Matrix> detectors;    ///< of each of allDetectors(), raw; NaN if it has no case
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

/// Studies one text. Errors, including "stopped", are in `problem`. `copying` is copyingOfHeads(), the one
/// detector that doesn't depend on the text; if empty, it is missing.
StudiedHeads studyText(const Setup& setup, const StudiedText& text, const TextMeasures& measures,
                       Resources& resources, std::stop_token stop, const attention::Matrix& copying = {});
/// Returns headCopying() of all heads, [layers, heads]; empty if the model's heads have no maps of their own.
attention::Matrix copyingOfHeads(const std::shared_ptr<const OpenModel>& opened, const std::stop_token& stop);

/// Returns the id of a typed token: the tokenizer's for the word with a space before it, as within a text,
/// or, if that is several tokens, without. Returns an Error if neither is a single token.
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

}  // namespace headscope::app
