#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "attention/core/random.h"
#include "test_paths.h"
#include "tests/fuzz/targets.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Target = std::function<void(fuzz::Bytes)>;

/// Pieces that parsers take for something: numbers at the edges, and the formats' own signs.
const std::vector<std::string> kPieces = {"0",
                                          "-1",
                                          "18446744073709551615",
                                          "9223372036854775807",
                                          "4294967296",
                                          "1e999",
                                          "nan",
                                          "null",
                                          "[",
                                          "]",
                                          "{",
                                          "}",
                                          "\"",
                                          "'",
                                          ",",
                                          ";",
                                          "\t",
                                          "\r\n",
                                          ":",
                                          "(",
                                          ")",
                                          "F64",
                                          "BOOL",
                                          "\"data_offsets\":",
                                          "<f8",
                                          "True",
                                          "\xEF\xBB\xBF",
                                          "\xFF",
                                          std::string(1, '\0'),
                                          std::string(8, '\xFF'),
                                          std::string(4, '\x7F'),
                                          "\\u0061",
                                          "None",
                                          "&",
                                          "|",
                                          "!",
                                          "then",
                                          "heads(kv 0-3): ",
                                          "documents(",
                                          "|b1",
                                          "-inf",
                                          "\"type\":",
                                          "\"BPE\"",
                                          "\\p{L}+",
                                          "(?!",
                                          "▁"};

/// One to four damages: a changed bit or byte, a cut, a doubled or swapped stretch, a piece put in.
Bytes damaged(Bytes bytes, Random& random) {
  const auto below = [&](std::size_t limit) {
    return static_cast<std::size_t>(random.next() % std::max<std::size_t>(limit, 1));
  };
  const auto at = [&](std::size_t i) { return bytes.begin() + static_cast<std::ptrdiff_t>(i); };
  for (std::size_t rounds = 1 + below(4); rounds > 0 && !bytes.empty(); --rounds) {
    const std::size_t place = below(bytes.size()),
                      length = 1 + below(std::min<std::size_t>(bytes.size() - place, 16));
    switch (below(7)) {
      case 0:
        bytes[place] ^= static_cast<std::uint8_t>(1 << below(8));
        break;
      case 1:
        bytes[place] = static_cast<std::uint8_t>(below(256));
        break;
      case 2:
        bytes.resize(place);
        break;
      case 3:
        bytes.erase(at(place), at(place + length));
        break;
      case 4: {
        const Bytes stretch(at(place), at(place + length));
        bytes.insert(at(below(bytes.size())), stretch.begin(), stretch.end());
        break;
      }
      case 5: {
        const auto& piece = kPieces[below(kPieces.size())];
        bytes.insert(at(place), piece.begin(), piece.end());
        break;
      }
      default: {
        const auto& piece = kPieces[below(kPieces.size())];
        bytes.erase(at(place), at(place + length));
        bytes.insert(at(place), piece.begin(), piece.end());
      }
    }
  }
  return bytes;
}

std::vector<Bytes> corpus(const std::string& name) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(HEADSCOPE_TEST_DIR) + "/fuzz/corpus/" + name)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> files;
  for (const auto& path : paths) files.push_back(test::fileBytes(path));
  return files;
}

/// Runs the target over the corpus as it is, and over thousands of damaged copies of it and of `valid`.
void replay(const std::string& name, std::vector<Bytes> valid, const Target& target) {
  constexpr std::size_t kDamages = 6000;
  auto seeds = corpus(name);
  ASSERT_FALSE(seeds.empty());
  std::move(valid.begin(), valid.end(), std::back_inserter(seeds));
  for (const auto& seed : seeds) target(seed);
  Random random(hashText(name, 1));
  for (std::size_t i = 0; i < kDamages; ++i) target(damaged(seeds[i % seeds.size()], random));
}

std::vector<Bytes> validSafetensors() {
  auto file = test::smallProblem();
  std::vector<Bytes> files{*formatSafetensors(file)};
  file.metadata.insert(
      {{"causal", "True"}, {"window", "2"}, {"rope_theta", "100.0"}, {"softcap", "4"}, {"dropout", "0.5"}});
  file.tensors["x"] = test::gaussianTensor({2, 3, 8}, 9);
  file.tensors["mask"] = test::tensorOf(DType::Bool, {4, 3, 3}, Bytes(36));
  file.tensors["key_lengths"] = test::tensorOf<std::int64_t>(DType::I64, {2}, {1, 3});
  file.tensors["q_proj.bias"] = test::tensorOf(DType::BF16, {16}, std::vector<std::uint16_t>(16, 0x3F80));
  files.push_back(*formatSafetensors(file));
  return files;
}

TEST(FuzzReplay, Safetensors) {
  replay("safetensors", validSafetensors(), fuzz::fuzzSafetensors);
}
TEST(FuzzReplay, AttentionFile) {
  replay("attention_file", validSafetensors(), fuzz::fuzzAttentionFile);
}

TEST(FuzzReplay, QkFile) {
  replay("qk_file", {}, fuzz::fuzzQkFile);
  replay("safetensors", {}, fuzz::fuzzQkFile);
}

TEST(FuzzReplay, Csv) {
  replay("csv", {}, fuzz::fuzzCsv);
}

TEST(FuzzReplay, Npy) {
  replay("npy", {formatNpy(Matrix::Random(3, 4))}, fuzz::fuzzNpy);
}

TEST(FuzzReplay, Npz) {
  replay("npz", {}, fuzz::fuzzNpz);
}

TEST(FuzzReplay, RecordedAttention) {
  std::vector<Bytes> others = corpus("npz");
  for (Bytes& file : corpus("npy")) others.push_back(std::move(file));
  replay("recorded", std::move(others), fuzz::fuzzRecorded);
}

TEST(FuzzReplay, MaskText) {
  std::vector<Bytes> examples;
  for (const PatternInfo& info : patternTable())
    examples.emplace_back(info.example.begin(), info.example.end());
  replay("mask_text", std::move(examples), fuzz::fuzzMaskText);
}

TEST(FuzzReplay, Tokenizer) {
  replay("tokenizer", {}, fuzz::fuzzTokenizer);
}

TEST(FuzzReplay, MaskFile) {
  replay("mask_file", corpus("npy"), fuzz::fuzzMaskFile);
}

TEST(FuzzReplay, ModelConfig) {
  replay("model_config", {}, fuzz::fuzzModelConfig);
}

TEST(FuzzReplay, ShardIndex) {
  replay("shard_index", {}, fuzz::fuzzShardIndex);
}

}  // namespace
}  // namespace headscope::attention
