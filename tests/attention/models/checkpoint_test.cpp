// Checkpoint folders as they occur in practice: shards, links, leftovers, damage.

#include "attention/models/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>

#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/model_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_bytes.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {
namespace {

namespace fs = std::filesystem;
using headscope::test::fileText;
using headscope::test::putFile;
using headscope::test::TemporaryFolder;

TEST(ModelHead, UntiedDecoderWithoutHeadMakesNoPredictions) {
  const ModelFolder folder("qwen2");
  EXPECT_TRUE(opened(folder)->predictsTokens()) << "tied";
  folder.replace("config.json", "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  EXPECT_FALSE(opened(folder)->predictsTokens());
  EXPECT_EQ(opened(folder)->whyNoPredictions(),
            "No predictions: the file has no lm_head.weight, and config.json doesn't tie the head to the "
            "embedding.");
  EXPECT_EQ(opened(folder)->logits(Matrix::Zero(1, 32)).size(), 0);
  folder.replace("config.json", "\"tie_word_embeddings\": false", "\"use_cache\": false");
  EXPECT_FALSE(opened(folder)->predictsTokens()) << "Qwen 2 isn't tied by default";
}

TEST(ModelHead, HeadlessClassPredictsOnlyIfFileHasHead) {
  for (const char* name : {"Qwen2Model", "Qwen2ForSequenceClassification"}) {
    const ModelFolder folder("qwen2");
    folder.replace("config.json", "Qwen2ForCausalLM", name);
    EXPECT_EQ(opened(folder)->whyNoPredictions(), "No predictions: the checkpoint is a " + std::string(name) +
                                                      ", which has no language-model head.");
  }
  const ModelFolder whole("llama");
  whole.replace("config.json", "LlamaForCausalLM", "LlamaModel");
  EXPECT_TRUE(opened(whole)->predictsTokens()) << "the file has one nevertheless";
}

TEST(ModelHead, BidirectionalDecoderMakesNoPredictions) {
  const ModelFolder folder("gemma2");
  folder.replace("config.json", "\"use_cache\": true", "\"use_bidirectional_attention\": true");
  EXPECT_THAT(opened(folder)->whyNoPredictions(), testing::HasSubstr("attention is bidirectional"));
  EXPECT_EQ(opened(folder)->whyNoText(), opened(folder)->whyNoPredictions());
}

TEST(ModelHead, UsesAndReportsHeadDespiteTiedEmbedding) {
  const ModelFolder folder("llama");
  const Golden golden("llama", "short");
  folder.replace("config.json", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true");
  const auto model = opened(folder);
  ASSERT_EQ(model->config().notes.size(), 1u);
  EXPECT_THAT(model->config().notes[0], testing::HasSubstr("Predictions use lm_head.weight"));
  ModelSession session(model);
  PassRequest request;
  request.logits = LogitRows::all;
  const auto pass = checked(session.append(golden.ids("input_ids"), request));
  EXPECT_LE(distance(golden.matrix("logits"), pass->logits), 6e-5);
}

TEST(Checkpoint, NotesFollowedAndUnsupportedGenerationRules) {
  const auto follows = [](const std::string& fields, const std::string& file) {
    return "Generation follows " + fields + " in " + file + ". The predictions shown are the model's own.";
  };
  const std::string file = "generation_config.json";
  const std::pair<const char*, std::vector<std::string>> kCases[] = {
      {R"({"repetition_penalty": 1.0, "min_length": 0, "suppress_tokens": [], "num_beams": 1})", {}},
      {R"({"temperature": 0.6, "top_p": 0.9, "do_sample": true, "eos_token_id": 2})", {}},
      {R"({"forced_bos_token_id": 0, "repetition_penalty": 1.2})",
       {follows("repetition_penalty, forced_bos_token_id", file)}},
      {R"({"min_length": 56, "num_beams": 4})",
       {follows("min_length", file),
        "generation_config.json sets num_beams for generating text. Headscope doesn't apply it."}}};
  for (const auto& [rules, notes] : kCases) {
    const ModelFolder folder("llama");
    putFile(folder.path() / file, rules);
    EXPECT_EQ(opened(folder)->config().notes, notes);
  }
  const ModelFolder older("llama");
  older.replace("config.json", "\"use_cache\": true", "\"suppress_tokens\": [3]");
  EXPECT_EQ(opened(older)->config().notes, std::vector{follows("suppress_tokens", "config.json")});
}

const std::string kFirst = "model-00001-of-00002.safetensors", kSecond = "model-00002-of-00002.safetensors";
const std::string kIndex = "model.safetensors.index.json";

TEST(Checkpoint, FollowsSymlinksOfHubCache) {
  const ModelFolder blobs("qwen2");
  const TemporaryFolder snapshot;
  for (const auto& entry : fs::directory_iterator(blobs.path()))
    fs::create_symlink(entry.path(), snapshot.path() / entry.path().filename());
  EXPECT_TRUE(Model::open(snapshot.path()).ok());
  fs::create_directory_symlink(snapshot.path(), blobs / "latest");
  EXPECT_TRUE(Model::open(blobs / "latest").ok());
}

TEST(Checkpoint, ReportsMissingAndConflictingShards) {
  {
    const ModelFolder folder("qwen2");
    fs::remove(folder / kSecond);
    EXPECT_EQ(folder.refusal(), "F/" + kIndex +
                                    ": names 2 files of weights, and 1 of them is in the folder: \"" +
                                    kSecond + "\" is missing; finish the download");
  }
  {
    const ModelFolder folder("qwen2");
    folder.replace(kIndex, "\"model.embed_tokens.weight\": \"" + kFirst,
                   "\"model.embed_tokens.weight\": \"" + kSecond);
    EXPECT_EQ(folder.refusal(), "F/" + kIndex + ": says tensor \"model.embed_tokens.weight\" is in \"" +
                                    kSecond + "\", which doesn't have it");
  }
  {
    const ModelFolder folder("qwen2");
    fs::copy_file(folder / kFirst, folder / "other.safetensors");
    folder.replace(kIndex, "\"model.norm.weight\": \"" + kSecond,
                   "\"model.norm.weight\": \"other.safetensors");
    EXPECT_NE(folder.refusal().find("model.norm.weight"), std::string::npos);
  }
  {
    const ModelFolder folder("qwen2");
    fs::copy_file(folder / kFirst, folder / "other.safetensors");
    folder.replace(kIndex, "\"model.embed_tokens.weight\": \"" + kFirst,
                   "\"model.embed_tokens.weight\": \"other.safetensors");
    EXPECT_EQ(folder.refusal(), "F/" + kIndex +
                                    ": says tensor \"model.embed_tokens.weight\" is in "
                                    "\"other.safetensors\", but \"" +
                                    kFirst + "\" has one too");
  }
}

TEST(Checkpoint, RefusesShardsOutsideFolder) {
  for (const char* name :
       {"../secret.safetensors", "/etc/passwd", "a/b.safetensors", "..", "", ".", "a\\\\b"}) {
    const ModelFolder folder("qwen2");
    folder.replace(kIndex, kFirst, name);
    EXPECT_NE(folder.refusal().find("expected a file in the same folder"), std::string::npos) << name;
  }
}

TEST(Checkpoint, RefusesInvalidShardIndexes) {
  const auto refusal = [](const std::string& json) { return messageOf(parseShardIndex(json, "index")); };
  EXPECT_EQ(refusal("{"), "index: is not valid JSON at byte 2");
  EXPECT_EQ(refusal("[]"), "index: has no weight_map, expected an object that names each tensor's file");
  EXPECT_EQ(refusal("{\"weight_map\": 3}"),
            "index: has no weight_map, expected an object that names each tensor's file");
  EXPECT_EQ(refusal("{\"weight_map\": {}}"), "index: its weight_map is empty, expected each tensor's file");
  EXPECT_EQ(refusal("{\"weight_map\": {\"a\": 3}}"), "index: tensor \"a\" has no file name");
  EXPECT_EQ(refusal("1e999"), "index: holds a number that is too large");
  std::string many = "{\"weight_map\": {";
  for (int i = 0; i < 1025; ++i)
    many += (i ? ", \"" : "\"") + std::to_string(i) + "\": \"s" + std::to_string(i) + "\"";
  EXPECT_EQ(refusal(many + "}}"), "index: names 1025 files, expected at most 1024");
}

/// No folder name controls the terminal, whichever of its files is faulty.
TEST(Checkpoint, EscapesControlBytesInPaths) {
  struct Wrong {
    const char *name, *text;
    bool weights;  ///< whether the folder also has valid weights
  };
  for (const auto& [name, text, weights] : {Wrong{"config.json", "{", true},
                                            {"generation_config.json", "{", true},
                                            {"model.safetensors", "12345678", false},
                                            {"model.safetensors.index.json", "{", false},
                                            {"pytorch_model\x1b.bin", "PK", false}}) {
    const TemporaryFolder folder;
    const fs::path odd = folder / "a\x1b[2J";
    fs::create_directory(odd);
    fs::copy_file(goldenModel("llama") / "config.json", odd / "config.json");
    if (weights) fs::copy_file(goldenModel("llama") / "model.safetensors", odd / "model.safetensors");
    putFile(odd / name, text);
    const auto model = Model::open(odd);
    ASSERT_FALSE(model.ok()) << name;
    EXPECT_NE(model.error().message.find("[2J"), std::string::npos) << model.error().message;
    EXPECT_EQ(model.error().message.find('\x1b'), std::string::npos) << name;
  }
  // A config that requires tensors that aren't there.
  const ModelFolder folder("llama");
  fs::create_directory(folder / "a\x1b");
  for (const char* name : {"config.json", "model.safetensors"})
    fs::copy_file(folder / name, folder / (std::string("a\x1b/") + name));
  std::string config = fileText(folder / "config.json");
  config.replace(config.find("\"vocab_size\": "), 14, "\"vocab_size\": 1");
  putFile(folder / "a\x1b/config.json", config);
  const auto model = Model::open(folder / "a\x1b");
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().message.find("as config.json says"), std::string::npos) << model.error().message;
  EXPECT_EQ(model.error().message.find('\x1b'), std::string::npos);
}

TEST(Checkpoint, FolderWithoutWeightsReportsWhatItHolds) {
  const ModelFolder folder("llama");
  fs::remove(folder / "model.safetensors");
  EXPECT_EQ(folder.refusal(),
            "F: has no weights, expected model.safetensors, pytorch_model.bin or their index");
  putFile(folder / "llama.Q4_K.gguf", "GGUF");
  EXPECT_EQ(
      folder.refusal(),
      "F: has its weights in llama.Q4_K.gguf, a model of llama.cpp, in one file or several: open that file");
  putFile(folder / "pytorch_model.bin", "PK");
  EXPECT_THAT(folder.refusal(), testing::HasSubstr("pytorch_model.bin: is damaged or not a zip archive"));
  fs::remove(folder / "config.json");
  EXPECT_EQ(folder.refusal(), "F: has no config.json, expected a Hugging Face model folder");
  EXPECT_NE(Model::open(folder / "pytorch_model.bin").error().message.find("is a file, expected a folder"),
            std::string::npos);
  EXPECT_NE(Model::open(folder / "gone").error().message.find("is missing, expected a folder"),
            std::string::npos);
}

TEST(Checkpoint, ReportsTensorsThatDoNotMatchConfig) {
  {
    const ModelFolder folder("llama");
    folder.replace("config.json", "\"intermediate_size\": 40", "\"intermediate_size\": 48");
    EXPECT_EQ(folder.refusal(),
              "F: tensor \"model.layers.0.mlp.gate_proj.weight\" is [40, 32], expected [48, 32] as "
              "config.json says");
  }
  {
    const ModelFolder folder("llama");
    folder.replace("config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3");
    EXPECT_EQ(folder.refusal(),
              "F: has no tensor \"model.layers.2.self_attn.q_proj.weight\", expected one of [32, 32]");
  }
  auto file = *headscope::test::readSafetensors(goldenModel("gpt2") / "model.safetensors");
  const ModelFolder folder("gpt2");
  const std::string name = "transformer.h.0.attn.c_proj.weight";
  {
    auto quantised = file;
    NamedTensor& tensor = quantised.tensors.at(name);
    tensor.dtype = DType::I8;
    tensor.bytes.resize(32 * 32);
    ASSERT_TRUE(writeSafetensors(folder / "model.safetensors", quantised).ok());
    EXPECT_EQ(folder.refusal(),
              "F: tensor \"" + name +
                  "\" is I8, expected F32, F16, BF16 or F64, or GGUF's Q2_K to Q8_0, IQ4 and MXFP4");
  }
  file.tensors["h.0.attn.c_proj.weight"] = file.tensors.at(name);
  ASSERT_TRUE(writeSafetensors(folder / "model.safetensors", file).ok());
  EXPECT_EQ(folder.refusal(),
            "F: has both a tensor \"" + name + "\" and a \"h.0.attn.c_proj.weight\", expected one of them");
}

TEST(Checkpoint, ShrunkFileGivesErrorInsteadOfCrash) {
  const ModelFolder folder("gpt2");
  const auto model = openModel(folder.path());
  ModelSession session(model);
  const std::vector<Index> ids{1, 2, 3};
  ASSERT_TRUE(session.append(ids, {}).ok());
  const auto size = fs::file_size(folder / "model.safetensors");
  fs::resize_file(folder / "model.safetensors", 8192);
  const auto pass = session.append(ids, {});
  ASSERT_FALSE(pass.ok());
  EXPECT_NE(pass.error().message.find("became shorter while it was open: found 8192 bytes, expected " +
                                      std::to_string(size)),
            std::string::npos)
      << pass.error().message;
  EXPECT_EQ(session.length(), 3);
  // The same size, but all zeros: still not the file that was opened.
  fs::resize_file(folder / "model.safetensors", size);
  EXPECT_FALSE(session.append(ids, {}).ok());
}

TEST(Checkpoint, ModifiedFileGivesError) {
  const ModelFolder folder("gpt2");
  const auto model = openModel(folder.path());
  const auto time = fs::last_write_time(folder / "model.safetensors");
  fs::last_write_time(folder / "model.safetensors", time + std::chrono::seconds(1));
  ModelSession session(model);
  const std::vector<Index> ids{1, 2, 3};
  EXPECT_NE(messageOf(session.append(ids, {})).find("changed while it was open: open it again"),
            std::string::npos);
}

TEST(Checkpoint, DeletedFileStaysReadable) {
  const ModelFolder folder("gpt2");
  const auto model = openModel(folder.path());
  fs::remove_all(folder.path());
  ModelSession session(model);
  const std::vector<Index> ids{1, 2, 3};
  EXPECT_TRUE(session.append(ids, {}).ok());
}

TEST(CheckpointDeathTest, UnrelatedBusErrorStillKillsProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto crash = [] {
    const auto model = openModel(goldenModel("gpt2"));
    std::raise(SIGBUS);
  };
#ifdef HEADSCOPE_SANITIZE_BUILD
  EXPECT_DEATH(crash(), "");
#else
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGBUS), "");
#endif
}

/// 16 GB that are mostly holes: opening must not read them or take memory for them.
TEST(Checkpoint, OpensLargeModelWithoutReadingIt) {
  const TemporaryFolder folder;
  constexpr std::uint64_t kVocabulary = 128'256, kWidth = 4096, kInner = 14'336, kLayers = 32;
  putFile(folder / "config.json", R"({"model_type": "llama", "vocab_size": 128256, "hidden_size": 4096,
    "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8})");
  std::string header = "{";
  std::uint64_t end = 0;
  const auto add = [&](const std::string& name, std::vector<std::uint64_t> shape) {
    const std::uint64_t begin = end;
    end += *byteExtent(DType::BF16, shape);
    header += (begin ? ", \"" : "\"") + name + "\": {\"dtype\": \"BF16\", \"shape\": " + shapeText(shape) +
              ", \"data_offsets\": [" + std::to_string(begin) + ", " + std::to_string(end) + "]}";
  };
  add("model.embed_tokens.weight", {kVocabulary, kWidth});
  add("lm_head.weight", {kVocabulary, kWidth});
  add("model.norm.weight", {kWidth});
  for (std::uint64_t i = 0; i < kLayers; ++i) {
    const std::string at = "model.layers." + std::to_string(i) + ".";
    for (const char* norm : {"input_layernorm", "post_attention_layernorm"})
      add(at + norm + ".weight", {kWidth});
    for (const char* map : {"q_proj", "o_proj"}) add(at + "self_attn." + map + ".weight", {kWidth, kWidth});
    for (const char* map : {"k_proj", "v_proj"}) add(at + "self_attn." + map + ".weight", {1024, kWidth});
    for (const char* map : {"gate_proj", "up_proj"}) add(at + "mlp." + map + ".weight", {kInner, kWidth});
    add(at + "mlp.down_proj.weight", {kWidth, kInner});
  }
  header += "}";
  const auto start = headscope::test::safetensorsBytes(header, 0);
  putFile(folder / "model.safetensors", start);
  std::error_code code;
  fs::resize_file(folder / "model.safetensors", start.size() + end, code);
  if (code) GTEST_SKIP() << "this file system has no room for holes: " << code.message();
  const auto memory = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const long before = memory();
  const auto model = checked(Model::open(folder.path()));
  EXPECT_EQ(model->checkpoint().bytes(), start.size() + end);
  EXPECT_GT(model->checkpoint().bytes(), std::uint64_t{16'000'000'000});
  EXPECT_EQ(model->cacheBytesPerToken(), 256u << 10);
  EXPECT_LT(memory() - before, 100 << 10);  // KiB
}

}  // namespace
}  // namespace headscope::attention::test
