#include "tests/attention/models/plain/plain_vision.h"

#include <algorithm>
#include <cmath>

#include "tests/attention/models/plain/plain_rows.h"

namespace headscope::attention::test {
namespace {

/// The tensors' names and other differences between the families.
struct VisionNames {
  std::string prefix = {}, finalNorm = "layernorm";
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
  std::string act = "gelu";
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(VisionNames, prefix, finalNorm, patches, token, second,
                                                registers, positions, firstNorm, layer, q, k, v, o, up, down,
                                                classifier, secondClassifier, norm1, norm2, scale1, scale2)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(VisionShape, width, heads, inner, layers, patch, grid,
                                                registers, epsilon, patchBias, flatTokens, antialiased,
                                                swiglu, classes, classifiesMean, classifiesPatches, act)

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

PlainOutcome run(const VisionShape& s, const VisionNames& n, MadeUpTensors& t,
                 const std::vector<Wide>& colours) {
  const std::string& prefix = n.prefix;
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
  if (!n.firstNorm.empty()) x = layerNormed(t, prefix + n.firstNorm, x, s.epsilon);
  PlainOutcome out{{x}, {}, {}};
  for (Index i = 0; i < s.layers; ++i) {
    const std::string at = prefix + n.layer + std::to_string(i) + ".";
    const auto scaled = [&](const std::string& name, Wide y) {
      if (name.empty()) return y;
      const Wide factors = t.row(at + name, d, 0.5, 1);
      for (Index row = 0; row < y.rows(); ++row) y.row(row) = y.row(row).cwiseProduct(factors);
      return y;
    };
    const Wide read = layerNormed(t, at + n.norm1, x, s.epsilon);
    const PlainAttention how{s.heads, s.heads, 1 / std::sqrt(static_cast<double>(d / s.heads)), false};
    const Wide mixed = attend(how, linear(t, at + n.q, read, d), linear(t, at + n.k, read, d),
                              linear(t, at + n.v, read, d), out.attention.emplace_back());
    x += scaled(n.scale1, linear(t, at + n.o, mixed, d));
    const Wide normed = layerNormed(t, at + n.norm2, x, s.epsilon);
    const Wide before = linear(t, at + n.up, normed, s.swiglu ? 2 * s.inner : s.inner);
    const Wide inner = s.swiglu ? Wide(before.leftCols(s.inner)
                                           .unaryExpr(activation("silu"))
                                           .cwiseProduct(before.rightCols(s.inner)))
                                : Wide(before.unaryExpr(activation(s.act)));
    x += scaled(n.scale2, linear(t, at + n.down, inner, d));
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
    return linear(t, name, read, s.classes);
  };
  const Wide first = of(n.classifier, 0);
  return n.secondClassifier.empty() ? first : Wide((first + of(n.secondClassifier, 1)) / 2);
}

/// The row's model with any number of classes.
PlainVision visionOf(const nlohmann::json& row) {
  const auto s = partOf<VisionShape>(row, "shape");
  const auto n = partOf<VisionNames>(row, "names");
  return {row.at("name"),
          row.at("config").dump(),
          row.at("processor").dump(),
          2,
          2,
          row.at("before"),
          [=](MadeUpTensors& t, const std::vector<Wide>& colours) {
            PlainOutcome out = run(s, n, t, colours);
            // No number of a layer depends on the final norm.
            const Wide y = layerNormed(t, n.prefix + n.finalNorm, out.hidden.back(), s.epsilon);
            if (s.classifiesPatches) {
              const Wide patches = out.hidden.back().bottomRows(y.rows() - 1).colwise().mean();
              out.logits = linear(t, n.classifier, patches, s.classes);
            } else if (s.classes > 0) {
              out.logits = classified(s, n, t, y);
            }
            return out;
          }};
}

}  // namespace

PlainVision smallVit(Index classes) {
  nlohmann::json row = plainRows("vision").at(0);
  for (Index i = 0; i < classes; ++i)
    row["config"]["id2label"][std::to_string(i)] = "class " + std::string(1, static_cast<char>('a' + i));
  row["shape"]["classes"] = classes;
  return visionOf(row);
}

std::vector<PlainVision> plainVisionModels() {
  std::vector<PlainVision> models;
  for (const nlohmann::json& row : plainRows("vision")) models.push_back(visionOf(row));
  return models;
}

}  // namespace headscope::attention::test
