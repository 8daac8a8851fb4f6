#pragma once

#include "attention/models/block.h"
#include "attention/models/model.h"
#include "attention/models/pass_request.h"

namespace headscope::attention {

/// Bytes that a pass over a whole text of `tokens` tokens takes, results included; saturates instead of
/// overflowing. Excludes the weights, whose memory the system manages.
std::uint64_t passBytes(const ModelConfig& config, Index tokens, const PassRequest& request);

/// Runs an encoder over a text and returns its output [n, modelDim], final norm included: the memory of a
/// decoder that reads it. Returns the Errors of ModelSession::append().
Result<std::shared_ptr<const Matrix>> encoded(const std::shared_ptr<const Model>& encoder,
                                              std::span<const Index> ids, std::stop_token stop = {});

/// A text in a model: its tokens so far, with the keys and values of every layer, so that one more token
/// costs one row. Not thread-safe.
class ModelSession {
 public:
  explicit ModelSession(std::shared_ptr<const Model> model);

  const Model& model() const { return *model_; }
  const std::vector<Index>& tokens() const { return tokens_; }
  Index length() const { return static_cast<Index>(tokens_.size()); }
  /// The encoder output that the decoder reads, null before it is given, and the keys and values that a
  /// layer's cross heads made from it, available once the layer has been computed.
  const std::shared_ptr<const Matrix>& memory() const { return memory_; }
  const SourceHeads& sourceHeads(Index layer) const { return *sources_[static_cast<std::size_t>(layer)]; }
  const KvCache& cache(Index layer) const { return caches_[static_cast<std::size_t>(layer)]; }

  /// Appends tokens and computes their rows: a whole text, one token, or anything between. An encoder needs
  /// the whole text at once, because its earlier tokens attend to later ones. Returns an Error, leaving the
  /// session unchanged, if an id is outside the vocabulary; the text exceeds the model's positions; the
  /// encoder's output is missing or not the text's; LayerAttentions or checkPatch() fails; a layer, head or
  /// depth doesn't exist; the checkpoint changed or was lost on disk; or, once `stop` is requested,
  /// "stopped".
  Result<PassResult> append(std::span<const Index> ids, const PassRequest& request = {},
                            std::stop_token stop = {});
  /// Removes all tokens from `length` on.
  void truncate(Index length);
  /// Reserves cache space for `tokens` tokens in total.
  void reserve(Index tokens);

 private:
  /// Computes rows of tokens_, as part of a text of `textTokens` tokens.
  Result<PassResult> run(PassRows rows, Index textTokens, const PassRequest& request,
                         const std::stop_token& stop);
  /// Returns the stream before layer `first`, the pass's first.
  Result<Matrix> beginning(std::span<const Index> text, PassRows rows, const PassRequest& request,
                           Index first) const;
  /// Returns the encoder's output that a pass reads: the request's, or the text's earlier one. Returns an
  /// Error if they differ, or if it is missing or not the decoder's.
  Result<std::shared_ptr<const Matrix>> memoryOf(const PassRequest& request) const;
  /// `memoryTokens`: tokens of the encoder's text.
  Status checkRequest(const PassRequest& request, Index textTokens, Index memoryTokens) const;
  /// Computes missing cached rows; all of them if the keys have to be rotated differently.
  Status fillCaches(Index textTokens, const PassRequest& request, const std::stop_token& stop);
  /// Tokens whose keys, values and states are there; the latter can't be cut.
  Index cachedRows() const;

  std::shared_ptr<const Model> model_;
  std::vector<Index> tokens_;
  std::shared_ptr<const Matrix> memory_;
  std::vector<std::optional<SourceHeads>> sources_;  ///< [layers] of a decoder that reads; made when needed
  std::vector<KvCache> caches_;                      ///< [layers]; shorter than tokens_ only after a failure
  /// [layers], of the layers without attention that belong to each.
  std::vector<std::vector<RecurrentState>> states_;
  Index rotatedFor_ = 0;  ///< text length that the cached keys were rotated for
};

/// How the next token is chosen from its logits. Temperature 0 takes the most likely token. Otherwise the
/// token is drawn from softmax(logits / temperature), limited to the topK most likely tokens and then to the
/// fewest of those that hold a share topP of their probability (Fan et al. 2018; Holtzman et al. 2020).
/// Deterministic in `seed` and the position.
struct Sampling {
  double temperature = 0;
  Index topK = 0;  ///< 0: all
  double topP = 1;
  std::uint64_t seed = 0;
  bool operator==(const Sampling&) const = default;
};

/// Returns an Error for the first invalid field.
Status validate(const Sampling& sampling);

/// Chooses the token id at a position. Of equal logits the lower id ranks first; NaN counts as −inf. Returns
/// an Error if every logit is NaN or −inf.
Result<Index> chooseToken(const Eigen::Ref<const Eigen::RowVectorXf>& logits, const Sampling& sampling,
                          Index position);

/// Continues the session's text: chooses a token from the last row's logits under the model's rules
/// (ModelConfig::generation), appends it and repeats, for up to `count` tokens or until a token that ends the
/// text (which is also appended). `logits` are the last row's. Calls onToken with each token and its pass;
/// generation stops if it returns false. Returns an Error of ModelSession::append() or validate(), or if the
/// model has no head; tokens appended so far stay in the session.
Status generate(ModelSession& session, Matrix logits, Index count, const Sampling& sampling,
                const PassRequest& request,
                const std::function<bool(Index id, const PassResult& pass)>& onToken,
                const std::stop_token& stop = {});

}  // namespace headscope::attention
