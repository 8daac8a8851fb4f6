#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "test_paths.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

using nlohmann::json;
using test::Outcome;
using test::runHeadscope;

const std::string kGolden = std::string(HEADSCOPE_TEST_DIR) + "/golden/tokens/";

json goldenCases(const std::string& name) {
  std::ifstream file(kGolden + name + ".json");
  const json golden = json::parse(file);
  return golden.at("cases");
}

/// Texts of all kinds are passed in a file, because a shell would change some of them.
TEST(TokenizeCommand, PrintsGoldenTokensAsJson) {
  const test::TemporaryFolder folder;
  const auto path = folder / "text";
  for (const std::string name : {"small-byte-bpe", "small-wordpiece"}) {
    const json cases = goldenCases(name);
    ASSERT_GT(cases.size(), 50u);
    for (std::size_t i = 0; i < cases.size(); i += 6) {
      const json& one = cases[i];
      test::putFile(path, one.at("text").get<std::string>());
      const Outcome outcome = runHeadscope(
          {"tokenize", kGolden + name + ".tokenizer.json", "--text-file", path.string(), "--json"});
      ASSERT_EQ(outcome.exitCode, 0) << outcome.errors;
      const json printed = json::parse(outcome.output);
      EXPECT_EQ(printed.at("ids"), one.at("ids"));
      EXPECT_EQ(printed.at("tokens"), one.at("tokens"));
      if (!one.contains("spans")) continue;
      EXPECT_EQ(printed.at("spans"), one.at("spans"));
    }
  }
}

TEST(TokenizeCommand, PrintsReadableTable) {
  const Outcome outcome =
      runHeadscope({"tokenize", kGolden + "small-byte-bpe.tokenizer.json", "--text", "the héads"});
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_EQ(outcome.output,
            "     id             bytes  token\n"
            "    321        0-3         the\n"
            "    220        3-4         ␣\n"
            "     71        4-5         h\n"
            "    127        5-6         <C3>\n"
            "    102        6-7         <A9>\n"
            "    382        7-10        ads\n");
}

TEST(TokenizeCommand, AcceptsAFolder) {
  const test::TemporaryFolder folder;
  std::filesystem::copy_file(kGolden + "small-wordpiece.tokenizer.json", folder / "tokenizer.json");
  const Outcome outcome = runHeadscope({"tokenize", folder.path().string(), "--text", "the", "--json"});
  EXPECT_EQ(outcome.output,
            "{\"ids\":[2,85,3],\"tokens\":[\"[CLS]\",\"the\",\"[SEP]\"],\"spans\":[[0,0],[0,3],[3,3]]}\n");
}

TEST(TokenizeCommand, NotesWhenWholeTextIsDropped) {
  const Outcome outcome =
      runHeadscope({"tokenize", kGolden + "small-wordpiece.tokenizer.json", "--text", "\u200B", "--json"});
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.output, "{\"ids\":[2,3],\"tokens\":[\"[CLS]\",\"[SEP]\"],\"spans\":[[0,3],[3,3]]}\n");
  EXPECT_EQ(outcome.errors, "headscope: the tokenizer drops the whole text and gives no tokens\n");
}

TEST(TokenizeCommand, ReportsErrors) {
  const test::TemporaryFolder folder;
  const std::string tokenizer = kGolden + "small-wordpiece.tokenizer.json";
  const auto failing = [](const std::vector<std::string>& arguments, int exitCode) {
    std::vector<std::string> all{"tokenize"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome outcome = runHeadscope(all);
    EXPECT_EQ(outcome.exitCode, exitCode);
    EXPECT_EQ(outcome.output, "");
    EXPECT_THAT(outcome.errors, StartsWith("headscope: "));
    return outcome.errors;
  };
  const std::string oneOfThem = "headscope: expected either --text T or --text-file F\n";
  EXPECT_EQ(failing({tokenizer}, 2), oneOfThem);
  EXPECT_EQ(failing({tokenizer, "--text", "a", "--text-file", "b"}, 2), oneOfThem);
  EXPECT_THAT(failing({folder.path().string(), "--text", "a"}, 1),
              HasSubstr("tokenizer.json: cannot be opened"));
  EXPECT_THAT(failing({tokenizer, "--text-file", (folder / "none").string()}, 1),
              HasSubstr("cannot be opened"));
  test::putFile(folder / "bytes", "ab\xFF");
  EXPECT_THAT(failing({tokenizer, "--text-file", (folder / "bytes").string()}, 1), HasSubstr("bytes: "));
  // A file that is too long is not read. This one takes no disk space, but would take memory.
  test::putFile(folder / "long", "");
  std::filesystem::resize_file(folder / "long", 3'221'225'472);
  EXPECT_EQ(
      failing({tokenizer, "--text-file", (folder / "long").string()}, 1),
      "headscope: " + (folder / "long").string() + ": is 3221225472 bytes, expected at most 16777216\n");
  test::putFile(folder / "tokenizer.json", R"({"model": {"type": "Char", "vocab": {"a": 0}}})");
  EXPECT_EQ(failing({folder.path().string(), "--text", "a"}, 1),
            "headscope: " + (folder / "tokenizer.json").string() +
                ": model: type \"Char\" is not supported, expected one of BPE, WordPiece, WordLevel, Unigram\n");
}

}  // namespace
}  // namespace headscope::app
