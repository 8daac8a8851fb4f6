#pragma once

#include "tests/attention/models/plain/plain_decoders.h"

namespace headscope::attention::test {

/// Decoders that share a skeleton: embeddings, positions, layers of attention and MLP, a head.
struct PlainDecoder {
  Index width = 24, heads = 4, kvHeads = 2, inner = 14, vocabulary = 31, layers = 3, turned = 6;
  double epsilon = 1e-5, theta = 1e4, scale = 0, residual = 1, embed = 1, logits = 1;
  bool layerNorm = true, normBias = true, parallel = false, interleaved = false, tied = true;
  bool qkvBias = false, outputBias = false, mlpBias = false, headBias = false;
  std::function<double(double)> act = geluTanh;
  std::function<Index(Index)> window = [](Index) { return 0; };
  std::function<bool(Index)> rotates = [](Index) { return true; };
  /// Names: prefixes of the whole body and of a layer, and names within them.
  std::string prefix = "model.", layer = "layers.", embedding = "embed_tokens", positions = {},
              finalNorm = "norm";
  std::string q = "self_attn.q_proj", k = "self_attn.k_proj", v = "self_attn.v_proj", o = "self_attn.o_proj";
  std::string gate = {}, up = "mlp.up_proj", down = "mlp.down_proj", qNorm = {}, kNorm = {};
  bool headNorms = false;  ///< queries and keys of each head are normed
  /// Heads have their own weights: the rows of a table, or tensors in a list.
  bool tableOfNorms = false, listOfNorms = false;
  std::string headNorm = "norm";  ///< "self_attn.q_norm"
  double clip = 0;                ///< limit of q, k and v; 0: none
  /// A mixture of experts; E is replaced by the expert's number.
  Index experts = 0, used = 2, expertInner = 9, shared = 0;
  bool sumsToOne = false;
  std::function<bool(Index)> mixes = [](Index) { return true; };
  std::string router = "mlp.gate", expertGate = "mlp.experts.E.gate_proj", expertUp = "mlp.experts.E.up_proj",
              expertDown = "mlp.experts.E.down_proj";
  /// Fused maps instead of q, k and v, or gate and up: stored one after the other, or kv head by kv head.
  std::string qkv = {}, gateUp = {};
  bool headByHead = false;
  bool alibi = false;
  double slopeMost = 8, slopeFactor = 1;
  bool normedStream = false;  ///< each part is added to its norm's output instead of the stream
  bool ownMlpNorm = false;  ///< if parallel, the MLP reads its own norm
  std::function<double(Index)> stretch = [](Index) { return 1; };  ///< divides a layer's frequencies
  std::string embeddingNorm = {};
  std::string before = "input_layernorm", beforeMlp = "post_attention_layernorm", after = {}, afterMlp = {};

  Index headDim() const { return width / heads; }
};

PlainOutcome run(const PlainDecoder& m, MadeUpTensors& t, const std::vector<Index>& ids);

}  // namespace headscope::attention::test
