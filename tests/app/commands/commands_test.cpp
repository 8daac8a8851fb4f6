#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "app/compute/layer/snapshot.h"
#include "app/scene/mask_rules.h"
#include "app/scene/scene_json.h"
#include "attention/models/layers/attention_file.h"
#include "attention/text/tokenizer.h"
#include "render/image.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using test::Outcome;
using test::runHeadscope;

class Commands : public testing::Test {
 protected:
  /// Expects one sentence on standard error, nothing on standard output, and no file written.
  void expectFailure(const Outcome& outcome, int exitCode, const std::string& part) {
    EXPECT_EQ(outcome.exitCode, exitCode) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
    EXPECT_THAT(outcome.errors, AllOf(StartsWith("headscope: "), HasSubstr(part)));
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
    EXPECT_EQ(outcome.errors.back(), '\n');
    EXPECT_LE(outcome.errors.size(), 400u);
    EXPECT_FALSE(fs::exists(out_)) << "something was written";
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      EXPECT_TRUE(entry.path().extension() == ".json" || entry.path().filename() == "old.png")
          << entry.path() << " was left behind";
  }
  std::string put(const std::string& name, const Scene& scene) {
    EXPECT_TRUE(writeScene(folder_ / name, scene).ok());
    return (folder_ / name).string();
  }

  test::TemporaryFolder folder_;
  fs::path out_ = folder_ / "out";
};

/// A file that isn't a library stands for a system without OpenGL.
TEST_F(Commands, MissingOpenGlIsOneSentence) {
  fs::create_directory(folder_ / "lib.json");
  test::putFile(folder_ / "lib.json/libGL.so.1", "");
  expectFailure(runHeadscope({"render", "-o", out_.string()},
                             "export LD_LIBRARY_PATH='" + (folder_ / "lib.json").string() + "'; "),
                1, "OpenGL can't be loaded");
}

TEST_F(Commands, HelpListsEveryCommandAndOption) {
  const Outcome help = runHeadscope({"--help"});
  EXPECT_EQ(help.exitCode, 0);
  EXPECT_EQ(help.errors, "");
  for (const char* command : {"render", "attend", "snapshot", "scene", "cost", "--version"})
    EXPECT_THAT(help.output, HasSubstr(command));
  const Outcome render = runHeadscope({"render", "--help"});
  EXPECT_EQ(render.exitCode, 0);
  for (const char* option : {"--output", "--size", "--scale", "--theme", "--head", "--step"})
    EXPECT_THAT(render.output, HasSubstr(option));
}

TEST_F(Commands, PrintsVersionNumber) {
  const Outcome outcome = runHeadscope({"--version"});
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_THAT(outcome.output, testing::MatchesRegex("headscope [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(Commands, WrongUsageExitsWithCode2) {
  const std::string out = out_.string();
  expectFailure(runHeadscope({"--bogus"}), 2, "--bogus");
  expectFailure(runHeadscope({"scene", "extra"}), 2, "extra");
  expectFailure(runHeadscope({"scene", "--bogus"}), 2, "--bogus");
  expectFailure(runHeadscope({"render"}), 2, "--output");
  expectFailure(runHeadscope({"render", "-o"}), 2, "--output");
  expectFailure(runHeadscope({"render", "-o", out, "--bogus"}), 2, "--bogus");
  expectFailure(runHeadscope({"render", "-o", out, "a.json", "b.json"}), 2, "b.json");
  expectFailure(runHeadscope({"snapshot"}), 2, "--output");
  expectFailure(runHeadscope({"snapshot", "-o", out, "--size", "1x1"}), 2, "--size");
  for (const char* size :
       {"", "1920", "1920x", "x1080", "1920X1080", "1920x1080x2", "-1920x1080", "1e3x1e3", "0x0", "319x240",
        "320x239", "16385x1080", "99999999999x99999999999", "1920 x 1080"})
    expectFailure(runHeadscope({"render", "-o", out, "--size", size}), 2, "--size");
  for (const char* scale : {"nan", "inf", "-1", "0", "0.4", "5", "big"})
    expectFailure(runHeadscope({"render", "-o", out, "--scale", scale}), 2, "--scale");
  for (const char* head : {"8", "-1", "99999999999999999999", "first", "1.5"})
    expectFailure(runHeadscope({"render", "-o", out, "--head", head}), 2, "--head");
  for (const char* step : {"0", "-3", "x"})
    expectFailure(runHeadscope({"render", "-o", out, "--step", step}), 2, "--step");
  expectFailure(runHeadscope({"render", "-o", out, "--step", "3", "--page", "mask"}), 2, "shows no decode");
  expectFailure(runHeadscope({"render", "-o", out, "--theme", "blue"}), 2, "--theme");
  expectFailure(runHeadscope({"render", "-o", out, "--page", "cellar"}), 2, "--page");
  expectFailure(runHeadscope({"render", "-o", out, "--view", "attic"}), 2, "--view");
  expectFailure(runHeadscope({"a.json", "render", "-o", out}), 2, "a.json");
}

/// An empty name comes from a script with an empty variable; it is never meant as the opening scene.
TEST_F(Commands, EmptyNameIsWrongUsage) {
  const std::string out = out_.string(), empty = "the name is empty";
  for (const char* command : {"render", "snapshot", "attend"}) {
    expectFailure(runHeadscope({command, "", "-o", out}), 2, empty);
    expectFailure(runHeadscope({command, "in", "-o", ""}), 2, empty);
  }
  expectFailure(runHeadscope({"view", ""}), 2, empty);
  expectFailure(runHeadscope({"mask", "full", "--queries", "2", "-o", ""}), 2, empty);
  expectFailure(runHeadscope({""}), 2, empty);
}

/// A file's name must not control the terminal or look like another message.
TEST_F(Commands, MessagesEscapeFileNames) {
  const std::string name = "a\x1B[31m\x9B\xC2\x9B\nheadscope: b\x7F.json",
                    shown = "a\\x1b[31m\\x9b\\xc2\\x9b\\x0aheadscope: b\\x7f.json";
  const std::string path = (folder_ / name).string();
  for (const char* command : {"render", "snapshot", "attend"})
    expectFailure(runHeadscope({command, path, "-o", out_.string()}), 1, shown + ": cannot be opened");
  expectFailure(runHeadscope({"view", path}), 1, shown + ": cannot be opened");
  expectFailure(runHeadscope({"snapshot", "-o", (folder_ / "none" / name).string()}), 1,
                shown + ": cannot be written");
  test::putFile(folder_ / name, "{");
  expectFailure(runHeadscope({"snapshot", path, "-o", out_.string()}), 1, shown + ": this is not JSON");
  expectFailure(runHeadscope({"attend", path, "-o", out_.string()}), 1, shown + ": is 1 bytes");
  const Outcome wrong = runHeadscope({"--a\x1B[31m"});
  EXPECT_EQ(wrong.exitCode, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("--a\\x1b[31m"));
}

TEST_F(Commands, HelpAndVersionReportFullDevice) {
  for (const char* word : {"--help", "--version"})
    expectFailure(runHeadscope({word}, "", ">/dev/full"), 1, "standard output can't be written");
  expectFailure(runHeadscope({"mask", "--help"}, "", ">/dev/full"), 1, "standard output can't be written");
}

TEST_F(Commands, ReportsUnreadableScenes) {
  const std::string out = out_.string(), none = (folder_ / "none.json").string();
  const std::vector<std::vector<std::string>> commands{{"render", "-o", out}, {"snapshot", "-o", out}, {}};
  test::putFile(folder_ / "broken.json", "{\"format\": 1e999}");
  for (std::vector<std::string> command : commands) {
    command.push_back(none);
    expectFailure(runHeadscope(command), 1, "none.json: cannot be opened");
    command.back() = (folder_ / "broken.json").string();
    expectFailure(runHeadscope(command), 1, "broken.json: ");
    command.back() = folder_.path().string();
    expectFailure(runHeadscope(command), 1, "config.json");
  }
}

TEST_F(Commands, ReportsFailedComputations) {
  Scene scene = openingScene();
  scene.setup.weights.source = WeightSource::file;
  scene.setup.weights.file = "gone.safetensors";
  const std::string path = put("a.json", scene);
  for (const char* command : {"render", "snapshot"})
    expectFailure(runHeadscope({command, path, "-o", out_.string()}), 1,
                  "gone.safetensors: cannot be opened");
  scene = openingScene();
  scene.setup.input.text = " \n";
  expectFailure(runHeadscope({"snapshot", put("b.json", scene), "-o", out_.string()}), 1, "no tokens");
}

TEST_F(Commands, ReportsUnwritableOutput) {
  const std::string missing = (folder_ / "none/out").string();
  for (const char* command : {"render", "snapshot"}) {
    expectFailure(runHeadscope({command, "-o", missing}), 1,
                  "none/out: cannot be written: No such file or directory");
    expectFailure(runHeadscope({command, "-o", folder_.path().string()}), 1, "is a directory");
    expectFailure(runHeadscope({command, "-o", "/dev/full"}), 1, "/dev/full: is a device");
    // A file system that nobody can write to, not even root.
    expectFailure(runHeadscope({command, "-o", "/proc/out"}), 1, "/proc/out: cannot be written");
    if (::geteuid() != 0) {
      fs::create_directories(folder_ / "locked.json");
      fs::permissions(folder_ / "locked.json", fs::perms::owner_read | fs::perms::owner_exec);
      expectFailure(runHeadscope({command, "-o", (folder_ / "locked.json/out").string()}), 1,
                    "Permission denied");
    }
  }
}

/// The shell's limit on file sizes, in blocks of at most 1024 bytes, simulates a full disk. Its signal would
/// end the program without a message.
TEST_F(Commands, FullDiskLeavesExistingFile) {
  for (const auto& [command, file] : {std::pair("render", "old.png"), {"snapshot", "old.json"}}) {
    test::putFile(folder_ / file, "old");
    expectFailure(runHeadscope({command, "-o", (folder_ / file).string()}, "ulimit -f 1; "), 1,
                  file + std::string(": cannot be written: File too large"));
    EXPECT_EQ(test::fileText(folder_ / file), "old");
    fs::remove(folder_ / file);
    EXPECT_EQ(folder_.count(), 0u) << "something was left behind";
  }
}

#ifndef HEADSCOPE_SANITIZE_BUILD  // sanitizers' shadow memory exceeds any such limit
TEST_F(Commands, DrawingReportsInsufficientMemory) {
  const std::string sentence = "more than its limit (ulimit -v) leaves";
  expectFailure(runHeadscope({}, "ulimit -v 500000; "), 1, sentence);
  // Whatever the limit, the result is a picture or one sentence.
  for (int limit = 300'000; limit <= 1'000'000; limit += 50'000) {
    const Outcome outcome =
        runHeadscope({"render", "-o", out_.string()}, "ulimit -v " + std::to_string(limit) + "; ");
    if (outcome.exitCode != 0) expectFailure(outcome, 1, sentence);
    EXPECT_EQ(outcome.exitCode == 0, fs::exists(out_)) << limit;
    fs::remove(out_);
  }
}
#endif

TEST_F(Commands, ScenePrintsTheOpeningScene) {
  const Outcome outcome = runHeadscope({"scene"});
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(outcome.output, formatScene(openingScene()));
  const auto scene = parseScene(outcome.output, "a.json");
  ASSERT_TRUE(scene.ok()) << scene.error().message;
  EXPECT_EQ(*scene, openingScene());
}

TEST_F(Commands, SceneReportsFullDevice) {
  const Outcome outcome = runHeadscope({"scene"}, "", ">/dev/full");
  expectFailure(outcome, 1, "standard output");
}

/// Without a display there is no window, and one sentence says so.
TEST_F(Commands, ReportsMissingDisplay) {
  const Outcome outcome = runHeadscope({});
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.errors, StartsWith("headscope: "));
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
}

class RenderCommand : public Commands {
 protected:
  render::Image rendered(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "render");
    arguments.insert(arguments.end(), {"-o", out_.string()});
    const Outcome outcome = runHeadscope(arguments);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    EXPECT_EQ(outcome.output + outcome.errors, "");
    return test::decodePng(test::fileBytes(out_));
  }
  /// The number of pixels in which two pictures of the same size differ.
  static std::size_t difference(const render::Image& a, const render::Image& b) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.rgba.size(); i += 4)
      count += !std::equal(a.rgba.begin() + static_cast<std::ptrdiff_t>(i),
                           a.rgba.begin() + static_cast<std::ptrdiff_t>(i + 4),
                           b.rgba.begin() + static_cast<std::ptrdiff_t>(i));
    return count;
  }
};

TEST_F(RenderCommand, WritesPictureOfExactSize) {
  for (const auto& [size, width, height] : {std::tuple{"640x480", 640, 480}, {"321x241", 321, 241}}) {
    const render::Image image = rendered({"--size", size});
    EXPECT_EQ(image.width, width);
    EXPECT_EQ(image.height, height);
  }
  const render::Image image = rendered({});
  EXPECT_EQ(image.width, 1920);
  EXPECT_EQ(image.height, 1080);
  EXPECT_EQ(folder_.count(), 1u) << "something else was left behind";
}

TEST_F(RenderCommand, WritesTheSameBytesEveryTime) {
  rendered({"--size", "800x600"});
  const std::string once = test::fileText(out_);
  rendered({"--size", "800x600"});
  EXPECT_EQ(test::fileText(out_), once);
}

TEST_F(RenderCommand, EveryOptionChangesThePicture) {
  const std::string size = "1000x700";
  const render::Image plain = rendered({"--size", size});
  const std::vector<std::vector<std::string>> options{{"--theme", "light"}, {"--head", "3"},
                                                      {"--step", "5"},      {"--scale", "1.5"},
                                                      {"--page", "mask"},   {"--room", "compare"}};
  for (std::vector<std::string> option : options) {
    const std::string name = option[0];
    option.insert(option.end(), {"--size", size});
    EXPECT_GT(difference(rendered(option), plain), 1000u) << name;
  }
  EXPECT_EQ(difference(rendered({"--size", size, "--theme", "dark"}), plain), 0u);
}

TEST_F(RenderCommand, RefusesStepWithoutCausalMask) {
  Scene scene = openingScene();
  scene.setup.mask.layers = layersOf({.causal = false});
  const Outcome outcome =
      runHeadscope({"render", put("open.json", scene), "--step", "3", "-o", out_.string()});
  EXPECT_EQ(outcome.exitCode, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("--step"));
}

TEST_F(RenderCommand, DrawsTheSceneFromTheFile) {
  const std::string same = put("same.json", openingScene());
  Scene other = openingScene();
  other.setup.mask.layers = layersOf({.causal = false});
  const render::Image opening = rendered({"--size", "800x600"});
  EXPECT_GT(difference(rendered({"--size", "800x600", put("other.json", other)}), opening), 1000u);
  // The file's name is shown, so the pictures differ slightly.
  const std::size_t name = difference(rendered({"--size", "800x600", same}), opening);
  EXPECT_LT(name, 800u * 600u / 50u);
  // An empty text gives a picture too.
  other.setup.input.text = "";
  EXPECT_EQ(rendered({"--size", "400x300", put("empty.json", other)}).width, 400);
}

class SnapshotCommand : public Commands {
 protected:
  attention::SafetensorsFile written(const Scene& scene) {
    const Outcome outcome = runHeadscope({"snapshot", put("a.json", scene), "-o", out_.string()});
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    EXPECT_EQ(outcome.output + outcome.errors, "");
    const auto file = test::readSafetensors(out_);
    EXPECT_TRUE(file.ok()) << file.error().message;
    return file.ok() ? *file : attention::SafetensorsFile{};
  }
  static std::vector<std::string> shapesOf(const attention::SafetensorsFile& file) {
    std::vector<std::string> shapes;
    for (const auto& [name, tensor] : file.tensors)
      shapes.push_back(name + " " + attention::shapeText(tensor.shape));
    return shapes;
  }
};

TEST_F(SnapshotCommand, WritesArraysInExpectedShapes) {
  Scene scene = openingScene();
  scene.setup.input.text = "one two three";
  EXPECT_THAT(shapesOf(written(scene)),
              ElementsAre("head_output [8, 3, 32]", "k [2, 3, 32]", "k_proj.weight [64, 256]", "lse [8, 3]",
                          "mask [8, 3, 3]", "o_proj.weight [256, 256]", "output [3, 256]", "q [8, 3, 32]",
                          "q_proj.weight [256, 256]", "scores [8, 3, 3]", "v [2, 3, 32]",
                          "v_proj.weight [64, 256]", "weights [8, 3, 3]", "x [3, 256]"));
  scene.setup.input.text = "one two three\nfour\n";
  EXPECT_THAT(
      shapesOf(written(scene)),
      ElementsAre("head_output [2, 8, 3, 32]", "k [2, 2, 3, 32]", "k_proj.weight [64, 256]", "lse [2, 8, 3]",
                  "mask [2, 8, 3, 3]", "o_proj.weight [256, 256]", "output [2, 3, 256]", "q [2, 8, 3, 32]",
                  "q_proj.weight [256, 256]", "scores [2, 8, 3, 3]", "v [2, 2, 3, 32]",
                  "v_proj.weight [64, 256]", "weights [2, 8, 3, 3]", "x [2, 3, 256]"));
}

TEST_F(SnapshotCommand, MatchesComputedSnapshot) {
  for (const char* text : {"The animal didn't cross the street .", "one two three\nfour\nfive six"}) {
    Scene scene = openingScene();
    scene.setup.input.text = text;
    scene.setup.model.position = PositionKind::rope;
    scene.setup.weights.source = WeightSource::random;
    const attention::SafetensorsFile file = written(scene);
    std::vector<attention::AttentionResult> results;
    const Snapshot snapshot = test::computed(scene.setup);
    for (const SequenceSnapshot& sequence : snapshot.sequences) results.push_back(sequence.attention);
    const attention::SafetensorsFile expected = attention::resultFile(results, results.size() > 1);
    for (const auto& [name, tensor] : expected.tensors)
      EXPECT_EQ(file.tensors.at(name).bytes, tensor.bytes) << name;
  }
}

TEST_F(SnapshotCommand, ReportsOmittedLayersAndCausalRule) {
  Scene scene = openingScene();
  scene.setup.mask.layers = test::layersFrom("causal & off: sinks(2)");
  scene.setup.input.cross = true;
  scene.setup.input.text = "a b c";
  scene.setup.input.contextText = "u v w x y";
  const Outcome outcome = runHeadscope({"snapshot", put("a.json", scene), "-o", out_.string()});
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_EQ(
      outcome.errors,
      "headscope: omitted: off: sinks(2) (switched off)\n"
      "headscope: causal masks compare positions, j ≤ i; with 3 queries over 5 keys, the first query is at "
      "i = 0\n");
  // attend computes the same from the file.
  const fs::path again = folder_ / "again.safetensors";
  ASSERT_EQ(runHeadscope({"attend", out_.string(), "-o", again.string()}).exitCode, 0);
  const auto first = test::readSafetensors(out_), second = test::readSafetensors(again);
  const auto wanted = *test::toFloats(first->tensors.at("weights"), "weights"),
             found = *test::toFloats(second->tensors.at("weights"), "weights");
  ASSERT_EQ(wanted.size(), found.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-5F);
}

TEST_F(SnapshotCommand, UsesOpeningSceneByDefault) {
  ASSERT_EQ(runHeadscope({"snapshot", "-o", out_.string()}).exitCode, 0);
  const std::string opening = test::fileText(out_);
  written(openingScene());
  EXPECT_EQ(test::fileText(out_), opening);
}

}  // namespace
}  // namespace headscope::app
