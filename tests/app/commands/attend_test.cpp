#include "app/commands/attend.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "app/commands/commands.h"
#include "test_paths.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/support/golden.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_source.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using attention::AttentionOptions;
using attention::SafetensorsFile;
using test::TemporaryFolder;

struct AttendOutcome {
  int exitCode = -1;
  std::string output;  ///< both streams
};

/// Runs the real program; see runHeadscope().
AttendOutcome run(const std::vector<std::string>& arguments, const std::string& before = "") {
  const test::Outcome outcome = test::runHeadscope(arguments, before);
  return {outcome.exitCode, outcome.output + outcome.errors};
}

/// Runs `headscope attend` on a file in its own folder.
class Attend : public testing::Test {
 protected:
  void put(const SafetensorsFile& file) { ASSERT_TRUE(attention::writeSafetensors(in_, file).ok()); }
  AttendOutcome attend(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"attend", in_.string(), "-o", out_.string()});
    return run(flags);
  }
  SafetensorsFile result() {
    auto file = test::readSafetensors(out_);
    EXPECT_TRUE(file.ok()) << file.error().message;
    return file ? *file : SafetensorsFile{};
  }
  void expectFailure(const AttendOutcome& outcome, int exitCode, const std::string& sentence) {
    EXPECT_EQ(outcome.exitCode, exitCode) << outcome.output;
    EXPECT_THAT(outcome.output, StartsWith("headscope: "));
    EXPECT_THAT(outcome.output, HasSubstr(sentence));
    EXPECT_FALSE(fs::exists(out_)) << "something was written";
  }

  TemporaryFolder folder_;
  fs::path in_ = folder_ / "in.safetensors", out_ = folder_ / "out.safetensors";
};

class AttendGolden : public testing::TestWithParam<fs::path> {};

TEST_P(AttendGolden, MatchesFloat64Reference) {
  const TemporaryFolder folder;
  const auto out = folder / "out.safetensors";
  const auto outcome = run({"attend", GetParam().string(), "-o", out.string()});
  ASSERT_EQ(outcome.exitCode, 0) << outcome.output;
  EXPECT_EQ(outcome.output, "");
  const auto golden = test::readSafetensors(GetParam()), result = test::readSafetensors(out);
  ASSERT_TRUE(golden.ok() && result.ok());
  const auto wrong = test::mismatch(*golden, *result);
  EXPECT_FALSE(wrong) << *wrong;
}

INSTANTIATE_TEST_SUITE_P(Files, AttendGolden, testing::ValuesIn(test::goldenFiles()),
                         [](const auto& info) { return info.param.stem().string(); });

TEST_F(Attend, FlagsOverrideTheFile) {
  auto file = test::smallProblem();
  file.metadata["causal"] = "True";
  file.metadata["window"] = "1";
  put(file);
  const auto masked = [&](const std::vector<std::string>& flags) {
    const auto outcome = attend(flags);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
    const auto scores = test::toFloats(result().tensors.at("scores"), "scores");
    return std::count(scores->begin(), scores->end(), -INFINITY) / 4;
  };
  EXPECT_EQ(masked({}), 6);
  EXPECT_EQ(masked({"--window", "none"}), 3);
  EXPECT_EQ(masked({"--window=2"}), 4);
  EXPECT_EQ(masked({"--causal=false", "--window", "2"}), 2);
  EXPECT_EQ(masked({"--sinks", "1"}), 4);
}

TEST_F(Attend, ReadsTheRequestedLayer) {
  const auto golden = test::readSafetensors(HEADSCOPE_TEST_DIR "/golden/names_c_attn.safetensors");
  ASSERT_TRUE(golden.ok());
  put(*golden);
  const auto outputOf = [&](const std::vector<std::string>& flags) {
    const auto outcome = attend(flags);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
    return *test::toFloats(result().tensors.at("output"), "output");
  };
  EXPECT_EQ(outputOf({}), outputOf({"--layer", "3"}));
  EXPECT_NE(outputOf({}), outputOf({"--layer", "4"}));
  fs::remove(out_);
  expectFailure(attend({"--layer", "5"}), 1, "layer is 5, the file holds layers 3, 4");
}

/// Each flag reaches the computation: the library gives the same result with the option of that name.
TEST_F(Attend, EveryFlagReachesTheComputation) {
  auto file = test::smallProblem();
  file.metadata = {{"kv_heads", "2"}};
  file.tensors["context"] = test::gaussianTensor({5, 8}, 6);
  put(file);
  const std::vector<std::string> flags{"--heads=4",
                                       "--kv-heads",
                                       "2",
                                       "--head-dim",
                                       "4",
                                       "--causal",
                                       "--window",
                                       "2",
                                       "--sinks=1",
                                       "--cache-length",
                                       "2",
                                       "--rope-theta",
                                       "50.5",
                                       "--alibi",
                                       "--softcap",
                                       "2.5",
                                       "--scale",
                                       "-0.3",
                                       "--dropout",
                                       "0.25",
                                       "--dropout-seed",
                                       "11"};
  const AttentionOptions options{{"heads", "4"},        {"kv_heads", "2"},      {"head_dim", "4"},
                                 {"causal", "True"},    {"window", "2"},        {"sinks", "1"},
                                 {"cache_length", "2"}, {"rope_theta", "50.5"}, {"alibi", "True"},
                                 {"softcap", "2.5"},    {"scale", "-0.3"},      {"dropout", "0.25"},
                                 {"dropout_seed", "11"}};
  const auto outcome = attend(flags);
  ASSERT_EQ(outcome.exitCode, 0) << outcome.output;
  const auto found = result();
  const auto problem = attention::readProblem(test::sourceOf(file), options, "in");
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  const auto expected = attention::resultFile(attention::solve(*problem), false);
  for (const auto& [name, tensor] : expected.tensors)
    EXPECT_EQ(found.tensors.at(name).bytes, tensor.bytes) << name;
  // Leaving out any one of them changes something.
  for (const auto& [option, value] : options) {
    if (option == "heads" || option == "kv_heads" || option == "head_dim") continue;
    auto fewer = options;
    fewer.erase(option);
    const auto other = attention::readProblem(test::sourceOf(file), fewer, "in");
    ASSERT_TRUE(other.ok()) << option << ": " << other.error().message;
    const auto changed = attention::resultFile(attention::solve(*other), false);
    EXPECT_NE(changed.tensors.at("output").bytes, expected.tensors.at("output").bytes) << option;
  }
}

TEST_F(Attend, WritesEveryArray) {
  put(test::smallProblem());
  ASSERT_EQ(attend().exitCode, 0);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : result().tensors) {
    names.push_back(name + " " + attention::shapeText(tensor.shape));
    EXPECT_EQ(tensor.dtype, attention::DType::F32);
  }
  EXPECT_THAT(names, ElementsAre("head_output [4, 3, 4]", "k [2, 3, 4]", "lse [4, 3]", "output [3, 8]",
                                 "q [4, 3, 4]", "scores [4, 3, 3]", "v [2, 3, 4]", "weights [4, 3, 3]"));
}

TEST_F(Attend, ReportsUnreadableInput) {
  expectFailure(attend(), 1, in_.string() + ": cannot be opened: No such file or directory");
  test::putFile(in_, "not a safetensors file");
  expectFailure(attend(), 1, in_.string() + ": declares a header of");
  auto file = test::smallProblem();
  file.tensors.erase("v_proj.weight");
  put(file);
  expectFailure(attend(), 1, in_.string() + ": has no tensor \"v_proj.weight\", expected [8, 8]");
  put(test::smallProblem());
  expectFailure(attend({"--heads", "3"}), 1, "kvHeads is 2, expected a divisor of heads (3)");
  in_ = folder_.path();
  expectFailure(attend(), 1, "is a directory, expected a regular file");
  in_ = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(in_.c_str(), 0600), 0);
  expectFailure(attend(), 1, "is a pipe, expected a regular file");
}

TEST_F(Attend, ReportsUnwritableOutput) {
  put(test::smallProblem());
  const auto none = (folder_ / "none" / "out").string();
  expectFailure(run({"attend", in_.string(), "-o", none}), 1,
                none + ": cannot be written: No such file or directory");
  expectFailure(run({"attend", in_.string(), "-o", "/dev/full"}), 1, "/dev/full: is a device");
  test::putFile(folder_ / "old", "old");
  const auto old = (folder_ / "old").string();
  // The shell's limit on file sizes counts blocks of at most 1024 bytes; the result is larger.
  expectFailure(run({"attend", in_.string(), "-o", old}, "trap '' XFSZ; ulimit -f 1; "), 1,
                old + ": cannot be written: File too large");
  EXPECT_EQ(test::fileText(folder_ / "old"), "old");
}

TEST_F(Attend, CanOverwriteItsInput) {
  put(test::smallProblem());
  out_ = in_;
  EXPECT_EQ(attend().exitCode, 0);
  EXPECT_EQ(result().tensors.count("weights"), 1u);
}

TEST_F(Attend, RefusesUnknownNames) {
  auto file = test::smallProblem();
  file.tensors["lambda_q1"] = test::gaussianTensor({4}, 1);
  put(file);
  expectFailure(attend(), 1, "tensor \"lambda_q1\" belongs to the layer's attention, but isn't applied here");
  file = test::smallProblem();
  file.metadata["widnow"] = "2";
  put(file);
  expectFailure(attend(), 1, in_.string() + ": \"widnow\" is not an option; did you mean window?");
}

TEST_F(Attend, ReportsConventionOfPyTorchMask) {
  auto file = test::smallProblem();
  file.tensors["attn_mask"] =
      test::tensorOf<std::uint8_t>(attention::DType::Bool, {3, 3}, {0, 1, 1, 0, 0, 1, 0, 0, 0});
  put(file);
  const auto outcome = attend();
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_EQ(outcome.output,
            "headscope: " + in_.string() +
                ": tensor \"attn_mask\" BOOL [3, 3] is read as torch.nn.MultiheadAttention reads it: "
                "true or 1 = masked\n");
  const auto masked = result();
  file.tensors.erase("attn_mask");
  file.metadata["causal"] = "True";
  put(file);
  ASSERT_EQ(attend().exitCode, 0);
  EXPECT_EQ(result().tensors.at("weights").bytes, masked.tensors.at("weights").bytes);
}

TEST_F(Attend, RefusesOverflowingNumbers) {
  auto file = test::smallProblem();
  file.tensors["x"] = attention::fromFloats(std::vector<float>(24, 3e38F), {3, 8});
  put(file);
  expectFailure(attend(), 1, in_.string() + ": the numbers overflow: q is");
}

TEST_F(Attend, RefusesResultsOverBudget) {
  auto file = test::smallProblem();
  file.tensors["x"] = test::gaussianTensor({300, 8}, 1);
  put(file);
  const auto status = attendFile(in_.string(), out_.string(), {}, 100'000);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, in_.string() + ": the result needs 3 MiB, more than the budget of 1 MiB");
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(Attend, RefusesResultsLargerThanMemory) {
  // 32 MiB of input for 2 · heads · tokens² floats, a quarter of an exbibyte.
  SafetensorsFile file;
  file.metadata = {{"heads", "4096"}};
  file.tensors["x"] =
      attention::NamedTensor{attention::DType::F32, {1 << 22, 1}, std::vector<std::uint8_t>(1 << 24)};
  for (const auto* name : {"q", "k", "v", "o"}) {
    const bool out = *name == 'o';
    file.tensors[std::string(name) + "_proj.weight"] =
        test::gaussianTensor({out ? 1u : 4096u, out ? 4096u : 1u}, 2);
  }
  put(file);
  expectFailure(attend(), 1, "more than the budget of");
}

TEST_F(Attend, WrongUsageExitsWithCode2) {
  put(test::smallProblem());
  const auto in = in_.string(), out = out_.string();
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"attend"},
                                             {"attend", in},
                                             {"attend", "-o", out},
                                             {"attend", in, "-o"},
                                             {"attend", in, "-o", out, "--unknown"},
                                             {"attend", in, "-o", out, "--heads"},
                                             {"attend", in, "-o", out, "--heads", "four"},
                                             {"attend", in, "-o", out, "--heads", "0"},
                                             {"attend", in, "-o", out, "--heads", "-4"},
                                             {"attend", in, "-o", out, "--scale", "nan"},
                                             {"attend", in, "-o", out, "--softcap", ""},
                                             {"attend", in, "-o", out, "--causal=perhaps"},
                                             {"attend", in, "-o", out, "--sinks", "none"},
                                             {"attend", in, in, "-o", out}}) {
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.exitCode, 2) << testing::PrintToString(arguments) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("headscope: ")) << testing::PrintToString(arguments);
    EXPECT_FALSE(fs::exists(out_));
  }
}

TEST_F(Attend, SuggestsTheIntendedFlag) {
  put(test::smallProblem());
  expectFailure(attend({"--widnow", "3"}), 2, "--widnow");
  expectFailure(attend({"--widnow=3"}), 2, "did you mean --window?");
}

TEST_F(Attend, RunsFromItsCommandLine) {
  put(test::smallProblem());
  const std::string in = in_.string(), out = out_.string();
  const char* const words[] = {"headscope", "attend", in.c_str(), "--output", out.c_str()};
  const Program program{{"headscope", ""}, "0.1", {attendCommand()}};
  EXPECT_EQ(runCommandLine(program, 5, words), 0);
  EXPECT_TRUE(fs::exists(out_));
  EXPECT_THAT(commandHelp(program, "attend"), HasSubstr("--cache-length"));
}

TEST(AttendBudget, IsWithinPlausibleBounds) {
  EXPECT_GT(attendBudget(), std::uint64_t{1} << 26);
  EXPECT_LT(attendBudget(), std::uint64_t{1} << 46);
}

}  // namespace
}  // namespace headscope::app
