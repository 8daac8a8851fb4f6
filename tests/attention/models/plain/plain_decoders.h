#pragma once

#include "tests/attention/models/plain/plain_model.h"

namespace headscope::attention::test {

/// Llama and its descendants.
struct LlamaLike {
  Index width = 20, heads = 4, kvHeads = 2, headDim = 5, inner = 17, vocabulary = 31, layers = 3;
  double epsilon = 1e-6;
  bool qkvBias = false, outputBias = false, mlpBias = false;
  bool plusOne = false, headNorms = false, around = false, tied = true;
  bool causal = true, head = true;
  bool fused = false;  ///< as qkv_proj and gate_up_proj
  double embedScale = 1, scale = 0, cap = 0, finalCap = 0, amplitude = 1;
  std::function<double(double)> act = silu;
  std::function<Index(Index)> window = [](Index) { return 0; };
  std::function<std::vector<double>(Index)> turns = nullptr;
  std::function<double(Index)> growth = [](Index) { return 1; };  ///< factor on the query at a position
  std::string prefix = "model.", headPrefix = "";
};
PlainOutcome runLlamaLike(const LlamaLike& m, MadeUpTensors& t, const std::vector<Index>& ids);

std::vector<PlainModel> plainDecoders();
/// GPT-Neo, GPT-J, Phi, OLMo 2, StarCoder2, Granite, SmolLM3, StableLM, Cohere.
std::vector<PlainModel> plainFamilies();
/// gpt-oss, DeepSeek V2 and V3.
std::vector<PlainModel> plainSinksAndLatents();
/// GPT-2, GPT-NeoX, OPT, BERT, RoBERTa, DistilBERT.
std::vector<PlainModel> plainOthers();

}  // namespace headscope::attention::test
