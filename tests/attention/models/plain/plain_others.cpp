#include <cmath>

#include "tests/attention/models/plain/plain_decoders.h"

namespace headscope::attention::test {
namespace {

Wide normed(MadeUpTensors& t, const std::string& name, const Wide& x, double epsilon,
            const std::string& weight = ".weight", const std::string& bias = ".bias") {
  return layerNorm(x, t.row(name + weight, x.cols(), 0.3, 1), t.row(name + bias, x.cols(), 0.3), epsilon);
}

Wide linear(MadeUpTensors& t, const std::string& name, const Wide& x, Index out) {
  return plus(times(x, t.weight(name, out, x.cols())), t.row(name + ".bias", out, 0.3));
}

/// x·W + b with W [in, out].
Wide conv(MadeUpTensors& t, const std::string& name, const Wide& x, Index out) {
  const Wide weight = t.matrix(name + ".weight", x.cols(), out, 1 / std::sqrt(static_cast<double>(x.cols())));
  return plus(times(x, weight.transpose()), t.row(name + ".bias", out, 0.3));
}

Wide pick(const Wide& table, const std::vector<Index>& rows) {
  Wide x(std::ssize(rows), table.cols());
  for (Index i = 0; i < x.rows(); ++i) x.row(i) = table.row(rows[static_cast<std::size_t>(i)]);
  return x;
}

PlainModel gpt2() {
  return {"gpt2", R"({"model_type": "gpt2", "n_embd": 15, "n_head": 3, "n_layer": 2, "n_positions": 19,
                      "n_inner": null, "vocab_size": 31, "activation_function": "gelu_new",
                      "scale_attn_by_inverse_layer_idx": true})",
          31, [](MadeUpTensors& t, const std::vector<Index>& ids) {
            const Wide embedding = t.matrix("wte.weight", 31, 15, 1);
            const Wide positions = t.matrix("wpe.weight", 19, 15, 0.5);
            Wide x = pick(embedding, ids) + positions.topRows(std::ssize(ids));
            PlainOutcome out{{x}, {}, {}};
            for (Index i = 0; i < 2; ++i) {
              const std::string at = "h." + std::to_string(i) + ".";
              const Wide all = conv(t, at + "attn.c_attn", normed(t, at + "ln_1", x, 1e-5), 45);
              const PlainAttention how{3, 3, 1 / std::sqrt(5.0) / static_cast<double>(i + 1)};
              const Wide y = t.touched("heads", i,
                                       attend(how, all.leftCols(15), all.middleCols(15, 15),
                                              all.rightCols(15), out.attention.emplace_back()));
              x += conv(t, at + "attn.c_proj", y, 15);
              const Wide inner = conv(t, at + "mlp.c_fc", normed(t, at + "ln_2", x, 1e-5), 60);
              x += t.touched("mlp", i, conv(t, at + "mlp.c_proj", inner.unaryExpr(&geluTanh), 15));
              out.hidden.push_back(x);
            }
            out.logits = times(normed(t, "ln_f", x, 1e-5), embedding);
            return out;
          }};
}

PlainModel gptNeox(bool parallel) {
  return {
      parallel ? "gpt_neox_parallel" : "gpt_neox_serial",
      R"({"model_type": "gpt_neox", "hidden_size": 24, "num_attention_heads": 3,
            "num_hidden_layers": 2, "intermediate_size": 13, "vocab_size": 31, "rotary_pct": 0.5,
            "rotary_emb_base": 500, "use_parallel_residual": )" +
          std::string(parallel ? "true}" : "false}"),
      31, [parallel](MadeUpTensors& t, const std::vector<Index>& ids) {
        Wide x = pick(t.matrix("gpt_neox.embed_in.weight", 31, 24, 1), ids);
        PlainOutcome out{{x}, {}, {}};
        for (Index i = 0; i < 2; ++i) {
          const std::string at = "gpt_neox.layers." + std::to_string(i) + ".";
          const Wide all =
              linear(t, at + "attention.query_key_value", normed(t, at + "input_layernorm", x, 1e-5), 72);
          Wide part[3];
          for (Index p = 0; p < 3; ++p) {
            part[p].resize(x.rows(), 24);
            for (Index h = 0; h < 3; ++h) part[p].middleCols(h * 8, 8) = all.middleCols(h * 24 + p * 8, 8);
          }
          const auto turns = frequencies(4, 500);
          const Wide y = t.touched("heads", i,
                                   attend({3, 3, 1 / std::sqrt(8.0)}, rope(part[0], 3, turns),
                                          rope(part[1], 3, turns), part[2], out.attention.emplace_back()));
          const Wide before = x;
          x += linear(t, at + "attention.dense", y, 24);
          const Wide inner =
              linear(t, at + "mlp.dense_h_to_4h",
                     normed(t, at + "post_attention_layernorm", parallel ? before : x, 1e-5), 13);
          x += t.touched("mlp", i, linear(t, at + "mlp.dense_4h_to_h", inner.unaryExpr(&gelu), 24));
          out.hidden.push_back(x);
        }
        out.logits = times(normed(t, "gpt_neox.final_layer_norm", x, 1e-5), t.weight("embed_out", 31, 24));
        return out;
      }};
}

/// OPT, without its last norm, as OPT-350M and as Galactica.
enum class OptKind { usual, withoutFinalNorm, narrow, bare };

PlainOutcome runOpt(OptKind kind, MadeUpTensors& t, const std::vector<Index>& ids) {
  const std::string body = "model.decoder.";
  const bool narrow = kind == OptKind::narrow, bare = kind == OptKind::bare;
  const auto norm = [&](const std::string& name, const Wide& y) {
    return bare ? layerNorm(y, Wide::Ones(1, 21), Wide::Zero(1, 21), 1e-5) : normed(t, name, y, 1e-5);
  };
  const auto map = [&](const std::string& name, const Wide& y, Index out) {
    return bare ? times(y, t.weight(name, out, y.cols())) : linear(t, name, y, out);
  };
  const Wide embedding = t.matrix(body + "embed_tokens.weight", 31, narrow ? 10 : 21, 1);
  const Wide positions = t.matrix(body + "embed_positions.weight", 19, 21, 0.5);
  Wide x = pick(embedding, ids);
  if (narrow) x = times(x, t.weight(body + "project_in", 21, 10));
  x += positions.middleRows(2, std::ssize(ids));
  PlainOutcome out{{x}, {}, {}};
  for (Index i = 0; i < 2; ++i) {
    const std::string at = body + "layers." + std::to_string(i) + ".";
    const Wide y = narrow ? x : norm(at + "self_attn_layer_norm", x);
    const Wide z = t.touched("heads", i,
                             attend({3, 3, 1 / std::sqrt(7.0)}, map(at + "self_attn.q_proj", y, 21),
                                    map(at + "self_attn.k_proj", y, 21), map(at + "self_attn.v_proj", y, 21),
                                    out.attention.emplace_back()));
    x += map(at + "self_attn.out_proj", z, 21);
    if (narrow) x = norm(at + "self_attn_layer_norm", x);
    const Wide inner = map(at + "fc1", narrow ? x : norm(at + "final_layer_norm", x), 11);
    x += t.touched("mlp", i, map(at + "fc2", inner.cwiseMax(0.0), 21));
    if (narrow) x = norm(at + "final_layer_norm", x);
    out.hidden.push_back(x);
  }
  if (kind == OptKind::usual || bare) x = norm(body + "final_layer_norm", x);
  if (narrow) x = times(x, t.weight(body + "project_out", 10, 21));
  out.logits = times(x, embedding);
  return out;
}

PlainModel opt(OptKind kind, const std::string& name, const std::string& more) {
  return {name,
          R"({"model_type": "opt", "hidden_size": 21, "num_attention_heads": 3, "num_hidden_layers": 2,
            "ffn_dim": 11, "vocab_size": 31, "max_position_embeddings": 17, "activation_function": "relu", )" +
              more + "}",
          31, [kind](MadeUpTensors& t, const std::vector<Index>& ids) { return runOpt(kind, t, ids); }};
}

/// BERT-like encoders under three sets of names.
struct Encoder {
  std::string body, words, layer, q, k, v, o, up, down, norm1, norm2, dense, headNorm, bias, decoder;
  std::string weight = ".weight", shift = ".bias";  ///< of the norms
  Index firstPosition = 0, positionRows = 16, types = 2;
  double epsilon = 1e-12;
  Index pad = -1;  ///< the padding token, whose row precedes the first position's
  double (*act)(double) = &gelu;
  Index embedded = 14;  ///< the embeddings' width; if it differs from the model's, `map` converts
  std::string map = {};
};

/// The row of each token's position. Padding has its own row and doesn't use up a position.
std::vector<Index> positionsOf(const Encoder& e, const std::vector<Index>& ids) {
  std::vector<Index> rows;
  Index next = e.firstPosition;
  for (const Index id : ids) rows.push_back(id == e.pad ? e.firstPosition - 1 : next++);
  return rows;
}

PlainOutcome runEncoder(const Encoder& e, MadeUpTensors& t, const std::vector<Index>& ids) {
  const std::string at = e.body + "embeddings.";
  const Index size = e.embedded;
  const Wide words = t.matrix(e.body + e.words + ".weight", 31, size, 1);
  Wide x = pick(words, ids) +
           pick(t.matrix(at + "position_embeddings.weight", e.positionRows, size, 0.5), positionsOf(e, ids));
  if (e.types > 0) x = plus(x, t.matrix(at + "token_type_embeddings.weight", e.types, size, 0.5).topRows(1));
  const auto norm = [&](const std::string& name, const Wide& y) {
    return normed(t, name, y, e.epsilon, e.weight, e.shift);
  };
  x = norm(at + "LayerNorm", x);
  if (!e.map.empty()) x = linear(t, e.body + e.map, x, 14);
  PlainOutcome out{{x}, {}, {}};
  for (Index i = 0; i < 2; ++i) {
    const std::string name = e.body + e.layer + std::to_string(i) + ".";
    const Wide y = t.touched(
        "heads", i,
        attend({2, 2, 1 / std::sqrt(7.0), false}, linear(t, name + e.q, x, 14), linear(t, name + e.k, x, 14),
               linear(t, name + e.v, x, 14), out.attention.emplace_back()));
    x = norm(name + e.norm1, x + linear(t, name + e.o, y, 14));
    const Wide inner = linear(t, name + e.up, x, 19).unaryExpr(e.act);
    x = norm(name + e.norm2, x + t.touched("mlp", i, linear(t, name + e.down, inner, 14)));
    out.hidden.push_back(x);
  }
  if (e.dense.empty()) return out;
  const Wide y = norm(e.headNorm, linear(t, e.dense, x, size).unaryExpr(&gelu));
  const Wide decoder = e.decoder.empty() ? words : t.weight(e.decoder, 31, size);
  out.logits = plus(times(y, decoder), t.row(e.bias, 31, 0.3));
  return out;
}

/// ModernBERT (Warner et al. 2024): layers 0 and 3 see everything, the others two tokens on each side.
PlainOutcome runModernBert(MadeUpTensors& t, const std::vector<Index>& ids) {
  const auto norm = [&](const std::string& name, const Wide& y) {
    return layerNorm(y, t.row(name + ".weight", y.cols(), 0.3, 1), Wide::Zero(1, y.cols()), 1e-5);
  };
  const auto map = [&](const std::string& name, const Wide& y, Index out) {
    return times(y, t.weight(name, out, y.cols()));
  };
  const Wide words = t.matrix("model.embeddings.tok_embeddings.weight", 31, 16, 1);
  Wide x = norm("model.embeddings.norm", pick(words, ids));
  PlainOutcome out{{x}, {}, {}};
  for (Index i = 0; i < 4; ++i) {
    const std::string at = "model.layers." + std::to_string(i) + ".";
    const bool all = i % 3 == 0;
    const auto turns = frequencies(8, all ? 160000 : 10000);
    const Wide qkv = map(at + "attn.Wqkv", i == 0 ? x : norm(at + "attn_norm", x), 48);
    const PlainAttention how{2, 2, 1 / std::sqrt(8.0), false, all ? Index{0} : Index{3}};
    const Wide y =
        t.touched("heads", i,
                  attend(how, rope(qkv.leftCols(16), 2, turns), rope(qkv.middleCols(16, 16), 2, turns),
                         qkv.rightCols(16), out.attention.emplace_back()));
    x += map(at + "attn.Wo", y, 16);
    const Wide both = map(at + "mlp.Wi", norm(at + "mlp_norm", x), 22);
    const Wide inner = both.leftCols(11).unaryExpr(&gelu).cwiseProduct(both.rightCols(11));
    x += t.touched("mlp", i, map(at + "mlp.Wo", inner, 16));
    out.hidden.push_back(x);
  }
  const Wide said = norm("head.norm", map("head.dense", norm("model.final_norm", x), 16).unaryExpr(&gelu));
  out.logits = plus(times(said, words), t.row("decoder.bias", 31, 0.3));
  return out;
}

PlainModel modernBert(bool newer) {
  // Half of the window on each side.
  const std::string sizes = R"({"model_type": "modernbert", "vocab_size": 31, "hidden_size": 16,
    "intermediate_size": 11, "num_attention_heads": 2, "num_hidden_layers": 4, "local_attention": 4, )";
  return {newer ? "modernbert_newer" : "modernbert",
          sizes + (newer ? R"("layer_types": ["full_attention", "sliding_attention", "sliding_attention",
    "full_attention"], "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 160000.0},
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}})"
                         : R"("global_rope_theta": 160000.0, "local_rope_theta": 10000.0,
    "global_attn_every_n_layers": 3})"),
          31, runModernBert};
}

PlainModel encoder(const std::string& name, const std::string& config, const Encoder& e) {
  return {name, config, 31,
          [e](MadeUpTensors& t, const std::vector<Index>& ids) { return runEncoder(e, t, ids); }};
}

Encoder bertNames() {
  Encoder e{.body = "bert.",
            .words = "embeddings.word_embeddings",
            .layer = "encoder.layer.",
            .q = "attention.self.query",
            .k = "attention.self.key",
            .v = "attention.self.value",
            .o = "attention.output.dense",
            .up = "intermediate.dense",
            .down = "output.dense",
            .norm1 = "attention.output.LayerNorm",
            .norm2 = "output.LayerNorm",
            .dense = "cls.predictions.transform.dense",
            .headNorm = "cls.predictions.transform.LayerNorm",
            .bias = "cls.predictions.bias",
            .decoder = "",
            .weight = ".gamma",
            .shift = ".beta"};
  return e;
}

}  // namespace

std::vector<PlainModel> plainOthers() {
  const std::string bertConfig = R"("hidden_size": 14, "num_attention_heads": 2, "num_hidden_layers": 2,
    "intermediate_size": 19, "vocab_size": 31, "hidden_act": "gelu", )";
  Encoder roberta = bertNames();
  roberta.body = "roberta.";
  roberta.dense = "lm_head.dense", roberta.headNorm = "lm_head.layer_norm", roberta.bias = "lm_head.bias";
  roberta.weight = ".weight", roberta.shift = ".bias";
  roberta.firstPosition = 3, roberta.positionRows = 18, roberta.types = 1, roberta.epsilon = 1e-5;
  Encoder distilbert{.body = "distilbert.",
                     .words = "embeddings.word_embeddings",
                     .layer = "transformer.layer.",
                     .q = "attention.q_lin",
                     .k = "attention.k_lin",
                     .v = "attention.v_lin",
                     .o = "attention.out_lin",
                     .up = "ffn.lin1",
                     .down = "ffn.lin2",
                     .norm1 = "sa_layer_norm",
                     .norm2 = "output_layer_norm",
                     .dense = "vocab_transform",
                     .headNorm = "vocab_layer_norm",
                     .bias = "vocab_projector.bias",
                     .decoder = "vocab_projector"};
  distilbert.types = 0;
  Encoder electra = bertNames();
  electra.body = "electra.", electra.weight = ".weight", electra.shift = ".bias";
  electra.embedded = 6, electra.map = "embeddings_project";
  electra.dense = "generator_predictions.dense", electra.headNorm = "generator_predictions.LayerNorm";
  electra.bias = "generator_lm_head.bias";
  Encoder discriminator = electra;
  discriminator.dense = "";
  const std::string electraConfig = R"("model_type": "electra", )" + bertConfig + R"("embedding_size": 6,
    "max_position_embeddings": 16, "type_vocab_size": 2})";
  // 7 appears twice in the text; the head's gelu isn't the layers' ReLU.
  Encoder padded = roberta;
  padded.firstPosition = 8, padded.positionRows = 23, padded.pad = 7;
  padded.act = [](double x) { return std::max(x, 0.0); };
  return {
      gpt2(),
      gptNeox(false),
      gptNeox(true),
      opt(OptKind::usual, "opt", R"("do_layer_norm_before": true, "word_embed_proj_dim": 21)"),
      opt(OptKind::withoutFinalNorm, "opt_without_final_norm", R"("_remove_final_layer_norm": true)"),
      opt(OptKind::narrow, "opt_350m", R"("do_layer_norm_before": false, "word_embed_proj_dim": 10)"),
      opt(OptKind::bare, "opt_bare", R"("layer_norm_elementwise_affine": false, "enable_bias": false)"),
      encoder("bert_old_names",
              R"({"architectures": ["BertForMaskedLM"], )" + bertConfig +
                  R"("max_position_embeddings": 16, "type_vocab_size": 2})",
              bertNames()),
      encoder("roberta",
              R"({"model_type": "roberta", )" + bertConfig +
                  R"("max_position_embeddings": 18, "type_vocab_size": 1, "pad_token_id": 2,
                         "layer_norm_eps": 1e-5})",
              roberta),
      encoder("xlm_roberta",
              R"({"model_type": "xlm-roberta", )" + bertConfig +
                  R"("max_position_embeddings": 18, "type_vocab_size": 1, "pad_token_id": 2,
                         "layer_norm_eps": 1e-5})",
              roberta),
      encoder("electra_generator", R"({"architectures": ["ElectraForMaskedLM"], )" + electraConfig, electra),
      encoder("electra_discriminator", R"({"architectures": ["ElectraForPreTraining"], )" + electraConfig,
              discriminator),
      modernBert(false),
      modernBert(true),
      encoder("roberta_padded",
              R"({"model_type": "roberta", "hidden_size": 14, "num_attention_heads": 2,
                      "num_hidden_layers": 2, "intermediate_size": 19, "vocab_size": 31, "hidden_act": "relu",
                      "max_position_embeddings": 23, "type_vocab_size": 1, "pad_token_id": 7,
                      "layer_norm_eps": 1e-5})",
              padded),
      encoder("distilbert", R"({"model_type": "distilbert", "dim": 14, "n_heads": 2, "n_layers": 2,
            "hidden_dim": 19, "vocab_size": 31, "max_position_embeddings": 16, "activation": "gelu"})",
              distilbert)};
}

std::vector<PlainModel> plainModels() {
  std::vector<PlainModel> models = plainDecoders();
  for (std::vector<PlainModel> more : {plainOthers(), plainFamilies(), plainSinksAndLatents()})
    std::move(more.begin(), more.end(), std::back_inserter(models));
  return models;
}

}  // namespace headscope::attention::test
