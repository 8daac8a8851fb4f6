#include "tests/attention/models/plain/plain_vision.h"

#include <algorithm>
#include <cmath>

namespace headscope::attention::test {
namespace {

/// The tensors' names and other differences between the families.
struct VisionNames {
  std::string patches = "embeddings.patch_embeddings.projection", token = "embeddings.cls_token", second = {},
              registers = {}, positions = "embeddings.position_embeddings", firstNorm = {};
  std::string layer = "encoder.layer.", q = "attention.attention.query", k = "attention.attention.key",
              v = "attention.attention.value", o = "attention.output.dense", up = "intermediate.dense",
              down = "output.dense", classifier = "classifier", secondClassifier = {},
              norm1 = "layernorm_before", norm2 = "layernorm_after", scale1 = {}, scale2 = {};
};

struct VisionShape {
  Index width = 12, heads = 3, inner = 14, layers = 2, patch = 4, grid = 2, registers = 0;
  double epsilon = 1e-12;
  bool patchBias = true, flatTokens = false, antialiased = false;
  bool swiglu = false;
  Index classes = 0;  ///< 0 = no classifier
  bool classifiesMean = false, classifiesPatches = false;
  std::function<double(double)> act = gelu;
};

Wide visionNorm(MadeUpTensors& t, const std::string& name, const Wide& x, double epsilon) {
  return layerNorm(x, t.row(name + ".weight", x.cols(), 0.3, 1), t.row(name + ".bias", x.cols(), 0.3),
                   epsilon);
}

Wide visionLinear(MadeUpTensors& t, const std::string& name, const Wide& x, Index out) {
  return plus(times(x, t.weight(name, out, x.cols())), t.row(name + ".bias", out, 0.3));
}

double visionCubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

/// The share of each of `from` places in each of `to`, [to, from].
Wide shares(Index from, Index to, bool antialiased) {
  Wide all = Wide::Zero(to, from);
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  for (Index i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale - 0.5;
    if (antialiased) {
      const double wide = std::max(1.0, scale);
      for (Index j = 0; j < from; ++j)
        all(i, j) = visionCubic((static_cast<double>(j) - center) / wide, -0.5);
      all.row(i) /= all.row(i).sum();
    } else {
      for (Index j = -4; j < from + 4; ++j)
        all(i, std::clamp<Index>(j, 0, from - 1)) += visionCubic(static_cast<double>(j) - center, -0.75);
    }
  }
  return all;
}

Wide positionsOn(const VisionShape& s, const Wide& table, Index rows, Index cols) {
  const Wide down = shares(s.grid, rows, s.antialiased), along = shares(s.grid, cols, s.antialiased);
  Wide all = Wide::Zero(rows * cols, s.width);
  for (Index y = 0; y < rows; ++y)
    for (Index x = 0; x < cols; ++x)
      for (Index i = 0; i < s.grid; ++i)
        for (Index j = 0; j < s.grid; ++j)
          all.row(y * cols + x) += down(y, i) * along(x, j) * table.row(i * s.grid + j);
  return all;
}

/// A convolution whose stride equals its kernel's width, pixel by pixel.
Wide convolved(const VisionShape& s, MadeUpTensors& t, const std::string& name,
               const std::vector<Wide>& colours) {
  const Index p = s.patch, rows = colours[0].rows() / p, cols = colours[0].cols() / p;
  const auto side = static_cast<std::uint64_t>(p);
  const Wide kernel = t.shaped(name + ".weight", {static_cast<std::uint64_t>(s.width), 3, side, side},
                               s.width, 3 * p * p, 0.2);
  Wide y = Wide::Zero(rows * cols, s.width);
  for (Index i = 0; i < y.rows(); ++i)
    for (Index d = 0; d < s.width; ++d)
      for (Index c = 0; c < 3; ++c)
        for (Index r = 0; r < p; ++r)
          for (Index q = 0; q < p; ++q)
            y(i, d) += kernel(d, (c * p + r) * p + q) *
                       colours[static_cast<std::size_t>(c)](i / cols * p + r, i % cols * p + q);
  return s.patchBias ? plus(y, t.row(name + ".bias", s.width, 0.3)) : y;
}

PlainOutcome run(const VisionShape& s, const VisionNames& n, const std::string& prefix, MadeUpTensors& t,
                 const std::vector<Wide>& colours) {
  const Index rows = colours[0].rows() / s.patch, cols = colours[0].cols() / s.patch, d = s.width;
  const Index leading = n.second.empty() ? 1 : 2;
  const auto wide = static_cast<std::uint64_t>(d);
  const auto token = [&](const std::string& name) {
    return s.flatTokens ? t.row(prefix + name, d, 1) : t.shaped(prefix + name, {1, 1, wide}, 1, d, 1);
  };
  const Index places = leading + s.grid * s.grid;
  const Wide table = s.flatTokens ? t.matrix(prefix + n.positions, places, d, 0.5)
                                  : t.shaped(prefix + n.positions,
                                             {1, static_cast<std::uint64_t>(places), wide}, places, d, 0.5);
  Wide x(leading + s.registers + rows * cols, d);
  x.row(0) = token(n.token) + table.row(0);
  if (leading == 2) x.row(1) = token(n.second) + table.row(1);
  if (s.registers > 0)
    x.middleRows(leading, s.registers) =
        t.shaped(prefix + n.registers, {1, static_cast<std::uint64_t>(s.registers), wide}, s.registers, d, 1);
  x.bottomRows(rows * cols) = convolved(s, t, prefix + n.patches, colours) +
                              positionsOn(s, table.bottomRows(s.grid * s.grid), rows, cols);
  if (!n.firstNorm.empty()) x = visionNorm(t, prefix + n.firstNorm, x, s.epsilon);
  PlainOutcome out{{x}, {}, {}};
  for (Index i = 0; i < s.layers; ++i) {
    const std::string at = prefix + n.layer + std::to_string(i) + ".";
    const auto scaled = [&](const std::string& name, Wide y) {
      if (name.empty()) return y;
      const Wide factors = t.row(at + name, d, 0.5, 1);
      for (Index row = 0; row < y.rows(); ++row) y.row(row) = y.row(row).cwiseProduct(factors);
      return y;
    };
    const Wide read = visionNorm(t, at + n.norm1, x, s.epsilon);
    const PlainAttention how{s.heads, s.heads, 1 / std::sqrt(static_cast<double>(d / s.heads)), false};
    const Wide mixed = attend(how, visionLinear(t, at + n.q, read, d), visionLinear(t, at + n.k, read, d),
                              visionLinear(t, at + n.v, read, d), out.attention.emplace_back());
    x += scaled(n.scale1, visionLinear(t, at + n.o, mixed, d));
    const Wide normed = visionNorm(t, at + n.norm2, x, s.epsilon);
    const Wide before = visionLinear(t, at + n.up, normed, s.swiglu ? 2 * s.inner : s.inner);
    const Wide inner = s.swiglu ? Wide(before.leftCols(s.inner)
                                           .unaryExpr(std::function<double(double)>(silu))
                                           .cwiseProduct(before.rightCols(s.inner)))
                                : Wide(before.unaryExpr(s.act));
    x += scaled(n.scale2, visionLinear(t, at + n.down, inner, d));
    out.hidden.push_back(x);
  }
  return out;
}

/// The logits [1, classes] from the tokens after the final norm.
Wide classified(const VisionShape& s, const VisionNames& n, MadeUpTensors& t, const Wide& y) {
  const Index leading = n.second.empty() ? 1 : 2, before = leading + s.registers;
  const auto of = [&](const std::string& name, Index token) {
    Wide read(1, s.classifiesMean ? 2 * s.width : s.width);
    for (Index d = 0; d < s.width; ++d) {
      read(0, d) = y(token, d);
      if (!s.classifiesMean) continue;
      double sum = 0;
      for (Index i = before; i < y.rows(); ++i) sum += y(i, d);
      read(0, s.width + d) = sum / static_cast<double>(y.rows() - before);
    }
    return visionLinear(t, name, read, s.classes);
  };
  const Wide first = of(n.classifier, 0);
  return n.secondClassifier.empty() ? first : Wide((first + of(n.secondClassifier, 1)) / 2);
}

/// Adds the final norm, which no number of a layer depends on.
std::function<PlainOutcome(MadeUpTensors&, const std::vector<Wide>&)> model(VisionShape s, VisionNames n,
                                                                            std::string prefix,
                                                                            std::string finalNorm) {
  return [=](MadeUpTensors& t, const std::vector<Wide>& colours) {
    PlainOutcome out = run(s, n, prefix, t, colours);
    const Wide y = visionNorm(t, prefix + finalNorm, out.hidden.back(), s.epsilon);
    if (s.classifiesPatches) {
      const Wide patches = out.hidden.back().bottomRows(y.rows() - 1).colwise().mean();
      out.logits = visionLinear(t, n.classifier, patches, s.classes);
    } else if (s.classes > 0) {
      out.logits = classified(s, n, t, y);
    }
    return out;
  };
}

constexpr const char* kSizes =
    R"("hidden_size": 12, "num_attention_heads": 3, "num_hidden_layers": 2, "intermediate_size": 14,
       "image_size": 8, "patch_size": 4)";

VisionNames dinoNames() {
  VisionNames n;
  n.up = "mlp.fc1";
  n.down = "mlp.fc2";
  n.norm1 = "norm1";
  n.norm2 = "norm2";
  n.scale1 = "layer_scale1.lambda1";
  n.scale2 = "layer_scale2.lambda1";
  return n;
}

PlainVision dino(bool registers, bool swiglu) {
  VisionNames n = dinoNames();
  VisionShape s;
  s.classes = swiglu ? 3 : 0;
  s.classifiesMean = true;
  s.epsilon = 1e-6;
  s.inner = 18;
  s.grid = 3;
  if (registers) {
    n.registers = "embeddings.register_tokens";
    s.registers = 2;
    s.antialiased = true;
  }
  if (swiglu) {
    n.up = "mlp.weights_in";
    n.down = "mlp.weights_out";
    s.swiglu = true;
    s.inner = 16;  // 18 · 2/3 = 12, rounded up to a multiple of 8
  }
  const std::string type = registers ? "dinov2_with_registers" : "dinov2";
  return {type + (swiglu ? "_swiglu_classifier" : ""),
          R"({"model_type": ")" + type + R"(", "hidden_size": 12, "num_attention_heads": 3,
              "num_hidden_layers": 2, "mlp_ratio": 1.5, "image_size": 12, "patch_size": 4)" +
              (swiglu ? R"(, "use_swiglu_ffn": true, "num_labels": 3)" : "") +
              (registers ? R"(, "num_register_tokens": 2})" : "}"),
          R"({"image_processor_type": "BitImageProcessor", "size": {"shortest_edge": 9},
              "crop_size": {"height": 8, "width": 9}, "resample": 3, "image_mean": [0.485, 0.456, 0.406],
              "image_std": [0.229, 0.224, 0.225]})",
          2,
          2,
          registers ? Index{3} : Index{1},
          model(s, n, type + ".", "layernorm")};
}

PlainVision clip(bool alone, bool classifies = false) {
  VisionNames n;
  n.patches = "embeddings.patch_embedding";
  n.token = "embeddings.class_embedding";
  n.positions = "embeddings.position_embedding.weight";
  n.firstNorm = "pre_layrnorm";
  n.layer = "encoder.layers.";
  n.q = "self_attn.q_proj";
  n.k = "self_attn.k_proj";
  n.v = "self_attn.v_proj";
  n.o = "self_attn.out_proj";
  n.up = "mlp.fc1";
  n.down = "mlp.fc2";
  n.norm1 = "layer_norm1";
  n.norm2 = "layer_norm2";
  VisionShape s;
  s.epsilon = 1e-5;
  s.patchBias = false;
  s.flatTokens = true;
  s.act = [](double x) { return x / (1 + std::exp(-1.702 * x)); };
  s.classifiesPatches = classifies;
  s.classes = classifies ? 3 : 0;
  const std::string sizes = kSizes, labels = classifies ? R"("num_labels": 3, )" : "";
  return {alone        ? "clip_vision_model"
          : classifies ? "clip_classifier"
                       : "clip",
          alone ? R"({"model_type": "clip_vision_model", )" + sizes + "}"
                : R"({"model_type": "clip", )" + labels +
                      R"("text_config": {"hidden_size": 9}, "vision_config": {)" + sizes + "}}",
          R"({"feature_extractor_type": "CLIPFeatureExtractor", "size": 8, "crop_size": 8, "resample": 3})",
          2,
          2,
          1,
          model(s, n, "vision_model.", "post_layernorm")};
}

}  // namespace

PlainVision smallVit(Index classes) {
  std::string labels;
  for (Index i = 0; i < classes; ++i)
    labels += (i > 0 ? ", \"" : "\"") + std::to_string(i) + "\": \"class " +
              std::string(1, static_cast<char>('a' + i)) + "\"";
  VisionShape s;
  s.classes = classes;
  return {
      classes > 0 ? "vit_classifier" : "vit",
      R"({"model_type": "vit", "id2label": {)" + labels + "}, " + kSizes + "}",
      R"({"image_processor_type": "ViTImageProcessor", "size": {"height": 8, "width": 8}, "resample": 2})",
      2,
      2,
      1,
      model(s, {}, "vit.", "layernorm")};
}

std::vector<PlainVision> plainVisionModels() {
  VisionNames deit;
  deit.second = "embeddings.distillation_token";
  VisionNames teacher = deit;
  teacher.classifier = "cls_classifier";
  teacher.secondClassifier = "distillation_classifier";
  VisionShape classes;
  classes.classes = 2;  // which the file doesn't have to say
  const auto deitOf = [](std::string name, VisionShape shape, VisionNames names, std::string prefix) {
    return PlainVision{
        std::move(name),
        R"({"model_type": "deit", )" + std::string(kSizes) + "}",
        R"({"feature_extractor_type": "DeiTFeatureExtractor", "size": 10, "crop_size": 8, "resample": 3})",
        2,
        2,
        2,
        model(shape, std::move(names), std::move(prefix), "layernorm")};
  };
  return {smallVit(),
          smallVit(4),
          deitOf("deit", {}, deit, ""),
          deitOf("deit_classifier", classes, deit, "deit."),
          deitOf("deit_teacher", classes, teacher, "deit."),
          dino(false, false),
          dino(false, true),
          dino(true, false),
          dino(true, true),
          clip(false),
          clip(false, true),
          clip(true)};
}

}  // namespace headscope::attention::test
