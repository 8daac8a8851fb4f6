#pragma once

#include "attention/cache/kv_cache.h"
#include "attention/models/checkpoint/model_weights.h"
#include "attention/models/pass_request.h"
#include "attention/models/recurrent.h"

namespace headscope::attention {

/// Returns down(act(up x)), or down(act(gate x) ⊙ up x) if the MLP has a gate; zeros once `stop` is
/// requested.
Matrix mlpOf(const MlpWeights& weights, const Matrix& x, const ModelConfig& config,
             const std::stop_token& stop);

/// Chooses the experts of each row of x: the `used` best by the scores that Mixture describes, best first.
/// Ties go to the lower index; NaN ranks last.
Routing routingOf(const MixtureWeights& weights, const Mixture& mixture, const Matrix& x,
                  const std::stop_token& stop);

/// Returns Σ share·MLPₑ(x) over each row's experts, plus the shared MLP(x), multiplied by σ(w·x) if it has a
/// router.
Matrix mixtureOf(const MixtureWeights& weights, const ModelConfig& config, const Routing& routing,
                 const Matrix& x, const std::stop_token& stop);

// Row-wise operations of a transformer layer other than attention and linear maps, on all threads.

/// Returns each row normalized over its columns by the kind's equation (model_config.h), or x if there are no
/// weights. Sums in double precision.
Matrix normRows(const Matrix& x, const NormWeights& weights, NormKind kind, double epsilon);
/// Normalizes every row of every head in place; the weights are for one head or for all.
void normHeads(Stack& heads, const NormWeights& weights, NormKind kind, double epsilon);

/// Limits all values to ± `most`.
void limit(Stack& heads, float most);

/// Applies the activation in place.
void activate(Matrix& x, Activation activation, const XieluWeights& curve = {});
/// Computes up = act(gate) ⊙ up, with the limits of ModelConfig::gateLimit if given. Overwrites the gate.
void activateGated(Matrix& gate, Matrix& up, Activation activation, std::optional<float> limit = {});

/// The keys and values that a layer's cross heads make from an encoder's output, [kvHeads, m, headDim] each.
/// Made once; they don't change while the decoder's text grows.
struct SourceHeads {
  Stack k, v;
};
SourceHeads sourceHeads(const ModelConfig& config, const LayerWeights& weights, const Matrix& memory,
                        const std::stop_token& stop);

/// One layer of a model and the settings it is computed with, for one run of the text or for several at once,
/// which differ only in their patches and share the matrix products.
struct Block {
  const ModelConfig& config;
  Index layer;
  const LayerWeights& weights;
  const LayerAttention& attention;
  const Matrix* rotation;     ///< table for the rows' positions; null: no rotation
  const Rotation* rotated;    ///< which dimensions `rotation` turns
  const PassRequest* wanted;  ///< which pieces are kept; null: none
  LayerResult& kept;          ///< receives them
  std::stop_token stop;
  std::span<const std::vector<Patch>> runs;  ///< patches of each run
  PatchRows rows;                            ///< of each run
  const LayerAttention* other = nullptr;  ///< the attention not inspected, in a decoder that reads an encoder
  const SourceHeads* source = nullptr;    ///< what its cross heads read
  /// Of each run: the states of the layers without attention that belong to this one.
  std::span<std::vector<RecurrentState>> states = {};

  /// Takes the residual stream x [runs · n, modelDim] through attention and MLP, in the order and with the
  /// norms of the model's family, and appends each run's keys and values to its cache. Undefined once `stop`
  /// is requested.
  void run(Matrix& x, std::span<KvCache> caches) const;

 private:
  /// Computes the rows' queries, keys and values before norms and rotations. Returns false once `stop` is
  /// requested.
  bool project(const AttentionWeights& w, const Matrix& x, Stack& q, Stack& k, Stack& v) const;
  bool projectLatent(const Matrix& x, Stack& q, Stack& k, Stack& v) const;
  bool fromLatent(const Matrix& latent, Stack& k, Stack& v) const;
  /// Returns Wo·Attn(x) of the inspected attention (`shown`) or the other one, of which nothing is patched
  /// and only the heads' outputs are kept.
  Matrix attend(const Matrix& x, std::span<KvCache> caches, bool shown = true) const;
  void prepare(Stack& q, Stack& k, Stack& v) const;
  /// Returns what a recurrence beside the attention makes of the stream.
  Matrix recurred(const Matrix& x) const;
  /// Returns recur() of each run's rows, with their states `at`.
  Matrix recurRuns(const RecurrentWeights& w, const Matrix& x, std::size_t at) const;
  /// Applies layers without attention, whose states are those from `first` on.
  void recur(Matrix& x, std::span<const OtherLayerWeights> layers, std::size_t first) const;
  /// Applies both attentions of a decoder that reads an encoder, self-attention first.
  void attendBoth(Matrix& x, std::span<KvCache> caches) const;
  /// Calls attend(queries, run) for each run, and returns their weights and outputs together.
  template <class Attend>
  AttentionResult eachRun(Stack q, const Attend& attend) const;
  /// Self-attention of each run, over its cache.
  AttentionResult attendRuns(const LayerAttention& how, Stack q, Stack k, Stack v,
                             std::span<KvCache> caches) const;
  /// Attention of each run over the encoder's output.
  AttentionResult attendSource(const LayerAttention& how, Stack q,
                               std::span<const SourceHeads> patched) const;
  void keep(AttentionResult&& result, std::span<const SourceHeads> patched) const;
  /// What each run's cross heads read, if patches replace any of it; otherwise empty.
  std::vector<SourceHeads> patchedSources() const;
  const SourceHeads& sourceOf(std::span<const SourceHeads> patched, std::size_t run) const {
    return patched.empty() ? *source : patched[run];
  }
  Keep keepOf(std::size_t run) const;
  /// Recomputes the outputs of heads whose pattern was replaced.
  void patchPatterns(AttentionResult& result, std::span<const KvCache> caches,
                     std::span<const SourceHeads> patched) const;
  /// Multiplies the heads' outputs by their gates, if they have any.
  void gateHeads(const Matrix& x, Stack& heads) const;
  void patchHeads(Stack& heads, Piece piece) const;
  /// Patches and records what the MLP adds to the stream (after its norm, if any).
  Matrix added(Matrix y) const;
  /// The output of the layer's MLP or mixture of experts.
  Matrix mlp(const Matrix& x) const;
  bool feeds() const { return config.feeds(layer); }
  Matrix norm(const Matrix& x, const NormWeights& weights) const;
  void normQueriesAndKeys(Stack& q, Stack& k) const;
  void growQueries(Stack& q) const;
};

}  // namespace headscope::attention
