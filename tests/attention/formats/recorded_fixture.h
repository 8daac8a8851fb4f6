#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "attention/formats/npy.h"
#include "attention/formats/recorded/recorded_attention.h"
#include "tests/support/matchers.h"
#include "tests/support/peak_memory.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/zip_bytes.h"

namespace headscope::attention {

namespace fs = std::filesystem;
using headscope::test::gaussianTensor;

/// Weights whose rows sum to 1 and which identify layer, head, row and column.
inline std::vector<float> valuesOf(Index layers, Index heads, Index n, Index m, Index firstLayer = 0) {
  std::vector<float> values;
  for (Index l = firstLayer; l < firstLayer + layers; ++l)
    for (Index h = 0; h < heads; ++h)
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < m; ++j)
          values.push_back(j == (l + 2 * h + i) % m ? 0.75F : 0.25F / static_cast<float>(m - 1));
  return values;
}

using Shape = std::vector<std::uint64_t>;

/// Adds one array per layer, with "{}" in the name replaced by its number.
inline void addLayers(SafetensorsFile& file, std::string name, Index layers, Index n, Index m) {
  const std::size_t at = name.find("{}");
  for (Index layer = 0; layer < layers; ++layer) {
    std::string tensor = name;
    tensor.replace(at, 2, std::to_string(layer));
    file.tensors[tensor] = fromFloats(valuesOf(1, 2, n, m, layer),
                                      {1, 2, static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(m)});
  }
}

class Recorded : public testing::Test {
 protected:
  void put(const SafetensorsFile& file) { ASSERT_TRUE(writeSafetensors(path_, file).ok()); }
  std::string errorOf(const SafetensorsFile& file) {
    put(file);
    return messageOf(RecordedAttention::open(path_));
  }
  static SafetensorsFile stacked() {
    SafetensorsFile file;
    file.tensors["attention"] = fromFloats(valuesOf(3, 2, 4, 4), {3, 2, 4, 4});
    return file;
  }
  void expectStacked(const fs::path& path) {
    const auto recorded = checked(RecordedAttention::open(path));
    ASSERT_EQ(recorded->layers().size(), 3u);
    const std::vector<float> values = valuesOf(3, 2, 4, 4);
    for (Index layer = 0; layer < 3; ++layer)
      for (Index head = 0; head < 2; ++head) {
        const auto read = checked(recorded->readWeights(layer, head));
        const MatrixView expected(values.data() + (layer * 2 + head) * 16, 4, 4);
        EXPECT_EQ(read->weights, expected) << layer << " " << head;
        EXPECT_NEAR(read->faults.minSum, 1, 1e-6);
        EXPECT_EQ(read->faults.describe(), "");
      }
  }

  headscope::test::TemporaryFolder folder_;
  fs::path path_ = folder_ / "a.safetensors";
};

}  // namespace headscope::attention
