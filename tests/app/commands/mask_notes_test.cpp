// The notes that commands print about the files a scene's masks name.

#include <gtest/gtest.h>

#include "app/scene/scene_json.h"
#include "attention/formats/files/file_io.h"
#include "attention/masks/expression.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using test::Outcome;
using test::runHeadscope;

TEST(MaskNotes, ReportsLargeNegativesReadAsMasked) {
  const test::TemporaryFolder folder;
  const fs::path mask = folder / "added.csv";
  ASSERT_TRUE(attention::writeFile(mask, std::string("0,-1e9,-1e9\n0,0,-1e4\n0.5,0,0\n")).ok());
  Scene scene = openingScene();
  scene.setup.input.text = "a b c";
  scene.setup.mask.layers = attention::parseMask("file(\"" + mask.string() + "\", additive)").layers;
  const std::string path = (folder / "a.json").string();
  ASSERT_TRUE(writeScene(path, scene).ok());
  const std::string out = (folder / "out.safetensors").string();
  const auto says = AllOf(HasSubstr(mask.string() + ": 3 finite numbers of -1e4 or less are read as masked"),
                          HasSubstr("holds finite numbers besides -inf"));
  const std::string picture = (folder / "a.png").string(), figure = (folder / "a.svg").string();
  for (const std::vector<std::string>& command : {std::vector<std::string>{"snapshot", path, "-o", out},
                                                  {"render", path, "-o", picture, "--size", "640x400"},
                                                  {"render", path, "-o", figure, "--what", "mask"}}) {
    const Outcome outcome = runHeadscope(command);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    EXPECT_THAT(outcome.errors, says) << command.front();
  }
  ASSERT_TRUE(attention::writeFile(mask, std::string("0,-inf,-inf\n0,0,-inf\n0,0,0\n")).ok());
  EXPECT_EQ(runHeadscope({"snapshot", path, "-o", out}).errors, "");
}

}  // namespace
}  // namespace headscope::app
