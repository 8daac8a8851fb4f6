#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/compute/cost/cost_catalogue.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

using nlohmann::json;
using test::Outcome;
using test::runHeadscope;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The program with a configuration folder of the test's own.
Outcome runCost(std::vector<std::string> arguments, const test::TemporaryFolder& home) {
  arguments.insert(arguments.begin(), "cost");
  return runHeadscope(arguments, "export XDG_CONFIG_HOME=" + home.path().string() + "; ");
}

json costOf(std::vector<std::string> arguments) {
  const test::TemporaryFolder home;
  arguments.emplace_back("--json");
  const Outcome outcome = runCost(arguments, home);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  return json::parse(outcome.output);
}

TEST(CostCommand, printsTheGoldenFiguresAsWholeNumbers) {
  json cost = costOf({"--model", "Llama-3.1-70B", "--tensor-parallel", "2"});
  EXPECT_EQ(cost["request"]["tokens"], 131072);
  EXPECT_EQ(cost["cache"]["bytes_per_token"], 327680);
  EXPECT_EQ(cost["cache"]["bytes"], 42949672960);
  EXPECT_EQ(cost["cache"]["bytes_per_gpu"], 21474836480);
  EXPECT_EQ(cost["cache"]["wasted_bytes"], 0);
  EXPECT_TRUE(cost["weights"]["bytes"].is_number_unsigned());
  EXPECT_EQ(cost["decode"]["cache_bytes_read"], 42949672960);
  EXPECT_TRUE(cost["decode"]["weight_bytes_read"].is_number_unsigned());
  EXPECT_THAT(cost["warnings"], IsEmpty());
  cost = costOf({"--model", "deepseek-v3"});
  EXPECT_EQ(cost["cache"]["bytes_per_token"], 70272);
  cost = costOf({"--model", "GPT-3 175B", "--dtype", "fp16", "--tokens", "1"});
  EXPECT_EQ(cost["cache"]["bytes"], 4718592);
  cost = costOf({"--model", "Llama-3.1-8B", "--tokens", "100", "--block", "64", "--batch", "2"});
  EXPECT_EQ(cost["cache"]["bytes"], 2 * 100 * 131072);
  EXPECT_EQ(cost["cache"]["reserved_bytes"], 2 * 128 * 131072);
  EXPECT_EQ(cost["cache"]["wasted_bytes"], 2 * 28 * 131072);
}

TEST(CostCommand, saysItInWordsToo) {
  const test::TemporaryFolder home;
  const Outcome outcome = runCost({"--model", "Llama-3.1-70B", "--tensor-parallel", "16"}, home);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("42,949,672,960 B = 40 GiB"));
  EXPECT_THAT(outcome.output, HasSubstr("2 · 80 layers · 8 kv heads · 128 · 2 B"));
  EXPECT_THAT(outcome.output, HasSubstr("of 16 GPUs, each kv head on 2 of them"));
}

TEST(CostCommand, listsTheShapes) {
  const test::TemporaryFolder home;
  const Outcome outcome = runCost({"--list", "--json"}, home);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_EQ(json::parse(outcome.output).size(), 24u);
  EXPECT_THAT(runCost({"--list"}, home).output, HasSubstr("Brown et al. 2020, table 2.1"));
}

TEST(CostCommand, readsAConfigAndTheFoldersOwnShapes) {
  const test::TemporaryFolder home;
  std::filesystem::create_directories(home / "headscope");
  test::putFile(home / "headscope" / "models.json", R"([{"name": "Mine", "layers": 2, "model_dim": 64,
      "heads": 4, "head_dim": 16, "context": 100}, {"name": "Bad", "layers": 0}, {"nam": 1}])");
  Outcome outcome = runCost({"--model", "mine", "--json"}, home);
  ASSERT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_EQ(json::parse(outcome.output)["cache"]["bytes"], 2 * 2 * 4 * 16 * 2 * 100);
  EXPECT_THAT(outcome.errors, HasSubstr("models.json, entry 2: layers is 0, expected 1 to"));
  EXPECT_THAT(outcome.errors, HasSubstr("models.json, entry 3: there is no field \"nam\""));
  test::putFile(home / "config.json", R"({"num_hidden_layers": 2, "hidden_size": 64, "n_head": 8})");
  outcome = runCost({"--model", (home / "config.json").string(), "--json", "--tokens", "10"}, home);
  ASSERT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_EQ(json::parse(outcome.output)["cache"]["bytes"], 2 * 2 * 64 * 2 * 10);
}

TEST(CostCommand, badInputGetsOneSentence) {
  const test::TemporaryFolder home;
  const auto error = [&](const std::vector<std::string>& arguments, int exitCode) {
    const Outcome outcome = runCost(arguments, home);
    EXPECT_EQ(outcome.exitCode, exitCode);
    EXPECT_THAT(outcome.output, IsEmpty());
    return outcome.errors;
  };
  EXPECT_THAT(error({}, 2), HasSubstr("expected --model NAME or --list"));
  EXPECT_THAT(error({"--model", "Lama-3.1-8B"}, 1), HasSubstr("did you mean Llama-3.1-8B?"));
  EXPECT_THAT(error({"--model", "GPT-2", "--tokens", "0"}, 2),
              HasSubstr("--tokens: \"0\" was given, expected a whole number from 1 to"));
  EXPECT_THAT(error({"--model", "GPT-2", "--batch", "-3"}, 2), HasSubstr("--batch: \"-3\" was given"));
  EXPECT_THAT(error({"--model", "GPT-2", "--block", "1e3"}, 2), HasSubstr("--block: \"1e3\" was given"));
  EXPECT_THAT(error({"--model", "GPT-2", "--tensor-parallel", ""}, 2), HasSubstr("--tensor-parallel"));
  // Not taken as the largest number there is.
  EXPECT_THAT(error({"--model", "GPT-2", "--tokens", "9223372036854775808"}, 2),
              HasSubstr("expected a whole number from 1 to 9,223,372,036,854,775,807"));
  EXPECT_THAT(error({"--model", "GPT-2", "--dtype", "fp7"}, 2), HasSubstr("expected one of fp32, fp16"));
  EXPECT_THAT(error({"--model", "GPT-2 XL", "--tensor-parallel", "2"}, 2),
              HasSubstr("25 heads can't be split evenly over 2 GPUs"));
  test::putFile(home / "config.json", R"({"architectures": ["MambaForCausalLM"]})");
  EXPECT_THAT(error({"--model", (home / "config.json").string()}, 1), HasSubstr("it lacks layers"));
  test::putFile(
      home / "config.json",
      R"({"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 4})");
  EXPECT_THAT(error({"--model", (home / "config.json").string()}, 1),
              HasSubstr("kv_heads is 4, expected a divisor of the 6 heads"));
}

TEST(CostCommand, saysNothingOfAContextThatIsNotKnown) {
  const test::TemporaryFolder home;
  test::putFile(home / "config.json",
                R"({"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4})");
  const Outcome outcome =
      runCost({"--model", (home / "config.json").string(), "--tokens", "9000", "--json"}, home);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_THAT(json::parse(outcome.output)["warnings"], IsEmpty());
}

TEST(CostCommand, warnsBeyondTheModelsContextAndBeyondWhatCanBeCounted) {
  const test::TemporaryFolder home;
  Outcome outcome = runCost({"--model", "GPT-2", "--tokens", "2048", "--json"}, home);
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.errors, HasSubstr("GPT-2 was trained to 1,024 tokens; computing 2,048 anyway"));
  EXPECT_EQ(json::parse(outcome.output)["warnings"].size(), 1u);
  outcome = runCost({"--model", "GPT-3 175B", "--tokens", "9000000000000000000", "--json"}, home);
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_TRUE(json::parse(outcome.output)["cache"]["bytes"].is_null());
  EXPECT_THAT(outcome.errors, HasSubstr("more than 8 EiB"));
  outcome = runCost({"--model", "GPT-3 175B", "--tokens", "9000000000000000000"}, home);
  EXPECT_THAT(outcome.output, HasSubstr("reads more than 8 EiB"));
  EXPECT_THAT(outcome.output, HasSubstr("·10")) << "operations that have no unit";
  EXPECT_TRUE(costOf({"--model", "BERT-base"})["decode"].is_null());
  outcome = runCost({"--model", "BERT-base"}, home);
  EXPECT_THAT(outcome.errors, HasSubstr("keeps no cache"));
}

TEST(CostCatalogue, aMachineOfOnesOwnIsSortedIn) {
  const test::TemporaryFolder home;
  test::putFile(home / "machines.json",
                R"([{"name": "Mine", "memory_gb": 64, "bandwidth_gb": 100, "tflops": 5},
                    {"name": "H200", "memory_gb": 141, "bandwidth_gb": 4800, "tflops": 1},
                    {"name": "None", "memory_gb": -1, "bandwidth_gb": 1, "tflops": 1}])");
  const CostCatalogue catalogue = loadCatalogue(home.path());
  EXPECT_EQ(catalogue.machines.size(), attention::machines().size() + 1);
  const attention::Machine* mine = attention::findMachine(catalogue.machines, "Mine");
  ASSERT_NE(mine, nullptr);
  EXPECT_EQ(mine->bandwidth, 100e9);
  EXPECT_EQ(attention::findMachine(catalogue.machines, "H200")->flops, 1e12);
  EXPECT_THAT(catalogue.problems,
              testing::ElementsAre("machines.json, entry 3: memory_gb is absent or no number above 0"));
  const std::pair<std::string, const char*> broken[] = {
      {"{", "machines.json: is not valid JSON at byte 2"},
      {"{}", "machines.json is not a JSON list"},
      {std::string(1'000'000, '['), "machines.json: lists and objects are more than 32 deep"}};
  for (const auto& [text, problem] : broken) {
    test::putFile(home / "machines.json", text);
    EXPECT_THAT(loadCatalogue(home.path()).problems, testing::ElementsAre(HasSubstr(problem)));
  }
}

}  // namespace
}  // namespace headscope::app
