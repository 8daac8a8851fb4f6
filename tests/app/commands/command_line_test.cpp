// Checks that options written as data are parsed, refused and described.

#include "app/commands/command_line.h"

#include <gtest/gtest.h>

#include "app/commands/commands.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

class CommandLine : public testing::Test {
 protected:
  CommandLine() {
    Command command{"draw", "Draw"};
    command.options = {Option("FILE", "What to draw", &file_, kRequiredFileName),
                       Option("-o,--output OUT", "Where to", &output_),
                       Option("--ids", "Numbers", &ids_),
                       Option("--off", "Words", &off_, {.commas = true}),
                       Option("--theme", "The colours", &theme_, {.words = {"dark", "light"}}),
                       Option("--causal", "A switch with a value", &causal_, {.isSwitch = true}),
                       Option("--size", "A number", &size_, kShown),
                       Option("--heads", "Another", &heads_),
                       Option("--json", "A switch", &json_)};
    command.run = [this] {
      ran_ = true;
      checkRange("--size", size_, 1, 100);
      return kExitDone;
    };
    program_ = {{"headscope", "A program", {Option("SCENE", "A scene", &scene_)}, [] { return 7; }},
                "1.2",
                {command}};
  }
  int run(std::vector<const char*> words) {
    words.insert(words.begin(), "headscope");
    return runCommandLine(program_, static_cast<int>(words.size()), words.data());
  }

  std::string file_, theme_ = "dark", causal_, scene_;
  std::optional<std::string> output_;
  std::vector<Index> ids_;
  std::vector<std::string> off_;
  Index size_ = 5;
  std::optional<Index> heads_;
  bool json_ = false, ran_ = false;
  Program program_;
};

TEST_F(CommandLine, PutsValuesWhereOptionsSay) {
  EXPECT_EQ(
      run({"draw", "a.json", "--ids", "4,5", "--ids", "6", "--off", "1.2,3.4", "--causal", "--heads", "3"}),
      0);
  EXPECT_EQ(file_, "a.json");
  EXPECT_THAT(ids_, ElementsAre(4, 5, 6));
  EXPECT_THAT(off_, ElementsAre("1.2", "3.4"));
  EXPECT_EQ(causal_, "true");
  EXPECT_EQ(heads_, 3);
  EXPECT_EQ(output_, std::nullopt);
  EXPECT_EQ(size_, 5);
  EXPECT_FALSE(json_);
}

TEST_F(CommandLine, RefusesWrongValuesBeforeTheCommandRuns) {
  for (const std::vector<const char*>& words : {std::vector<const char*>{"draw"},
                                                {"draw", ""},
                                                {"draw", "a", "--theme", "blue"},
                                                {"draw", "a", "--ids", "4,"},
                                                {"draw", "a", "--size", "x"},
                                                {"draw", "a", "--jsno"},
                                                {"scene.json", "draw", "a"}})
    EXPECT_EQ(run(words), kExitUsage) << words.back();
  EXPECT_FALSE(ran_);
  EXPECT_EQ(run({"draw", "a", "--size", "101"}), kExitUsage);
  EXPECT_TRUE(ran_);
}

TEST_F(CommandLine, RunsTheProgramWithoutACommand) {
  EXPECT_EQ(run({"scene.json"}), 7);
  EXPECT_EQ(scene_, "scene.json");
}

TEST_F(CommandLine, DescribesOptions) {
  const auto& options = program_.commands.front().options;
  EXPECT_EQ(valueName(options[0]), "FILE");
  EXPECT_THAT(namesOf(options[1]), ElementsAre("-o", "--output"));
  EXPECT_EQ(valueName(options[1]), "OUT");
  EXPECT_EQ(valueName(options[4]), "WORD");
  EXPECT_EQ(valueName(options[5]), "");
  EXPECT_EQ(valueName(options[6]), "INT");
  EXPECT_EQ(valueName(options[8]), "");
  EXPECT_THAT(commandHelp(program_, "draw"), HasSubstr("--size INT=5"));
}

}  // namespace
}  // namespace headscope::app
