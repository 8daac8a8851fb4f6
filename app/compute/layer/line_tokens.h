#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "app/scene/models/open_model.h"
#include "app/scene/scene.h"
#include "attention/models/model.h"
#include "attention/models/session.h"

namespace headscope::app {

/// The control that an error belongs to and is shown next to.
enum class Place { input, context, model, weights, mask, memory };
struct PlacedError {
  Place place = Place::input;
  std::string message;
  bool waits = false;  ///< not a mistake: something has yet to be typed or chosen
};

/// One line of the batch as tokens, padded to the longest line.
struct LineTokens {
  std::vector<attention::Token> queries, keys;  ///< equal for self-attention
  Index queryLength = 0, keyLength = 0;         ///< without padding
  std::vector<Index> ids = {};                  ///< [n], the opened model's token ids; otherwise empty
};

/// The whole batch as tokens. `lines` is empty if nothing was typed. An error carries the control it belongs
/// to.
struct TokenBatch {
  std::vector<LineTokens> lines;
  std::optional<PlacedError> error;
};
TokenBatch tokenizeBatch(const Setup& setup);

/// One line of the batch, of up to `most` tokens, padded to the longest line of the batch.
struct TokenLine {
  std::optional<LineTokens> line;  ///< none if nothing was typed
  Index sequence = 0;              ///< index of the line: the requested one, or the last
  std::optional<PlacedError> error;
};
TokenLine tokenizeLine(const Setup& setup, Index sequence, Index most);

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

class InputCache;

// What a scene requests of a model. passRequest(), layerRequest(), readsLaterTokens() and runLayer() need
// setup.subject.opened.

/// Returns the mask in force on the scene's layer: the model's own layers, if there is a model, followed by
/// `layers`.
attention::MaskLayers layersInForce(const Setup& setup, const attention::MaskLayers& layers);

/// Returns a pass with all changes that the scene makes to the model. Returns an Error if a mask file can't
/// be read or the numbers added to scores are for a different number of tokens.
attention::Result<attention::PassRequest> passRequest(const Setup& setup,
                                                      const std::vector<attention::Token>& tokens,
                                                      InputCache& cache);
/// The same up to the scene's layer. The layer keeps nothing unless the caller requests it.
attention::Result<attention::PassRequest> layerRequest(const Setup& setup,
                                                       const std::vector<attention::Token>& tokens,
                                                       InputCache& cache);
/// The same for all layers of a synthetic stack on one line of the batch, under the scene's masks.
attention::Result<attention::PassRequest> stackRequest(const Setup& setup, const LineTokens& line,
                                                       Index sequence, InputCache& cache);
/// Whether the scene changes anything in the model.
bool changesModel(const Setup& setup);
/// Whether a token's row may depend on the tokens after it: in a model that isn't causal, under masks, which
/// may follow sentences, with numbers added to scores, and with a head replaced by its mean over the text.
bool readsLaterTokens(const Setup& setup);

/// Runs the scene's layer on these tokens. Returns its q, k, v, mask and settings. Later layers aren't
/// computed.
attention::Result<std::shared_ptr<const attention::LayerResult>> runLayer(const Setup& setup,
                                                                          const ModelText& text,
                                                                          InputCache& cache,
                                                                          std::stop_token stop);

/// Returns a sentence on why a model's result for these tokens isn't finite: the first tensor with NaN or
/// infinity among those that a pass through `parts` reads, or else that its values overflow fp32. Reads as
/// much as the pass did; call only if the result isn't finite.
std::string modelFault(const OpenModel& opened, std::span<const attention::Index> ids,
                       attention::PassParts parts, const std::stop_token& stop);

}  // namespace headscope::app
