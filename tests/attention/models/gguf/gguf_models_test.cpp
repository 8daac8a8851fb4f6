// GGUF files that write_gguf.py makes from the golden checkpoints, compared with the same numbers in
// safetensors.

#include <gtest/gtest.h>

#include <ranges>

#include "attention/core/projections.h"
#include "attention/formats/gguf/gguf_header.h"
#include "attention/models/checkpoint/model_weights.h"
#include "attention/models/config/model_catalogue.h"
#include "attention/models/gguf/gguf_source.h"
#include "attention/models/tokenizer/text_tokenizer.h"
#include "tests/attention/models/gguf/gguf_files.h"
#include "tests/attention/models/made_up_checkpoint.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"

namespace headscope::attention::test {
namespace {

namespace fs = std::filesystem;

constexpr double kSame = 1e-5;

constexpr const char* kTexts[] = {"The animal didn't cross the street because it was too tired.",
                                  "naïve café 1234 — ∑ 🙂", "  two  spaces\n\nand lines",
                                  "don't\tWE'LL 007", ""};

/// Compares relative to the largest number.
void expectClose(const Eigen::Ref<const Matrix>& expected, const Eigen::Ref<const Matrix>& found,
                 const std::string& what, double bound = kSame) {
  if (expected.size() == 0 && found.size() == 0) return;
  EXPECT_LE(distance(expected, found), bound * std::max(1.0f, expected.cwiseAbs().maxCoeff())) << what;
}

const std::vector<Index> kTokens{5, 80, 17, 200, 4, 90, 33, 120, 61, 7, 7, 250};

void expectSamePasses(const std::shared_ptr<const Model>& expected, const std::shared_ptr<const Model>& found,
                      bool logits, const std::vector<Index>& ids = kTokens) {
  ASSERT_EQ(expected->config().layerCount(), found->config().layerCount());
  const PassResult a = passOver(expected, ids), b = passOver(found, ids);
  expectClose(a.embedded, b.embedded, "embedded");
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    const std::string at = "layer " + std::to_string(i);
    for (Index h = 0; h < expected->config().heads; ++h) {
      expectClose(a.layers[i]->weights[h], b.layers[i]->weights[h], at + ", weights");
      expectClose(a.layers[i]->q[h], b.layers[i]->q[h], at + ", q");
    }
    for (Index h = 0; h < expected->config().kvHeads; ++h)
      expectClose(a.layers[i]->k[h], b.layers[i]->k[h], at + ", k");
    expectClose(a.layers[i]->hidden, b.layers[i]->hidden, at + ", stream");
    const auto &own = expected->weights().layers[i].q, &other = found->weights().layers[i].q;
    expectClose(weightRows(own, 1, own.out - 1), weightRows(other, 1, own.out - 1), at + ", rows of q");
    const Index columns = std::min<Index>(5, own.in - 3);
    expectClose(weightColumns(own, 3, columns), weightColumns(other, 3, columns), at + ", columns of q");
  }
  EXPECT_EQ(found->predictsTokens(), logits);
  if (logits) expectClose(a.logits, b.logits, "logits");
}

/// A step may multiply weights as whole numbers (kernels/digits.h), which is as exact as floats but rounds
/// differently; a synthetic model's large scores enlarge the difference to 1.4e-5.
void expectStepOfPass(const std::shared_ptr<const Model>& model) {
  constexpr double kStep = 3e-5;
  const PassResult whole = passOver(model, kTokens);
  PassRequest request;
  request.hidden = true;
  ModelSession session(model);
  const std::span<const Index> ids(kTokens);
  ASSERT_TRUE(session.append(ids.first(kTokens.size() - 1), request).ok());
  const auto step = checked(session.append(ids.last(1), request));
  for (std::size_t i = 0; i < whole.layers.size(); ++i) {
    const std::string at = "layer " + std::to_string(i) + " of a step";
    for (Index h = 0; h < model->config().heads; ++h)
      expectClose(whole.layers[i]->weights[h].bottomRows(1), step->layers[i]->weights[h], at + ", weights",
                  kStep);
    expectClose(whole.layers[i]->hidden.bottomRows(1), step->layers[i]->hidden, at + ", stream", kStep);
  }
  expectClose(whole.logits.bottomRows(1), step->logits, "logits of a step", kStep);
}

template <typename Param>
class GgufModelsOf : public testing::TestWithParam<Param> {
 protected:
  void SetUp() override {
    python_ = pythonWithNumpy();
    if (python_.empty()) GTEST_SKIP() << "NumPy isn't installed (apt-get install python3-numpy)";
  }
  /// Runs write_gguf.py's `what` on a golden or another checkpoint, into the test's folder.
  bool write(const std::string& what, const std::string& family, const std::string& rest) {
    return writeFrom(goldenModel(family), what, rest);
  }
  bool writeFrom(const fs::path& model, const std::string& what, const std::string& rest) {
    return writeGguf(python_, what + " '" + model.string() + "' '" + folder_.path().string() + "' " + rest);
  }
  fs::path file() const { return folder_ / "model.gguf"; }
  fs::path plain() const { return folder_ / "plain"; }

  headscope::test::TemporaryFolder folder_;
  std::string python_;
};
struct TypesOfModel {
  std::string what, tensor, types;
};
using GgufFamilies = GgufModelsOf<std::string>;
using GgufPlain = GgufFamilies;
using GgufFiles = GgufFamilies;
using GgufTypes = GgufModelsOf<TypesOfModel>;

TEST_P(GgufFamilies, PassesMatchSafetensors) {
  ASSERT_TRUE(write("model", GetParam(), "F32"));
  ASSERT_TRUE(isGguf(file()));
  expectSamePasses(openModel(plain()), openModel(file()), GetParam() != "bert");
}

TEST_P(GgufFamilies, CountsWeightsAsStoredInFile) {
  ASSERT_TRUE(write("model", GetParam(), "Q8_0"));
  const auto shape = checked(readModelShape(file()));
  const auto model = openModel(file());
  std::uint64_t bytes = 0, numbers = 0;
  for (const auto& [name, tensor] : model->checkpoint().tensors()) {
    bytes += tensor.bytes;
    numbers += tensor.numbers();
  }
  EXPECT_EQ(shape->countedBytes, bytes);
  EXPECT_EQ(shape->countedParameters, numbers);
  EXPECT_LT(shape->countedBytes, fs::file_size(file()));
}

TEST_P(GgufFamilies, TokensMatchTokenizerFile) {
  ASSERT_TRUE(write("model", GetParam(), "F16"));
  const auto expected = checked(TextTokenizer::open(plain())), found = checked(TextTokenizer::open(file()));
  for (const char* text : kTexts) {
    const auto a = checked(expected->encode(text)), b = checked(found->encode(text));
    EXPECT_EQ(a->ids, b->ids) << text;
    EXPECT_EQ(*expected->decode(a->ids), *found->decode(b->ids)) << text;
    EXPECT_EQ(expected->spellings(*a), found->spellings(*b)) << text;
  }
}

/// Synthetic models of families without a golden checkpoint. The part after "/" is write_gguf.py's command.
TEST_P(GgufPlain, PassesMatchSafetensors) {
  const std::vector<Index> ids{3, 30, 0, 7, 7, 19, 4, 28, 3, 11, 5};
  const auto slash = GetParam().find('/');
  const std::string what = slash == std::string::npos ? "model" : GetParam().substr(slash + 1);
  const PlainModel& model = plainNamed(GetParam().substr(0, slash));
  MadeUpTensors tensors(DType::F32, 5);
  (void)model.run(tensors, ids);
  const MadeUpCheckpoint made(model.config, tensors.file());
  fs::copy_file(goldenModel("llama") / "tokenizer.json", made / "tokenizer.json");
  ASSERT_TRUE(writeFrom(made.path(), what, "F32"));
  expectSamePasses(openModel(plain()), openModel(file()), true, ids);
}

INSTANTIATE_TEST_SUITE_P(Families, GgufPlain,
                         testing::Values("mixtral", "mixtral/apart", "gpt_oss", "qwen2_moe",
                                         "qwen2_moe/joined", "qwen3_moe", "olmoe", "olmo2", "olmo3_older",
                                         "granite", "granite/joined", "smollm3", "glm", "glm4", "phi",
                                         "phi/joined", "stablelm", "starcoder2", "cohere", "cohere_plus",
                                         "cohere2", "falcon", "falcon_40b", "falcon_11b", "bloom", "mpt",
                                         "mpt_storywriter", "deepseek_v2_lite", "deepseek_v2_lite/split",
                                         "deepseek_v2", "deepseek_v2/split", "deepseek_v3",
                                         "deepseek_v3/split", "deepseek_v3_stretched"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

INSTANTIATE_TEST_SUITE_P(Families, GgufFamilies, testing::ValuesIn(kGoldenFamilies),
                         [](const auto& info) { return info.param; });

/// Every type in the place of every matrix. One call writes all files, because Python takes longer to start
/// than to write.
TEST_P(GgufTypes, PassesMatchUnpackedNumbers) {
  const auto& [what, tensor, types] = GetParam();
  ASSERT_TRUE(write(what, "llama", types));
  for (const auto type : std::views::split(types, ',')) {
    const std::string name(type.begin(), type.end());
    SCOPED_TRACE(name);
    try {
      const auto found = openModel(folder_ / name / "model.gguf");
      EXPECT_EQ(found->checkpoint().tensors().at(tensor).kind, name);
      expectSamePasses(openModel(folder_ / name / "plain"), found, true);
      if (what == "wide") expectStepOfPass(found);
    } catch (const std::exception& e) {
      ADD_FAILURE() << name << " threw: " << e.what();
    }
  }
}

// Latent keys have their blocks along the outputs.
INSTANTIATE_TEST_SUITE_P(Types, GgufTypes,
                         testing::Values(TypesOfModel{"wide", "blk.1.ffn_down.weight",
                                                      "F16,BF16,F64,Q8_0,Q4_0,Q4_1,Q5_0,Q5_1,Q2_K,Q3_K,Q4_K,"
                                                      "Q5_K,Q6_K,IQ4_NL,IQ4_XS,MXFP4"},
                                         TypesOfModel{"latents", "blk.1.attn_k_b.weight",
                                                      "F16,Q8_0,Q5_1,IQ4_NL"}),
                         [](const auto& info) { return info.param.what; });

TEST_P(GgufFiles, AnyPartOpensWholeSplitModel) {
  ASSERT_TRUE(write("model", "qwen2", "Q8_0 3"));
  const auto expected = openModel(plain());
  for (const char* part : {"model-00001-of-00003.gguf", "model-00003-of-00003.gguf"})
    expectSamePasses(expected, openModel(folder_ / part), true);
  EXPECT_TRUE(TextTokenizer::open(folder_ / "model-00002-of-00003.gguf").ok());
  fs::rename(folder_ / "model-00002-of-00003.gguf", folder_ / "other.gguf");
  EXPECT_THAT(Model::open(folder_ / "model-00001-of-00003.gguf").error().message,
              HasSubstr("model-00002-of-00003.gguf: is missing"));
  EXPECT_THAT(Model::open(folder_ / "other.gguf").error().message,
              HasSubstr("its name doesn't end in -00002-of-00003.gguf"));
  fs::copy_file(folder_ / "model-00003-of-00003.gguf", folder_ / "model-00002-of-00003.gguf");
  EXPECT_THAT(Model::open(folder_ / "model-00001-of-00003.gguf").error().message,
              HasSubstr("doesn't say that it is part 2 of 3"));
}

TEST_P(GgufFiles, BiasesFollowTensors) {
  ASSERT_TRUE(write("biased", "llama", "F32"));
  expectSamePasses(openModel(plain()), openModel(file()), true);
}

TEST_P(GgufFiles, TruncatedOpenFileGivesError) {
  ASSERT_TRUE(write("model", "gpt2", "F32"));
  const auto model = openModel(file());
  fs::resize_file(file(), fs::file_size(file()) / 2);
  ModelSession session(model);
  const std::vector<Index> ids = {1, 2, 3};
  EXPECT_FALSE(session.append(ids).ok());
}

INSTANTIATE_TEST_SUITE_P(Files, GgufFiles, testing::Values("any"));

// Blocks compared with the numbers that gguf_blocks.py computes from their definitions.

TEST(GgufBlocks, UnpacksEveryTypeAtAnyByteOffset) {
  const std::string python = pythonWithNumpy();
  if (python.empty()) GTEST_SKIP() << "NumPy isn't installed (apt-get install python3-numpy)";
  const headscope::test::TemporaryFolder folder;
  const auto path = folder / "blocks.safetensors";
  ASSERT_TRUE(writeGguf(python, "blocks '" + path.string() + "'"));
  const auto file = checked(headscope::test::readSafetensors(path));
  int types = 0;
  for (std::uint32_t id = 0; id < 64; ++id) {
    const GgufType* const type = ggufType(id);
    if (!type || !type->use || type->block.numbers == 1) continue;
    const std::string name(type->name);
    const NamedTensor& blocks = file->tensors.at(name + ".blocks");
    const std::vector<float> expected = *headscope::test::toFloats(file->tensors.at(name + ".values"), name);
    ASSERT_EQ(blocks.shape[1], type->block.bytes) << name;
    const kernels::WeightBlock block = kernels::weightBlock(*type->use);
    ASSERT_EQ(block.bytes, type->block.bytes) << name;
    ASSERT_EQ(block.numbers, type->block.numbers) << name;
    std::vector<float> found(expected.size());
    for (std::size_t shift = 0; shift < 3; ++shift) {
      std::vector<std::uint8_t> moved(shift);
      moved.insert(moved.end(), blocks.bytes.begin(), blocks.bytes.end());
      kernels::unpackWeights(*type->use, moved.data() + shift, found.size(), found.data());
      for (std::size_t i = 0; i < found.size(); ++i)
        if (std::isnan(expected[i]))
          EXPECT_TRUE(std::isnan(found[i])) << name << " " << i;
        else if (std::isinf(expected[i]))
          EXPECT_EQ(found[i], expected[i]) << name << " " << i;
        else
          ASSERT_LE(std::abs(found[i] - expected[i]), 4e-7f * std::abs(expected[i]) + 1e-7f)
              << name << " " << i;
    }
    ++types;
  }
  EXPECT_EQ(types, 13);
}

TEST(GgufBlocks, InfinityStaysInfinite) {
  std::vector<std::uint8_t> block(34, 1);
  block[0] = 0;
  block[1] = 0x7c;
  std::vector<float> found(32);
  kernels::unpackWeights(WeightType::q8_0, block.data(), 32, found.data());
  EXPECT_EQ(found[7], INFINITY);
}

}  // namespace
}  // namespace headscope::attention::test
