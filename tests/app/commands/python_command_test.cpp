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
assert every.startswith("<?xml") and every._repr_svg_() == every and every.count('class="cells"') == 6
assert "slept" in one and one != every
assert "Layer 1 · Head 2" in one
assert "slept" in headscope.figure(weights[0], tokens)
sparse = headscope.figure([None, weights[0], None, weights[1]], tokens, layer=3)
assert "Layer 3" in sparse and "Layer 1" not in sparse
)"));
}

TEST_F(HeadscopePy, TakesWhatTransformersReturns) {
  ASSERT_TRUE(run(R"(
Output = types.SimpleNamespace
headscope.save("gpt2.safetensors", Output(attentions=tuple(weights), cross_attentions=(), logits="logits"), tokens)
headscope.save("dict.safetensors", {"attentions": tuple(weights), "logits": "logits"}, tokens)
headscope.save("batch.safetensors", weights[None, :, 0], [tokens])
headscope.save("lens.safetensors", {f"blocks.{i}.attn.hook_pattern": weights[i] for i in (0, 1)}, tokens)
class Ids:  # like a tensor
    def __init__(self, values): self.values = values
    def detach(self): return self
    def cpu(self): return self
    def tolist(self): return self.values
headscope.save("ids.safetensors", list(weights), Ids([[101, 2023, 2003, 102]]))
)"));
  for (const char* name : {"gpt2", "dict", "batch", "lens", "ids"}) {
    const auto found = attention::RecordedAttention::open(folder_ / (std::string(name) + ".safetensors"));
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->layers().size(), 2u) << name;
    EXPECT_EQ(found->keyTokens()[1], name == std::string("ids") ? "2023" : "dog");
  }
}

TEST_F(HeadscopePy, JoinsStepsOfGenerate) {
  // Two tokens first, then two more, one by one: with a cache, without one, and with one of a fixed size.
  ASSERT_TRUE(run(R"(
rows = weights[:, 0]
padded = np.zeros((2, 1, 3, 4, 8), np.float32)
padded[..., :4] = weights
cached = [tuple(w[:, :, a:b, :b] for w in weights) for a, b in ((0, 2), (2, 3), (3, 4))]
again = [tuple(w[:, :, :b, :b] for w in weights) for b in (2, 3, 4)]
fixed = [tuple(w[:, :, a:b] for w in padded) for a, b in ((0, 2), (2, 3), (3, 4))]
for name, steps in (("cached", cached), ("again", again), ("fixed", fixed)):
    # the last token that was generated has no row and no key
    headscope.save(name + ".safetensors", types.SimpleNamespace(attentions=tuple(steps)), tokens + ["end"])
np.save("expected.npy", weights[1, 0])
)"));
  const auto expected = attention::RecordedAttention::open(folder_ / "expected.npy");
  for (const char* name : {"cached", "again", "fixed"}) {
    const auto found = attention::RecordedAttention::open(folder_ / (std::string(name) + ".safetensors"));
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_THAT(found->keyTokens(), testing::ElementsAre("The", "dog", "slept", "."));
    for (attention::Index head = 0; head < 3; ++head)
      EXPECT_EQ(found->readWeights(1, head)->weights, expected->readWeights(0, head)->weights) << name;
  }
}

TEST_F(HeadscopePy, ReplacesOnlyTheContentOfAFileAndLeavesNothingBehind) {
  ASSERT_TRUE(run(R"(
import os, stat
os.umask(0o027)
headscope.save("new.safetensors", list(weights))
assert stat.S_IMODE(os.stat("new.safetensors").st_mode) == 0o640
os.mkdir("kept")
headscope.save("kept/own.safetensors", list(weights))
os.chmod("kept/own.safetensors", 0o604)
os.symlink("kept/own.safetensors", "link.safetensors")
before = os.stat("kept/own.safetensors").st_size
headscope.save("link.safetensors", list(weights), q=weights[:, 0])
assert os.path.islink("link.safetensors") and os.stat("kept/own.safetensors").st_size > before
assert stat.S_IMODE(os.stat("kept/own.safetensors").st_mode) == 0o604
headscope.np.ascontiguousarray = lambda *_: 1 / 0
try:
    headscope.save("kept/own.safetensors", list(weights))
    raise AssertionError("nothing failed")
except ZeroDivisionError:
    assert os.listdir("kept") == ["own.safetensors"]
)"));
}

TEST_F(HeadscopePy, ShowFailsWithoutADisplay) {
  ASSERT_TRUE(run(R"(
import os, tempfile
tempfile.tempdir = os.getcwd()
os.environ["XDG_RUNTIME_DIR"] = os.getcwd()
os.environ.pop("DISPLAY", None)
os.environ.pop("WAYLAND_DISPLAY", None)
try:
    headscope.show(list(weights), tokens)
    raise AssertionError("a window opened")
except RuntimeError as error:
    assert "display" in str(error) and "\n" not in str(error), error
assert not [name for name in os.listdir() if name.startswith("headscope-")]
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
    "there is 1 token, expected one for each of the 4 keys"
assert refusal(lambda: headscope.save("x", [np.zeros((2, 3, 4, 4))])) == \
    "layer 0 of attentions is [2, 3, 4, 4], expected a batch of one at most"
for nothing in ([None], types.SimpleNamespace(attentions=None, logits=weights), {"logits": "logits"},
                types.SimpleNamespace(attentions=(None, None)), types.SimpleNamespace(attentions=())):
    assert "output_attentions=True" in refusal(lambda: headscope.save("x", nothing)), nothing
assert "return_dict=True" in refusal(lambda: headscope.save("x", (weights[0], tuple(weights))))
assert "expected a list" in refusal(lambda: headscope.save("x", list(weights), "The dog slept ."))
assert "expected an array of numbers" in refusal(lambda: headscope.save("x", [[[1], [1, 2]]]))
both = types.SimpleNamespace(encoder_attentions=weights, decoder_attentions=weights[..., :3, :3])
assert refusal(lambda: headscope.save("x", both, {"encoder": tokens, "decoder": tokens})) == \
    "tokens has 4 of the decoder, expected 3"
assert refusal(lambda: headscope.figure(list(weights), tokens, layer=2)) == "layer is 2, expected 0 to 1"
)"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
}

}  // namespace
}  // namespace headscope::app
