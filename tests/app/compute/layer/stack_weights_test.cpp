// Several synthetic layers with weights from a file: the file's layers starting at the chosen one, or one
// sentence that says what it lacks.

#include <gtest/gtest.h>

#include "app/compute/layer/layer_stack.h"
#include "app/compute/model/model_study.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

using namespace app;
using attention::Matrix;
using Eigen::MatrixXd;

class StackFromFile : public testing::Test {
 protected:
  /// Writes layers of 4 heads over 2 kv heads of size 4 on width 8, each with different numbers.
  void put(Index layers, Index first = 0) {
    attention::SafetensorsFile file;
    file.metadata = {{"heads", "4"}, {"kv_heads", "2"}, {"head_dim", "4"}};
    for (Index l = first; l < first + layers; ++l) {
      const std::string name = "layers." + std::to_string(l) + ".";
      const auto seed = static_cast<std::uint64_t>(10 * l);
      file.tensors[name + "q_proj.weight"] = gaussianTensor({16, 8}, seed + 1);
      file.tensors[name + "k_proj.weight"] = gaussianTensor({8, 8}, seed + 2);
      file.tensors[name + "v_proj.weight"] = gaussianTensor({8, 8}, seed + 3);
      file.tensors[name + "o_proj.weight"] = gaussianTensor({8, 16}, seed + 4);
    }
    ASSERT_TRUE(attention::writeSafetensors(path_, file).ok());
  }
  app::Setup setup(Index layers, Index fromLayer) {
    app::Setup setup = plainSetup("one two three two one");
    setup.model = sizedModel(4, 2, 4, 8);
    setup.model.layers = layers;
    setup.weights.source = WeightSource::file;
    setup.weights.file = path_.string();
    setup.weights.layer = fromLayer;
    setup.mask.layers = layersFrom("causal");
    return setup;
  }
  /// A tensor of the file as it was generated.
  static MatrixXd drawn(Index rows, Index cols, Index layer, Index which) {
    const attention::NamedTensor tensor =
        gaussianTensor({static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols)},
                       static_cast<std::uint64_t>(10 * layer + which));
    const auto values = *toFloats(tensor, "drawn");
    return Eigen::Map<const Matrix>(values.data(), rows, cols).cast<double>();
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "w.safetensors";
};

/// Each layer recomputed by the definition in double precision: x += Σ_h softmax(q·kᵀ/√s)·v·W_O.
TEST_F(StackFromFile, ComputesFileLayersFromChosenOne) {
  put(5);
  for (const Index from : {0, 2}) {
    app::Setup stack = setup(3, from);
    Resources resources(kRoomy);
    const TokenBatch batch = tokenizeBatch(stack);
    MatrixXd x = (**resources.inputs.inputs(stack, batch.lines))[0].x.cast<double>();
    const Index n = x.rows();
    for (Index layer = 0; layer < 3; ++layer) {
      stack.subject.layer = layer;
      const Snapshot shown = computed(stack);
      const MatrixXd q = x * drawn(16, 8, from + layer, 1).transpose(),
                     k = x * drawn(8, 8, from + layer, 2).transpose(),
                     v = x * drawn(8, 8, from + layer, 3).transpose();
      MatrixXd heads(n, 16);
      for (Index h = 0; h < 4; ++h) {
        MatrixXd a = MatrixXd::Zero(n, n);
        for (Index i = 0; i < n; ++i) {
          for (Index j = 0; j <= i; ++j)
            a(i, j) = q.row(i).segment(4 * h, 4).dot(k.row(j).segment(4 * (h / 2), 4)) / 2;
          const double most = a.row(i).head(i + 1).maxCoeff();
          a.row(i).head(i + 1) = (a.row(i).head(i + 1).array() - most).exp().matrix().eval();
          a.row(i) /= a.row(i).sum();
        }
        heads.middleCols(4 * h, 4) = a * v.middleCols(4 * (h / 2), 4);
        EXPECT_LT((shown.sequences[0].attention.weights[h].cast<double>() - a).cwiseAbs().maxCoeff(), 2e-3)
            << "layer " << layer << " of the file's from " << from << ", head " << h;
      }
      x += heads * drawn(8, 16, from + layer, 4).transpose();
    }
  }
}

TEST_F(StackFromFile, StartsAtFirstLayerByDefault) {
  put(2);
  app::Setup named = setup(2, 0), plain = setup(2, -1);
  named.subject.layer = plain.subject.layer = 1;
  EXPECT_TRUE(test::sameBits(computed(named).sequences[0].attention, computed(plain).sequences[0].attention));
}

TEST_F(StackFromFile, RefusesFilesWithTooFewLayers) {
  put(3);
  for (const Index shown : {0, 3}) {
    app::Setup stack = setup(4, 0);
    stack.subject.layer = shown;
    const PlacedError error = refused(stack);
    EXPECT_EQ(error.place, Place::weights) << shown;
    EXPECT_EQ(error.message,
              "The 4 synthetic layers need layers 0 to 3 of w.safetensors, which holds layers 0 to 2.")
        << shown;
    Resources resources(kRoomy);
    ModelRunner runner;
    const auto study = runner.run(modelQuestion(stack), resources, {}, {});
    ASSERT_FALSE(study.ok());
    EXPECT_EQ(study.error().message, error.message);
  }
  EXPECT_THAT(refused(setup(2, 2)).message, HasSubstr("need layers 2 and 3 of w.safetensors"));
}

TEST_F(StackFromFile, RefusesSingleLayerFilesForStacks) {
  attention::SafetensorsFile file = smallProblem();
  ASSERT_TRUE(attention::writeSafetensors(path_, file).ok());
  EXPECT_EQ(computed(setup(1, -1)).sequences.size(), 1u);
  EXPECT_EQ(
      refused(setup(2, -1)).message,
      "The 2 synthetic layers need layers 0 and 1 of w.safetensors, which holds one layer without a number.");
}

}  // namespace
}  // namespace headscope::test
