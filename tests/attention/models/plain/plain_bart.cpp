#include <cmath>

#include "tests/attention/models/plain/plain_encoder_decoder.h"

namespace headscope::attention::test {
namespace {

/// BART with its norms after each part, or Whisper's decoder with norms before them; a width of 24.
struct PlainBart {
  bool whisper = false;
  double embed = 1;
  Index encoderHeads = 4, decoderHeads = 3, encoderInner = 14, decoderInner = 10;
};

constexpr Index kBartWidth = 24, kBartWords = 31, kBartPositions = 17;

Wide attended(const PlainBart& m, MadeUpTensors& t, const std::string& at, Index heads, const Wide& x,
              const Wide& read, bool causal, std::vector<Wide>& weights) {
  const PlainAttention how{heads, heads, 1 / std::sqrt(double(kBartWidth) / double(heads)), causal};
  const Wide y = attend(how, linear(t, at + ".q_proj", x, kBartWidth),
                        linear(t, at + ".k_proj", read, kBartWidth, !m.whisper),
                        linear(t, at + ".v_proj", read, kBartWidth), weights);
  return linear(t, at + ".out_proj", y, kBartWidth);
}

/// One part with its norm and the residual connection.
template <class Part>
Wide joined(const PlainBart& m, MadeUpTensors& t, const std::string& norm, const Wide& x, const Part& part) {
  if (m.whisper) return x + part(layerNormed(t, norm, x, 1e-5));
  return layerNormed(t, norm, x + part(x), 1e-5);
}

Wide placed(const PlainBart& m, MadeUpTensors& t, const std::string& stack, const Wide& words,
            const std::vector<Index>& ids) {
  const Index first = m.whisper ? 0 : 2;
  const Wide places = t.matrix(stack + ".embed_positions.weight", kBartPositions + first, kBartWidth, 0.5);
  const Wide x = m.embed * pick(words, ids) + places.middleRows(first, std::ssize(ids));
  return m.whisper ? x : layerNormed(t, stack + ".layernorm_embedding", x, 1e-5);
}

PlainPairOutcome runBart(const PlainBart& m, MadeUpTensors& t, const std::vector<Index>& source,
                         const std::vector<Index>& ids) {
  PlainPairOutcome out;
  const Wide words = t.matrix(m.whisper ? "model.decoder.embed_tokens.weight" : "model.shared.weight",
                              kBartWords, kBartWidth, 1);
  const auto mlp = [&](const std::string& at, Index inner) {
    return [&t, at, inner](const Wide& x) {
      return linear(t, at + ".fc2", linear(t, at + ".fc1", x, inner).unaryExpr(activation("gelu")),
                    kBartWidth);
    };
  };
  if (m.whisper) {  // the output of its audio encoder
    MadeUpTensors sound(DType::F32, 9);
    out.memory = sound.matrix("features", std::ssize(source), kBartWidth, 1);
  } else {
    Wide x = placed(m, t, "model.encoder", words, source);
    out.encoder.hidden = {x};
    for (Index i = 0; i < 2; ++i) {
      const std::string at = "model.encoder.layers." + std::to_string(i);
      std::vector<Wide>& weights = out.encoder.attention.emplace_back();
      x = joined(m, t, at + ".self_attn_layer_norm", x, [&](const Wide& y) {
        return attended(m, t, at + ".self_attn", m.encoderHeads, y, y, false, weights);
      });
      x = joined(m, t, at + ".final_layer_norm", x, mlp(at, m.encoderInner));
      out.encoder.hidden.push_back(x);
    }
    out.memory = x;
  }
  Wide y = placed(m, t, "model.decoder", words, ids);
  out.decoder.hidden = {y};
  for (Index i = 0; i < 3; ++i) {
    const std::string at = "model.decoder.layers." + std::to_string(i);
    std::vector<Wide>&own = out.decoder.attention.emplace_back(), &cross = out.cross.emplace_back();
    y = joined(m, t, at + ".self_attn_layer_norm", y, [&](const Wide& x) {
      return attended(m, t, at + ".self_attn", m.decoderHeads, x, x, true, own);
    });
    y = joined(m, t, at + ".encoder_attn_layer_norm", y, [&](const Wide& x) {
      return attended(m, t, at + ".encoder_attn", m.decoderHeads, x, out.memory, false, cross);
    });
    y = joined(m, t, at + ".final_layer_norm", y, mlp(at, m.decoderInner));
    out.decoder.hidden.push_back(y);
  }
  if (m.whisper) {
    out.decoder.logits = times(layerNormed(t, "model.decoder.layer_norm", y, 1e-5), words);
  } else {
    const Wide bias = t.matrix("final_logits_bias", 1, kBartWords, 0.5);
    out.decoder.logits = plus(times(y, words), bias);
  }
  return out;
}

PlainPair bart(const std::string& name, const std::string& config, const PlainBart& m) {
  return {name, config, kBartWords,
          [m](MadeUpTensors& t, const std::vector<Index>& source, const std::vector<Index>& ids) {
            return runBart(m, t, source, ids);
          }};
}

}  // namespace

std::vector<PlainPair> plainBarts() {
  const std::string sizes = R"("vocab_size": 31, "d_model": 24, "encoder_layers": 2, "decoder_layers": 3,
      "encoder_attention_heads": 4, "decoder_attention_heads": 3, "encoder_ffn_dim": 14,
      "decoder_ffn_dim": 10, "is_encoder_decoder": true, "eos_token_id": 1, "decoder_start_token_id": 2)";
  return {
      bart("bart", R"({"model_type": "bart", "max_position_embeddings": 17, )" + sizes + "}", {}),
      bart("bart_scaled",
           R"({"model_type": "bart", "max_position_embeddings": 17, "scale_embedding": true, )" + sizes + "}",
           {.embed = std::sqrt(24.0)}),
      bart("whisper", R"({"model_type": "whisper", "max_target_positions": 17, )" + sizes + "}",
           {.whisper = true})};
}

}  // namespace headscope::attention::test
