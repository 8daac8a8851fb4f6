#include <gtest/gtest.h>

#include <fstream>

#include "tests/app/commands/run_headscope.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

class LessonCommand : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& claim) {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path)
        << R"J({"format": "headscope lesson", "version": 1, "id": "a", "title": "A lesson", "steps": [
      {"id": "one", "title": "One", "text": "{W[0][7][6]:.2}", "claims": ["visible==78", ")J"
        << claim << R"J("], "question": {"ask": "?", "options": [
       {"text": "x", "true_if": "0"}, {"text": "y", "true_if": "1"}]}}]})J";
    return path;
  }
  TemporaryFolder folder_;
};

TEST_F(LessonCommand, ChecksClaimsAndQuestions) {
  const Outcome good = runHeadscope({"lesson", "--check", write("good.json", "n==12")});
  EXPECT_EQ(good.exitCode, 0) << good.errors;
  EXPECT_EQ(
      good.output,
      "good.json: A lesson\n  one: 2 claims, B of 2 is right\n  1 step, 2 claims, 1 question: all hold\n");
}

TEST_F(LessonCommand, ReportsFailedClaimsWithFoundValues) {
  const Outcome bad =
      runHeadscope({"lesson", "--check", write("bad.json", "visible==77"), write("good.json", "n==12")});
  EXPECT_EQ(bad.exitCode, 1);
  EXPECT_THAT(
      bad.output,
      HasSubstr("  one: 2 claims, 1 wrong, B of 2 is right\n    visible==77 does not hold; found 78\n"));
  EXPECT_THAT(bad.output, HasSubstr("1 question: 1 wrong\ngood.json"));
  EXPECT_THAT(bad.output, HasSubstr("all hold"));
}

TEST_F(LessonCommand, RefusesInvalidLessons) {
  std::ofstream(folder_.path() / "none.json") << "{\n\"format\": 3}";
  const Outcome none = runHeadscope(
      {"lesson", "--check", (folder_.path() / "none.json").string(), write("good.json", "n==12")});
  EXPECT_EQ(none.exitCode, 1);
  EXPECT_THAT(none.errors, HasSubstr("none.json, line 2: format is 3, expected text"));
  EXPECT_THAT(none.output, HasSubstr("good.json"));
  const Outcome gone = runHeadscope({"lesson", (folder_.path() / "gone.json").string()});
  EXPECT_EQ(gone.exitCode, 1);
  EXPECT_THAT(gone.errors, HasSubstr("gone.json"));
  EXPECT_EQ(runHeadscope({"lesson"}).exitCode, 2);
  EXPECT_EQ(runHeadscope({"lesson", "a.json", "b.json"}).exitCode, 2);
}

TEST_F(LessonCommand, EvaluatesExpressions) {
  const std::string file = write("good.json", "n==12");
  const Outcome shown = runHeadscope({"lesson", file, "--show", "W[1][11][8:]*0 + visible", "--step", "one"});
  EXPECT_EQ(shown.exitCode, 0) << shown.errors;
  EXPECT_EQ(shown.output, "[78, 78, 78, 78]\n");
  EXPECT_EQ(runHeadscope({"lesson", file, "--show", "1+"}).exitCode, 2);
  EXPECT_EQ(runHeadscope({"lesson", file, "--show", "1", "--step", "two"}).exitCode, 2);
  const Outcome wrong = runHeadscope({"lesson", file, "--show", "W[99]"});
  EXPECT_EQ(wrong.exitCode, 1);
  EXPECT_THAT(wrong.errors, HasSubstr("out of range"));
  EXPECT_THAT(runHeadscope({"lesson", "--names"}).output, HasSubstr("| `W` | `[heads, n, m]` |"));
}

}  // namespace
}  // namespace headscope::test
