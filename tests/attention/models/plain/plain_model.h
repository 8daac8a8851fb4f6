#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "attention/core/random.h"
#include "attention/formats/safetensors.h"

namespace headscope::attention::test {

/// Models by their papers' equations, in double precision, element by element: a second formulation that
/// shares nothing with the code under test, not even the tensors' names. Weights are generated as the
/// equations request them, so that running a model also creates its checkpoint.

using Wide = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Random tensors, generated on first use and rounded to `dtype`.
class MadeUpTensors {
 public:
  MadeUpTensors(DType dtype, std::uint64_t seed) : dtype_(dtype), seed_(seed) {}

  /// [rows, cols] of normal values with deviation `spread` around `center`.
  Wide matrix(const std::string& name, Index rows, Index cols, double spread, double center = 0);
  /// [1, size].
  Wide row(const std::string& name, Index size, double spread, double center = 0);
  /// [count, rows, cols] as [count · rows, cols].
  Wide cube(const std::string& name, Index count, Index rows, Index cols, double spread);
  /// A tensor of any shape, as [rows, cols].
  Wide shaped(const std::string& name, std::vector<std::uint64_t> shape, Index rows, Index cols,
              double spread);
  /// A map's weight [out, in], scaled so that outputs are about as large as inputs.
  Wide weight(const std::string& name, Index out, Index in);
  const SafetensorsFile& file() const { return file_; }

  /// Called with the heads' outputs side by side [n, heads · headDim] ("heads"), and with a layer's MLP
  /// output [n, d] ("mlp"), which it may inspect or replace.
  std::function<void(const std::string& piece, Index layer, Wide& numbers)> touch = [](const std::string&,
                                                                                       Index, Wide&) {};
  Wide touched(const std::string& piece, Index layer, Wide numbers) {
    touch(piece, layer, numbers);
    return numbers;
  }

 private:
  Wide make(const std::string& name, std::vector<std::uint64_t> shape, Index rows, Index cols, double spread,
            double center);

  DType dtype_;
  std::uint64_t seed_;
  SafetensorsFile file_;
};

struct PlainOutcome {
  std::vector<Wide> hidden;                  ///< [layers + 1] of [n, d]
  std::vector<std::vector<Wide>> attention;  ///< [layers][heads] of [n, n]
  Wide logits;                               ///< [n, vocabulary]; empty if the model has no head
};

/// One family with a config of odd sizes.
struct PlainModel {
  std::string name;    ///< the test's name
  std::string config;  ///< the text of config.json
  Index vocabulary;
  std::function<PlainOutcome(MadeUpTensors&, const std::vector<Index>& ids)> run;
};

/// Every architecture, some with more than one config.
std::vector<PlainModel> plainModels();

// The building blocks of the equations.

Wide layerNorm(const Wide& x, const Wide& weight, const Wide& bias, double epsilon);
Wide rmsNorm(const Wide& x, const Wide& weight, double epsilon);
/// "silu", "gelu", "geluTanh", "relu" or "quickGelu".
std::function<double(double)> activation(const std::string& name);
/// x·Wᵀ.
Wide times(const Wide& x, const Wide& weight);
Wide plus(const Wide& x, const Wide& bias);
/// The rows of a table, which may repeat.
Wide pick(const Wide& table, const std::vector<Index>& rows);
/// x·Wᵀ + b with the tensors `name`.weight [out, in] and `name`.bias [out].
Wide linear(MadeUpTensors& t, const std::string& name, const Wide& x, Index out, bool bias = true);
/// A layer norm with the tensors `name`.weight and `name`.bias.
Wide layerNormed(MadeUpTensors& t, const std::string& name, const Wide& x, double epsilon);
/// x [n, heads · headDim] rotated by its position in the first 2·|frequencies| dimensions of a head.
/// Dimension t is paired with its partner in the second half, or with its neighbour.
Wide rope(const Wide& x, Index heads, const std::vector<double>& frequencies, double amplitude = 1,
          bool neighbours = false);

struct PlainAttention {
  Index heads, kvHeads;
  double scale;
  bool causal = true;
  Index window = 0;  ///< 0 = none
  /// Added to head h's score of query i and key j; −inf hides the key.
  std::function<double(Index h, Index i, Index j)> bias = {};
  std::vector<double> sinks = {};  ///< [heads], scores in addition to those of the keys; empty = none
};
/// Attention of q [n, heads · dh] on k [m, kvHeads · dh] and v [m, kvHeads · dv], heads side by side. Appends
/// the weights [n, m] to `to`.
Wide attend(const PlainAttention& how, const Wide& q, const Wide& k, const Wide& v, std::vector<Wide>& to);

}  // namespace headscope::attention::test
