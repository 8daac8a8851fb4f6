// Pieces of one run patched into another, compared with the equations in double precision and with properties
// of any model.

#include "attention/models/patch.h"

#include <gtest/gtest.h>

#include <map>

#include "attention/models/session.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/made_up_checkpoint.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

std::shared_ptr<const PassResult> record(const std::shared_ptr<const Model>& model,
                                         const std::vector<Index>& ids,
                                         const PassRequest& request = everything()) {
  return std::make_shared<const PassResult>(passOver(model, ids, request));
}

using Runs = std::vector<std::vector<Patch>>;

Matrix logitsOf(const std::shared_ptr<const Model>& model, const std::vector<Index>& ids, Runs runs,
                const std::shared_ptr<const PassResult>& own = nullptr) {
  PassRequest request;
  request.runs = std::move(runs);
  request.own = own;
  request.logits = LogitRows::all;
  return record(model, ids, request)->logits;
}

double toleranceOf(const Model& model, const Matrix& of) {
  return streamTolerance(model.config(), model.config().layerCount() + 2) * of.cwiseAbs().maxCoeff();
}

class PlainPatches : public testing::TestWithParam<PlainModel> {};

TEST_P(PlainPatches, PatchedHeadsAndMlpsMatchEquations) {
  const std::vector<Index> a{3, 30, 0, 7, 7, 19, 4, 28, 3, 11, 5}, b{3, 12, 0, 7, 9, 19, 4, 22, 3, 11, 5};
  MadeUpTensors tensors(DType::F32, 5);
  std::map<std::pair<std::string, Index>, Wide> of;
  tensors.touch = [&](const std::string& piece, Index layer, Wide& numbers) { of[{piece, layer}] = numbers; };
  (void)GetParam().run(tensors, a);
  const MadeUpCheckpoint folder(GetParam().config, tensors.file());
  const auto model = openModel(folder.path());
  const Index headDim = model->config().valueDim();
  // Head 1 of the first layer from the third token on, head 0 of the last layer, and the first layer's MLP
  // for two tokens.
  const Index last = model->config().layerCount() - 1;
  tensors.touch = [&](const std::string& piece, Index layer, Wide& numbers) {
    const Wide& other = of.at({piece, layer});
    if (piece == "mlp" && layer == 0) numbers.middleRows(4, 2) = other.middleRows(4, 2);
    if (piece != "heads") return;
    if (layer == 0) numbers.block(2, headDim, 9, headDim) = other.block(2, headDim, 9, headDim);
    if (layer == last) numbers.leftCols(headDim) = other.leftCols(headDim);
  };
  const PlainOutcome expected = GetParam().run(tensors, b);

  const TakenFrom from{record(model, a)};
  const std::vector<Patch> patches{
      {Piece::head, 0, 1, 2, {}, from}, {Piece::mlp, 0, {}, 4, 2, from}, {Piece::head, last, 0, 0, {}, from}};
  const auto own = record(model, b);
  for (const auto& begin : {own, std::shared_ptr<const PassResult>()}) {
    PassRequest request = everything();
    request.runs = {{}, patches, {patches[2]}};
    request.own = begin;
    const auto pass = record(model, b, request);
    const Matrix stream = pass->stream.middleRows(11, 11);
    const Matrix wanted = expected.hidden.back().cast<float>();
    EXPECT_LE(distance(wanted, stream), toleranceOf(*model, wanted));
    EXPECT_GT(distance(own->stream, stream), 1e-3);
    EXPECT_LE(distance(own->stream, pass->stream.topRows(11)), toleranceOf(*model, wanted));
    if (!model->predictsTokens()) continue;
    const Matrix logits = expected.logits.cast<float>();
    EXPECT_LE(distance(logits, pass->logits.middleRows(11, 11)), toleranceOf(*model, logits));
  }
}

INSTANTIATE_TEST_SUITE_P(Families, PlainPatches, testing::ValuesIn(plainModels()),
                         [](const auto& info) { return info.param.name; });

class Patches : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    model_ = openModel(goldenModel(GetParam()));
    a_ = record(model_, ids_);
    b_ = record(model_, others_);
  }
  /// One patch per layer and piece.
  std::vector<Patch> everywhere(std::initializer_list<Piece> pieces,
                                const std::shared_ptr<const PassResult>& from) {
    std::vector<Patch> patches;
    for (Index layer = 0; layer < model_->config().layerCount(); ++layer)
      for (const Piece piece : pieces)
        patches.push_back({.piece = piece, .layer = layer, .by = TakenFrom{from}});
    return patches;
  }
  /// Whether the stream has a place between attention and MLP.
  bool hasMiddle() const { return model_->config().order != BlockOrder::parallel; }
  // The last tokens are equal, so differences at the end come from earlier tokens.
  const std::vector<Index> ids_{5, 250, 17, 99, 3, 41, 180, 77, 6, 12, 200, 33},
      others_{5, 251, 17, 98, 3, 42, 181, 77, 8, 12, 201, 33};
  std::shared_ptr<const Model> model_;
  std::shared_ptr<const PassResult> a_, b_;
};

TEST_P(Patches, PatchingAllPiecesReproducesOtherRun) {
  const Index layers = model_->config().layerCount(), row = std::ssize(ids_) - 1;
  const double tolerance = toleranceOf(*model_, a_->logits);
  EXPECT_GT(distance(a_->logits.row(row), b_->logits.row(row)), 100 * tolerance);
  Runs runs;
  for (Index layer = 0; layer <= layers; ++layer)
    runs.push_back({{.piece = Piece::stream, .layer = layer, .by = TakenFrom{a_}}});
  const Index streams = std::ssize(runs);
  // The last token has the same embedding in both, so heads and MLPs account for the whole difference.
  runs.push_back(everywhere({Piece::head, Piece::mlp}, a_));
  runs.push_back(everywhere({Piece::pattern, Piece::values, Piece::mlp}, a_));
  runs.push_back(everywhere({Piece::queries, Piece::keys, Piece::values, Piece::mlp}, a_));
  if (hasMiddle()) runs.push_back(everywhere({Piece::middle}, a_));
  const Matrix logits = logitsOf(model_, others_, runs);
  for (Index run = 0; run < std::ssize(runs); ++run) {
    const Matrix found = logits.middleRows(run * (row + 1), row + 1);
    if (run < streams) {
      EXPECT_LE(distance(found, a_->logits), tolerance) << "stream " << run;
    }
    EXPECT_LE(distance(found.row(row), a_->logits.row(row)), tolerance) << "run " << run;
  }
}

TEST_P(Patches, NoPatchesOrOwnPiecesReproduceOwnRun) {
  const double tolerance = toleranceOf(*model_, b_->logits);
  Runs runs{{},
            everywhere({Piece::queries, Piece::keys, Piece::values, Piece::pattern, Piece::head, Piece::mlp,
                        Piece::stream},
                       b_)};
  if (hasMiddle()) runs.push_back(everywhere({Piece::middle}, b_));
  for (const auto& own : {b_, std::shared_ptr<const PassResult>()}) {
    const Matrix logits = logitsOf(model_, others_, runs, own);
    for (Index run = 0; run < std::ssize(runs); ++run)
      EXPECT_LE(distance(logits.middleRows(run * 12, 12), b_->logits), tolerance);
  }
  // A single run takes the ordinary path and is identical bit by bit.
  EXPECT_EQ(logitsOf(model_, others_, {{}}), b_->logits);
}

TEST_P(Patches, BatchedAndResumedRunsMatchSingleRuns) {
  Runs runs;
  const ModelConfig& config = model_->config();
  for (const Piece piece :
       {Piece::queries, Piece::keys, Piece::values, Piece::pattern, Piece::head, Piece::mlp})
    runs.push_back({{.piece = piece,
                     .layer = 1,
                     .head = piece == Piece::mlp ? std::nullopt : std::optional(config.kvHeads - 1),
                     .firstToken = 3,
                     .tokens = 6,
                     .by = TakenFrom{a_}}});
  runs.push_back({{.layer = 1, .head = 0, .by = MeanOfRows{}}, {.piece = Piece::mlp, .layer = 1}});
  const double tolerance = toleranceOf(*model_, b_->logits);
  const Matrix together = logitsOf(model_, others_, runs, b_), begun = logitsOf(model_, others_, runs);
  EXPECT_LE(distance(together, begun), tolerance);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const Matrix alone = logitsOf(model_, others_, {runs[run]}, b_);
    EXPECT_LE(distance(alone, together.middleRows(static_cast<Index>(run) * 12, 12)), tolerance) << run;
    EXPECT_GT(distance(alone, b_->logits), 1e-4) << run;
    // A patch of all runs acts on this run as its own patch does.
    PassRequest request;
    request.patches = runs[run];
    request.logits = LogitRows::all;
    EXPECT_LE(distance(record(model_, others_, request)->logits, alone), tolerance) << run;
  }
  // Rows before the patch are the text's own, except in an encoder, which sees both directions.
  if (config.causal) {
    EXPECT_LE(distance(together.topRows(3), b_->logits.topRows(3)), tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Patches,
                         testing::Values("gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma2", "phi3",
                                         "gpt_neox", "bert"),
                         [](const auto& info) { return info.param; });

TEST(Patch, DisabledHeadAddsNothing) {
  const auto model = openModel(goldenModel("gpt_neox"));
  PassRequest request = everything();
  for (Index layer = 0; layer < model->config().layerCount(); ++layer)
    request.patches.push_back({.piece = Piece::head, .layer = layer});
  // Without attention, tokens don't influence each other: the same token gives the same row anywhere.
  const auto off = record(model, {8, 40, 8, 8}, request);
  EXPECT_LE(distance(off->layers[1]->hidden.row(0), off->layers[1]->hidden.row(3)), 1e-5);
  request.patches = {{.layer = 0, .head = 1}};
  EXPECT_GT(distance(record(model, {8, 40, 8, 8}, request)->logits, record(model, {8, 40, 8, 8})->logits),
            1e-3);
}

TEST(Patch, AlignedTokensTakePatchedValues) {
  const auto model = openModel(goldenModel("gpt2"));
  const std::vector<Index> shorter{5, 17, 99, 3}, longer{5, 250, 17, 99, 3};
  const auto rows = std::make_shared<const std::vector<Index>>(std::vector<Index>{0, -1, 1, 2, 3});
  const TakenFrom from{record(model, shorter), rows};
  PassRequest request = everything();
  request.runs = {{{Piece::head, 0, 1, 0, {}, from}}, {{Piece::pattern, 0, 2, 0, {}, from}}};
  const auto pass = record(model, longer, request), own = record(model, longer);
  const LayerResult& now = *pass->layers[0];
  const LayerResult& other = *from.run->layers[0];
  const LayerResult& before = *own->layers[0];
  for (Index row = 0; row < 5; ++row) {
    const Index at = (*rows)[static_cast<std::size_t>(row)];
    const Matrix& wanted = at < 0 ? before.headOutput[1].row(row) : other.headOutput[1].row(at);
    EXPECT_EQ(now.headOutput[1].row(row), wanted);
    for (Index key = 0; key <= row; ++key) {
      const Index read = (*rows)[static_cast<std::size_t>(key)];
      const float weight = at < 0     ? before.weights.at(2, row, key)
                           : read < 0 ? 0
                                      : other.weights.at(2, at, read);
      EXPECT_EQ(now.weights.at(2, 5 + row, key), weight) << row << ", " << key;
    }
  }
}

TEST(Patch, RefusesPatchesThatDoNotFit) {
  const auto model = openModel(goldenModel("llama"));
  const std::vector<Index> ids{5, 250, 17, 99};
  const auto message = [&](const Patch& patch) {
    ModelSession session(model);
    PassRequest request;
    request.runs = {{patch}};
    return messageOf(session.append(ids, request));
  };
  const Index layers = model->config().layerCount();
  const auto from = record(model, ids);
  EXPECT_EQ(message({.layer = layers}), "the layer to patch is " + std::to_string(layers) +
                                            ", expected 0 to " + std::to_string(layers - 1));
  EXPECT_EQ(message({.piece = Piece::stream, .layer = layers, .by = TakenFrom{from}}), "no error");
  EXPECT_EQ(message({.head = 4}), "the head to patch is 4, expected 0 to 3");
  EXPECT_EQ(message({.piece = Piece::keys, .head = 2}), "the KV head to patch is 2, expected 0 to 0");
  EXPECT_EQ(message({.by = TakenFrom{record(model, {5, 250})}}),
            "the source run has 2 tokens, expected the text's 4");
  EXPECT_EQ(message({.by = TakenFrom{record(model, ids, {})}}),
            "the source run for layer 0 didn't keep the values to patch in");
  const auto rows = std::make_shared<const std::vector<Index>>(std::vector<Index>{0, 1, 2, 4});
  EXPECT_EQ(message({.by = TakenFrom{from, rows}}), "token 4 of the other text was requested, which has 4");
  EXPECT_EQ(message({.firstToken = -1}),
            "4 tokens are to be patched from token -1, expected a part of the text");
  EXPECT_EQ(message({.firstToken = 9}), "no error");
}

}  // namespace
}  // namespace headscope::attention::test
