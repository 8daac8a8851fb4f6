#include "tests/attention/models/plain/plain_encoder_decoder.h"

#include <cmath>

namespace headscope::attention::test {
namespace {

/// T5 with 3 heads of size 5 on width 24.
struct PlainT5 {
  bool gated = false, tied = true;
  std::string act = "relu";
  Index encoderLayers = 2, decoderLayers = 3;
};

constexpr Index kWidth = 24, kHeads = 3, kSize = 5, kInner = 14, kVocabulary = 31, kBuckets = 8,
                kDistance = 12;

Wide normed(MadeUpTensors& t, const std::string& name, const Wide& x) {
  return rmsNorm(x, t.row(name + ".weight", kWidth, 0.3, 1), 1e-6);
}

/// The bucket of a key `ahead` tokens after its query (Raffel et al. 2020, section 2.1).
Index bucketOf(Index ahead, bool bothWays) {
  const Index half = bothWays ? kBuckets / 2 : kBuckets, exact = half / 2;
  const Index beyond = bothWays && ahead > 0 ? half : 0;
  const Index distance = bothWays ? std::abs(ahead) : std::max<Index>(-ahead, 0);
  if (distance < exact) return beyond + distance;
  const double steps = std::log(double(distance) / double(exact)) /
                       std::log(double(kDistance) / double(exact)) * double(half - exact);
  return beyond + std::min(exact + static_cast<Index>(steps), half - 1);
}

/// Heads without a scale, whose biases depend on the distance.
PlainAttention distanceBias(MadeUpTensors& t, const std::string& stack, bool bothWays) {
  const Wide table =
      t.matrix(stack + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight", kBuckets, kHeads, 1);
  PlainAttention how{kHeads, kHeads, 1, !bothWays};
  how.bias = [table, bothWays](Index h, Index i, Index j) { return table(bucketOf(j - i, bothWays), h); };
  return how;
}

Wide attention(MadeUpTensors& t, const std::string& at, const Wide& x, const Wide& read,
               const PlainAttention& how, std::vector<Wide>& weights) {
  // Scores aren't scaled, so queries are smaller to keep the softmax soft.
  const Wide q = times(x, t.matrix(at + ".q.weight", kHeads * kSize, kWidth, 0.1));
  const Wide y = attend(how, q, linear(t, at + ".k", read, kHeads * kSize, false),
                        linear(t, at + ".v", read, kHeads * kSize, false), weights);
  return linear(t, at + ".o", y, kWidth, false);
}

Wide mlp(const PlainT5& m, MadeUpTensors& t, const std::string& at, const Wide& x) {
  Wide inner =
      times(x, t.weight(at + (m.gated ? ".wi_0" : ".wi"), kInner, kWidth)).unaryExpr(activation(m.act));
  if (m.gated) inner = inner.cwiseProduct(times(x, t.weight(at + ".wi_1", kInner, kWidth)));
  return times(inner, t.weight(at + ".wo", kWidth, kInner));
}

PlainPairOutcome runT5(const PlainT5& m, MadeUpTensors& t, const std::vector<Index>& source,
                       const std::vector<Index>& ids) {
  const Wide table = t.matrix("shared.weight", kVocabulary, kWidth, 1);
  PlainPairOutcome out;
  Wide x = pick(table, source);
  out.encoder.hidden = {x};
  const PlainAttention both = distanceBias(t, "encoder", true), before = distanceBias(t, "decoder", false);
  for (Index i = 0; i < m.encoderLayers; ++i) {
    const std::string at = "encoder.block." + std::to_string(i) + ".layer.";
    const Wide read = normed(t, at + "0.layer_norm", x);
    x += attention(t, at + "0.SelfAttention", read, read, both, out.encoder.attention.emplace_back());
    x += mlp(m, t, at + "1.DenseReluDense", normed(t, at + "1.layer_norm", x));
    out.encoder.hidden.push_back(x);
  }
  out.memory = normed(t, "encoder.final_layer_norm", x);

  Wide y = pick(table, ids);
  out.decoder.hidden = {y};
  for (Index i = 0; i < m.decoderLayers; ++i) {
    const std::string at = "decoder.block." + std::to_string(i) + ".layer.";
    const Wide read = normed(t, at + "0.layer_norm", y);
    y += attention(t, at + "0.SelfAttention", read, read, before, out.decoder.attention.emplace_back());
    y += attention(t, at + "1.EncDecAttention", normed(t, at + "1.layer_norm", y), out.memory,
                   {kHeads, kHeads, 1, false}, out.cross.emplace_back());
    y += mlp(m, t, at + "2.DenseReluDense", normed(t, at + "2.layer_norm", y));
    out.decoder.hidden.push_back(y);
  }
  const Wide last = normed(t, "decoder.final_layer_norm", y);
  out.decoder.logits = m.tied ? Wide(times(last, table) / std::sqrt(double(kWidth)))
                              : times(last, t.weight("lm_head", kVocabulary, kWidth));
  return out;
}

PlainPair t5(const std::string& name, const std::string& more, const PlainT5& m) {
  return {name,
          R"({"vocab_size": 31, "d_model": 24, "d_kv": 5, "d_ff": 14, "num_layers": 2,
              "num_decoder_layers": 3, "num_heads": 3, "relative_attention_num_buckets": 8,
              "relative_attention_max_distance": 12, "is_encoder_decoder": true, "pad_token_id": 0,
              "decoder_start_token_id": 2, "eos_token_id": 1, )" +
              more + "}",
          kVocabulary,
          [m](MadeUpTensors& t, const std::vector<Index>& source, const std::vector<Index>& ids) {
            return runT5(m, t, source, ids);
          }};
}

}  // namespace

std::vector<PlainPair> plainPairs() {
  std::vector<PlainPair> pairs{
      t5("t5", R"("model_type": "t5")", {}),
      t5("t5_1_1", R"("model_type": "t5", "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false)",
         {.gated = true, .tied = false, .act = "geluTanh"}),
      t5("mt5", R"("model_type": "mt5", "feed_forward_proj": "gated-silu")",
         {.gated = true, .tied = false, .act = "silu"})};
  for (PlainPair& pair : plainBarts()) pairs.push_back(std::move(pair));
  return pairs;
}

}  // namespace headscope::attention::test
