#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "app/scene/models/open_model.h"
#include "app/scene/scene.h"

namespace headscope::app {

// A text as an opened model reads it. All need setup.subject.opened.

/// The scene's text as its model reads it.
struct ModelText {
  std::vector<Index> ids;
  std::vector<attention::Token> tokens;     ///< as people read them, without the space before a word
  std::vector<attention::ByteRange> spans;  ///< of the typed text; empty for tokens nobody typed
  Index typed = 0;                          ///< tokens before those that the model wrote
  Index given = 0;                          ///< of those, before a decoder's own answer
  /// Of a decoder that reads: the text that its encoder read, which is the scene's. Its own begins with a
  /// token nobody typed, and goes on as it answers by itself, or with the context where one is typed.
  std::vector<attention::Token> source = {};
  std::vector<Index> sourceIds = {};  ///< of its tokens; of features, which have none, their numbers
};
/// Errors: what the tokenizer and an encoder refuse, and a text longer than the model's positions.
attention::Result<ModelText> readModelText(const Setup& setup, const std::stop_token& stop = {});
/// What the scene gives a decoder that reads, with the errors of SourceTexts::of(); and its tokens, of
/// features their frames' numbers. Only of models with `sources`.
attention::Result<std::shared_ptr<const SourceText>> readSource(const Setup& setup,
                                                                const std::stop_token& stop = {});
std::vector<attention::Token> sourceTokens(const OpenModel& opened, const SourceText& source);
/// The words of tokens, wherever they stand: "␣to" is "to", a space alone stays "␣".
std::vector<attention::Token> modelTokens(const attention::TextTokenizer& tokenizer,
                                          std::span<const Index> ids);

/// The ids that `typed` stands for in place of token `at` of a text: with the space before it that the token
/// had, as the text up to there goes on. Errors: what the tokenizer refuses, and what comes to no token.
attention::Result<std::vector<Index>> idsInPlace(const attention::TextTokenizer& tokenizer,
                                                 std::span<const Index> ids, Index at,
                                                 const std::string& typed);

}  // namespace headscope::app
