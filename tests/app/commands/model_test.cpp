#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "attention/formats/recorded/recorded_attention.h"
#include "attention/formats/safetensors.h"
#include "test_paths.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/attention/models/gguf/gguf_files.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

using attention::SafetensorsFile;
using test::Outcome;
using test::runHeadscope;

std::string folderOf(const std::string& family) {
  return std::string(HEADSCOPE_TEST_DIR) + "/golden_models/" + family;
}

SafetensorsFile fileAt(const std::filesystem::path& path) {
  auto file = test::readSafetensors(path);
  EXPECT_TRUE(file.ok()) << file.error().message;
  return file ? *file : SafetensorsFile{};
}

std::vector<std::int64_t> idsOf(const SafetensorsFile& file, const std::string& name) {
  const auto& tensor = file.tensors.at(name);
  std::vector<std::int64_t> ids(tensor.shape.at(0));
  std::memcpy(ids.data(), tensor.bytes.data(), tensor.bytes.size());
  return ids;
}

std::string listed(const std::vector<std::int64_t>& ids) {
  std::string text;
  for (const auto id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
  return text;
}

double distance(const attention::NamedTensor& a, const attention::NamedTensor& b) {
  if (a.shape != b.shape) return INFINITY;
  const auto left = *test::toFloats(a, "a"), right = *test::toFloats(b, "b");
  double most = 0;
  for (std::size_t i = 0; i < left.size(); ++i)
    most = std::max(most, std::abs(double{left[i]} - double{right[i]}));
  return most;
}

TEST(ModelCommand, MatchesGoldenFiles) {
  for (const char* family :
       {"gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma2", "phi3", "gpt_neox", "bert"}) {
    const SafetensorsFile golden = fileAt(folderOf(family) + "/expected.safetensors");
    const test::TemporaryFolder folder;
    const auto out = (folder / "out.safetensors").string();
    const auto ids = idsOf(golden, "long.input_ids");
    std::vector<std::string> arguments{"model", folderOf(family), "--ids", listed(ids), "-o", out};
    const bool encoder = std::string(family) == "bert";
    if (!encoder) arguments.insert(arguments.end(), {"--generate", "8"});
    const Outcome outcome = runHeadscope(arguments);
    ASSERT_EQ(outcome.exitCode, 0) << outcome.errors;
    const SafetensorsFile file = fileAt(out);
    EXPECT_EQ(idsOf(file, "input_ids"), ids);
    if (!encoder) {
      EXPECT_EQ(idsOf(file, "generated_ids"), idsOf(golden, "long.greedy_ids")) << family;
    }
    // The limits of the golden files; see tests/golden_models/README.md.
    EXPECT_LE(distance(file.tensors.at("attention"), golden.tensors.at("long.attention")), 1e-5) << family;
    EXPECT_LE(distance(file.tensors.at("hidden"), golden.tensors.at("long.hidden")), 6e-5) << family;
    EXPECT_LE(distance(file.tensors.at("logits"), golden.tensors.at("long.logits")), 6e-5) << family;
    EXPECT_EQ(file.tensors.at("k").shape, file.tensors.at("v").shape);
    EXPECT_EQ(file.tensors.at("q").shape[1], file.tensors.at("attention").shape[1]);
  }
}

TEST(ModelCommand, ListsFamilies) {
  const Outcome lines = runHeadscope({"model", "--families"});
  EXPECT_EQ(lines.exitCode, 0) << lines.errors;
  for (const char* line :
       {"\nmixtral                  decoder with experts\n", "\ngpt-sw3                  decoder, as gpt2\n",
        "\nllava                    text part of a multimodal model, as llama\n"})
    EXPECT_THAT(lines.output, testing::HasSubstr(line));
  const auto list = nlohmann::json::parse(runHeadscope({"model", "--families", "--json"}).output);
  EXPECT_EQ(list.at(1), nlohmann::json({{"model_type", "gpt-sw3"}, {"computes", "decoder"}, {"as", "gpt2"}}));
  EXPECT_NE(runHeadscope({"model", "learned", "--families"}).exitCode, 0) << "a folder would mean nothing";
  const Outcome without = runHeadscope({"model"});
  EXPECT_NE(without.exitCode, 0);
  EXPECT_THAT(without.errors, testing::HasSubstr("FOLDER is required"));
}

TEST(ModelCommand, WritesSelectedLayersAndArrays) {
  const test::TemporaryFolder folder;
  const auto out = (folder / "out.safetensors").string();
  const Outcome outcome = runHeadscope({"model", folderOf("gemma2"), "--ids", "5,6,7", "-o", out, "--layers",
                                        "2,0", "--only", "attention,hidden"});
  ASSERT_EQ(outcome.exitCode, 0) << outcome.errors;
  const SafetensorsFile file = fileAt(out);
  EXPECT_EQ(file.metadata.at("layers"), "0,2");
  EXPECT_EQ(file.tensors.size(), 3u);
  EXPECT_EQ(file.tensors.at("attention").shape, (std::vector<std::uint64_t>{2, 4, 3, 3}));
  EXPECT_EQ(file.tensors.at("hidden").shape, (std::vector<std::uint64_t>{2, 3, 40}));
}

TEST(ModelCommand, OutputOpensAsRecordedAttentionWithTokens) {
  const test::TemporaryFolder folder;
  const auto out = (folder / "out.safetensors").string();
  const Outcome outcome = runHeadscope({"model", "learned", "--text", "The dog saw a zebrafish.", "-o", out});
  ASSERT_EQ(outcome.exitCode, 0) << outcome.errors;
  const auto recorded = attention::RecordedAttention::open(out);
  ASSERT_TRUE(recorded) << recorded.error().message;
  ASSERT_TRUE(recorded->hasTokens());
  EXPECT_EQ(recorded->keyTokens().size(), idsOf(fileAt(out), "input_ids").size());
  EXPECT_EQ(recorded->keyTokens()[1], "dog");
  EXPECT_EQ(recorded->keyTokens().back(), ".");
}

TEST(ModelCommand, PrintsPredictionsAndGeneratedText) {
  const std::vector<std::string> arguments{
      "model", folderOf("qwen3"), "--ids", "5,6,7",  "--generate", "6", "--temperature",
      "1.5",   "--top-k",         "20",    "--seed", "4"};
  auto withJson = arguments;
  withJson.emplace_back("--json");
  const Outcome first = runHeadscope(withJson), second = runHeadscope(withJson);
  ASSERT_EQ(first.exitCode, 0) << first.errors;
  const auto json = nlohmann::json::parse(first.output), again = nlohmann::json::parse(second.output);
  EXPECT_EQ(json["generated_ids"], again["generated_ids"]);
  EXPECT_EQ(json["generated_ids"].size(), 6u);
  ASSERT_EQ(json["guesses"].size(), 1u);
  EXPECT_EQ(json["guesses"][0]["position"], 2);
  double before = 1;
  for (const auto& guess : json["guesses"][0]["likeliest"]) {
    EXPECT_LE(guess["probability"], before);
    before = guess["probability"];
  }
  const Outcome table = runHeadscope(arguments);
  EXPECT_THAT(table.output,
              HasSubstr("qwen3: 2 layers, 6 heads over 2 of size 16, width 36, vocabulary 300"));
  EXPECT_THAT(table.output, HasSubstr("after token 2:"));
  EXPECT_THAT(table.output, HasSubstr("tokens/s"));
}

TEST(ModelCommand, ReportsErrorsInOneSentence) {
  const auto expectError = [](const std::vector<std::string>& arguments, int exitCode,
                              const std::string& text) {
    const Outcome outcome = runHeadscope(arguments);
    EXPECT_EQ(outcome.exitCode, exitCode) << text;
    EXPECT_THAT(outcome.errors, HasSubstr(text));
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  };
  const std::string gpt2 = folderOf("gpt2");
  expectError({"model", gpt2}, 2,
              "expected one of --text T, --text-file F, --ids 464,3290,318 and --image F");
  expectError({"model", gpt2, "--ids", "5", "--text", "a"}, 2, "expected one of --text T");
  const test::TemporaryFolder bare;
  for (const char* name : {"config.json", "model.safetensors"})
    std::filesystem::copy_file(gpt2 + "/" + name, bare / name);
  expectError({"model", bare.path().string(), "--text", "a"}, 1, "tokenizer.json");
  for (const std::string list : {"", "5,,6", "5,", "0x10", "5,x", "5,-1", "5, 6", "99999999999999999999"})
    for (const std::string option : {"--ids", "--layers", "--decoder-ids"})
      expectError({"model", gpt2, option, list}, 2, option + " has \"");
  expectError({"model", gpt2, "--ids", "5", "--top-p", "0"}, 2, "top-p is 0, expected above 0 and at most 1");
  expectError({"model", gpt2, "--ids", "5", "--only", "weights", "-o", "x"}, 2, "--only");
  expectError({"model", gpt2, "--ids", "5", "--layers", "1"}, 2, "-o FILE is missing");
  expectError({"model", gpt2, "--ids", "5,300"}, 1, "token id 300 is not one of this model's 0 to 299");
  expectError({"model", gpt2, "--ids", "5", "--layers", "2", "-o", "/tmp/never.safetensors"}, 1,
              "layer is 2, expected 0 to 1");
  expectError({"model", gpt2, "--ids", "5", "--generate", "60"}, 1,
              "found 61 tokens, expected at most this model's 48 positions");
  expectError({"model", folderOf("bert"), "--ids", "5", "--generate", "1"}, 1,
              "this model is a bidirectional encoder");
  expectError({"model", "/nowhere", "--ids", "5"}, 1,
              "/nowhere: is missing, expected a folder with config.json");
  expectError({"model", gpt2, "--ids", "5", "-o", "/nowhere/out.safetensors"}, 1, "cannot be written");
}

/// Copies a golden model's folder with a changed config.json.
void copyWith(const test::TemporaryFolder& folder, const std::string& family, const std::string& from,
              const std::string& to) {
  for (const auto& entry : std::filesystem::directory_iterator(folderOf(family)))
    if (entry.path().filename() != "expected.safetensors")
      std::filesystem::copy_file(entry.path(), folder / entry.path().filename().string());
  std::string config = test::fileText(folder / "config.json");
  config.replace(config.find(from), from.size(), to);
  test::putFile(folder / "config.json", config);
}

TEST(ModelCommand, ExplainsMissingPredictionsWithoutLmHead) {
  const test::TemporaryFolder folder;
  copyWith(folder, "qwen2", "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  const std::string path = folder.path().string();
  const Outcome table = runHeadscope({"model", path, "--ids", "5,6"});
  EXPECT_THAT(table.output, HasSubstr("No predictions: the file has no lm_head.weight"));
  EXPECT_THAT(table.output, testing::Not(HasSubstr("after token")));
  const auto json = nlohmann::json::parse(runHeadscope({"model", path, "--ids", "5,6", "--json"}).output);
  EXPECT_TRUE(json["guesses"].empty());
  EXPECT_THAT(json["no_guesses"].get<std::string>(), HasSubstr("no lm_head.weight"));
  const Outcome refused = runHeadscope({"model", path, "--ids", "5", "--generate", "1"});
  EXPECT_EQ(refused.exitCode, 1);
  EXPECT_THAT(refused.errors, HasSubstr("No predictions"));
}

TEST(ModelCommand, NotesUnknownConfigFields) {
  const test::TemporaryFolder folder;
  copyWith(folder, "qwen2", "\"use_cache\": true", "\"half_the_heads\": true");
  const std::string path = folder.path().string();
  EXPECT_THAT(runHeadscope({"model", path, "--ids", "5"}).output, HasSubstr("half_the_heads"));
  const auto json = nlohmann::json::parse(runHeadscope({"model", path, "--ids", "5", "--json"}).output);
  EXPECT_THAT(json["notes"][0].get<std::string>(), HasSubstr("half_the_heads"));
}

/// A model's folder with a tokenizer: a text and the ids of that text give the same run.
TEST(ModelCommand, TokenizesTextWithTheModelsTokenizer) {
  const test::TemporaryFolder folder;
  for (const char* name : {"config.json", "model.safetensors"})
    std::filesystem::copy_file(folderOf("gpt2") + "/" + name, folder / name);
  std::filesystem::copy_file(std::string(HEADSCOPE_TEST_DIR) + "/golden/tokens/small-byte-bpe.tokenizer.json",
                             folder / "tokenizer.json");
  const std::string path = folder.path().string();
  const Outcome tokens = runHeadscope({"tokenize", path, "--text", "zq!", "--json"});
  ASSERT_EQ(tokens.exitCode, 0) << tokens.errors;
  const auto ids = nlohmann::json::parse(tokens.output)["ids"].get<std::vector<std::int64_t>>();
  const Outcome typed = runHeadscope({"model", path, "--text", "zq!", "--json", "--generate", "2"});
  ASSERT_EQ(typed.exitCode, 0) << typed.errors;
  const auto json = nlohmann::json::parse(typed.output);
  EXPECT_EQ(json["input_ids"].get<std::vector<std::int64_t>>(), ids);
  EXPECT_EQ(json["tokens"].size(), ids.size());
  EXPECT_EQ(json["tokens"][0], "z");
  EXPECT_TRUE(json.contains("generated_text"));
  const Outcome given = runHeadscope({"model", path, "--ids", listed(ids), "--json", "--generate", "2"});
  EXPECT_EQ(nlohmann::json::parse(given.output)["guesses"], json["guesses"]);
}

/// A file with encoder, decoder and cross attention, and the encoder's values.
std::string recordedGroups(const test::TemporaryFolder& folder) {
  SafetensorsFile file;
  const auto put = [&](const char* name, std::uint64_t n, std::uint64_t m) {
    file.tensors[name] = attention::fromFloats(
        std::vector<float>(static_cast<std::size_t>(2 * n * m), 1 / static_cast<float>(m)), {2, n, m});
  };
  put("encoder_attentions.0", 4, 4);
  put("decoder_attentions.0", 3, 3);
  put("cross_attentions.0", 3, 4);
  file.metadata["encoder_tokens"] = "Das Tier war müde";
  file.metadata["decoder_tokens"] = "It was tired";
  const std::string path = (folder / "t5.safetensors").string();
  EXPECT_TRUE(attention::writeSafetensors(path, file).ok());
  return path;
}

TEST(RecordedCommands, DrawsAndWritesRecordedAttention) {
  const test::TemporaryFolder folder;
  const std::string path = recordedGroups(folder), out = (folder / "out.svg").string();
  for (const char* what : {"heads", "head"}) {
    const Outcome drawn = runHeadscope({"render", path, "-o", out, "--what", what});
    ASSERT_EQ(drawn.exitCode, 0) << drawn.errors;
    EXPECT_THAT(test::fileText(out), HasSubstr("4 queries × 4 keys"));
  }
  const Outcome mask = runHeadscope({"render", path, "-o", out, "--what", "mask"});
  EXPECT_EQ(mask.exitCode, 1);
  EXPECT_THAT(mask.errors, HasSubstr("contains no mask"));
  EXPECT_THAT(runHeadscope({"render", path, "-o", out, "--what", "cache"}).errors,
              HasSubstr("without k and v"));
  const std::string arrays = (folder / "out.safetensors").string();
  const Outcome written = runHeadscope({"snapshot", path, "-o", arrays});
  ASSERT_EQ(written.exitCode, 0) << written.errors;
  const SafetensorsFile file = fileAt(arrays);
  EXPECT_EQ(file.tensors.at("weights").shape, (std::vector<std::uint64_t>{2, 4, 4}));
  EXPECT_EQ(file.tensors.size(), 1u) << "no scores are made up";
  const auto again = attention::RecordedAttention::open(arrays);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->keyTokens()[1], "Tier");
}

TEST(RecordedCommands, SelectsAGroupByName) {
  const test::TemporaryFolder folder;
  const std::string path = recordedGroups(folder), out = (folder / "out.svg").string();
  const Outcome cross = runHeadscope({"render", path + "#cross", "-o", out, "--what", "heads"});
  ASSERT_EQ(cross.exitCode, 0) << cross.errors;
  const std::string svg = test::fileText(out);
  EXPECT_THAT(svg, HasSubstr("3 queries × 4 keys"));
  EXPECT_THAT(svg, HasSubstr("Tier"));
  EXPECT_THAT(svg, HasSubstr("tired"));
  for (const char* word : {"self", "previous", "causal", "own word"})
    EXPECT_THAT(svg, testing::Not(HasSubstr(word)));
  const Outcome none = runHeadscope({"render", path + "#self", "-o", out, "--what", "heads"});
  EXPECT_NE(none.exitCode, 0);
  EXPECT_THAT(none.errors, HasSubstr("expected encoder, decoder, cross"));
  // In a scene.
  test::putFile(
      folder / "scene.json",
      R"({"format": "headscope scene", "version": 2, "subject": {"model": "t5.safetensors#decoder"}, "cursor": {"page": "model"}})");
  const Outcome scene =
      runHeadscope({"render", (folder / "scene.json").string(), "-o", out, "--what", "heads"});
  ASSERT_EQ(scene.exitCode, 0) << scene.errors;
  EXPECT_THAT(test::fileText(out), HasSubstr("3 queries × 3 keys"));
}

TEST(RenderOfAModel, DrawsLearnedModelAndLesson) {
  const test::TemporaryFolder folder;
  const std::string out = (folder / "out.svg").string();
  const Outcome learned = runHeadscope({"render", "learned", "-o", out, "--what", "heads"});
  EXPECT_EQ(learned.exitCode, 0) << learned.errors;
  const std::string lesson = std::string(HEADSCOPE_SOURCE_DIR) + "/assets/lessons/01-scaled-attention.json";
  const Outcome drawn = runHeadscope({"render", lesson, "-o", out, "--what", "heads"});
  EXPECT_EQ(drawn.exitCode, 0) << drawn.errors;
}

TEST(ModelCommand, SwitchesHeadsOffAndPrintsComposition) {
  const std::vector<std::string> base{"model", "learned", "--text", "Mia lost her", "--json"};
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> all = base;
    all.insert(all.end(), more.begin(), more.end());
    return runHeadscope(all);
  };
  const Outcome plain = run({}), off = run({"--off", "0.0,1.2", "--generate", "2"}),
                all = run({"--composition"});
  ASSERT_EQ(plain.exitCode, 0) << plain.errors;
  ASSERT_EQ(off.exitCode, 0) << off.errors;
  ASSERT_EQ(all.exitCode, 0) << all.errors;
  const auto before = nlohmann::json::parse(plain.output), after = nlohmann::json::parse(off.output);
  EXPECT_NE(before["guesses"], after["guesses"]);
  EXPECT_FALSE(before.contains("composition"));
  const auto pairs = nlohmann::json::parse(all.output)["composition"];
  EXPECT_NEAR(nlohmann::json::parse(all.output)["composition_baseline"].get<double>(), 1 / std::sqrt(96.0),
              1e-9);
  EXPECT_EQ(pairs.size(), 6u * 6 * (3 + 2 + 1)) << "4 layers of 6 heads";
  EXPECT_EQ(pairs[0]["from"], (nlohmann::json{0, 0}));
  EXPECT_EQ(pairs[0]["to"], (nlohmann::json{1, 0}));
  EXPECT_LT(pairs[0]["q"].get<double>(), 1);
  EXPECT_THAT(run({"--off", "9.0"}).errors, HasSubstr("layers 0 to 3"));
}

TEST(ModelCommand, ShowsIdsWithoutTextsIfTokenizerIsUnknown) {
  const std::string python = attention::test::pythonWithNumpy();
  if (python.empty()) GTEST_SKIP() << "NumPy isn't installed (apt-get install python3-numpy)";
  const test::TemporaryFolder folder;
  ASSERT_TRUE(attention::test::writeGguf(python, "model '" + folderOf("gpt2") + "' '" +
                                                     folder.path().string() +
                                                     "' F32 tokenizer.ggml.pre:text=unheard"));
  const std::string file = (folder / "model.gguf").string();
  const Outcome outcome = runHeadscope({"model", file, "--ids", "5,6"});
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, testing::HasSubstr("Ids are shown without texts"));
  const Outcome refused = runHeadscope({"model", file, "--text", "a"});
  EXPECT_EQ(refused.exitCode, 1);
  EXPECT_THAT(refused.errors, testing::HasSubstr("\"tokenizer.ggml.pre\" is \"unheard\""));
}

TEST(ModelCommand, NamesTheTensorThatIsNotFinite) {
  const std::string python = attention::test::pythonWithNumpy();
  if (python.empty()) GTEST_SKIP() << "NumPy isn't installed (apt-get install python3-numpy)";
  for (const std::string tensor :
       {"blk.1.attn_qkv.weight", "output_norm.weight", "blk.0.ffn_down.bias", "token_embd.weight"}) {
    const test::TemporaryFolder folder;
    ASSERT_TRUE(attention::test::writeGguf(
        python, "model '" + folderOf("gpt2") + "' '" + folder.path().string() + "' F32 '~" + tensor + "'"));
    const std::string file = (folder / "model.gguf").string();
    // The table's first row is token 0's; where it is the head as well, it is every token's.
    for (const std::string ids : {"5,6", "0,5"}) {
      const Outcome outcome = runHeadscope({"model", file, "--ids", ids});
      EXPECT_EQ(outcome.exitCode, 1) << tensor;
      EXPECT_THAT(outcome.errors, AllOf(HasSubstr("tensor \"" + tensor + "\" is NaN at [0"),
                                        HasSubstr("so not all numbers")));
      EXPECT_EQ(outcome.output, "");
    }
  }
}

}  // namespace
}  // namespace headscope::app
