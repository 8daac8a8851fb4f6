// Blocks compared with the numbers that gguf_blocks.py computes from their definitions.

#include <gtest/gtest.h>

#include "attention/core/projections.h"
#include "attention/formats/gguf/gguf_header.h"
#include "tests/attention/models/gguf/gguf_files.h"
#include "tests/support/safetensors_file.h"

namespace headscope::attention::test {
namespace {

TEST(GgufBlocks, UnpacksEveryTypeAtAnyByteOffset) {
  const std::string python = pythonWithNumpy();
  if (python.empty()) GTEST_SKIP() << "NumPy isn't installed (apt-get install python3-numpy)";
  const headscope::test::TemporaryFolder folder;
  const auto path = folder / "blocks.safetensors";
  ASSERT_TRUE(writeGguf(python, "blocks '" + path.string() + "'"));
  const auto file = headscope::test::readSafetensors(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  int types = 0;
  for (std::uint32_t id = 0; id < 64; ++id) {
    const GgufType* const type = ggufType(id);
    if (!type || !type->use || type->block.numbers == 1) continue;
    const std::string name(type->name);
    const NamedTensor& blocks = file->tensors.at(name + ".blocks");
    const std::vector<float> expected = *headscope::test::toFloats(file->tensors.at(name + ".values"), name);
    ASSERT_EQ(blocks.shape[1], type->block.bytes) << name;
    const kernels::WeightBlock block = kernels::weightBlock(*type->use);
    ASSERT_EQ(block.bytes, type->block.bytes) << name;
    ASSERT_EQ(block.numbers, type->block.numbers) << name;
    std::vector<float> found(expected.size());
    for (std::size_t shift = 0; shift < 3; ++shift) {
      std::vector<std::uint8_t> moved(shift);
      moved.insert(moved.end(), blocks.bytes.begin(), blocks.bytes.end());
      kernels::unpackWeights(*type->use, moved.data() + shift, found.size(), found.data());
      for (std::size_t i = 0; i < found.size(); ++i)
        if (std::isnan(expected[i]))
          EXPECT_TRUE(std::isnan(found[i])) << name << " " << i;
        else if (std::isinf(expected[i]))
          EXPECT_EQ(found[i], expected[i]) << name << " " << i;
        else
          ASSERT_LE(std::abs(found[i] - expected[i]), 4e-7f * std::abs(expected[i]) + 1e-7f)
              << name << " " << i;
    }
    ++types;
  }
  EXPECT_EQ(types, 13);
}

TEST(GgufBlocks, InfinityStaysInfinite) {
  std::vector<std::uint8_t> block(34, 1);
  block[0] = 0;
  block[1] = 0x7c;
  std::vector<float> found(32);
  kernels::unpackWeights(WeightType::q8_0, block.data(), 32, found.data());
  EXPECT_EQ(found[7], INFINITY);
}

}  // namespace
}  // namespace headscope::attention::test
