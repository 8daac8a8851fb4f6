// Encoder–decoders compared with their equations in double precision, for all three groups of heads.

#include <gtest/gtest.h>

#include "attention/models/circuits.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/made_up_checkpoint.h"
#include "tests/attention/models/plain/plain_encoder_decoder.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

const std::vector<Index> kSourceText{3, 30, 0, 7, 7, 19, 4, 28, 3, 11, 5, 9, 22},
    kTarget{2, 8, 8, 17, 1, 25, 6};

class EncoderDecoders : public testing::TestWithParam<PlainPair> {
 protected:
  EncoderDecoders() : expected_(GetParam().run(tensors_, kSourceText, kTarget)) {}

  std::shared_ptr<const Model> model(const std::string& group) const {
    return openModel(folder_.path().string() + "#" + group);
  }
  void expectNear(const Wide& wide, const Matrix& found, const ModelConfig& config, Index layers,
                  const std::string& what) const {
    EXPECT_LE(distance(wide.cast<float>(), found),
              streamTolerance(config, layers) * std::max(1.0, wide.cwiseAbs().maxCoeff()))
        << what;
  }
  void expectLayers(const PlainOutcome& expected, const std::vector<std::vector<Wide>>& attention,
                    const PassResult& pass, const ModelConfig& config) const {
    expectNear(expected.hidden[0], pass.embedded, config, 0, "embedded");
    ASSERT_EQ(pass.layers.size(), attention.size());
    for (std::size_t i = 0; i < attention.size(); ++i) {
      const auto depth = static_cast<Index>(i + 1);
      ASSERT_EQ(pass.layers[i]->weights.count(), std::ssize(attention[i]));
      for (std::size_t h = 0; h < attention[i].size(); ++h)
        expectNear(6 * attention[i][h], 6 * pass.layers[i]->weights[static_cast<Index>(h)], config, depth + 4,
                   "layer " + std::to_string(i) + ", head " + std::to_string(h));
      expectNear(expected.hidden[i + 1], pass.layers[i]->hidden, config, depth, "layer " + std::to_string(i));
    }
  }

  MadeUpTensors tensors_{DType::F32, 5};
  PlainPairOutcome expected_;
  MadeUpCheckpoint folder_{GetParam().config, tensors_.file()};
};

TEST_P(EncoderDecoders, MatchesEquationsInAllThreeGroups) {
  std::shared_ptr<const Matrix> memory = std::make_shared<const Matrix>(expected_.memory.cast<float>());
  if (!expected_.encoder.hidden.empty()) {
    const auto encoder = model("encoder");
    EXPECT_FALSE(encoder->config().causal);
    EXPECT_FALSE(encoder->predictsTokens());
    ModelSession session(encoder);
    const auto pass = checked(session.append(kSourceText, everything()));
    expectLayers(expected_.encoder, expected_.encoder.attention, *pass, encoder->config());
    const auto made = checked(encoded(model("cross")->source(), kSourceText));
    expectNear(expected_.memory, **made, encoder->config(), 3, "memory");
    memory = *made;
  }
  for (const std::string group : {"decoder", "cross"}) {
    const auto decoder = model(group);
    ModelSession session(decoder);
    PassRequest request = everything();
    request.memory = memory;
    const auto pass = checked(session.append(kTarget, request));
    expectLayers(expected_.decoder, group == "cross" ? expected_.cross : expected_.decoder.attention, *pass,
                 decoder->config());
    expectNear(expected_.decoder.logits, pass->logits, decoder->config(), 4, "logits of " + group);
    const Index keys = group == "cross" ? memory->rows() : std::ssize(kTarget);
    EXPECT_EQ(pass->layers[0]->k.rows(), keys);
    EXPECT_EQ(pass->layers[0]->mask.formula->keys(), keys);
  }
}

TEST_P(EncoderDecoders, DecodeMatchesFullPassAndKeepsCrossCache) {
  const auto memory = std::make_shared<const Matrix>(expected_.memory.cast<float>());
  for (const std::string group : {"decoder", "cross"}) {
    const auto decoder = model(group);
    ModelSession whole(decoder), single(decoder);
    PassRequest request;
    request.memory = memory;
    const auto expected = checked(whole.append(kTarget, request));
    const double most = streamTolerance(decoder->config(), 3) * expected->stream.cwiseAbs().maxCoeff();
    for (std::size_t i = 0; i < kTarget.size(); ++i) {
      if (i > 0) request.memory = nullptr;  // the session already has it
      const float* const keys = i > 0 ? single.sourceHeads(0).k.data() : nullptr;
      const auto pass = checked(single.append({&kTarget[i], 1}, request));
      const auto row = static_cast<Index>(i);
      EXPECT_LE(distance(expected->stream.row(row), pass->stream), most) << group << ", token " << i;
      EXPECT_EQ(single.cache(0).length(), row + 1);
      EXPECT_EQ(single.sourceHeads(0).k.rows(), memory->rows());
      EXPECT_TRUE(!keys || single.sourceHeads(0).k.data() == keys) << "made once";
    }
  }
}

TEST_P(EncoderDecoders, EarlierRowsDependOnSourceButNotLaterTokens) {
  auto memory = std::make_shared<Matrix>(expected_.memory.cast<float>());
  const auto decoder = model("cross");
  const auto streamOf = [&](std::vector<Index> ids) {
    ModelSession session(decoder);
    PassRequest request;
    request.memory = std::make_shared<const Matrix>(*memory);
    auto pass = session.append(ids, request);
    return pass.ok() ? pass->stream : Matrix();
  };
  std::vector<Index> other = kTarget;
  const Matrix before = streamOf(kTarget);
  other.back() = 12;
  const Matrix after = streamOf(other);
  const Index n = before.rows();
  ASSERT_EQ(n, std::ssize(kTarget));
  EXPECT_EQ(before.topRows(n - 1), after.topRows(n - 1));
  EXPECT_NE(before.row(n - 1), after.row(n - 1));
  memory->row(memory->rows() - 1) *= -2;
  EXPECT_NE(streamOf(kTarget).row(0), before.row(0));
}

/// Patches and masks apply to the group that is shown.
TEST_P(EncoderDecoders, PatchesAndMasksApplyToShownGroup) {
  const auto memory = std::make_shared<const Matrix>(expected_.memory.cast<float>());
  std::vector<Matrix> streams;
  for (const std::string group : {"decoder", "cross"}) {
    ModelSession session(model(group));
    PassRequest request = everything();
    request.memory = memory;
    request.patches = {{.layer = 1, .head = 0}};
    AttentionEdit edit;
    edit.mask = parseMask("window_both(2)").layers;
    request.edits = {edit};
    const auto pass = checked(session.append(kTarget, request));
    EXPECT_EQ(pass->layers[1]->headOutput[0].cwiseAbs().maxCoeff(), 0);
    EXPECT_EQ(pass->layers[0]->weights.at(0, 0, 3), 0) << group;
    streams.push_back(pass->stream);
  }
  EXPECT_NE(streams[0], streams[1]);
}

/// Keys and values of cross heads belong to the encoder's tokens: patched with all of another memory's, a
/// layer attends as it does there.
TEST_P(EncoderDecoders, PatchesCrossKeysAndValuesFromAnotherSource) {
  const auto decoder = model("cross");
  const Matrix made = expected_.memory.cast<float>();
  const Index shorter = made.rows() - 2;
  const auto a = std::make_shared<const Matrix>(made);
  const auto b = std::make_shared<const Matrix>(-1.5f * made.topRows(shorter).colwise().reverse());
  const auto run = [&](const std::shared_ptr<const Matrix>& memory, std::vector<Patch> patches,
                       std::vector<std::vector<Patch>> runs = {}) {
    PassRequest request = everything();
    request.memory = memory;
    request.patches = std::move(patches);
    request.runs = std::move(runs);
    ModelSession session(decoder);
    auto pass = session.append(kTarget, request);
    EXPECT_TRUE(pass.ok()) << (pass.ok() ? "" : pass.error().message);
    return std::make_shared<const PassResult>(pass.ok() ? *std::move(pass) : PassResult());
  };
  const auto own = run(a, {}), other = run(b, {});
  // B's tokens except its own last one, and no partner for A's first and last.
  auto partners = std::make_shared<std::vector<Index>>(std::vector<Index>(asSize(made.rows()), -1));
  for (Index i = 1; i + 1 < shorter; ++i) (*partners)[asSize(i)] = i;
  const TakenFrom from{other, nullptr, partners};
  const Patch keys{.piece = Piece::keys, .layer = 1, .by = from};
  const Patch values{.piece = Piece::values, .layer = 1, .head = 1, .by = from};
  const auto patched = run(a, {keys, values});
  Stack wanted = own->layers[1]->k;
  for (Index head = 0; head < wanted.count(); ++head)
    wanted[head].middleRows(1, shorter - 2) = other->layers[1]->k[head].middleRows(1, shorter - 2);
  for (Index head = 0; head < wanted.count(); ++head) {
    EXPECT_EQ(Matrix(patched->layers[1]->k[head]), Matrix(wanted[head])) << head;
    EXPECT_EQ(Matrix(patched->layers[1]->v[head]) == Matrix(own->layers[1]->v[head]), head != 1) << head;
    const Matrix output = patched->layers[1]->weights[head] * patched->layers[1]->v[head];
    EXPECT_LE(distance(output, Matrix(patched->layers[1]->headOutput[head])), 1e-4) << head;
  }
  EXPECT_EQ(patched->layers[0]->hidden, own->layers[0]->hidden);
  EXPECT_NE(patched->stream, own->stream);
  // Run together, they give the same as separately. A pattern's columns are the encoder's tokens too.
  const Patch pattern{.piece = Piece::pattern, .layer = 0, .head = 0, .by = from};
  const auto both = run(a, {}, {{keys, values}, {pattern}, {}});
  const Index n = patched->stream.rows();
  EXPECT_LE(distance(both->stream.topRows(n), patched->stream), 1e-4);
  EXPECT_LE(distance(both->stream.bottomRows(n), own->stream), 1e-4);
  EXPECT_EQ(both->layers[0]->weights[0](n, 2), other->layers[0]->weights[0](0, 2));
  EXPECT_EQ(both->layers[0]->weights[0](n, 0), 0) << "it has no partner";
  ModelSession session(decoder);
  PassRequest wrong;
  wrong.memory = a;
  wrong.patches = {{.piece = Piece::keys, .layer = 1, .by = TakenFrom{other}}};
  EXPECT_THAT(session.append(kTarget, wrong).error().message, HasSubstr("expected the text's 13"));
}

/// Both attentions of every layer are among the pieces, and all pieces sum to the logit.
TEST_P(EncoderDecoders, ContributionsSumToLogit) {
  for (const std::string group : {"decoder", "cross"}) {
    const auto decoder = model(group);
    PassRequest request = everything();
    request.memory = std::make_shared<const Matrix>(expected_.memory.cast<float>());
    ModelSession session(decoder);
    const auto pass = checked(session.append(kTarget, request));
    const auto found = checked(attributeLogit(*decoder, *pass, 5, {7, 30}));
    const double largest = pass->logits.cwiseAbs().maxCoeff();
    EXPECT_NEAR(found->total, double{pass->logits(5, 7)} - double{pass->logits(5, 30)}, 1e-5 * largest);
    double sum = 0;
    Index own = 0, cross = 0, shown = 0;
    for (const Contribution& part : found->parts) {
      sum += part.value;
      if (part.head < 0) continue;
      own += part.group == HeadGroup::decoder;
      cross += part.group == HeadGroup::cross;
      if (part.by != Writer::head) continue;
      ++shown;
      EXPECT_EQ(groupName(part.group), group);
      EXPECT_NEAR(double{found->byKey[part.layer].row(part.head).sum()}, part.value, 1e-4 * largest);
    }
    EXPECT_NEAR(sum, found->total, 1e-4 * largest);
    const Index all = decoder->config().layerCount() * decoder->config().heads;
    EXPECT_EQ(std::tuple(own, cross, shown), std::tuple(all, all, all));
    EXPECT_EQ(found->byKey.cols(), group == "cross" ? expected_.memory.rows() : std::ssize(kTarget));
  }
}

/// A head's maps are the same whichever group is shown; composition follows the streams.
TEST_P(EncoderDecoders, HeadsComposeAlongTheirStreams) {
  const auto cross = model("cross"), decoder = model("decoder");
  const HeadPlace own{HeadGroup::decoder, 1, 0}, reads{HeadGroup::cross, 1, 1};
  for (const HeadPlace& place : {own, reads}) {
    const HeadCircuits a = headCircuits(*cross, place), b = headCircuits(*decoder, place);
    EXPECT_EQ(a.q, b.q);
    EXPECT_EQ(a.k, b.k);
    EXPECT_EQ(a.o, b.o);
  }
  const auto kinds = [](const HeadPlace& earlier, const HeadPlace& later) {
    const Reads found = readsOf(earlier, later);
    return std::pair(found.queries, found.keysAndValues);
  };
  EXPECT_EQ(kinds(own, reads), std::pair(true, false)) << "of one layer";
  EXPECT_EQ(kinds(reads, own), std::pair(false, false));
  EXPECT_EQ(kinds(reads, {HeadGroup::decoder, 2, 0}), std::pair(true, true));
  EXPECT_EQ(kinds({HeadGroup::encoder, 2, 0}, {HeadGroup::cross, 0, 0}), std::pair(false, true));
  EXPECT_EQ(kinds({HeadGroup::encoder, 0, 0}, own), std::pair(false, false));
  const HeadCircuits later = headCircuits(*cross, reads);
  const Composition found = composition(headCircuits(*cross, own), later, readsOf(own, reads));
  EXPECT_TRUE(std::isfinite(found.q) && std::isnan(found.k) && std::isnan(found.v));
  if (!cross->source()) return;
  const HeadPlace first{HeadGroup::encoder, 0, 1};
  const Composition of = composition(headCircuits(*cross, first), later, readsOf(first, reads));
  EXPECT_TRUE(std::isnan(of.q) && std::isfinite(of.k) && std::isfinite(of.v));
}

/// A pass that fails leaves the session as it was, its encoder output included.
TEST_P(EncoderDecoders, FailedPassKeepsMemory) {
  const auto memory = std::make_shared<const Matrix>(expected_.memory.cast<float>());
  ModelSession session(model("cross"));
  PassRequest request = everything();
  request.memory = memory;
  const auto before = checked(session.append(kTarget, request));
  session.truncate(0);
  request.memory = std::make_shared<const Matrix>(-memory->topRows(2));
  PassRequest wrongHead = request, wrongPatch = request;
  wrongHead.heads = std::vector<Index>{99};
  wrongPatch.patches = {{.layer = 99, .head = 0}};
  const std::vector<Index> unknown{2, 9999};
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(session.append(unknown, request).ok());
  EXPECT_FALSE(session.append(kTarget, wrongHead).ok());
  EXPECT_FALSE(session.append(kTarget, wrongPatch).ok());
  EXPECT_FALSE(session.append(kTarget, request, stop.get_token()).ok());
  EXPECT_EQ(session.memory(), memory);
  EXPECT_EQ(session.length(), 0);
  const auto after = checked(session.append(kTarget));
  EXPECT_EQ(after->stream, before->stream);
}

TEST_P(EncoderDecoders, ReportsMissingMemoryAndUnknownGroups) {
  const auto decoder = model("decoder");
  ModelSession session(decoder);
  EXPECT_THAT(messageOf(session.append(kTarget)), HasSubstr("needs an encoder's output, but none was given"));
  PassRequest request;
  request.memory = std::make_shared<const Matrix>(Matrix::Zero(3, 5));
  EXPECT_THAT(session.append(kTarget, request).error().message, HasSubstr("[3, 5], expected rows of 24"));
  EXPECT_THAT(messageOf(Model::open(folder_.path().string() + "#middle")), HasSubstr("decoder, cross"));
  EXPECT_EQ(openModel(folder_.path())->config().group, HeadGroup::cross) << "where the name says none";
}

INSTANTIATE_TEST_SUITE_P(Families, EncoderDecoders, testing::ValuesIn(plainPairs()),
                         [](const auto& info) { return info.param.name; });

TEST(EncoderDecoderConfigs, EncoderSavedAloneOpensAsEncoder) {
  for (const char* fields :
       {R"("model_type": "t5", "architectures": ["T5EncoderModel"])",
        R"("model_type": "t5", "architectures": ["T5EncoderModel"], "is_encoder_decoder": false)",
        R"("model_type": "mt5", "architectures": ["MT5EncoderModel"])",
        R"("model_type": "t5", "is_encoder_decoder": false)"}) {
    const auto config = checked(readModelConfig("{" + std::string(fields) + "}", "config.json", ""));
    EXPECT_EQ(config->group, HeadGroup::encoder) << fields;
    EXPECT_THAT(config->groups, testing::ElementsAre(HeadGroup::encoder)) << fields;
    EXPECT_FALSE(config->causal);
  }
}

}  // namespace

void PrintTo(const PlainPair& pair, std::ostream* to) {
  *to << pair.name;
}

}  // namespace headscope::attention::test
