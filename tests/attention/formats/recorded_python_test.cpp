// The manual's Python code that saves attention from PyTorch, run as printed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "attention/formats/recorded/recorded_attention.h"
#include "test_paths.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention {
namespace {

namespace fs = std::filesystem;

/// The Python blocks in the manual's section "Attention from elsewhere".
std::vector<std::string> pythonBlocks() {
  const std::string manual = headscope::test::fileText(HEADSCOPE_SOURCE_DIR "/assets/manual/files.md");
  const std::size_t begin = manual.find("## Attention from elsewhere"), end = manual.find("\n## ", begin + 1);
  const std::string section = manual.substr(begin, end - begin), fence = "```python\n";
  std::vector<std::string> blocks;
  for (std::size_t at = section.find(fence); at != std::string::npos; at = section.find(fence, at)) {
    at += fence.size();
    blocks.push_back(section.substr(at, section.find("```", at) - at));
  }
  return blocks;
}

/// Debian's PyTorch belongs to the system's Python, which may not be the first in the path.
std::string pythonWithTorch() {
  for (const char* python : {"python3", "/usr/bin/python3"})
    if (std::system((std::string(python) + " -c 'import torch, numpy' 2>/dev/null").c_str()) == 0)
      return python;
  return "";
}

constexpr const char* kBefore = R"(
import numpy, torch
torch.manual_seed(3)
tokens = "The dog slept .".split()
x = torch.randn(1, 4, 8)
)";

constexpr const char* kEncoder = R"(
model = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 3)
def expected():
    return torch.nn.MultiheadAttention.forward(model.layers[0].self_attn, x, x, x, average_attn_weights=False)[1]
)";

constexpr const char* kOwnAttention = R"(
class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(8, 24)
        self.attn_dropout = torch.nn.Dropout(0.1)
    def forward(self, x):
        q, k, v = (y.view(1, 4, 2, 4).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        scores = (q @ k.transpose(2, 3) / 2).masked_fill(torch.ones(4, 4, dtype=torch.bool).triu(1), float("-inf"))
        self.weights = scores.softmax(-1)
        return (self.attn_dropout(self.weights) @ v).transpose(1, 2).reshape(1, 4, 8)
model = torch.nn.Sequential(Attention(), Attention(), Attention())
def expected():
    return model[0].weights
)";

constexpr const char* kAfter = R"(
numpy.save("expected.npy", expected().detach().numpy())
)";

void savesWhatWeRead(const std::string& model, const std::string& block) {
  const std::string python = pythonWithTorch();
  if (python.empty()) GTEST_SKIP() << "PyTorch isn't installed (apt-get install python3-torch)";
  const headscope::test::TemporaryFolder folder;
  headscope::test::putFile(folder / "save.py", kBefore + model + block + kAfter);
  const std::string command =
      "cd '" + folder.path().string() + "' && OMP_NUM_THREADS=1 " + python + " -W error save.py";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto recorded = checked(RecordedAttention::open(folder / "attention.npz"));
  EXPECT_EQ(recorded->layers().size(), 3u);
  EXPECT_THAT(recorded->keyTokens(), testing::ElementsAre("The", "dog", "slept", "."));
  const auto expected = checked(RecordedAttention::open(folder / "expected.npy"));
  for (Index layer = 0; layer < 3; ++layer)
    for (Index head = 0; head < 2; ++head) {
      const auto weights = checked(recorded->readWeights(layer, head));
      EXPECT_NEAR(weights->faults.minSum, 1, 1e-5);
      EXPECT_NEAR(weights->faults.maxSum, 1, 1e-5);
      const Matrix first = expected->readWeights(0, head)->weights;
      EXPECT_EQ(weights->weights.isApprox(first, 1e-4F), layer == 0) << layer << " " << head;
    }
}

TEST(RecordedPython, ManualShowsThreeWaysWithoutThePackage) {
  const auto blocks = pythonBlocks();
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_THAT(blocks[0], testing::HasSubstr("transformers"));
}

TEST(RecordedPython, MultiheadAttentionSavesItsWeights) {
  savesWhatWeRead(kEncoder, pythonBlocks().at(1));
}

TEST(RecordedPython, HookSavesCustomAttention) {
  savesWhatWeRead(kOwnAttention, pythonBlocks().at(2));
}

}  // namespace
}  // namespace headscope::attention
