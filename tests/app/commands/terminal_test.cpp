#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "attention/formats/quote.h"
#include "test_paths.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

/// No text from a file or model controls the terminal, whichever command prints it.
namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Outcome;
using test::runHeadscope;
using test::runHeadscopeOnTerminal;

/// Clears the screen in two ways, sets a title and reverses the text after it.
const std::string kSteering = "\x1b[2J\u009b2J\x1b]0;t\x07\u202E\u2066";

/// Whether a terminal only shows `text`, apart from ending its lines.
bool isHarmless(std::string text) {
  std::erase(text, '\n');
  std::erase(text, '\r');
  return attention::escapedText(text) == text;
}

json parsed(std::string printed) {
  std::erase(printed, '\r');
  return json::parse(printed, nullptr, false);
}

/// Copies the golden model with a tokenizer that decodes every token to kSteering and has it as a token.
void putModel(const test::TemporaryFolder& folder) {
  const fs::path tests = HEADSCOPE_TEST_DIR;
  for (const char* name : {"config.json", "model.safetensors"})
    fs::copy_file(tests / "golden_models" / "gpt2" / name, folder / name);
  json tokenizer = json::parse(test::fileText(tests / "golden" / "tokens" / "small-byte-bpe.tokenizer.json"));
  tokenizer["decoder"] = {{"type", "Replace"}, {"pattern", {{"Regex", "[^ ]+"}}}, {"content", kSteering}};
  tokenizer["added_tokens"].push_back(
      {{"id", 5000}, {"content", kSteering}, {"special", false}, {"normalized", false}});
  test::putFile(folder / "tokenizer.json", tokenizer.dump());
}

TEST(Terminal, EscapesGeneratedTextOnlyOnTerminals) {
  const test::TemporaryFolder folder;
  putModel(folder);
  const std::vector<std::string> run = {"model", folder.path().string(), "--text", "zq", "--generate", "2"};
  const Outcome piped = runHeadscope(run);
  ASSERT_EQ(piped.exitCode, 0) << piped.errors;
  EXPECT_THAT(piped.output, HasSubstr("text: " + kSteering));
  const Outcome shown = runHeadscopeOnTerminal(run);
  EXPECT_EQ(shown.exitCode, 0) << shown.errors;
  EXPECT_THAT(shown.output, HasSubstr("text: \\x1b[2J\\xc2\\x9b2J"));
  EXPECT_TRUE(isHarmless(shown.output)) << shown.output;
}

TEST(Terminal, JsonStaysValidOnTerminals) {
  const test::TemporaryFolder folder;
  putModel(folder);
  for (std::vector<std::string> run :
       {std::vector<std::string>{"model", folder.path().string(), "--text", "zq", "--json"},
        std::vector<std::string>{"tokenize", folder.path().string(), "--json", "--text", "a" + kSteering}}) {
    const Outcome piped = runHeadscope(run), shown = runHeadscopeOnTerminal(run);
    ASSERT_EQ(shown.exitCode, 0) << shown.errors;
    EXPECT_EQ(isHarmless(piped.output), run[0] == "model") << "as it is in a pipe: " << piped.output;
    EXPECT_TRUE(isHarmless(shown.output)) << shown.output;
    EXPECT_EQ(parsed(shown.output), parsed(piped.output)) << run[0];
    EXPECT_TRUE(parsed(shown.output).is_object()) << shown.output;
  }
}

TEST(Terminal, EscapesCustomModelNames) {
  const test::TemporaryFolder home;
  fs::create_directory(home / "headscope");
  test::putFile(home / "headscope" / "models.json", json::array({{{"name", "Mine " + kSteering},
                                                                  {"layers", 1},
                                                                  {"model_dim", 8},
                                                                  {"heads", 1},
                                                                  {"head_dim", 8},
                                                                  {"context", 8},
                                                                  {"source", kSteering}}})
                                                        .dump());
  test::putFile(home / "headscope" / "machines.json", json::array({{{kSteering, 1}}}).dump());
  const std::string before = "export XDG_CONFIG_HOME=" + home.path().string() + "; ";
  for (const std::string kind : {"table", "json"}) {
    std::vector<std::string> run = {"cost", "--list"};
    if (kind == "json") run.push_back("--json");
    EXPECT_THAT(runHeadscope(run, before).output, HasSubstr("\u202E")) << "as it is in a pipe";
    const Outcome shown = runHeadscopeOnTerminal(run, before);
    EXPECT_THAT(shown.output, HasSubstr("Mine "));
    EXPECT_TRUE(isHarmless(shown.output)) << shown.output;
    EXPECT_TRUE(isHarmless(shown.errors)) << "a field's name that is quoted: " << shown.errors;
  }
}

/// Errors are read by a person, wherever they are written to.
TEST(Terminal, ErrorsEscapeFileNamesAndContents) {
  const test::TemporaryFolder folder;
  const std::string odd = (folder / ("odd" + kSteering)).string();
  test::putFile(odd, std::string_view("{\"format\": \"\\u001b[2J\u202E\"}"));
  fs::create_directory(odd + ".d");
  for (const std::vector<std::string>& run : {std::vector<std::string>{"render", odd, "-o", "x.png"},
                                              {"lesson", "--check", odd},
                                              {"snapshot", odd, "-o", "x"},
                                              {"tokenize", odd, "--text", "a"},
                                              {"tokenize", odd + ".d", "--text", "a"},
                                              {"model", odd, "--ids", "1"},
                                              {"attend", odd, "-o", "x"},
                                              {"cost", "--model", odd},
                                              {"mask", kSteering, "--queries", "3"},
                                              {"cost", "--model", kSteering},
                                              {kSteering, "cost"},
                                              {"cost", "--" + kSteering}}) {
    const Outcome outcome = runHeadscope(run);
    EXPECT_NE(outcome.exitCode, 0) << run[0];
    EXPECT_NE(outcome.errors, "") << run[0];
    EXPECT_TRUE(isHarmless(outcome.errors)) << run[0] << ": " << outcome.errors;
  }
}

/// The one source that writes to the terminal replaces what would control it.
TEST(Terminal, OneSourceOfCommandsPrints) {
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(HEADSCOPE_SOURCE_DIR) / "app" / "commands")) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name == "program.cpp") continue;
    const std::string source = test::fileText(entry.path());
    for (const char* other : {"cout <<", "cerr <<", "printf(", "puts(", "fwrite("})
      EXPECT_THAT(source, Not(HasSubstr(other))) << name;
  }
}

}  // namespace
}  // namespace headscope::app
