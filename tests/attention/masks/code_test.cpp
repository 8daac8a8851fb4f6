#include "attention/masks/code.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "attention/masks/compile.h"
#include "tests/attention/masks/code_cases.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention {
namespace {

using test::CodeCase;

MaskLayers parsedMask(const std::string& text) {
  const ParsedMask mask = parseMask(text);
  EXPECT_FALSE(mask.error) << text << ": " << mask.error->message;
  return mask.layers;
}

std::string codeOf(MaskCode language, const std::string& text, const MaskGeometry& geometry,
                   const MaskSources& sources = {}) {
  const auto code = maskCode(language, parsedMask(text), geometry, sources);
  EXPECT_TRUE(code.ok()) << text << ": " << code.error().message;
  return code ? *code : "";
}

std::string errorOf(const std::string& text, const MaskGeometry& geometry, const MaskSources& sources = {}) {
  return messageOf(maskCode(MaskCode::numpy, parsedMask(text), geometry, sources));
}

/// A Python that has the module, or "". A machine may have several Pythons.
std::string pythonWith(const std::string& module) {
  for (const std::string python : {"python3", "/usr/bin/python3"}) {
    const std::string command = python + " -c 'import " + module + "' >/dev/null 2>&1";
    if (std::system(command.c_str()) == 0) return python;
  }
  return "";
}

/// The contents of a case's file: name, heads, queries and keys on the first line, then the cells.
std::string cellsText(const CodeCase& codeCase) {
  const auto& geometry = codeCase.geometry;
  const auto mask = compileMask(parsedMask(codeCase.text), geometry, codeCase.sources);
  EXPECT_TRUE(mask.ok()) << codeCase.text << ": " << mask.error().message;
  if (!mask) return "";
  std::string text = std::to_string(geometry.heads) + " " + std::to_string(geometry.queries) + " " +
                     std::to_string(geometry.keys) + "\n";
  KeyRuns runs;
  for (Index head = 0; head < geometry.heads; ++head) {
    for (Index row = 0; row < geometry.queries; ++row) {
      std::string cells(static_cast<std::size_t>(geometry.keys), '0');
      (*mask)->visibleRuns((*mask)->variantOf(head), row, runs);
      for (const KeyRun& run : runs)
        for (Index key = run.begin; key < run.end; ++key) cells[static_cast<std::size_t>(key)] = '1';
      text += cells;
    }
  }
  return text;
}

/// Calls check() for every case.
constexpr const char* kLoop = R"(
for path in sorted(folder.glob("*.cells")):
    try:
        print(path.stem, "same" if check(path) else "differs")
    except Exception as error:
        print(path.stem, repr(error))
)";

constexpr const char* kNumpyDriver = R"(
import sys, pathlib, numpy as np
folder = pathlib.Path(sys.argv[1])
def check(path):
    sizes, *cells = path.read_text().split("\n")
    heads, n, m = map(int, sizes.split())
    expected = np.array([c == "1" for c in cells[0]]).reshape(heads, n, m)
    names = {}
    exec(compile((folder / (path.stem + ".numpy.py")).read_text(), path.stem, "exec"), names)
    visible = names["visible"]
    good = visible.dtype == bool and visible.shape in ((n, m), (heads, n, m))
    return good and (np.broadcast_to(visible, expected.shape) == expected).all()
)";

constexpr const char* kTorchDriver =
    "\nimport sys, pathlib, torch\ntry:\n    from torch.nn.attention.flex_attention import "
    "create_mask\nexcept ImportError:\n    create_mask = None\ntry:\n    from functorch import vmap\nexcept "
    "ImportError:\n    vmap = None\nget_item = torch.Tensor.__getitem__\ndef look_up(table, index):\n    # "
    "As flex_attention does it: under vmap an index is not a number that could be asked for.\n    index = "
    "index if isinstance(index, tuple) else (index,)\n    if all(isinstance(part, torch.Tensor) for part in "
    "index):\n        return torch.ops.aten.index(table, list(index))\n    return get_item(table, "
    "index)\ndef ask_all(mask_mod, heads, n, m, device):\n    if create_mask:\n        return "
    "create_mask(mask_mod, 1, heads, n, m, device=device)[0]\n    for dims in ((None, None, None, 0), (None, "
    "None, 0, None), (None, 0, None, None)):\n        mask_mod = vmap(mask_mod, in_dims=dims)\n    "
    "torch.Tensor.__getitem__ = look_up\n    try:\n        return mask_mod(torch.tensor(0), "
    "torch.arange(heads), torch.arange(n), torch.arange(m))\n    finally:\n        torch.Tensor.__getitem__ "
    "= get_item\nfolder = pathlib.Path(sys.argv[1])\ndef check(path):\n    sizes, *cells = "
    "path.read_text().split(\"\\n\")\n    heads, n, m = map(int, sizes.split())\n    expected = "
    "torch.tensor([c == \"1\" for c in cells[0]]).reshape(heads, n, m)\n    names = {}\n    "
    "exec(compile((folder / (path.stem + \".pytorch.py\")).read_text(), path.stem, \"exec\"), names)\n    "
    "mask = names[\"attn_mask\"]\n    good = mask.dtype == torch.bool and tuple(mask.shape) in ((n, m), "
    "(heads, n, m))\n    good = good and bool((mask.expand(heads, n, m) == expected).all())\n    names = "
    "{}\n    exec(compile((folder / (path.stem + \".flex.py\")).read_text(), path.stem, \"exec\"), names)\n  "
    "  mask_mod, device = names[\"mask_mod\"], names.get(\"device\", \"cpu\")\n    b = torch.zeros((1, 1, "
    "1), dtype=torch.int64, device=device)\n    h = torch.arange(heads, device=device)[:, None, None]\n    i "
    "= torch.arange(n, device=device)[None, :, None]\n    j = torch.arange(m, device=device)[None, None, "
    ":]\n    mod = mask_mod(b, h, i, j)\n    flex = mod.dtype == torch.bool and "
    "bool((mod.cpu().expand(heads, n, m) == expected).all())\n    # As create_block_mask asks it.\n    if "
    "create_mask or vmap:\n        flex = flex and bool((ask_all(mask_mod, heads, n, m, device).cpu() == "
    "expected).all())\n    # One cell at a time.\n    for cell in range(0, heads * n * m, max(1, heads * n * "
    "m // 7)):\n        at = (cell // (n * m), cell // m % n, cell % m)\n        one = mask_mod(b[0, 0, 0], "
    "*(torch.tensor(k, device=device) for k in at))\n        flex = flex and one.shape == () and bool(one) "
    "== bool(expected[at])\n    return good and flex\n";

/// Runs a driver over all cases. Returns one line of its output per case.
std::string runCases(const std::string& python, const char* driver,
                     const std::vector<std::pair<MaskCode, std::string>>& languages,
                     const std::vector<std::pair<std::string, std::string>>& modules = {}) {
  const headscope::test::TemporaryFolder folder;
  for (const auto& [name, text] : modules) headscope::test::putFile(folder / name, text);
  for (const CodeCase& codeCase : test::codeCases()) {
    headscope::test::putFile(folder / (codeCase.name + ".cells"), cellsText(codeCase));
    for (const auto& [language, name] : languages)
      headscope::test::putFile(folder / (codeCase.name + "." + name + ".py"),
                               codeOf(language, codeCase.text, codeCase.geometry, codeCase.sources));
  }
  headscope::test::putFile(folder / "driver.py", std::string(driver) + kLoop);
  const std::string command =
      python + " -W error '" + (folder / "driver.py").string() + "' '" + folder.path().string() + "' 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) return "cannot start";
  std::string output;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, got);
  EXPECT_EQ(::pclose(pipe), 0) << output;
  return output;
}

void expectAllSame(const std::string& output) {
  const auto cases = test::codeCases();
  EXPECT_GT(cases.size(), 200u);
  for (const CodeCase& codeCase : cases) {
    const std::size_t line = ("\n" + output).find("\n" + codeCase.name + " ");
    const std::string found = line == std::string::npos ? output.substr(0, 2000)
                                                        : output.substr(line, output.find('\n', line) - line);
    EXPECT_EQ(found, codeCase.name + " same")
        << codeCase.text << ", " << codeCase.geometry.queries << " × " << codeCase.geometry.keys;
  }
}

TEST(MaskAsCode, NumpyBuildsTheSameMask) {
  const std::string python = pythonWith("numpy");
  if (python.empty()) GTEST_SKIP() << "No Python with NumPy is installed here to run the code.";
  expectAllSame(runCases(python, kNumpyDriver, {{MaskCode::numpy, "numpy"}}));
}

TEST(MaskAsCode, TorchBuildsTheSameMask) {
  const std::string python = pythonWith("torch");
  if (python.empty()) GTEST_SKIP() << "No Python with PyTorch is installed here to run the code.";
  expectAllSame(
      runCases(python, kTorchDriver, {{MaskCode::pytorch, "pytorch"}, {MaskCode::flexAttention, "flex"}}));
}

/// The part of PyTorch that a mask_mod needs.
constexpr const char* kTorchOfNumpy = R"(
import numpy as np
int64, int8, bool = np.int64, np.int8, np.bool_
class Tensor(np.ndarray):
    def to(self, device): return self
    def clamp(self, min=None, max=None): return np.clip(self, min, max).view(Tensor)
    def abs(self): return np.abs(self)
def zeros(shape, dtype): return np.zeros(shape, dtype).view(Tensor)
def tensor(values, dtype=None): return np.array(values, dtype).view(Tensor)
def arange(count): return np.arange(count).view(Tensor)
def maximum(a, b): return np.maximum(a, b)
class cuda:
    is_available = staticmethod(lambda: False)
)";

constexpr const char* kRoundedDriver = R"(
import sys, pathlib
folder = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(folder))
import torch, numpy as np
def check(path):
    sizes, *cells = path.read_text().split("\n")
    heads, n, m = map(int, sizes.split())
    expected = np.array([c == "1" for c in cells[0]]).reshape(heads, n, m)
    names = {}
    exec(compile((folder / (path.stem + ".flex.py")).read_text(), path.stem, "exec"), names)
    h = torch.arange(heads)[:, None, None]
    i = torch.arange(-(-n // 128) * 128)[None, :, None]
    j = torch.arange(-(-m // 128) * 128)[None, None, :]
    seen = np.broadcast_to(names["mask_mod"](0, h, i, j), (heads, i.size, j.size))
    return names["device"] == "cpu" and (seen[:, :n, :m] == expected).all()
)";

/// create_block_mask evaluates as many cells as whole blocks have.
TEST(MaskAsCode, RunsWithLengthsRoundedUpToBlocks) {
  const std::string python = pythonWith("numpy");
  if (python.empty()) GTEST_SKIP() << "No Python with NumPy is installed here to run the code.";
  expectAllSame(
      runCases(python, kRoundedDriver, {{MaskCode::flexAttention, "flex"}}, {{"torch.py", kTorchOfNumpy}}));
}

TEST(MaskAsCode, FlexAttentionCodeMirrorsTheMask) {
  const std::string code =
      codeOf(MaskCode::flexAttention, "causal & (window(128) | sinks(4))", test::codeGeometry(24, 40, 16));
  EXPECT_EQ(code,
            "# Mask: causal & (window(128) | sinks(4))\n"
            "# True = visible; 24 queries × 40 keys, 1 head\n"
            "\n"
            "import torch\n"
            "\n"
            "device = \"cuda\" if torch.cuda.is_available() else \"cpu\"\n"
            "\n"
            "def mask_mod(b, h, q_idx, kv_idx):\n"
            "    i, j = q_idx + 16, kv_idx  # 16 tokens are cached\n"
            "    seen = j <= i  # causal\n"
            "    seen_2 = (j <= i) & (i - j < 128)  # window\n"
            "    seen_2 = seen_2 | (j < 4)  # | sinks\n"
            "    seen = seen & seen_2  # & (…)\n"
            "    return seen\n"
            "\n"
            "\n"
            "# from torch.nn.attention.flex_attention import create_block_mask, flex_attention\n"
            "# block_mask = create_block_mask(mask_mod, B=None, H=None, Q_LEN=24, KV_LEN=40, device=device)\n"
            "# output = flex_attention(query, key, value, block_mask=block_mask)\n");
}

TEST(MaskAsCode, SharesCodeAcrossHeads) {
  const MaskGeometry geometry = test::codeGeometry(24, 24, 0, 6);
  const std::string alike = codeOf(MaskCode::pytorch, "packed & window([4, 4])", geometry);
  EXPECT_THAT(alike, HasSubstr("def mask(q_idx, kv_idx):"));
  EXPECT_THAT(alike, Not(HasSubstr("stack")));
  const std::string two = codeOf(MaskCode::flexAttention, "packed & heads(even): window(4)", geometry);
  EXPECT_THAT(two, HasSubstr("variant = torch.tensor([0, 1, 0, 1, 0, 1], dtype=torch.int64)"));
  EXPECT_THAT(two, HasSubstr("which = variant[h]"));
  EXPECT_THAT(two, HasSubstr("H=6"));
  EXPECT_THAT(two, Not(HasSubstr("document_2")));
  EXPECT_THAT(two, Not(HasSubstr("mask_2")));
}

TEST(MaskAsCode, StatesVisibilityConventions) {
  const MaskGeometry geometry = test::codeGeometry(8, 8);
  EXPECT_THAT(codeOf(MaskCode::pytorch, "causal", geometry), HasSubstr("attn_mask=~attn_mask"));
  EXPECT_THAT(codeOf(MaskCode::numpy, "causal", geometry), HasSubstr("True = visible"));
}

TEST(MaskAsCode, LayerNamesCannotEscapeTheComment) {
  Layer layer;
  layer.pattern = defaultUse(PatternKind::causal);
  layer.name = "a\nimport os\r\n";
  layer.name += std::string(5000, 'x');
  const auto code = checked(maskCode(MaskCode::numpy, {layer}, test::codeGeometry(4, 4)));
  EXPECT_THAT(*code, StartsWith("# Mask: \"a import os  xxx"));
  EXPECT_THAT(*code, Not(HasSubstr("\nimport os")));
  EXPECT_LT(code->find('\n'), 2100u);
}

TEST(MaskAsCode, ReportsTheMasksErrors) {
  const MaskGeometry geometry = test::codeGeometry(24, 24);
  for (const char* text : {"painted(\"none\")", "file(\"none.npy\", masked)", "packed([99])",
                           "globals([24])", "tree(prefix=0, parents=[1, 0])", "documents(packed)"}) {
    const auto mask = compileMask(parsedMask(text), geometry);
    ASSERT_FALSE(mask.ok()) << text;
    EXPECT_EQ(errorOf(text, geometry), mask.error().message);
  }
}

TEST(MaskAsCode, RefusesMasksTooLargeForCode) {
  const MaskGeometry geometry = test::codeGeometry(20000, 20000);
  EXPECT_EQ(errorOf("tree(prefix=0)", geometry),
            "the number of nodes of the draft tree is 20000, expected at most 4096 for code");
  EXPECT_THAT(errorOf("bigbird(block=1, random=100)", geometry), HasSubstr("the number of random blocks is"));
  EXPECT_THAT(errorOf("neighborhood_z(height=2000, width=2000)", geometry),
              HasSubstr("the number of cells of the grid is 4000000"));
  MaskSources sources;
  sources.paintings["p"] = test::codeCells(1, 20000, 200, false);
  EXPECT_THAT(errorOf("painted(\"p\")", geometry, sources),
              HasSubstr("the number of rectangles of painted or read cells is"));
}

TEST(MaskAsCode, LongMasksKeepLinesShort) {
  std::string text = "causal";
  for (int i = 0; i < 4000; ++i) text += " & sinks(" + std::to_string(i) + ")";
  const std::string code = codeOf(MaskCode::numpy, text, test::codeGeometry(8, 8));
  // Neither lines nor nesting grow with the mask, except for the line of the comment.
  std::size_t longest = 0, begin = code.find('\n') + 1;
  for (std::size_t end; (end = code.find('\n', begin)) != std::string::npos; begin = end + 1)
    longest = std::max(longest, end - begin);
  EXPECT_LT(longest, 100u);
}

}  // namespace
}  // namespace headscope::attention
