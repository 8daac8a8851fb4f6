#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "app/scene/links/link.h"
#include "app/scene/scene_json.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

using test::Outcome;
using test::runHeadscope;

/// The one-sentence message of a command that has to fail.
std::string refusal(const std::vector<std::string>& arguments, int exitCode) {
  const Outcome outcome = runHeadscope(arguments);
  EXPECT_EQ(outcome.exitCode, exitCode) << outcome.errors;
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  return outcome.errors;
}

TEST(LinkCommand, PrintedLinkOpensLikeASceneFile) {
  const test::TemporaryFolder folder;
  Scene scene = openingScene();
  scene.setup.input.text = "one two three";
  scene.setup.model.softcap = 3;
  ASSERT_TRUE(writeScene(folder / "s.json", scene).ok());
  const Outcome printed = runHeadscope({"link", (folder / "s.json").string(), "--base", "https://a.org/b"});
  EXPECT_EQ(printed.errors, "");
  EXPECT_THAT(printed.output, StartsWith("https://a.org/b#scene="));
  const std::string link = printed.output.substr(0, printed.output.find('\n'));
  EXPECT_EQ(readLink(link).value(), scene);
  EXPECT_EQ(runHeadscope({"link", link, "--base", "https://a.org/b"}).output, printed.output);

  const std::string commands[][2] = {{"snapshot", "a.safetensors"}, {"render", "a.png"}};
  for (const auto& [command, file] : commands) {
    const Outcome opened = runHeadscope({command, link, "-o", (folder / file).string()});
    EXPECT_EQ(opened.exitCode, 0) << opened.errors;
    EXPECT_TRUE(std::filesystem::exists(folder / file));
  }
  const Outcome lesson = runHeadscope({"link", "--lesson", "06", "--step", "2"});
  EXPECT_EQ(lesson.output, "headscope:#lesson=06&step=2\n");
}

TEST(LinkCommand, ReportsInvalidLinks) {
  const test::TemporaryFolder folder;
  const std::string out = (folder / "a.png").string();
  EXPECT_THAT(refusal({"render", "headscope:#scene=AXja", "-o", out}, 1), HasSubstr("the link is cut off"));
  EXPECT_THAT(refusal({"render", "headscope:#scene=AnjaAwAAAAAB", "-o", out}, 1),
              HasSubstr("a newer Headscope opens it"));
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_THAT(refusal({"link", "--step", "2"}, 2), HasSubstr("--lesson"));
  EXPECT_THAT(refusal({"link", "learned", "--lesson", "06"}, 2),
              HasSubstr("expected a scene or --lesson, not both"));
  EXPECT_THAT(refusal({"link", "--lesson", "../06"}, 1), HasSubstr("expected its id or number"));
  EXPECT_THAT(refusal({"link", "--lesson", "06", "--step", "0"}, 1), HasSubstr("expected 1 to 1000"));
  EXPECT_THAT(refusal({"link", "--base", "a b"}, 1), HasSubstr("expected one without spaces"));
  Scene scene = openingScene();
  scene.cost.config = (folder / "config.json").string();
  ASSERT_TRUE(writeScene(folder / "s.json", scene).ok());
  EXPECT_THAT(refusal({"link", (folder / "s.json").string()}, 1),
              AllOf(HasSubstr("config.json"), HasSubstr("opens no files")));
}

TEST(LinkCommand, WarnsAboutLongLinks) {
  const test::TemporaryFolder folder;
  Scene scene = openingScene();
  std::string text;
  for (int i = 0; i < 1500; ++i) text += "word" + std::to_string(i * 7919 % 10007) + " ";
  scene.setup.input.text = text;
  ASSERT_TRUE(writeScene(folder / "s.json", scene).ok());
  const Outcome printed = runHeadscope({"link", (folder / "s.json").string()});
  EXPECT_EQ(printed.exitCode, 0);
  EXPECT_GT(printed.output.size(), kLongLink);
  EXPECT_THAT(printed.errors, HasSubstr("A file always holds the whole scene"));
}

}  // namespace
}  // namespace headscope::app
