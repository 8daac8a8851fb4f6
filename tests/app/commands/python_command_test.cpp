// headscope.py, which the program prints and a notebook imports.

#include <gtest/gtest.h>

#include <cstdlib>

#include "app/platform/sent_files.h"
#include "attention/formats/recorded/recorded_attention.h"
#include "test_paths.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

/// A Python that has the module, or "". A machine may have several Pythons.
std::string pythonThatHas(const std::string& module) {
  for (const std::string python : {"python3", "/usr/bin/python3"})
    if (std::system((python + " -c 'import " + module + "' >/dev/null 2>&1").c_str()) == 0) return python;
  return "";
}

constexpr const char* kBefore = R"(
import sys, types
import numpy as np
import headscope
random = np.random.default_rng(1)
scores = np.tril(np.exp(random.normal(0, 1, (2, 1, 3, 4, 4))))
weights = (scores / scores.sum(-1, keepdims=True)).astype(np.float32)
tokens = ["The", "dog", "slept", "."]
)";

/// Runs lines of Python with the printed headscope.py, in a separate folder.
class HeadscopePy : public testing::Test {
 protected:
  void SetUp() override {
    python_ = pythonThatHas("numpy");
    if (python_.empty()) GTEST_SKIP() << "NumPy isn't installed (apt-get install python3-numpy)";
    const test::Outcome printed = test::runHeadscope({"python"});
    ASSERT_EQ(printed.exitCode, 0) << printed.errors;
    test::putFile(folder_ / "headscope.py", printed.output);
  }
  bool run(const std::string& lines) {
    test::putFile(folder_ / "script.py", kBefore + lines);
    const std::string command = "cd '" + folder_.path().string() + "' && HEADSCOPE='" + HEADSCOPE_BINARY +
                                "' " + python_ + " -W error script.py";
    return std::system(command.c_str()) == 0;
  }

  test::TemporaryFolder folder_;
  std::string python_;
};

TEST_F(HeadscopePy, SavesFilesTheProgramOpens) {
  ASSERT_TRUE(run(R"(
headscope.save("layers.safetensors", list(weights), tokens)
headscope.save("one.safetensors", weights[:, 0], tokens, q=weights[:, 0], k=weights[:, 0])
headscope.save("object.safetensors", types.SimpleNamespace(attentions=tuple(weights)), tokens)
np.save("expected.npy", weights[1, 0])
)"));
  const auto expected = attention::RecordedAttention::open(folder_ / "expected.npy");
  ASSERT_TRUE(expected.ok());
  for (const char* name : {"layers.safetensors", "one.safetensors", "object.safetensors"}) {
    const auto found = attention::RecordedAttention::open(folder_ / name);
    ASSERT_TRUE(found.ok()) << found.error().message;
    ASSERT_EQ(found->layers().size(), 2u) << name;
    EXPECT_THAT(found->keyTokens(), testing::ElementsAre("The", "dog", "slept", "."));
    for (attention::Index head = 0; head < 3; ++head)
      EXPECT_EQ(found->readWeights(1, head)->weights, expected->readWeights(0, head)->weights) << name;
  }
  EXPECT_TRUE(attention::RecordedAttention::open(folder_ / "one.safetensors")->layers()[0].q.has_value());
}

TEST_F(HeadscopePy, KeepsEncoderDecoderGroupNames) {
  ASSERT_TRUE(run(R"(
both = types.SimpleNamespace(encoder_attentions=weights, decoder_attentions=weights, cross_attentions=weights)
headscope.save("t5.safetensors", both, {"encoder": tokens, "decoder": tokens})
)"));
  for (const char* group : {"encoder", "decoder", "cross"})
    EXPECT_TRUE(attention::RecordedAttention::open(folder_ / "t5.safetensors", group).ok()) << group;
}

TEST_F(HeadscopePy, DrawsRequestedFigureAsSvg) {
  ASSERT_TRUE(run(R"(
every = headscope.figure(list(weights), tokens)
one = headscope.figure(list(weights), tokens, layer=1, head=2)
assert every.startswith("<?xml") and every._repr_svg_() == every and "slept" in every
assert "slept" in one and one != every
)"));
}

TEST_F(HeadscopePy, ShowSendsFileToOpenWindow) {
  SentFiles window(folder_ / "headscope", "", [] {});
  ASSERT_TRUE(run(R"(
import os
os.environ["XDG_RUNTIME_DIR"] = os.getcwd()
os.environ.pop("DISPLAY", None)
os.environ.pop("WAYLAND_DISPLAY", None)
assert headscope.show(list(weights), tokens, path="shown.safetensors").exists()
os.wait()
)"));
  const auto sent = window.take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(std::filesystem::equivalent(sent[0], folder_ / "shown.safetensors"));
  EXPECT_TRUE(attention::RecordedAttention::open(sent[0]).ok());
}

TEST_F(HeadscopePy, ReportsErrorsInOneSentence) {
  ASSERT_TRUE(run(R"(
def refusal(call):
    try:
        call()
    except ValueError as error:
        return str(error)
    raise AssertionError("nothing was refused")
assert refusal(lambda: headscope.save("x", list(weights), ["a"])) == \
    "there are 1 tokens, expected one for each of the 4 keys"
assert refusal(lambda: headscope.save("x", [np.zeros((2, 3, 4, 4))])) == \
    "layer 0 of attentions is [2, 3, 4, 4], expected a batch of one at most"
assert "output_attentions=True" in refusal(lambda: headscope.save("x", [None]))
assert refusal(lambda: headscope.figure(list(weights), tokens, layer=2)) == "layer is 2, expected 0 to 1"
)"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
}

}  // namespace
}  // namespace headscope::app
