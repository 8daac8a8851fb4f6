#include "app/compute/decode_proof.h"

#include <gtest/gtest.h>

#include "app/scene/mask_rules.h"
#include "tests/app/compute/snapshot_support.h"

namespace headscope::test {
namespace {

using namespace headscope::app;

app::Setup causalSetup() {
  app::Setup setup = plainSetup("a b c d e f g h i j k l m n o p");
  setup.mask.layers = layersOf({});
  setup.prefill = 5;
  return setup;
}

TEST(DecodeProof, HoldsForEveryPositionAndSharpness) {
  Resources resources(kRoomy);
  for (const PositionKind position : {PositionKind::none, PositionKind::sinusoidal, PositionKind::rope,
                                      PositionKind::alibi, PositionKind::t5})
    for (const float sharpness : {1.0F, 8.0F, 50.0F}) {
      app::Setup setup = causalSetup();
      setup.model.position = position;
      setup.model.sharpness = sharpness;
      const Snapshot snapshot = computed(setup);
      const DecodeProof proof = proveDecode(snapshot, 0, resources);
      EXPECT_TRUE(proof.holds()) << snapshot.sequences[0].decode.maxDifference << " over " << proof.tolerance;
      EXPECT_GT(proof.tolerance, 0);
    }
  const DecodeProof opening = proveDecode(computed(openingScene().setup), 0, resources);
  EXPECT_TRUE(opening.holds());
  EXPECT_LT(opening.tolerance, 1e-3F) << "a difference that can be seen is none of rounding";
}

/// A full pass that is wrong in one place: that place is named, with both values.
TEST(DecodeProof, NamesHeadStepAndBothValues) {
  Resources resources(kRoomy);
  Snapshot snapshot = computed(causalSetup());
  SequenceSnapshot& sequence = snapshot.sequences[0];
  const float right = sequence.attention.headOutput.at(3, 7, 2), wrong = right + 0.5F;
  sequence.attention.headOutput[3](7, 2) = wrong;
  EXPECT_TRUE(proveDecode(snapshot, 0, resources).holds()) << "only the difference of the outputs decides";
  sequence.decode.maxDifference = 0.5F;
  const DecodeProof proof = proveDecode(snapshot, 0, resources);
  ASSERT_TRUE(proof.fault);
  EXPECT_EQ(proof.fault->head, 3);
  EXPECT_EQ(proof.fault->token, 7);
  EXPECT_EQ(proof.fault->full, wrong);
  EXPECT_NEAR(proof.fault->cached, right, proof.tolerance);
  EXPECT_GT(0.5F, proof.tolerance);
}

TEST(DecodeProof, SaysNothingWhereNothingIsDecoded) {
  Resources resources(kRoomy);
  const Snapshot snapshot = computed(plainSetup("a b c"));
  EXPECT_TRUE(proveDecode(snapshot, 0, resources).holds());
  EXPECT_EQ(proveDecode(snapshot, 0, resources).tolerance, 0);
}

}  // namespace
}  // namespace headscope::test
