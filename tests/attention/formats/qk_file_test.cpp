#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "attention/models/layers/attention_file.h"
#include "attention/formats/tensor_source.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_bytes.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention {
namespace {

namespace fs = std::filesystem;
using headscope::test::gaussianTensor;
using headscope::test::TemporaryFolder;

/// Writes files of tensors and opens them. Ends the test if a file can't be opened.
class QkFiles : public ::testing::Test {
 protected:
  Result<QkFile> put(const SafetensorsFile& file) {
    EXPECT_TRUE(writeSafetensors(path_, file).ok());
    return QkFile::open(path_);
  }

  TemporaryFolder folder_;
  fs::path path_ = folder_ / "QK.safetensors";
};

/// `tensor` in another type, with its values rounded to it.
NamedTensor as(DType dtype, const NamedTensor& tensor) {
  const auto values = *headscope::test::toFloats(tensor, "t");
  NamedTensor out{dtype, tensor.shape, {}};
  const auto append = [&](const auto& value) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    out.bytes.insert(out.bytes.end(), bytes, bytes + sizeof value);
  };
  for (const float value : values) {
    if (dtype == DType::F64) {
      append(static_cast<double>(value));
    } else if (dtype == DType::F16) {
      append(Eigen::half(value));
    } else if (dtype == DType::BF16) {
      append(Eigen::bfloat16(value));
    } else {
      append(value);
    }
  }
  return out;
}

/// Head `head` of a tensor in memory.
Matrix headOf(const NamedTensor& tensor, Index head) {
  const auto values = *headscope::test::toFloats(tensor, "t");
  const auto rank = tensor.shape.size();
  const auto rows = static_cast<Index>(tensor.shape[rank - 2]),
             cols = static_cast<Index>(tensor.shape[rank - 1]);
  return MatrixView(values.data() + head * rows * cols, rows, cols);
}

void expectSame(const Result<Matrix>& found, const Matrix& expected) {
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_EQ(found->rows(), expected.rows());
  ASSERT_EQ(found->cols(), expected.cols());
  EXPECT_EQ(*found, expected);
}

TEST_F(QkFiles, ReadsEveryTypeAndShape) {
  for (const auto dtype : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
    for (const std::vector<std::uint64_t>& front : {std::vector<std::uint64_t>{}, {6}, {1, 6}}) {
      auto queryShape = front, keyShape = front;
      queryShape.insert(queryShape.end(), {5, 8});
      keyShape.insert(keyShape.end(), {9, 8});
      if (!front.empty()) keyShape[front.size() - 1] = 2;
      SafetensorsFile file;
      file.tensors["q"] = as(dtype, gaussianTensor(queryShape, 1));
      file.tensors["k"] = as(dtype, gaussianTensor(keyShape, 2));
      file.tensors["v"] = gaussianTensor({7}, 3);
      const auto opened = checked(put(file));
      ASSERT_EQ(opened->layers().size(), 1u);
      const QkLayer& layer = opened->layers()[0];
      EXPECT_EQ(layer.name, "");
      EXPECT_EQ(layer.config.heads, front.empty() ? 1 : 6);
      EXPECT_EQ(layer.config.kvHeads, front.empty() ? 1 : 2);
      EXPECT_EQ(layer.config.headDim, 8);
      EXPECT_EQ(layer.queries(), 5);
      EXPECT_EQ(layer.keys(), 9);
      EXPECT_FALSE(layer.queriesFromKeys);
      for (Index h = 0; h < layer.config.heads; ++h)
        expectSame(opened->readQueries(0, h), headOf(file.tensors["q"], h));
      for (Index h = 0; h < layer.config.kvHeads; ++h)
        expectSame(opened->readKeys(0, h), headOf(file.tensors["k"], h));
      EXPECT_THROW(static_cast<void>(opened->readQueries(0, layer.config.heads)), std::invalid_argument);
      EXPECT_THROW(static_cast<void>(opened->readKeys(0, -1)), std::invalid_argument);
      EXPECT_THROW(static_cast<void>(opened->readKeys(1, 0)), std::invalid_argument);
    }
  }
}

TEST_F(QkFiles, ReadsHeadsLargerThanTheBuffer) {
  // 3,001 × 77 numbers end in the middle of a buffer, both for 2 and for 8 bytes each.
  for (const auto dtype : {DType::F16, DType::F64}) {
    SafetensorsFile file;
    file.tensors["Q"] = as(dtype, gaussianTensor({2, 3001, 77}, 4));
    file.tensors["K"] = gaussianTensor({2, 3001, 77}, 5);
    const auto opened = checked(put(file));
    for (Index h = 0; h < 2; ++h) {
      expectSame(opened->readQueries(0, h), headOf(file.tensors["Q"], h));
      expectSame(opened->readKeys(0, h), headOf(file.tensors["K"], h));
    }
  }
}

TEST_F(QkFiles, DistinguishesLayers) {
  SafetensorsFile file;
  for (const int layer : {2, 10}) {
    const auto prefix = "model.layers." + std::to_string(layer) + ".self_attn.";
    const auto tokens = static_cast<std::uint64_t>(layer);
    file.tensors[prefix + "query_states"] = gaussianTensor({1, 4, tokens, 3}, tokens);
    file.tensors[prefix + "key_states"] = gaussianTensor({1, 2, tokens, 3}, tokens + 1);
    file.tensors[prefix + "value_states"] = gaussianTensor({1, 2, tokens, 3}, tokens + 2);
  }
  const auto opened = checked(put(file));
  ASSERT_EQ(opened->layers().size(), 2u);
  EXPECT_EQ(opened->layers()[0].name, "model.layers.2.self_attn");
  EXPECT_EQ(opened->layers()[1].name, "model.layers.10.self_attn");
  expectSame(opened->readQueries(1, 3), headOf(file.tensors["model.layers.10.self_attn.query_states"], 3));
  expectSame(opened->readKeys(0, 1), headOf(file.tensors["model.layers.2.self_attn.key_states"], 1));
}

TEST_F(QkFiles, CacheDumpKeysAttendToThemselves) {
  for (const std::string prefix : {"past_key_values.0.", "layers.0.", "cache.layers.0."}) {
    SafetensorsFile file;
    file.metadata["heads"] = "8";  // the model's query heads, which the file doesn't contain
    file.tensors[prefix + (prefix[0] == 'l' ? "k_cache" : "key")] = gaussianTensor({1, 2, 6, 4}, 1);
    file.tensors[prefix + "value"] = gaussianTensor({1, 2, 6, 4}, 2);
    const auto opened = checked(put(file));
    const QkLayer& layer = opened->layers().at(0);
    EXPECT_TRUE(layer.queriesFromKeys);
    EXPECT_TRUE(layer.rules.causal);
    EXPECT_EQ(layer.config.heads, 2);
    EXPECT_EQ(layer.config.kvHeads, 2);
    EXPECT_EQ(layer.queries(), 6);
    const auto keys = checked(opened->readKeys(0, 1));
    expectSame(opened->readQueries(0, 1), *keys);
  }
}

TEST_F(QkFiles, AppliesMetadata) {
  SafetensorsFile file;
  file.tensors["q"] = gaussianTensor({4, 3, 8}, 1);
  file.tensors["k"] = gaussianTensor({2, 5, 8}, 2);
  auto opened = checked(put(file));
  AttentionConfig config;
  config.modelDim = 32;
  config.heads = 4;
  config.kvHeads = 2;
  config.headDim = 8;
  config.cacheLength = 2;  // three queries, the last of five tokens
  EXPECT_EQ(opened->layers()[0].config, config);
  EXPECT_EQ(opened->layers()[0].rules, (PlainRules{.causal = false, .padding = false}));

  file.metadata = {{"causal", "true"}, {"scale", "0.125"}, {"window", "2"},         {"sinks", "1"},
                   {"alibi", "True"},  {"softcap", "30"},  {"rope_theta", "10000"}, {"cache_length", "7"},
                   {"heads", "4"},     {"format", "pt"}};
  opened = put(file);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  config.scale = 0.125F;
  config.alibi = true;
  config.softcap = 30.0F;
  config.ropeTheta = 10000.0;
  config.cacheLength = 7;
  EXPECT_EQ(opened->layers()[0].config, config);
  EXPECT_EQ(opened->layers()[0].rules,
            (PlainRules{.causal = true, .padding = false, .window = 2, .sinks = 1}));
}

TEST_F(QkFiles, NamesNonFiniteValue) {
  SafetensorsFile file;
  auto values = *headscope::test::toFloats(gaussianTensor({2, 5, 3}, 1), "q");
  values[1 * 15 + 4 * 3 + 2] = INFINITY;
  file.tensors["q"] = fromFloats(values, {2, 5, 3});
  values[0] = NAN;
  file.tensors["k"] = fromFloats(values, {2, 5, 3});
  auto opened = checked(put(file));
  EXPECT_TRUE(opened->readQueries(0, 0).ok());
  const auto at = path_.string() + ": tensor ";
  EXPECT_EQ(opened->readQueries(0, 1).error().message,
            at + "\"q\" is infinite at head 1, token 4, expected finite values");
  EXPECT_EQ(opened->readKeys(0, 0).error().message,
            at + "\"k\" is NaN at head 0, token 0, expected finite values");
  file.tensors["q"] = headscope::test::tensorOf<double>(DType::F64, {1, 3}, {1, 1e300, 2});
  file.tensors["k"] = gaussianTensor({2, 3}, 3);
  opened = put(file);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened->readQueries(0, 0).error().message,
            at + "\"q\" holds a value beyond 3.4e38, the largest that 32 bits can hold");
}

TEST_F(QkFiles, ReportsShrunkFile) {
  SafetensorsFile file;
  file.tensors["q"] = gaussianTensor({4, 500, 8}, 1);
  file.tensors["k"] = gaussianTensor({4, 500, 8}, 2);
  const auto opened = checked(put(file));
  const auto whole = fs::file_size(path_);
  for (const std::uintmax_t size : {whole - 1, whole / 2, std::uintmax_t{9}, std::uintmax_t{0}}) {
    fs::resize_file(path_, size);
    for (const auto& read : {opened->readQueries(0, 3), opened->readKeys(0, 3), opened->readKeys(0, 0)}) {
      ASSERT_FALSE(read.ok());
      EXPECT_EQ(read.error().message, path_.string() + ": became shorter while it was read: found " +
                                          std::to_string(size) + " bytes, expected " + std::to_string(whole));
    }
  }
  EXPECT_EQ(messageOf(QkFile::open(path_)),
            path_.string() + ": is 0 bytes, expected a safetensors file of at least 8");
}

/// A file with queries and keys, whose data is a hole on the disk.
void putSparseFile(const fs::path& path, std::uint64_t heads, std::uint64_t tokens, std::uint64_t headDim) {
  const auto size = heads * tokens * headDim * sizeof(float);
  const auto entry = [&](std::uint64_t begin) {
    return R"({"dtype":"F32","shape":)" + shapeText(Shape{heads, tokens, headDim}) + R"(,"data_offsets":)" +
           shapeText(Shape{begin, begin + size}) + "}";
  };
  const auto bytes = headscope::test::safetensorsBytes("{\"q\":" + entry(0) + ",\"k\":" + entry(size) + "}");
  headscope::test::putFile(path, bytes);
  fs::resize_file(path, bytes.size() + 2 * size);
}

/// This program's memory in bytes: its address space, and the resident part of it.
struct Memory {
  std::uint64_t space = 0, held = 0;
};
Memory memory() {
  std::ifstream statm("/proc/self/statm");
  Memory pages;
  statm >> pages.space >> pages.held;
  const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return {pages.space * size, pages.held * size};
}

TEST_F(QkFiles, OpensLongestSequencesWithoutReadingThem) {
  putSparseFile(path_, 8, 131072, 64);
  [[maybe_unused]] const std::uint64_t before = memory().held;
  const auto opened = checked(QkFile::open(path_));
  EXPECT_EQ(opened->layers()[0].keys(), 131072);
#ifndef HEADSCOPE_SANITIZE_BUILD
  // A head takes 32 MiB, the file 512 MiB.
  EXPECT_LT(memory().held, before + (2 << 20));
  for (Index h = 0; h < 8; ++h) {
    const auto keys = checked(opened->readKeys(0, h));
    EXPECT_EQ(keys->rows(), 131072);
    // Neighbouring pages are loaded as well, but never a second head.
    EXPECT_LT(memory().held, before + (64 << 20)) << h;
  }
#endif
}

// Sanitizers need more address space than the limit leaves.
#ifndef HEADSCOPE_SANITIZE_BUILD
TEST_F(QkFiles, ReportsInsufficientMemory) {
  putSparseFile(path_, 1, 131072, 512);
  // The file takes no disk space; a head takes 256 MiB of memory.
  const auto readWithoutRoom = [&] {
    const auto space = memory().space + (std::uint64_t{128} << 20);
    const rlimit limit{space, space};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(2);
    const auto opened = QkFile::open(path_);
    if (!opened) ::_exit(3);
    const auto keys = opened->readKeys(0, 0);
    const auto sentence = ": tensor \"k\" has heads of 131072 × 512 numbers, more than there is memory for";
    ::_exit(!keys && keys.error().message == path_.string() + sentence ? 0 : 1);
  };
  EXPECT_EXIT(readWithoutRoom(), ::testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace headscope::attention
