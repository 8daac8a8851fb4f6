#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "app/scene/models/open_model.h"
#include "app/scene/scene.h"

namespace headscope::app {

// A text as an opened model reads it. All functions that take a Setup need setup.subject.opened.

/// The scene's text as its model reads it.
struct ModelText {
  std::vector<Index> ids;
  std::vector<attention::Token> tokens;     ///< for display, without the space before a word
  std::vector<attention::ByteRange> spans;  ///< in the typed text; empty for tokens nobody typed
  Index typed = 0;                          ///< number of tokens before those the model generated
  Index given = 0;                          ///< number of those before a decoder's own answer
  /// For a decoder with an encoder: the text its encoder reads, which is the scene's. The decoder's own text
  /// starts with a token nobody typed, followed by the context if one is typed, or else by its own answer.
  std::vector<attention::Token> source = {};
  std::vector<Index> sourceIds = {};  ///< ids of `source`; for features, which have none, their indices
};
/// Returns an Error if the tokenizer or an encoder fails or the text exceeds the model's positions.
attention::Result<ModelText> readModelText(const Setup& setup, const std::stop_token& stop = {});
/// Returns the encoder's result for the scene, with the errors of SourceTexts::of(), and its tokens; for
/// features, the frames' indices. Only for models with `sources`.
attention::Result<std::shared_ptr<const SourceText>> readSource(const Setup& setup,
                                                                const std::stop_token& stop = {});
std::vector<attention::Token> sourceTokens(const OpenModel& opened, const SourceText& source);
/// Returns the tokens as words without the space before them: "␣to" becomes "to"; a lone space stays "␣".
std::vector<attention::Token> modelTokens(const attention::TextTokenizer& tokenizer,
                                          std::span<const Index> ids);

/// Returns the ids of `typed` as a replacement for token `at` of a text: with the space before it that the
/// token had, tokenized as a continuation of the text up to there. Returns an Error if the tokenizer fails or
/// `typed` yields no token.
attention::Result<std::vector<Index>> idsInPlace(const attention::TextTokenizer& tokenizer,
                                                 std::span<const Index> ids, Index at,
                                                 const std::string& typed);

}  // namespace headscope::app
