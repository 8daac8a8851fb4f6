// Recordings in torch.save()'s files, written by tests/golden/torch_files.py, and what is refused in them.

#include "attention/formats/torch/torch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "attention/formats/recorded/recorded_attention.h"
#include "attention/formats/tensor_source.h"
#include "attention/formats/torch/pickle.h"
#include "test_paths.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/zip_bytes.h"

namespace headscope::attention {
namespace {

using headscope::test::npyBytes;
using headscope::test::putFile;

std::filesystem::path sample(const char* name) {
  return std::filesystem::path(HEADSCOPE_SOURCE_DIR) / "tests/fuzz/corpus/recorded" / name;
}

TEST(TorchFile, OpensAsRecordedAttention) {
  const std::vector<std::string> words{"The", "dog", "slept"}, places{"0", "1", "2"}, ids{"7", "8", "9"};
  const std::pair<const char*, std::vector<std::string>> kFiles[] = {
      {"tuple.pt", places}, {"before_1_6.pt", places}, {"output.pt", places}, {"transposed.pt", words},
      {"bfloat16.pt", ids}, {"steps.pt", places},      {"objects.npz", words}};
  for (const auto& [name, tokens] : kFiles) {
    SCOPED_TRACE(name);
    const auto recorded = checked(RecordedAttention::open(sample(name)));
    ASSERT_EQ(recorded->layers().size(), 2u);
    EXPECT_EQ(recorded->keyTokens(), tokens);
    EXPECT_EQ(recorded->hasIds(), tokens == ids);
    for (Index layer = 0; layer < 2; ++layer)
      for (Index head = 0; head < 2; ++head) {
        const Matrix weights = checked(recorded->readWeights(layer, head))->weights;
        ASSERT_EQ(weights.rows(), 3);
        for (Index i = 0; i < 3; ++i) {
          Eigen::RowVectorXf row = Eigen::RowVectorXf::Zero(3);
          for (Index j = 0; j <= i; ++j) row[j] = static_cast<float>(1 + j + head + 2 * layer);
          EXPECT_TRUE(
              weights.row(i).isApprox(row / row.sum(), name == std::string("bfloat16.pt") ? 4e-3F : 1e-6F));
        }
      }
  }
}

TEST(TorchFile, IdsAreNamedByATokenizer) {
  auto recorded = checked(RecordedAttention::open(sample("bfloat16.pt")));
  recorded->nameIds([](Index id) { return id == 8 ? std::optional<std::string>("␣dog") : std::nullopt; });
  EXPECT_EQ(recorded->keyTokens(), (std::vector<std::string>{"7", "dog", "9"}));
  EXPECT_EQ(recorded->queryTokens(), recorded->keyTokens());
}

TEST(TorchFile, RefusesByNameWhatIsNotATensor) {
  const std::pair<const char*, const char*> kFiles[] = {
      {"code.pt", "names \"posix.system\", expected only tensors, numbers, texts, lists and dictionaries"},
      {"numpy.pt", "holds a NumPy array, expected tensors: save torch.from_numpy(array)"},
      {"sparse.pt", "names \"torch._utils._rebuild_sparse_tensor\", expected"},
      {"repeated.pt", "only 3 numbers are stored: save it with .contiguous()"}};
  for (const auto& [name, says] : kFiles) {
    const auto refused = messageOf(RecordedAttention::open(sample(name)));
    EXPECT_THAT(refused, AllOf(StartsWith(sample(name).string() + ": "), HasSubstr(says)));
  }
}

PickleReader readerOf(const std::string& bytes) {
  return PickleReader({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  while (times-- > 0) all += text;
  return all;
}

/// Float8 numbers are in a storage without a type.
TEST(Pickle, ReadsATensorThatSaysItsType) {
  const std::string bytes =
      "ctorch._utils\n_rebuild_tensor_v3\n((U\7storagectorch.storage\nUntypedStorage\nU\1kU\3cpuK\4tQ"
      "K\1K\4\x85K\1\x85\x89}ctorch\nfloat8_e4m3fn\ntR.";
  PickleReader reader = readerOf(bytes);
  const PickledTensor& tensor = (*checked(reader.next()))->tensor;
  EXPECT_EQ(tensor.type, DType::F8_E4M3);
  EXPECT_EQ(tensor.storage, "k");
  EXPECT_EQ(tensor.first, 1u);
  EXPECT_EQ(tensor.shape, Shape{4});
}

/// A few bytes can't stand for much.
TEST(Pickle, LimitsWhatIsRepeated) {
  const std::string text(std::size_t{1} << 20, 'a');
  const auto texts = [&](int times) {
    const std::string bytes =
        "(X" + std::string("\0\0\x10\0", 4) + text + "q\1" + repeated("h\1", times) + "l.";
    return pickledTexts({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  };
  EXPECT_TRUE(texts(2).has_value());
  EXPECT_FALSE(texts(20).has_value());
}

TEST(Pickle, RefusesDamage) {
  const std::pair<std::string, const char*> kPickles[] = {
      {"", "ends early"},
      {".", "damaged"},
      {"K", "ends early"},
      {"X\xFF\xFF\xFF\xFF", "ends early"},
      {"h\x01.", "damaged"},
      {"K\1K\2s.", "damaged"},
      {"(K\1", "ends early"},
      {"}(K\1u.", "damaged"},
      {"ctorch\nFloat", "early"},
      {"I1\n.", "instruction 0x49"},
      {"K\1)R.", "damaged"},
      {"ctorch\nSize\n)R.", "damaged"},
      {"ctorch._utils\n_rebuild_tensor_v2\n)R.", "damaged tensor"},
      {"K\1Q.", "isn't a storage"},
      {"cos\nsystem\n.", "\"os.system\""},
      {"c__builtin__\neval\n.", "\"__builtin__.eval\""},
      {"ctransformers\n" + std::string(300, 'a') + "\n.", "\"transformers.aaa"},
      {"}q\1(K\1K\2u" + repeated("h\1b", 24) + ".", "more than 1048576 values"}};
  for (const auto& [bytes, says] : kPickles) {
    EXPECT_THAT(messageOf(readerOf(bytes).next()), HasSubstr(says)) << testing::PrintToString(bytes);
  }
}

/// NumPy's arrays column by column, or in big-endian numbers.
TEST(TorchFile, ReadsNumpysOtherOrders) {
  const headscope::test::TemporaryFolder folder;
  const auto valuesOf = [&](const std::vector<std::uint8_t>& npy) {
    putFile(folder / "a.npy", npy);
    headscope::test::putZip(folder / "a.npz", {{"array.npy", npy}});
    std::vector<std::vector<float>> both(2, std::vector<float>(6));
    for (std::size_t i = 0; i < 2; ++i) {
      const auto file = checked(TensorSource::open(folder / (i == 0 ? "a.npy" : "a.npz")));
      EXPECT_TRUE(file->readFloats("array", 0, both[i], "a").ok());
      std::vector<float> last(2);
      EXPECT_TRUE(file->readFloats("array", 4, last, "a").ok());
      EXPECT_EQ(last, (std::vector<float>{5, 6}));
    }
    EXPECT_EQ(both[0], both[1]);
    return both[0];
  };
  const std::vector<float> rows{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(valuesOf(npyBytes<float>("<f4", "(2, 3)", {1, 4, 2, 5, 3, 6}, true)), rows);
  std::vector<std::uint8_t> turned = npyBytes<float>(">f4", "(2, 3)", rows);
  for (std::size_t at = turned.size() - 24; at < turned.size(); at += 4)
    std::reverse(turned.begin() + static_cast<std::ptrdiff_t>(at),
                 turned.begin() + static_cast<std::ptrdiff_t>(at) + 4);
  EXPECT_EQ(valuesOf(turned), rows);
  std::vector<std::uint8_t> number = npyBytes<float>(">f4", "()", {1.5F});
  std::reverse(number.end() - 4, number.end());
  headscope::test::putZip(folder / "a.npz", {{"array.npy", turned}, {"scale.npy", number}});
  EXPECT_EQ(checked(TensorSource::open(folder / "a.npz"))->header().metadata.at("scale"), "1.5");
}

}  // namespace
}  // namespace headscope::attention
