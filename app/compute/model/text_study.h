#pragma once

#include <functional>
#include <string>

#include "app/compute/model/patch_grid.h"

namespace headscope::app {

/// One line of a file of texts.
struct StudiedText {
  Index line = 0;                   ///< of the file, from 1
  std::string text, other;          ///< `other` may be empty: then nothing is patched
  std::string answer, otherAnswer;  ///< each one token; empty: the likeliest, as PairQuestion has it
};
/// A text a line, or JSON lines with `text` and, where there are, `other`, `answer` and `other_answer`. Empty
/// lines are passed over. Errors name the line: what is no JSON, no `text`, a name that isn't known.
attention::Result<std::vector<StudiedText>> parseStudiedTexts(std::string_view bytes,
                                                              const std::string& name);

/// What is measured of every head on every text.
struct TextMeasures {
  bool detectors = true, loss = true, attribution = true, patch = true;
  attention::Piece piece = attention::Piece::head;  ///< that is patched
  bool operator==(const TextMeasures&) const = default;
};

/// What one text came to. Matrices are [layers, heads], those that weren't asked for empty.
struct StudiedHeads {
  StudiedText asked;
  std::string problem;  ///< why there is nothing, in a sentence; "" where there is
  std::vector<std::string> tokens;
  attention::Answers answers;
  std::string answer, otherAnswer;             ///< as the model's tokens read
  double difference = 0, otherDifference = 0;  ///< of the logits, after the text and after the other one
  std::vector<attention::Matrix> detectors;    ///< of each of allDetectors(), raw; NaN where it doesn't arise
  attention::Matrix loss;         ///< −ln p(answer) without the head, less that with it, in nats
  attention::Matrix attribution;  ///< of the logit difference
  /// How much of the other text's logit difference the piece brings back, put into the other text: columns
  /// are KV heads of keys and values, tokens of streams and MLPs.
  attention::Matrix patch;
  /// Where each head's weight on one earlier key is largest: [layers, heads].
  attention::Matrix strongest;
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> query, key;
};

/// Errors stay in `problem`, but "stopped".
StudiedHeads studyText(const Setup& setup, const StudiedText& text, const TextMeasures& measures,
                       Resources& resources, std::stop_token stop);

/// The id of a token that a person typed: the one the tokenizer makes of it with a space before it, as words
/// have it within a text, or where that is several, of it alone. An error where neither is one token.
attention::Result<Index> answerId(const OpenModel& opened, const std::string& answer);

/// Mean, standard deviation (of the texts) and the text with the largest value, of one number of every head.
struct HeadColumn {
  std::string name;                ///< in files: "induction", "loss"
  std::string title;               ///< on screen
  attention::Matrix mean, spread;  ///< [layers, heads]; NaN where no text has one
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> most;   ///< −1: none
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> texts;  ///< that have one
};
std::vector<HeadColumn> summariseTexts(const std::vector<StudiedHeads>& texts, Index layers, Index heads);
/// The numbers that a text has of its heads, in the order of the columns: a name, and the matrix.
std::vector<std::pair<std::string, const attention::Matrix*>> columnsOf(const StudiedHeads& text);

}  // namespace headscope::app
