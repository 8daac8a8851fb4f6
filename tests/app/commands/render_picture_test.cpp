// `headscope render --what`: figures from the command line.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/app/commands/run_headscope.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

class RenderPicture : public testing::Test {
 protected:
  Outcome render(std::vector<std::string> arguments, const std::string& file) {
    arguments.insert(arguments.begin(), {"render", "-o", (folder_ / file).string()});
    return runHeadscope(arguments);
  }
  /// Expects one sentence, the exit code for wrong usage, and nothing written.
  void expectUsage(const std::vector<std::string>& arguments, const std::string& file,
                   const std::string& part) {
    const Outcome outcome = render(arguments, file);
    EXPECT_EQ(outcome.exitCode, 2) << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr(part));
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
    EXPECT_EQ(folder_.count(), 0u);
  }
  TemporaryFolder folder_;
};

TEST_F(RenderPicture, OpensSceneOfManyTexts) {
  std::ofstream(folder_ / "texts.json")
      << R"({"format": "headscope scene", "version": 2, "subject": {"model": "learned"},
             "compare": {"texts": "examples"}, "cursor": {"page": "model", "model": {"view": "study"}}})";
  const Outcome page = render({(folder_ / "texts.json").string()}, "texts.png");
  EXPECT_EQ(page.exitCode, 0) << page.errors;
}

TEST_F(RenderPicture, FindsLessonsByNameAndExplainsPickles) {
  const Outcome lesson = render({"07-kv-cache", "--what", "heads"}, "lesson.svg");
  EXPECT_EQ(lesson.exitCode, 0) << lesson.errors;
  std::ofstream(folder_ / "attention.pt", std::ios::binary) << "PK\3\4 archive/data.pkl";
  const Outcome pickle = render({(folder_ / "attention.pt").string()}, "pickle.png");
  EXPECT_NE(pickle.exitCode, 0);
  EXPECT_THAT(pickle.errors, HasSubstr("attention.pt"));
  EXPECT_THAT(pickle.errors, testing::Not(HasSubstr("JSON")));
}

TEST_F(RenderPicture, WritesEveryKindAsSvgAndPng) {
  for (const std::string what : {"heads", "head", "mask", "cache", "map", "cost", "page"}) {
    const Outcome svg = render({"--what", what}, what + ".svg");
    EXPECT_EQ(svg.exitCode, 0) << svg.errors;
    EXPECT_THAT(fileText(folder_ / (what + ".svg")), testing::StartsWith("<?xml"));
    const Outcome png = render({"--what", what, "--width", "500", "--theme", "dark"}, what + ".png");
    EXPECT_EQ(png.exitCode, 0) << png.errors;
    EXPECT_EQ(decodePng(fileBytes(folder_ / (what + ".png"))).width, 500);
  }
  EXPECT_THAT(fileText(folder_ / "page.svg"), testing::AllOf(HasSubstr("Head 7"), HasSubstr("Cache bytes")));
}

/// As in a container: EGL finds no driver.
TEST_F(RenderPicture, DrawsTheSameFiguresWithoutOpenGl) {
  for (const std::string what : {"heads", "head", "mask", "cache", "map", "cost", "page"}) {
    ASSERT_EQ(render({"--what", what}, "with.svg").exitCode, 0);
    ::setenv("__EGL_VENDOR_LIBRARY_FILENAMES", "/dev/null", 1);
    const Outcome without = render({"--what", what}, "without.svg");
    const Outcome window = render({}, "window.png");
    ::unsetenv("__EGL_VENDOR_LIBRARY_FILENAMES");
    EXPECT_EQ(without.exitCode, 0) << without.errors;
    EXPECT_EQ(fileText(folder_ / "without.svg"), fileText(folder_ / "with.svg")) << what;
    EXPECT_THAT(window.errors, HasSubstr("needs an OpenGL 3.3 core context"));
  }
}

TEST_F(RenderPicture, WritesTheNumbersOfModelViews) {
  std::ofstream(folder_ / "two.json")
      << R"({"format": "headscope scene", "version": 2, "subject": {"model": "learned"},
             "input": {"text": "When Anna and Ben went to the lake , Ben gave the key to"},
             "compare": {"text": "When Anna and Ben went to the lake , Anna gave the key to"}})";
  const std::string scene = (folder_ / "two.json").string();
  const auto numbers = [&](const char* what) {
    const Outcome outcome = render({scene, "--what", what}, "out.json");
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    return nlohmann::json::parse(fileText(folder_ / "out.json"));
  };
  const auto attribution = numbers("attribution");
  EXPECT_EQ(attribution["answer"], "Anna");
  double sum = 0, ofKeys = 0, ofHead = 0;
  for (const auto& row : attribution["rows"]) {
    if (row["text"] != "A") continue;
    const double value = row["value"];
    (row["key"].is_null() ? sum : ofKeys) += value;
    if (row["key"].is_null() && !row["head"].is_null()) ofHead += value;
  }
  EXPECT_NEAR(sum, attribution["logit_difference"].get<double>(), 1e-4);
  EXPECT_NEAR(ofKeys, ofHead, 1e-4);
  const auto lens = numbers("lens");
  EXPECT_EQ(lens["rows"].size(), 2u * 5 * 14) << "two texts, stops and tokens";
  EXPECT_NEAR(lens["rows"][4 * 14 + 13]["logit_difference"].get<double>(),
              lens["logit_difference"].get<double>(), 1e-4);
  const auto patch = numbers("patch");
  EXPECT_EQ(patch["rows"].size(), 4u * 6 + 5 * 14) << "heads of layers, and the stream's tokens";
  for (const auto& [name, meaning] : patch["definitions"].items())
    EXPECT_TRUE(patch["rows"][0].contains(name)) << name;
  // The same as a table.
  ASSERT_EQ(render({scene, "--what", "patch"}, "out.csv").exitCode, 0);
  const std::string csv = fileText(folder_ / "out.csv");
  EXPECT_THAT(csv, testing::StartsWith("into,piece,layer,at,index,logit_difference,recovered\n"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 4 * 6 + 5 * 14);
  EXPECT_THAT(csv, HasSubstr(patch["rows"][7]["recovered"].dump()));
  EXPECT_THAT(render({"--what", "cost"}, "cost.csv").errors, HasSubstr("headscope cost --json writes costs"));
  EXPECT_THAT(render({scene}, "none.csv").errors, HasSubstr("patch, attribution or lens is missing"));
}

TEST_F(RenderPicture, WritesTheNumbersOfALayer) {
  std::ofstream(folder_ / "scene.json") << R"({"format": "headscope scene", "version": 2,
      "input": {"text": "a \"b\" c d"}, "model": {"heads": 4, "kv_heads": 2, "model_dim": 128}, "mask": {"expression": "causal"}})";
  const std::string scene = (folder_ / "scene.json").string();
  const auto rows = [&](std::vector<std::string> options) {
    options.insert(options.begin(), scene);
    const Outcome outcome = render(options, "out.json");
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    const auto json = nlohmann::json::parse(fileText(folder_ / "out.json"));
    for (const auto& [name, meaning] : json["definitions"].items())
      EXPECT_TRUE(json["rows"][0].contains(name)) << name;
    return json["rows"];
  };
  const auto heads = rows({"--what", "heads"});
  const std::size_t tokens = heads.back()["query"].get<std::size_t>() + 1;
  ASSERT_EQ(heads.size(), 4 * tokens * tokens);
  std::map<std::pair<int, int>, double> sums;
  for (const auto& row : heads) {
    sums[{row["head"], row["query"]}] += row["weight"].get<double>();
    EXPECT_EQ(row["visible"], row["key"] <= row["query"]);
    EXPECT_EQ(row["score"].is_null(), !row["visible"].get<bool>());
  }
  for (const auto& [row, sum] : sums) EXPECT_NEAR(sum, 1, 1e-5);
  const auto one = rows({"--what", "head", "--head", "2"});
  ASSERT_EQ(one.size(), tokens * tokens);
  EXPECT_EQ(one[tokens], heads[2 * tokens * tokens + tokens]);
  EXPECT_EQ(rows({"--what", "mask"}).back()["visible"], true);
  // The cache, by the view of its page.
  const auto growth = rows({"--what", "cache"});
  ASSERT_EQ(growth.size(), tokens);
  EXPECT_EQ(growth[0]["mha_bytes"], 2 * growth[0]["bytes"].get<int>()) << "4 heads share 2 kv heads";
  EXPECT_EQ(growth[2]["bytes"], 3 * growth[0]["bytes"].get<int>());
  for (const auto& row : rows({"--what", "cache", "--view", "precision"}))
    EXPECT_EQ(row["output_error"] == 0, row["format"] == "fp32") << row;
  for (const auto& row : rows({"--what", "cache", "--view", "eviction"}))
    EXPECT_LE(row["entries"].get<int>(), 2 * row["budget"].get<int>());
  EXPECT_EQ(rows({"--what", "cache", "--view", "shapes"})[0]["output_error"], 0) << "MHA is the measure";
  EXPECT_GE(rows({"--what", "cache", "--view", "paging"}).size(), 2u);
  ASSERT_EQ(render({scene, "--what", "heads"}, "out.csv").exitCode, 0);
  EXPECT_THAT(
      fileText(folder_ / "out.csv"),
      StartsWith("head,query,query_token,key,key_token,visible,score,weight\n0,0,\"a\",0,\"a\",true,"));
}

/// Each view of the page Model is a separate figure.
TEST_F(RenderPicture, DrawsEveryModelView) {
  std::ofstream(folder_ / "two.json")
      << R"({"format": "headscope scene", "version": 2, "subject": {"model": "learned"},
             "input": {"text": "When Anna and Ben went to the lake , Ben gave the key to"},
             "compare": {"text": "When Anna and Ben went to the lake , Anna gave the key to"}})";
  const std::pair<const char*, const char*> kViews[] = {{"model", ">weight<"},
                                                        {"patch", ">Output of each head, A into B<"},
                                                        {"attribution", "logit of “Anna”"},
                                                        {"lens", "Top prediction after every layer"}};
  for (const auto& [what, says] : kViews) {
    const std::string file = std::string(what) + ".svg";
    const Outcome drawn = render({(folder_ / "two.json").string(), "--what", what}, file);
    EXPECT_EQ(drawn.exitCode, 0) << drawn.errors;
    const std::string svg = fileText(folder_ / file);
    EXPECT_THAT(svg, HasSubstr(says)) << what;
    EXPECT_THAT(svg, testing::Not(HasSubstr(">Generate<"))) << "no controls";
  }
  const Outcome none = render({"--what", "model"}, "none.svg");
  EXPECT_EQ(none.exitCode, 1);
  EXPECT_THAT(none.errors, HasSubstr("the scene has no model"));
  const Outcome one = render({"learned", "--what", "patch"}, "one.svg");
  EXPECT_EQ(one.exitCode, 1);
  EXPECT_THAT(one.errors, HasSubstr("compare.text is empty"));
}

/// A figure shows what was computed, without controls.
TEST_F(RenderPicture, FiguresHaveNoControls) {
  ASSERT_EQ(render({"--what", "page", "--page", "lessons"}, "lessons.svg").exitCode, 0);
  const std::string lessons = fileText(folder_ / "lessons.svg");
  EXPECT_THAT(lessons, testing::AllOf(HasSubstr("Scaled dot product"), testing::Not(HasSubstr("Start")),
                                      testing::Not(HasSubstr("Search"))));
}

TEST_F(RenderPicture, DrawsTheGivenHeadAndStep) {
  EXPECT_EQ(render({"--what", "head", "--head", "5", "--step", "3"}, "a.svg").exitCode, 0);
  const std::string svg = fileText(folder_ / "a.svg");
  EXPECT_THAT(svg, HasSubstr(">Head 5<"));
  EXPECT_EQ(render({"--head", "5"}, "b.svg").exitCode, 0) << "without --what the page, which is this head";
  EXPECT_THAT(fileText(folder_ / "b.svg"), testing::AllOf(HasSubstr(">Head 5<"), HasSubstr("Cache bytes")));
}

TEST_F(RenderPicture, DrawsTheWindowAsVectorGraphics) {
  const Outcome presented = render({"--page", "model", "--size", "1280x720", "--present"}, "model.pdf");
  EXPECT_EQ(presented.exitCode, 0) << presented.errors;
  EXPECT_THAT(fileText(folder_ / "model.pdf"), testing::StartsWith("%PDF"));
  EXPECT_EQ(render({"--view", "biases"}, "biases.svg").exitCode, 0);
  EXPECT_THAT(fileText(folder_ / "biases.svg"), testing::AllOf(HasSubstr(">Biases<"), HasSubstr(">Undo<")));
  EXPECT_EQ(render({"--what", "window", "--page", "lessons"}, "lessons.svg").exitCode, 0);
  EXPECT_THAT(fileText(folder_ / "lessons.svg"), HasSubstr("width=\"1920\""));
}

TEST_F(RenderPicture, RefusesInvalidOptions) {
  expectUsage({"--what", "everything"}, "a.png", "--what");
  expectUsage({"--what", "head"}, "a.jpg", "expected .png, .svg or .pdf");
  expectUsage({"--what", "head", "--width", "wide"}, "a.png", "--width");
  expectUsage({"--what", "head", "--height", "12cm"}, "a.png", "--height");
  expectUsage({"--what", "head", "--width", "10mm", "--dpi", "nan"}, "a.png", "--dpi");
  expectUsage({"--what", "head", "--scale", "0.5"}, "a.png", "--scale");
  expectUsage({"--what", "head", "--scale", "2", "--width", "100"}, "a.png", "--scale");
  expectUsage({"--what", "head", "--size", "800x600"}, "a.png", "--size");
  expectUsage({"--what", "heads", "--step", "99"}, "a.png", "--step is 99");
  expectUsage({"--width", "500"}, "a.png", "--width");
  expectUsage({"--what", "head", "--head", "8"}, "a.png", "--head");
  const Outcome large = render({"--what", "head", "--width", "900000"}, "a.png");
  EXPECT_EQ(large.exitCode, 1);
  EXPECT_THAT(large.errors, HasSubstr("16,384"));
  EXPECT_EQ(folder_.count(), 0u);
}

}  // namespace
}  // namespace headscope::test
