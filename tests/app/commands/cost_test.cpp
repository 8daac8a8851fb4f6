#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/compute/cost/cost_catalogue.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

using nlohmann::json;
using test::Outcome;
using test::runHeadscope;

/// Runs the program with the test's own configuration folder.
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

TEST(CostCommand, PrintsGoldenFiguresAsIntegers) {
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

TEST(CostCommand, PrintsFiguresInWords) {
  const test::TemporaryFolder home;
  const Outcome outcome = runCost({"--model", "Llama-3.1-70B", "--tensor-parallel", "16"}, home);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("42,949,672,960 B = 40 GiB"));
  EXPECT_THAT(outcome.output, HasSubstr("2 · 80 layers · 8 kv heads · 128 · 2 B"));
  EXPECT_THAT(outcome.output, HasSubstr("of 16 GPUs, each kv head on 2 of them"));
}

TEST(CostCommand, ListsModelsAndDevices) {
  const test::TemporaryFolder home;
  const Outcome outcome = runCost({"--list", "--json"}, home);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_GE(json::parse(outcome.output).size(), 90u);
  EXPECT_THAT(runCost({"--devices"}, home).output, HasSubstr("MI355X"));
  EXPECT_THAT(runCost({"--list"}, home).output, HasSubstr("Brown et al. 2020, tables 2.1"));
}

TEST(CostCommand, ReadsConfigsAndCustomModels) {
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

TEST(CostCommand, FolderComesBeforeThePublishedModelOfItsName) {
  const test::TemporaryFolder home;
  const std::string name = (home / "Llama-3.1-8B").string();
  const auto secondLine = [&](const std::string& model) {
    const std::string output = runCost({"--model", model, "--tokens", "100"}, home).output;
    const auto from = output.find('\n') + 1;
    return output.substr(from, output.find('\n', from) - from);
  };
  EXPECT_EQ(secondLine("meta-llama/Llama-3.1-8B"),
            "  32 layers, model dim 4,096, 32 heads over 8 kv heads of 128");
  std::filesystem::create_directories(name);
  EXPECT_EQ(secondLine(name), "") << "an empty folder isn't the published model";
  test::putFile(name + "/config.json", R"({"model_type": "llama", "num_hidden_layers": 3, "hidden_size": 64,
    "num_attention_heads": 4, "num_key_value_heads": 2})");
  for (const std::string& model : {name, name + "/", name + "/config.json"})
    EXPECT_EQ(secondLine(model), "  3 layers, model dim 64, 4 heads over 2 kv heads of 16") << model;
  EXPECT_THAT(runCost({"--model", name}, home).output,
              StartsWith("Llama-3.1-8B, from Llama-3.1-8B/config.json\n"));
  std::filesystem::remove(name + "/config.json");
  test::putFile(name + "/params.json", R"({"dim": 64, "n_layers": 3, "n_heads": 4, "n_kv_heads": 2,
    "multiple_of": 32, "vocab_size": 100})");
  EXPECT_EQ(secondLine(name), "  3 layers, model dim 64, 4 heads over 2 kv heads of 16");
}

TEST(CostCommand, CountsBlocksOfLlamaCppsCache) {
  const auto bytes = [](const std::string& format) {
    return costOf({"--model", "Llama-3.1-8B", "--tokens", "32768", "--dtype", format})["cache"]["bytes"]
        .get<std::uint64_t>();
  };
  EXPECT_EQ(bytes("q8_0") * 32, bytes("bf16") * 17);
  EXPECT_EQ(bytes("Q4_0") * 32, bytes("bf16") * 9);
}

TEST(CostCommand, ReportsBadInputInOneSentence) {
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
  // It is not clamped to the largest number.
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

TEST(CostCommand, ExitCodeTellsWhetherModelFits) {
  const test::TemporaryFolder home;
  const std::vector<std::string> asked{"--model",
                                       "llama 3.3 70b",
                                       "--tensor-parallel",
                                       "4",
                                       "--device",
                                       "H100",
                                       "--tokens",
                                       "32768",
                                       "--batch",
                                       "16",
                                       "--dtype",
                                       "fp8",
                                       "--weights-dtype",
                                       "fp8",
                                       "--json"};
  Outcome outcome = runCost(asked, home);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  json cost = json::parse(outcome.output);
  EXPECT_EQ(cost["model"]["name"], "Llama-3.3-70B");
  EXPECT_EQ(cost["fits"], true);
  EXPECT_GT(cost["free_bytes_per_gpu"], 0);
  EXPECT_GT(cost["longest_context"], 32768);
  EXPECT_GE(cost["largest_batch"], 16);
  EXPECT_GT(cost["decode_tokens_per_second"], 0);
  EXPECT_DOUBLE_EQ(cost["decode_tokens_per_second"].get<double>() / 16,
                   cost["decode_tokens_per_second_per_user"].get<double>());
  EXPECT_GT(cost["prefill_seconds"], 0);
  EXPECT_EQ(cost["gpu"]["multiplies"], "fp8");
  EXPECT_EQ(cost["gpu"]["flops"], 1979e12);
  ASSERT_EQ(cost["layers"].size(), 1u);
  EXPECT_EQ(cost["layers"][0]["kind"], "full");
  EXPECT_EQ(cost["layers"][0]["bytes"], cost["cache"]["bytes"]);
  EXPECT_TRUE(cost["cost_per_million_tokens"].is_null());
  outcome = runCost({"--model", "Llama-3.3-70B", "--device", "H100", "--price", "3", "--json"}, home);
  EXPECT_EQ(outcome.exitCode, 3) << "141 GB of weights";
  cost = json::parse(outcome.output);
  EXPECT_EQ(cost["fits"], false);
  EXPECT_EQ(cost["longest_context"], 0);
  EXPECT_LT(cost["free_bytes_per_gpu"], 0);
  EXPECT_GT(cost["cost_per_million_tokens"], 0);
  EXPECT_EQ(runCost({"--model", "Llama-3.3-70B", "--tensor-parallel", "1"}, home).exitCode, 0)
      << "nobody asked";
  for (const char* price : {"-1", "nan", "inf"}) {
    outcome = runCost({"--model", "GPT-2", "--price", price}, home);
    EXPECT_EQ(outcome.exitCode, 2);
    EXPECT_EQ(outcome.errors, std::string("headscope: --price is ") + price + ", expected a number from 0\n");
  }
  outcome = runCost({"--model", "GPT-2", "--device", "H1000"}, home);
  EXPECT_EQ(outcome.exitCode, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("--device is \"H1000\", expected one of"));
  outcome = runCost({"--model", "GPT-2", "--weights-dtype", "fp5"}, home);
  EXPECT_THAT(outcome.errors, HasSubstr("--weights-dtype is \"fp5\", expected one of published, fp32"));
}

TEST(CostCommand, JsonIncludesComparisonsFromThePage) {
  const json cost =
      costOf({"--model", "Llama-3.1-70B", "--tensor-parallel", "2", "--weights-dtype", "Q4_K_M"});
  EXPECT_EQ(cost["request"]["weights_dtype"], "q4_k_m") << "as files have it";
  ASSERT_EQ(cost["tensor_parallel_choices"].size(), 5u);
  EXPECT_EQ(cost["tensor_parallel_choices"][4]["copies"], 2);
  EXPECT_GT(cost["tensor_parallel_choices"][0]["bytes_per_gpu"], cost["weights"]["bytes"]);
  EXPECT_EQ(cost["tensor_parallel_choices"][1]["smallest_memory_gb"], 80);
  EXPECT_EQ(cost["compared"]["mha_bytes"], 8 * cost["cache"]["bytes"].get<std::uint64_t>());
  EXPECT_GT(cost["attention_overtakes"]["everything"], cost["attention_overtakes"]["projections"]);
  const json odd = costOf({"--model", "GPT-2 XL"});
  EXPECT_EQ(odd["tensor_parallel_choices"][1]["reason"], "25 heads can't be split evenly over 2 GPUs.");
}

TEST(CostCommand, JsonListsLayersByKind) {
  const json cost = costOf({"--model", "Llama-4-Scout", "--tokens", "32768"});
  ASSERT_EQ(cost["layers"].size(), 2u);
  EXPECT_EQ(cost["layers"][0]["kind"], "chunk");
  EXPECT_EQ(cost["layers"][0]["layers"], 36);
  EXPECT_EQ(cost["layers"][0]["tokens"], 8192);
  EXPECT_EQ(cost["layers"][1]["bytes"], 12ull * 32768 * 4096);
  const json mamba = costOf({"--model", "Mamba-Codestral-7B", "--tokens", "1000000"});
  EXPECT_TRUE(mamba["longest_context"].is_null()) << "any";
}

TEST(CostCommand, WarnsAboutUnknownModelTypeAndContext) {
  const test::TemporaryFolder home;
  test::putFile(home / "config.json",
                R"({"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4})");
  const Outcome outcome =
      runCost({"--model", (home / "config.json").string(), "--tokens", "9000", "--json"}, home);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  const json warnings = json::parse(outcome.output)["warnings"];
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_THAT(warnings[0],
              HasSubstr("a model without a model_type is not known: counted as an ordinary decoder"));
  EXPECT_THAT(warnings[1], HasSubstr("does not say the context length"));
}

TEST(CostCommand, WarnsAboutLongContextsAndHugeCaches) {
  const test::TemporaryFolder home;
  Outcome outcome = runCost({"--model", "GPT-2", "--tokens", "2048", "--json"}, home);
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.errors, HasSubstr("GPT-2 was trained on up to 1,024 tokens; computing 2,048 anyway"));
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

TEST(CostCatalogue, AddsAndReplacesCustomMachines) {
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
              testing::ElementsAre("machines.json, entry 3: memory_gb is missing or not a number above 0"));
  const std::pair<std::string, const char*> broken[] = {
      {"{", "machines.json: is not valid JSON at byte 2"},
      {"{}", "machines.json is not a JSON list"},
      {std::string(1'000'000, '['), "machines.json: lists and objects are more than 32 deep"}};
  for (const auto& [text, problem] : broken) {
    test::putFile(home / "machines.json", text);
    EXPECT_THAT(loadCatalogue(home.path()).problems, testing::ElementsAre(HasSubstr(problem)));
  }
}

/// llama.cpp's own logs: n_ctx = 8192 of Llama-3-8B.
TEST(CostCommand, CountsWhatLlamaCppAllocates) {
  const std::vector<std::string> llama{"--model", "Llama-3.1-8B", "--tokens",
                                       "8192",    "--engine",     "llama.cpp"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), llama.begin(), llama.end());
    return costOf(more)["llama_cpp"];
  };
  json cost = with({});
  EXPECT_EQ(cost["key_bytes"], 512 << 20);
  EXPECT_EQ(cost["value_bytes"], 512 << 20);
  // Logged for n_ctx = 2048, 8192 and, of Mistral-7B, which has the same sizes, 32768.
  for (const auto& [tokens, bytes] :
       {std::pair("2048", std::int64_t{271056896}), {"8192", 560 << 20}, {"32768", std::int64_t{2144} << 20}})
    EXPECT_EQ(costOf({"--model", "Llama-3.1-8B", "--tokens", tokens, "--engine", "llama.cpp",
                      "--no-flash-attn"})["llama_cpp"]["compute_bytes"],
              bytes);
  cost = with({"--cache-type-k", "q8_0", "--cache-type-v", "q4_0"});
  EXPECT_EQ(cost["key_bytes"], (512 << 20) / 2 / 32 * 34);
  EXPECT_EQ(cost["value_bytes"], (512 << 20) / 2 / 32 * 18);
  // Window + ubatch in whole 256s.
  const std::vector<std::string> gemma{"--model", "Gemma-3-27B", "--tokens",
                                       "10000",   "--engine",    "llama.cpp"};
  cost = costOf(gemma)["llama_cpp"];
  for (const json& layers : cost["layers"])
    EXPECT_EQ(layers["cells"], layers["kind"] == "window" ? 1536 : 10240);
  std::vector<std::string> full = gemma;
  full.emplace_back("--swa-full");
  for (const json& layers : costOf(full)["llama_cpp"]["layers"]) EXPECT_EQ(layers["cells"], 10240);
  // A latent is stored as keys alone.
  cost = costOf({"--model", "deepseek-v3", "--tokens", "256", "--engine", "llama.cpp"})["llama_cpp"];
  EXPECT_EQ(cost["key_bytes"], 256 * 70272);
  EXPECT_EQ(cost["value_bytes"], 0);
}

TEST(CostCommand, OffloadsLayersThatDoNotFit) {
  const std::vector<std::string> llama{"--model",  "Llama-3.1-70B",   "--tokens", "8192",
                                       "--engine", "llama.cpp",       "--device", "RTX 4090",
                                       "--json",   "--weights-dtype", "q4_k_m"};
  const test::TemporaryFolder home;
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), llama.begin(), llama.end());
    const Outcome outcome = runCost(more, home);
    return std::pair(json::parse(outcome.output)["llama_cpp"], outcome.exitCode);
  };
  const auto [fitted, done] = with({});
  EXPECT_EQ(done, 0);
  const int layers = fitted["gpu_layers"];
  EXPECT_GT(layers, 20);
  EXPECT_LT(layers, 80);
  EXPECT_LE(fitted["gpu_bytes"], 0.9 * 24e9);
  const auto [more, exitCode] = with({"--gpu-layers", std::to_string(layers + 1)});
  EXPECT_EQ(exitCode, 3);
  EXPECT_FALSE(more["fits"]);
  // Each part at the bandwidth of its memory.
  EXPECT_NEAR(
      fitted["decode_seconds"].get<double>(),
      fitted["gpu_bytes_read"].get<double>() / 1008e9 + fitted["system_bytes_read"].get<double>() / 89.6e9,
      1e-9);
  const auto [slow, ignored] = with({"--gpu-layers", "0", "--system-bandwidth", "40"});
  EXPECT_EQ(slow["gpu_bytes"], 0);
  EXPECT_NEAR(slow["decode_seconds"].get<double>(), slow["system_bytes_read"].get<double>() / 40e9, 1e-9);
  const auto [apart, alsoIgnored] = with({"--gpu-layers", "10", "--no-kv-offload"});
  const auto [together, thirdIgnored] = with({"--gpu-layers", "10"});
  EXPECT_NEAR(together["gpu_bytes"].get<double>() - apart["gpu_bytes"].get<double>(), 8192.0 * 327680 / 8, 1);
}

TEST(CostCommand, RefusesWhatLlamaCppRefuses) {
  const test::TemporaryFolder home;
  const auto errors = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--model", "Llama-3.1-8B"});
    return runCost(more, home).errors;
  };
  EXPECT_THAT(errors({"--ubatch", "64"}), HasSubstr("--engine llama.cpp is missing"));
  EXPECT_THAT(errors({"--engine", "llama.cpp", "--cache-type-v", "q4_0", "--no-flash-attn"}),
              HasSubstr("need flash attention"));
  EXPECT_THAT(errors({"--engine", "llama.cpp", "--cache-type-k", "int8"}), HasSubstr("has no such cache"));
  EXPECT_THAT(errors({"--engine", "llama.cpp", "--tensor-parallel", "2"}), HasSubstr("for one GPU"));
}

TEST(CostCommand, PrintsWhatFitsWhere) {
  const json list = costOf({"--model", "Llama-3.1-8B", "--tokens", "8192", "--fits"});
  const auto row = [&](const char* device, const char* weights) {
    for (const json& each : list)
      if (each["device"] == device && each["weights_dtype"] == weights) return each;
    return json();
  };
  EXPECT_EQ(row("RTX 3070", "published")["longest_context"], 0);
  EXPECT_EQ(row("RTX 4090", "published")["fits"], true);
  EXPECT_GT(row("RTX 3070", "q4_k_m")["longest_context"], 1024);
  // A Mac gives its GPU three quarters: beside 16 GB of weights, 1.2 times what is left on an L40S, not 1.5.
  EXPECT_LT(row("M4 Max 64 GB", "published")["longest_context"].get<double>(),
            row("L40S", "published")["longest_context"].get<double>() * 1.3);
  const test::TemporaryFolder home;
  EXPECT_THAT(runCost({"--model", "Llama-3.1-8B", "--tokens", "8192", "--fits"}, home).output,
              HasSubstr("longest context at batch 1"));
}

}  // namespace
}  // namespace headscope::app
