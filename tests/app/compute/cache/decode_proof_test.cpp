#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>

#include "app/compute/cache/cache_studies.h"
#include "app/scene/mask_rules.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/attention/models/poisoned_checkpoint.h"

namespace headscope::test {
namespace {

using namespace headscope::app;

app::Setup causalSetup() {
  app::Setup setup = plainSetup("a b c d e f g h i j k l m n o p");
  setup.mask.layers = layersOf({});
  setup.prefill = 5;
  return setup;
}

DecodeProof proofOf(Snapshot snapshot, Resources& resources) {
  return proveDecode({std::make_shared<const Snapshot>(std::move(snapshot)), 0, 0}, resources);
}

std::string longText(int words) {
  std::string text;
  for (int i = 0; i < words; ++i) text += "w" + std::to_string(i % 19) + " ";
  return text;
}

TEST(DecodeProof, HoldsForEveryPositionAndSharpness) {
  Resources resources(kRoomy);
  for (const PositionKind position : {PositionKind::none, PositionKind::sinusoidal, PositionKind::rope,
                                      PositionKind::alibi, PositionKind::t5})
    for (const float sharpness : {1.0F, 8.0F, 50.0F}) {
      app::Setup setup = causalSetup();
      setup.model.position = position;
      setup.model.sharpness = sharpness;
      const DecodeProof proof = proofOf(computed(setup), resources);
      EXPECT_TRUE(proof.holds()) << proof.maxDifference << " over " << proof.tolerance;
      EXPECT_GT(proof.tolerance, 0);
    }
  const DecodeProof opening = proofOf(computed(openingScene().setup), resources);
  EXPECT_TRUE(opening.holds());
  EXPECT_LT(opening.tolerance, 1e-3F) << "a difference that can be seen is none of rounding";
}

/// If a full pass is wrong in one place, that place is named with both values.
TEST(DecodeProof, NamesHeadStepAndBothValues) {
  Resources resources(kRoomy);
  Snapshot snapshot = computed(causalSetup());
  SequenceSnapshot& sequence = snapshot.sequences[0];
  const float right = sequence.attention.headOutput.at(3, 7, 2), wrong = right + 0.5F;
  sequence.attention.headOutput[3](7, 2) = wrong;
  const DecodeProof proof = proofOf(snapshot, resources);
  EXPECT_FALSE(proof.holds());
  EXPECT_EQ(proof.head, 3);
  EXPECT_EQ(proof.token, 7);
  EXPECT_EQ(proof.full, wrong);
  EXPECT_NEAR(proof.cached, right, proof.tolerance);
  EXPECT_GT(0.5F, proof.tolerance);
  sequence.attention.headOutput[1](15, 0) = std::numeric_limits<float>::quiet_NaN();
  const DecodeProof broken = proofOf(snapshot, resources);
  EXPECT_FALSE(broken.holds());
  EXPECT_EQ(broken.token, 15) << "in the last step, too";
}

TEST(DecodeProof, CoversEveryStepAndPrefillChunk) {
  Resources resources(kRoomy);
  app::Setup setup = causalSetup();
  setup.input.text = longText(300);
  for (const Index prefill : {1, 37, 299, 300}) {
    setup.prefill = prefill;
    const auto snapshot = std::make_shared<const Snapshot>(computed(setup));
    for (const Index chunk : {0, 1, 7, 1000}) {
      const DecodeProof proof = proveDecode({snapshot, 0, chunk}, resources);
      EXPECT_TRUE(proof.holds()) << proof.maxDifference << " over " << proof.tolerance;
      EXPECT_EQ(proof.prefill + proof.steps, 300);
      EXPECT_EQ(proof.left, 0);
      EXPECT_TRUE(prefill > 1 || proof.maxDifference > 0) << "it is computed in another order";
    }
  }
}

TEST(DecodeProof, HoldsTriviallyWithoutDecoding) {
  Resources resources(kRoomy);
  const DecodeProof proof = proofOf(computed(plainSetup("a b c")), resources);
  EXPECT_TRUE(proof.holds());
  EXPECT_EQ(proof.prefill, 0);
}

/// A cache that gives NaN must not count as one without a difference.
TEST(DecodeProof, NanCountsAsLargestDifference) {
  attention::test::PoisonedCheckpoint checkpoint("gpt2");
  checkpoint.write("transformer.h.0.attn.c_attn.bias", std::numeric_limits<float>::quiet_NaN(), 1, 1000);
  const std::string folder = checkpoint.path().string();
  const auto opened = openModel(folder);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  Scene scene = openingScene();
  adoptModel(scene, folder, *opened);
  const Snapshot snapshot = computeSnapshot(scene.setup, defaultLimits());
  ASSERT_FALSE(snapshot.error) << snapshot.error->message;
  ASSERT_TRUE(snapshot.sequences[0].decode.applies);
  EXPECT_TRUE(std::isnan(snapshot.sequences[0].decode.maxDifference));
  EXPECT_NE(snapshot.notFinite.find("transformer.h.0.attn.c_attn.bias"), std::string::npos)
      << snapshot.notFinite;
}

}  // namespace
}  // namespace headscope::test
