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

TEST_F(HeadscopePy, AttentionGivesItsNumbers) {
  ASSERT_TRUE(run(R"(
found = headscope.Attention.of(list(weights), tokens, q=weights[:, 0])
assert found.shape == (2, 3, 4, 4) and np.array_equal(np.asarray(found), weights[:, 0])
assert np.array_equal(found[-1, 2], weights[1, 0, 2])
row = weights[1, 0, 2, 3].astype(np.float64)
assert abs(found.entropy()[1, 2, 3] + (row * np.log2(row)).sum()) < 1e-5 and found.entropy()[0, 0, 0] == 0
part = found.sel(layers=[1], queries=slice(1, 3), keys=slice(0, 3))
assert part.layers[0] is None and part.tokens == tokens[:3]
assert np.array_equal(part[1, 0], weights[1, 0, 0, 1:3, :3]) and part.q[1].shape == (3, 2, 4)
for name, error in (("a.safetensors", 0), ("a.npz", 0), ("half.safetensors", 1e-3)):
    found.save(name, "float16" if error else "float32")
    again = headscope.load(name)
    assert again.tokens == tokens and np.abs(np.asarray(again) - np.asarray(found)).max() <= error, name
    assert np.abs(again.q[1] - found.q[1]).max() <= error
)"));
  for (const char* name : {"a.safetensors", "a.npz", "half.safetensors"}) {
    const auto found = attention::RecordedAttention::open(folder_ / name);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_THAT(found->keyTokens(), testing::ElementsAre("The", "dog", "slept", ".")) << name;
  }
}

TEST_F(HeadscopePy, TakesAnyAxesAndATextOfABatch) {
  ASSERT_TRUE(run(R"(
plain = headscope.Attention.of(list(weights))
for layout, values in (("bqkh", [w.transpose(0, 2, 3, 1) for w in weights]), ("lhqk", weights[:, 0]),
                       ("hlqk", weights[:, 0].swapaxes(0, 1)), ("blhqk", weights.swapaxes(0, 1))):
    assert np.array_equal(np.asarray(headscope.Attention.of(values, layout=layout)), np.asarray(plain)), layout
# Two texts: the second has one token of padding, to the left or to the right.
for side in (0, 4):
    short = np.insert(np.insert(weights, side, 0, axis=3), side, 0.2, axis=4)
    long = np.zeros_like(short)
    ids = np.array([[5, 6, 7, 8, 9], np.insert([1, 2, 3, 4], side, 0)])
    batch = {"input_ids": ids, "attention_mask": (ids > 0).astype(int)}
    class Tokenizer:
        def convert_ids_to_tokens(self, ids): return [f"<{id}>" for id in ids]
    found = headscope.Attention.of(list(np.concatenate([long, short], axis=1)), batch, sequence=1, tokenizer=Tokenizer())
    assert np.array_equal(np.asarray(found), np.asarray(plain)) and found.tokens == ["<1>", "<2>", "<3>", "<4>"]
)"));
}

TEST_F(HeadscopePy, SavesFiguresAndReadsStudies) {
  ASSERT_TRUE(run(R"(
drawn = headscope.figure(list(weights), tokens, layer=-1, head=0, theme="dark")
assert drawn.save("x.pdf").read_bytes()[:4] == b"%PDF" and drawn.save("x.png").read_bytes()[1:4] == b"PNG"
assert drawn.save("x.svg").read_text() == drawn
found = headscope.study("learned", ["The dog slept .", "The cat slept . The cat"], measures=["detectors"])
assert found["previous"].shape == (4, 6) and found.by_text["previous"].shape == (2, 4, 6)
layer, head, value = found.top("previous", 1)[0]
assert value == found["previous"].max() == found["previous"][layer, head] and "loss" not in found.by_text
)"));
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
written = headscope._safetensors
def failing(*arguments):
    yield next(written(*arguments))
    1 / 0
headscope._safetensors = failing
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
    "layer 0 of attentions is [2, 3, 4, 4], a batch of 2, expected one text: choose it with sequence=0"
assert refusal(lambda: headscope.save("x", weights, layout="bqq")) == \
    'layout is "bqq", expected the letters h, q, k, and l or b if there are such axes'
assert refusal(lambda: headscope.save("x", weights, layout="lhqk")) == \
    'layer 0 of attentions is [1, 3, 4, 4], expected the 3 axes of layout="hqk"'
assert refusal(lambda: headscope.save("x", list(weights), sequence=3)) == "sequence is 3, expected 0 to 0"
assert refusal(lambda: headscope.Attention.of([None, weights[0]]).shape) == \
    "the layers differ ([3, 4, 4], none), expected the same shape; attention.layers has them one by one"
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
assert refusal(lambda: headscope.study("learned", [])) == "texts is empty, expected at least one text"
try:
    headscope.view(list(weights))
    raise AssertionError("a file alone has no view")
except headscope.HeadscopeError as error:
    assert "pip install" in str(error)
)"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
}

}  // namespace
}  // namespace headscope::app
