#include "tests/bench/measure/bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/app/commands/run_headscope.h"
#include "tests/bench/measure/growth.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

using nlohmann::json;
using test::Outcome;
using test::runMeasure;

const std::vector<std::string> kSmallBench{
    "bench",    "--model-dim", "32", "--heads",      "4",   "--kv-heads", "2", "--tokens", "24",
    "--causal", "--cached",    "64", "--map-tokens", "300", "--rounds",   "2"};

Outcome bench(std::vector<std::string> more) {
  more.insert(more.begin(), kSmallBench.begin(), kSmallBench.end());
  return runMeasure(more);
}

TEST(BenchMedian, ReturnsTheMiddleValue) {
  EXPECT_EQ(medianOf({}), 0);
  EXPECT_EQ(medianOf({3}), 3);
  EXPECT_EQ(medianOf({9, 1, 5}), 5);
  EXPECT_EQ(medianOf({8, 1, 2, 4}), 3);
}

TEST(BenchGrowth, FitsExponentToUpperHalf) {
  std::vector<PlotPoint> points;
  for (double x = 16; x <= 4096; x *= 2) points.push_back({x, 3e-9 * x * x + (x < 200 ? 1 : 0)});
  EXPECT_NEAR(fittedExponent(points), 2, 1e-6) << "what doesn't grow is at the small sizes";
  EXPECT_EQ(fittedExponent({{1, 1}, {2, 2}}), 0);
  EXPECT_EQ(fittedExponent({}), 0);
}

TEST(BenchGrowth, MeasuresUpToGivenLengthAndDrawsFigure) {
  test::TemporaryFolder folder;
  const std::string file = (folder / "growth.svg").string();
  const Outcome outcome =
      runMeasure({"bench", "--growth", "128", "--only", "forward,decode,map", "-o", file});
  ASSERT_EQ(outcome.exitCode, 0) << outcome.errors;
  for (const char* line : {"forward, all weights", "forward, output alone", "decode step", "exact overview"})
    EXPECT_THAT(outcome.output, HasSubstr(line));
  const std::string svg = test::fileText(file);
  for (const char* words : {"Seconds by tokens, 8 heads", "Bytes by tokens", "Seconds by heads, 128 tokens"})
    EXPECT_THAT(svg, HasSubstr(words));
  EXPECT_EQ(runMeasure({"bench", "-o", file}).exitCode, 2);
  EXPECT_EQ(runMeasure({"bench", "--growth", "1"}).exitCode, 2);
}

TEST(BenchThreads, ListsPowersOfTwoThreadCounts) {
  std::vector<std::string> words = kSmallBench;
  words.insert(words.end(), {"--by-threads", "--only", "forward,decode,map"});
  const Outcome outcome = runMeasure(words, "export HEADSCOPE_THREADS=5; ");
  ASSERT_EQ(outcome.exitCode, 0) << outcome.errors;
  for (const char* name :
       {"forward, all weights stored", "forward, output alone", "decode step over the cache",
        "overview, exact", "ceiling of multiply-adds", "ceiling of reading"})
    for (const char* threads : {"1", "2", "4"})
      EXPECT_THAT(outcome.output, HasSubstr(std::string("| ") + name + " | " + threads + " | "));
  EXPECT_THAT(outcome.output, testing::Not(HasSubstr(" | 5 | ")));
}

TEST(BenchThreads, ShowsSpeedupOverOneThread) {
  ThreadsTable table;
  table.rows = {{"forward", 4, 0.01, 3, 0.6, 0.91, 0.97, 7},
                {"ceiling of reading", 2, 0.01, 1.5, 0, 0, 0, 0}};
  const std::string text = threadsText(table);
  EXPECT_THAT(text, HasSubstr("| forward | 4 | 10 ms | 3.00× | 75 % | 60 % | 91–97 % | 7 |\n"));
  EXPECT_THAT(text, HasSubstr("| ceiling of reading | 2 | – | 1.50× | 75 % | – | – | – |\n"));
}

/// Multiply-adds counted one by one.
TEST(BenchWork, FlopCountMatchesDefinition) {
  BenchShape shape;
  shape.config.modelDim = 6;
  shape.config.heads = 4;
  shape.config.kvHeads = 2;
  shape.config.headDim = 3;
  shape.tokens = 5;
  for (const bool causal : {false, true}) {
    shape.causal = causal;
    double multiplyAdds = 5 * 6 * (4 * 3 + 2 * 2 * 3) + 5 * (4 * 3) * 6;
    for (int head = 0; head < 4; ++head)
      for (int query = 0; query < 5; ++query)
        for (int key = 0; key < 5; ++key)
          if (!causal || key <= query) multiplyAdds += 3 + 3;
    EXPECT_EQ(forwardFlop(shape), 2 * multiplyAdds) << causal;
  }
}

BenchReport sampleReport() {
  BenchReport report;
  report.title = "modelDim 64";
  report.shape.emplace().config.modelDim = 64;
  report.rounds = 3;
  report.ceilings = {2e11, 4e10};
  report.rows = {{{"forward", "forward, output alone", {BenchWork::Kind::flop, 1e9}}, 0.01, 0.009, 0.02, 0.5},
                 {{"decode", "decode step", {BenchWork::Kind::bytes, 2e7}}, 0.001, 0.0005, 0.002, 0.5},
                 {{"pan", "frame with the head moved", {}}, 0.0123, 0.01, 0.1, 0}};
  report.peakBytes = 1 << 20;
  return report;
}

TEST(BenchReportText, TableShowsEveryColumn) {
  const std::string table = benchTable(sampleReport());
  EXPECT_THAT(table, HasSubstr("modelDim 64"));
  EXPECT_THAT(table, HasSubstr("10.0 ms    9.00 ms    20.0 ms    100 GFLOP/s    50.0 %\n"));
  EXPECT_THAT(table, HasSubstr("1.00 ms   0.500 ms    2.00 ms      20.0 GB/s    50.0 %\n"));
  EXPECT_THAT(table, HasSubstr("12.3 ms    10.0 ms     100 ms\n"));
  EXPECT_THAT(table, HasSubstr("peak memory: 1 MiB\n"));
}

TEST(BenchReportText, JsonMatchesTheTable) {
  BenchReport report = sampleReport();
  report.omitted = "no OpenGL";
  const json parsed = json::parse(benchJson(report));
  EXPECT_EQ(parsed["format"], "headscope bench");
  EXPECT_EQ(parsed["shape"]["model_dim"], 64);
  EXPECT_EQ(parsed["ceilings"]["bytes_per_second"], 4e10);
  EXPECT_EQ(parsed["rows"][0]["flop_per_second"], 1e11);
  EXPECT_EQ(parsed["rows"][1]["bytes_per_second"], 2e10);
  EXPECT_FALSE(parsed["rows"][2].contains("share"));
  EXPECT_EQ(parsed["left_out"]["window"], "no OpenGL");
  EXPECT_THAT(benchTable(report), HasSubstr("The window was not measured: no OpenGL\n"));
}

TEST(BenchCommand, MeasuresEveryRow) {
  const Outcome outcome = bench({"--json"});
  ASSERT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  const json parsed = json::parse(outcome.output);
  std::vector<std::string> names;
  for (const json& row : parsed["rows"]) {
    const std::string name = row["name"];
    names.push_back(name);
    for (const char* key : {"seconds", "fastest", "slowest"}) {
      EXPECT_TRUE(std::isfinite(row[key].get<double>())) << name;
      EXPECT_GT(row[key], 0) << name << " " << key;
    }
    EXPECT_LE(row["fastest"], row["seconds"]) << name;
    EXPECT_LE(row["seconds"], row["slowest"]) << name;
    if (row.contains("share")) {
      EXPECT_GT(row["share"], 0) << name;
    }
  }
  EXPECT_THAT(names, testing::ElementsAre("forward_weights", "forward", "decode", "tile", "tile_first",
                                          "preview", "overview", "first_picture", "slider_compute",
                                          "slider_upload", "slider_draw", "slider_to_pixels", "slider_frame",
                                          "slider_beside_map", "head_change", "range_change", "pan"));
  EXPECT_GT(parsed["ceilings"]["flop_per_second"], 0);
  EXPECT_GT(parsed["ceilings"]["bytes_per_second"], 0);
  EXPECT_GT(parsed["peak_memory_bytes"], 1 << 20);
}

TEST(BenchCommand, MeasuresSelectedParts) {
  const Outcome outcome = bench({"--only", "decode,forward"});
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("decode step over the cache"));
  EXPECT_THAT(outcome.output, HasSubstr("forward, all weights stored"));
  EXPECT_THAT(outcome.output, testing::Not(HasSubstr("tile")));
  EXPECT_THAT(outcome.output, testing::Not(HasSubstr("slider")));
}

TEST(BenchCommand, CountsCacheBytesByNumberFormat) {
  double fp32 = 0;
  for (const std::string type : {"fp32", "fp16", "bf16"}) {
    const Outcome outcome = bench({"--only", "decode", "--cached-as", type, "--json"});
    ASSERT_EQ(outcome.exitCode, 0) << outcome.errors;
    const auto json = nlohmann::json::parse(outcome.output);
    EXPECT_EQ(json["shape"]["cached_as"], type);
    const double bytes = json["rows"][0]["bytes"];
    if (type == "fp32") fp32 = bytes;
    EXPECT_EQ(bytes, type == "fp32" ? fp32 : fp32 / 2);
  }
}

TEST(BenchCommand, SkipsWindowWhenTextIsTooLong) {
  const Outcome outcome = runMeasure({"bench", "--model-dim", "16", "--heads", "1", "--tokens", "2049",
                                      "--cached", "8", "--map-tokens", "32", "--rounds", "1"});
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("The window was not measured: "));
  EXPECT_THAT(outcome.output, HasSubstr("2049"));
  EXPECT_THAT(outcome.output, HasSubstr("forward, all weights stored"));
}

TEST(BenchCommand, WrongUsageExitsWithCode2) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"--model-dim", "0"}, "--model-dim is 0"},
      {{"--tokens", "-3"}, "--tokens is -3"},
      {{"--tokens", "many"}, "--tokens"},
      {{"--heads", "3"}, "--heads 3 doesn't divide"},
      {{"--kv-heads", "3"}, "3"},
      {{"--rounds", "0"}, "--rounds is 0"},
      {{"--cached-as", "int4"}, "--cached-as"},
      {{"--only", "everything"}, "--only"},
      {{"--cached", "99999999999"}, "--cached"},
      {{"--head-dim", "0"}, "--head-dim is 0"},
      {{"--map-tokens", "1e9"}, "--map-tokens"}};
  for (const auto& [options, part] : wrong) {
    std::vector<std::string> arguments{"bench"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = runMeasure(arguments);
    EXPECT_EQ(outcome.exitCode, 2) << part;
    EXPECT_EQ(outcome.output, "");
    EXPECT_THAT(outcome.errors, testing::AllOf(StartsWith("headscope: "), HasSubstr(part)));
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  }
}

TEST(BenchCommand, RefusesSizesOverBudget) {
  const Outcome outcome = runMeasure({"bench", "--tokens", "200000", "--only", "forward"});
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.errors, HasSubstr("the budget is"));
}

TEST(BenchCommand, ReportsFullDevice) {
  const Outcome outcome = runMeasure(
      {"bench", "--model-dim", "8", "--heads", "1", "--only", "decode", "--cached", "8", "--rounds", "1"}, "",
      ">/dev/full");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.errors, HasSubstr("standard output"));
}

}  // namespace
}  // namespace headscope::app
