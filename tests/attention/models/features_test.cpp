// The features that an encoder–decoder's decoder reads in place of an encoder's output.

#include <gtest/gtest.h>

#include "attention/models/model.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/made_up_checkpoint.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {
namespace {

TEST(Features, ReadsNamedOrOnlyTensorAndRefusesOthers) {
  const headscope::test::TemporaryFolder folder;
  const auto write = [&](const char* file, const MadeUpTensors& tensors) {
    headscope::test::putFile(folder / file, *formatSafetensors(tensors.file()));
    return folder / file;
  };
  MadeUpTensors one(DType::F16, 3), two(DType::F32, 3), three(DType::F32, 3);
  const Wide expected = one.cube("whatever", 1, 9, 24, 1);
  const auto read = checked(readFeatures(write("one.safetensors", one), 24));
  EXPECT_EQ(distance(expected.cast<float>(), **read), 0);
  (void)two.matrix("mel", 80, 9, 1);
  const Wide named = two.matrix("encoder_last_hidden_state", 7, 24, 1);
  EXPECT_EQ((**readFeatures(write("two.safetensors", two), 24)), named.cast<float>());
  EXPECT_THAT(readFeatures(folder / "two.safetensors", 32).error().message,
              HasSubstr("is [7, 24], expected [1 to 65536, 32]"));
  (void)three.matrix("mel", 80, 9, 1);
  (void)three.matrix("tokens", 2, 9, 1);
  EXPECT_THAT(readFeatures(write("three.safetensors", three), 24).error().message,
              HasSubstr("expected one called encoder_last_hidden_state"));
  EXPECT_FALSE(readFeatures(folder / "gone.npy", 24).ok());
}

}  // namespace
}  // namespace headscope::attention::test
