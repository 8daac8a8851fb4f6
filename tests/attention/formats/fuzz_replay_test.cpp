#include <gtest/gtest.h>

#include "tests/fuzz/picture_targets.h"
#include "tests/fuzz/replay.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/tokenizer_targets.h"
#include "tests/support/small_problem.h"

namespace headscope::attention {
namespace {

using fuzz::corpus;
using fuzz::replay;
using Bytes = std::vector<std::uint8_t>;

std::vector<Bytes> validSafetensors() {
  auto file = headscope::test::smallProblem();
  std::vector<Bytes> files{*formatSafetensors(file)};
  file.metadata.insert(
      {{"causal", "True"}, {"window", "2"}, {"rope_theta", "100.0"}, {"softcap", "4"}, {"dropout", "0.5"}});
  file.tensors["x"] = headscope::test::gaussianTensor({2, 3, 8}, 9);
  file.tensors["mask"] = headscope::test::tensorOf(DType::Bool, {4, 3, 3}, Bytes(36));
  file.tensors["key_lengths"] = headscope::test::tensorOf<std::int64_t>(DType::I64, {2}, {1, 3});
  file.tensors["q_proj.bias"] =
      headscope::test::tensorOf(DType::BF16, {16}, std::vector<std::uint16_t>(16, 0x3F80));
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

TEST(FuzzReplay, Gguf) {
  replay("gguf", {}, fuzz::fuzzGguf);
}

TEST(FuzzReplay, Csv) {
  replay("csv", {}, fuzz::fuzzCsv);
}

TEST(FuzzReplay, Npy) {
  replay("npy", {fuzz::npyFile(Matrix::Random(3, 4))}, fuzz::fuzzNpy);
}

TEST(FuzzReplay, Npz) {
  replay("npz", {}, fuzz::fuzzNpz);
}

TEST(FuzzReplay, RecordedAttention) {
  std::vector<Bytes> others = corpus("npz");
  for (Bytes& file : corpus("npy")) others.push_back(std::move(file));
  replay("recorded", std::move(others), fuzz::fuzzRecorded);
}

TEST(FuzzReplay, Tokens) {
  replay("tokens", {}, fuzz::fuzzTokens);
}

TEST(FuzzReplay, Schedule) {
  replay("schedule", {}, fuzz::fuzzSchedule);
}

TEST(FuzzReplay, MaskText) {
  std::vector<Bytes> examples;
  for (const PatternInfo& info : patternTable())
    examples.emplace_back(info.example.begin(), info.example.end());
  replay("mask_text", std::move(examples), fuzz::fuzzMaskText);
}

TEST(FuzzReplay, Expression) {
  replay("expression", {}, fuzz::fuzzExpression);
}

TEST(FuzzReplay, Tokenizer) {
  replay("tokenizer", {}, fuzz::fuzzTokenizer);
}

TEST(FuzzReplay, OlderTokenizer) {
  replay("older_tokenizer", {}, fuzz::fuzzOlderTokenizer);
}

TEST(FuzzReplay, MaskFile) {
  replay("mask_file", corpus("npy"), fuzz::fuzzMaskFile);
}

TEST(FuzzReplay, ModelConfig) {
  replay("model_config", {}, fuzz::fuzzModelConfig);
}

TEST(FuzzReplay, Picture) {
  replay("picture", {}, fuzz::fuzzPicture);
}

TEST(FuzzReplay, ImageProcessor) {
  replay("picture_processor", {}, fuzz::fuzzPictureProcessor);
}

TEST(FuzzReplay, ShardIndex) {
  replay("shard_index", {}, fuzz::fuzzShardIndex);
}

}  // namespace
}  // namespace headscope::attention
