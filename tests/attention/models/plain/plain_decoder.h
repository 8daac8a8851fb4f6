#pragma once

#include "tests/attention/models/plain/plain_model.h"

namespace headscope::attention::test {

/// Values that may differ between layers: one for each, or one for all.
using PerLayer = std::vector<double>;

/// Prefixes of the whole body and of a layer, and names within them; empty = the model has no such part.
struct PlainNames {
  std::string prefix = "model.", layer = "layers.", embedding = "embed_tokens", finalNorm = "norm";
  std::string positions = {}, types = {}, embeddingNorm = {};
  /// Maps of the embeddings before positions and after the norm, and of the stream before the head.
  std::string mapBefore = {}, mapAfter = {}, mapOut = {};
  std::string q = "self_attn.q_proj", k = "self_attn.k_proj", v = "self_attn.v_proj", o = "self_attn.o_proj";
  std::string gate = {}, up = "mlp.up_proj", down = "mlp.down_proj";
  std::string curve = {};  ///< prefix of xIELU's numbers, instead of `act`
  /// Fused maps instead of q, k and v, or gate and up: stored one after the other, or kv head by kv head.
  std::string qkv = {}, gateUp = {};
  /// Norms of what the parts read, of what they give, and of the stream after them.
  std::string before = "input_layernorm", beforeMlp = "post_attention_layernorm", after = {}, afterMlp = {};
  std::string joined = {}, joinedMlp = {};
  std::string qNorm = {}, kNorm = {};              ///< of all heads together
  std::string headNorm = "norm";                   ///< of each head: "self_attn.q_norm"
  std::string weight = ".weight", bias = ".bias";  ///< of norms
  std::string head = "lm_head";
  /// A layer and a norm between the stream and the vocabulary, and a bias of the logits.
  std::string headDense = {}, headDenseNorm = {}, headDenseBias = {};
};

/// YaRN (Peng et al. 2023).
struct PlainYarn {
  double factor = 1, original = 1, fast = 32, slow = 1;
  bool whole = true;     ///< whether the ramp begins and ends at whole dimensions
  double growth = 0;     ///< of queries and keys, per ln(factor)
  double sharpness = 0;  ///< of queries and keys in the scores alone, per ln(factor)
};

struct PlainRope {
  Index dims = 0;  ///< 0 = all
  bool neighbours = false;
  PerLayer on = {1}, theta = {1e4}, stretch = {1};
  std::vector<double> factors = {};  ///< each frequency's stretch
  double ntk = 1;                    ///< dynamic NTK's stretch
  double longer = 1, original = 2;   ///< LongRoPE's factor and original length
  PlainYarn yarn = {};
};

/// A mixture of experts; E is replaced by the expert's number.
struct PlainExperts {
  Index count = 0, used = 2, inner = 9, shared = 0;
  bool sumsToOne = false, gatesShared = true;
  PerLayer on = {1};
  std::string router = "mlp.gate", gate = "mlp.experts.E.gate_proj", up = "mlp.experts.E.up_proj",
              down = "mlp.experts.E.down_proj", sharedName = "mlp.shared_expert.";
  bool interleaved = false;  ///< gpt-oss: gate and up are interleaved, and maps are [in, out]
  /// DeepSeek V3's σ and corrected scores; 2 of 3 groups, there by their best two; a factor of the shares.
  bool corrected = false, grouped = false;
  double factor = 1;
  bool softmax = false;  ///< corrected scores are those of a softmax
  std::string correction = {};
  double jitter = 0;     ///< SparseMixer's
  bool stacked = false;  ///< Granite: one tensor for all experts' gates and ups, and one for the shared MLP's
};

/// A transformer as a row of plain_models.json: embeddings, positions, layers of attention and MLP, a head.
struct PlainDecoder {
  Index width = 24, heads = 4, kvHeads = 2, headDim = 0, inner = 14, vocabulary = 31, layers = 3;
  Index embedded = 0;  ///< the embeddings' width; 0 = the model's
  Index positionRows = 19, firstPosition = 0;
  Index pad = -1;  ///< the padding token, whose row precedes the first position's
  Index types = 0;
  double epsilon = 1e-5, scale = 0, residual = 1, embed = 1, logits = 1, cap = 0;
  double clip = 0;  ///< limit of q, k and v; 0: none
  PerLayer scaleDivisor = {1}, window = {0};
  double growth = 0;  ///< of a query per ln(1 + ⌊position / grownFrom⌋)
  double grownFrom = 1;
  std::string act = "geluTanh";
  bool layerNorm = true, normBias = true, normed = true, plusOne = false;
  bool parallel = false, ownMlpNorm = false, tied = true, causal = true, predicts = true;
  bool qkvBias = false, outputBias = false, mlpBias = false, headBias = false, transposed = false;
  bool headByHead = false, sinks = false, firstNorm = true;
  bool rotatedFirst = false;  ///< these norms follow the rotation
  bool sinusoids = false;     ///< positions are sines and cosines
  bool quarters = false;      ///< CodeGen's order of queries, values and keys
  bool headNorms = false;     ///< queries and keys of each head are normed
  /// Heads have their own weights: the rows of a table, or tensors in a list.
  bool tableOfNorms = false, listOfNorms = false;
  bool alibi = false;
  double slopeMost = 8, slopeFactor = 1;
  bool normedStream = false;  ///< each part is added to its norm's output instead of the stream
  /// DeepSeek's latent attention, with keys of 7 numbers, 4 of them rotated, and values of 5.
  bool latent = false;
  Index queryRank = 0;
  PlainNames names = {};
  PlainRope rope = {};
  PlainExperts experts = {};
};

/// down(act(gate x) ⊙ up x) with the maps of these full names.
Wide gated(const PlainDecoder& m, MadeUpTensors& t, const std::string& gate, const std::string& up,
           const std::string& down, Index inner, const Wide& x);
/// What the layer whose names begin with `at` adds by its experts.
Wide mixture(const PlainDecoder& m, MadeUpTensors& t, const std::string& at, const Wide& x);

PlainOutcome run(const PlainDecoder& m, MadeUpTensors& t, const std::vector<Index>& ids);

}  // namespace headscope::attention::test
