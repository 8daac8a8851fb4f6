// Models that read pictures, from the command line.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "attention/formats/recorded/recorded_attention.h"
#include "test_paths.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/attention/models/vision_files.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using attention::test::VitFolder;
using test::Outcome;
using test::runHeadscope;

std::string failing(const std::vector<std::string>& arguments, int code) {
  const Outcome outcome = runHeadscope(arguments);
  EXPECT_EQ(outcome.exitCode, code) << outcome.output;
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  return outcome.errors;
}

TEST(ModelImage, ReadsImagesAndWritesAttention) {
  const VitFolder vit;
  const test::TemporaryFolder folder;
  const std::string model = vit.path().string(), picture = vit.picture().string(),
                    out = (folder / "out.safetensors").string();
  const Outcome table = runHeadscope({"model", model, "--image", picture});
  EXPECT_EQ(table.exitCode, 0) << table.errors;
  EXPECT_THAT(table.output, HasSubstr("5 tokens: [CLS], then 2 × 2 patches of a picture of 8 × 8 pixels\n"));
  const Outcome written = runHeadscope({"model", model, "--image", picture, "--json", "-o", out});
  ASSERT_EQ(written.exitCode, 0) << written.errors;
  const auto json = nlohmann::json::parse(written.output);
  EXPECT_EQ(json["tokens"], (std::vector<std::string>{"[CLS]", "r0 c0", "r0 c1", "r1 c0", "r1 c1"}));
  EXPECT_EQ(json["patches"]["rows"], 2);
  const auto recorded = attention::RecordedAttention::open(out);
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  EXPECT_EQ(recorded->keys(), 5);
  EXPECT_EQ(recorded->keyTokens()[4], "r1 c1");
  for (const std::string& opened : {model, out}) {
    const auto png = folder / "window.png";
    const Outcome drawn =
        runHeadscope({"render", opened, "--image", picture, "--size", "640x480", "-o", png.string()});
    EXPECT_EQ(drawn.exitCode, 0) << drawn.errors;
    EXPECT_TRUE(std::filesystem::exists(png));
    std::filesystem::remove(png);
  }
}

TEST(ModelImage, PrintsClassesWithProbabilities) {
  const VitFolder vit(3), plain;
  const std::string model = vit.path().string(), picture = vit.picture().string();
  const Outcome table = runHeadscope({"model", model, "--image", picture});
  EXPECT_EQ(table.exitCode, 0) << table.errors;
  EXPECT_THAT(table.output, HasSubstr("\nclasses:  class "));
  const auto json =
      nlohmann::json::parse(runHeadscope({"model", model, "--image", picture, "--json"}).output);
  ASSERT_EQ(json["classes"].size(), 3u);
  double sum = 0;
  for (const auto& one : json["classes"]) sum += one["probability"].get<double>();
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_GE(json["classes"][0]["probability"], json["classes"][1]["probability"]);
  EXPECT_FALSE(json.contains("no_guesses"));
  EXPECT_THAT(runHeadscope({"model", plain.path().string(), "--image", plain.picture().string()}).output,
              HasSubstr("the file has no classifier.weight"));
}

TEST(ModelImage, ReportsMismatchedInputInOneSentence) {
  const VitFolder vit;
  const std::string model = vit.path().string(), picture = vit.picture().string(),
                    text = std::string(HEADSCOPE_TEST_DIR) + "/golden_models/gpt2";
  EXPECT_THAT(failing({"model", model, "--image", picture, "--text", "a"}, 2),
              HasSubstr("expected one of --text T, --text-file F, --ids 464,3290,318 and --image F"));
  EXPECT_THAT(failing({"model", model, "--text", "a"}, 2), HasSubstr("reads pictures, expected --image F"));
  EXPECT_THAT(failing({"model", text, "--image", picture}, 1),
              HasSubstr("reads text, expected a model that reads pictures"));
  EXPECT_THAT(failing({"model", model, "--image", model + "/config.json"}, 1),
              HasSubstr("is not a PNG or JPEG"));
  EXPECT_THAT(failing({"model", model, "--image", picture + "x"}, 1), HasSubstr("fox.pngx"));
  EXPECT_THAT(failing({"render", text, "--image", picture, "-o", "/tmp/x.png"}, 1),
              HasSubstr("fox.png is a picture: open a model that reads pictures first"));
}

}  // namespace
}  // namespace headscope::app
