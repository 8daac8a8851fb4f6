#include "tests/attention/models/plain/plain_model.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace headscope::attention::test {
namespace {

template <typename Number>
void put(std::vector<std::uint8_t>& bytes, Number value, double& rounded) {
  const auto* const first = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
  rounded = static_cast<double>(value);
}

}  // namespace

Wide MadeUpTensors::make(const std::string& name, std::vector<std::uint64_t> shape, Index rows, Index cols,
                         double spread, double center) {
  Random random(hashText(name, seed_));
  NamedTensor tensor{dtype_, std::move(shape), {}};
  Wide values(rows, cols);
  for (Index i = 0; i < values.size(); ++i) {
    const auto value = static_cast<float>(center + spread * static_cast<double>(random.gaussian()));
    double& rounded = values.data()[i];
    if (dtype_ == DType::F16)
      put(tensor.bytes, Eigen::half(value), rounded);
    else if (dtype_ == DType::BF16)
      put(tensor.bytes, Eigen::bfloat16(value), rounded);
    else if (dtype_ == DType::F64)
      put(tensor.bytes, static_cast<double>(value), rounded);
    else
      put(tensor.bytes, value, rounded);
  }
  file_.tensors.insert_or_assign(name, std::move(tensor));
  return values;
}

Wide MadeUpTensors::matrix(const std::string& name, Index rows, Index cols, double spread, double center) {
  return make(name, {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols)}, rows, cols, spread,
              center);
}

Wide MadeUpTensors::cube(const std::string& name, Index count, Index rows, Index cols, double spread) {
  return make(
      name,
      {static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols)},
      count * rows, cols, spread, 0);
}

Wide MadeUpTensors::shaped(const std::string& name, std::vector<std::uint64_t> shape, Index rows, Index cols,
                           double spread) {
  return make(name, std::move(shape), rows, cols, spread, 0);
}

Wide MadeUpTensors::row(const std::string& name, Index size, double spread, double center) {
  return make(name, {static_cast<std::uint64_t>(size)}, 1, size, spread, center);
}

Wide MadeUpTensors::weight(const std::string& name, Index out, Index in) {
  return matrix(name + ".weight", out, in, 1 / std::sqrt(static_cast<double>(in)));
}

Wide layerNorm(const Wide& x, const Wide& weight, const Wide& bias, double epsilon) {
  Wide y = x;
  for (Index r = 0; r < x.rows(); ++r) {
    double mean = 0, variance = 0;
    for (Index c = 0; c < x.cols(); ++c) mean += x(r, c) / static_cast<double>(x.cols());
    for (Index c = 0; c < x.cols(); ++c)
      variance += (x(r, c) - mean) * (x(r, c) - mean) / static_cast<double>(x.cols());
    for (Index c = 0; c < x.cols(); ++c)
      y(r, c) = (x(r, c) - mean) / std::sqrt(variance + epsilon) * weight(0, c) + bias(0, c);
  }
  return y;
}

Wide rmsNorm(const Wide& x, const Wide& weight, double epsilon) {
  Wide y = x;
  for (Index r = 0; r < x.rows(); ++r) {
    double square = 0;
    for (Index c = 0; c < x.cols(); ++c) square += x(r, c) * x(r, c) / static_cast<double>(x.cols());
    for (Index c = 0; c < x.cols(); ++c) y(r, c) = x(r, c) / std::sqrt(square + epsilon) * weight(0, c);
  }
  return y;
}

std::function<double(double)> activation(const std::string& name) {
  static const std::map<std::string, double (*)(double)> kActivations = {
      {"silu", [](double x) { return x / (1 + std::exp(-x)); }},
      {"gelu", [](double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }},
      {"geluTanh",
       [](double x) {
         return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
       }},
      {"relu", [](double x) { return std::max(x, 0.0); }},
      {"relu2", [](double x) { return x > 0 ? x * x : 0; }},
      {"quickGelu", [](double x) { return x / (1 + std::exp(-1.702 * x)); }}};
  return kActivations.at(name);
}

Wide times(const Wide& x, const Wide& weight) {
  Wide y = Wide::Zero(x.rows(), weight.rows());
  for (Index r = 0; r < x.rows(); ++r)
    for (Index o = 0; o < weight.rows(); ++o)
      for (Index c = 0; c < x.cols(); ++c) y(r, o) += x(r, c) * weight(o, c);
  return y;
}

Wide plus(const Wide& x, const Wide& bias) {
  Wide y = x;
  for (Index r = 0; r < x.rows(); ++r)
    for (Index c = 0; c < x.cols(); ++c) y(r, c) += bias(0, c);
  return y;
}

Wide pick(const Wide& table, const std::vector<Index>& rows) {
  Wide x(std::ssize(rows), table.cols());
  for (Index i = 0; i < x.rows(); ++i) x.row(i) = table.row(rows[static_cast<std::size_t>(i)]);
  return x;
}

Wide linear(MadeUpTensors& t, const std::string& name, const Wide& x, Index out, bool bias) {
  const Wide y = times(x, t.weight(name, out, x.cols()));
  return bias ? plus(y, t.row(name + ".bias", out, 0.3)) : y;
}

Wide layerNormed(MadeUpTensors& t, const std::string& name, const Wide& x, double epsilon) {
  return layerNorm(x, t.row(name + ".weight", x.cols(), 0.3, 1), t.row(name + ".bias", x.cols(), 0.3),
                   epsilon);
}

Wide rope(const Wide& x, Index heads, const std::vector<double>& frequencies, double amplitude,
          bool neighbours) {
  Wide y = x;
  const Index headDim = x.cols() / heads, half = static_cast<Index>(frequencies.size());
  for (Index p = 0; p < x.rows(); ++p)
    for (Index h = 0; h < heads; ++h)
      for (Index t = 0; t < half; ++t) {
        const double angle = static_cast<double>(p) * frequencies[static_cast<std::size_t>(t)];
        const Index a = h * headDim + (neighbours ? 2 * t : t), b = a + (neighbours ? 1 : half);
        y(p, a) = amplitude * (x(p, a) * std::cos(angle) - x(p, b) * std::sin(angle));
        y(p, b) = amplitude * (x(p, b) * std::cos(angle) + x(p, a) * std::sin(angle));
      }
  return y;
}

Wide attend(const PlainAttention& how, const Wide& q, const Wide& k, const Wide& v, std::vector<Wide>& to) {
  const Index n = q.rows(), m = k.rows(), share = how.heads / how.kvHeads;
  const Index keyDim = q.cols() / how.heads, valueDim = v.cols() / how.kvHeads;
  Wide output = Wide::Zero(n, how.heads * valueDim);
  for (Index h = 0; h < how.heads; ++h) {
    Wide weights = Wide::Zero(n, m);
    for (Index i = 0; i < n; ++i) {
      double sum = how.sinks.empty() ? 0 : std::exp(how.sinks[static_cast<std::size_t>(h)]);
      for (Index j = 0; j < m; ++j) {
        if (how.causal && j > i) continue;
        if (how.window > 0 && std::abs(i - j) >= how.window) continue;
        double score = 0;
        for (Index t = 0; t < keyDim; ++t) score += q(i, h * keyDim + t) * k(j, h / share * keyDim + t);
        score *= how.scale;
        if (how.bias) score += how.bias(h, i, j);
        sum += weights(i, j) = std::exp(score);
      }
      for (Index j = 0; j < m; ++j) {
        weights(i, j) /= sum;
        for (Index t = 0; t < valueDim; ++t)
          output(i, h * valueDim + t) += weights(i, j) * v(j, h / share * valueDim + t);
      }
    }
    to.push_back(weights);
  }
  return output;
}

}  // namespace headscope::attention::test
