#pragma once

#include <cfloat>
#include <cmath>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention/formats/safetensors.h"
#include "attention/models/session.h"
#include "test_paths.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"

namespace headscope::attention::test {

inline const std::vector<std::string> kGoldenFamilies = {"gpt2",   "llama", "mistral",  "qwen2", "qwen3",
                                                         "gemma2", "phi3",  "gpt_neox", "bert"};

inline std::filesystem::path goldenModel(const std::string& family) {
  return std::filesystem::path(HEADSCOPE_TEST_DIR) / "golden_models" / family;
}

inline std::shared_ptr<const Model> openModel(const std::filesystem::path& folder) {
  auto model = checked(Model::open(folder));
  return std::make_shared<const Model>(std::move(*model));
}

/// A request for everything a pass can keep.
inline PassRequest everything() {
  PassRequest request;
  request.projections = request.hidden = request.between = request.mlp = true;
  request.logits = LogitRows::all;
  return request;
}

/// The pass over a whole text.
inline PassResult passOver(const std::shared_ptr<const Model>& model, std::span<const Index> ids,
                           const PassRequest& request = everything()) {
  ModelSession session(model);
  return *checked(session.append(ids, request));
}

/// The float64 results for one prompt.
class Golden {
 public:
  Golden(const std::string& family, const std::string& prompt) : prompt_(prompt) {
    auto file = checked(headscope::test::readSafetensors(goldenModel(family) / "expected.safetensors"));
    file_ = std::move(*file);
  }

  bool has(const std::string& name) const { return file_.tensors.contains(prompt_ + "." + name); }
  const NamedTensor& tensor(const std::string& name) const { return file_.tensors.at(prompt_ + "." + name); }
  std::vector<Index> ids(const std::string& name) const {
    const NamedTensor& found = tensor(name);
    std::vector<Index> ids(found.shape.at(0));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      std::int64_t id = 0;
      std::memcpy(&id, found.bytes.data() + 8 * i, 8);
      ids[i] = id;
    }
    return ids;
  }
  /// A tensor as matrices of its last two axes.
  Stack stack(const std::string& name) const {
    const NamedTensor& found = tensor(name);
    const auto values = *headscope::test::toFloats(found, name);
    const auto cols = static_cast<Index>(found.shape.back());
    const auto rows = static_cast<Index>(found.shape.at(found.shape.size() - 2));
    Stack stack(static_cast<Index>(values.size()) / (rows * cols), rows, cols);
    std::copy(values.begin(), values.end(), stack.data());
    return stack;
  }
  Matrix matrix(const std::string& name) const { return stack(name)[0]; }

 private:
  std::string prompt_;
  SafetensorsFile file_;
};

/// How far single precision may be from the exact residual stream, times its largest number. Every layer
/// rounds two sums of at most `longest` terms into it, whose errors behave like a random walk (Higham & Mary
/// 2019), combined with those of the previous layers; norms, activations and softmax keep the relative error
/// within a small factor. Eight standard deviations.
inline double streamTolerance(const ModelConfig& config, Index layers) {
  const double longest = static_cast<double>(std::max(config.modelDim, config.innerDim));
  const double roundings = std::sqrt(longest) * std::sqrt(2.0 * static_cast<double>(layers) + 1);
  return 8 * (FLT_EPSILON / 2) * roundings;
}

/// The largest absolute difference; infinity if the shapes differ or it is NaN.
inline double distance(const Eigen::Ref<const Matrix>& a, const Eigen::Ref<const Matrix>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return INFINITY;
  const double most = (a.cast<double>() - b.cast<double>()).cwiseAbs().maxCoeff();
  return std::isnan(most) ? INFINITY : most;
}

}  // namespace headscope::attention::test
