// The small bundled model: its scores are counted again on the sentences stored with it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "attention/heads/detectors.h"
#include "attention/models/session.h"
#include "attention/models/tokenizer/text_tokenizer.h"
#include "tests/attention/models/golden_models.h"
#include "tests/support/matchers.h"

namespace headscope::attention {
namespace {

using Json = nlohmann::json;

const std::filesystem::path kFolder = HEADSCOPE_SOURCE_DIR "/assets/models/miniature";
constexpr const char* kOpeningStory =
    "The dog didn't cross the bridge because it was too tired . The dog was tired .";

Json readJson(const char* name) {
  std::ifstream file(kFolder / name);
  return Json::parse(file);
}

std::map<std::string, Json> readSkills() {
  std::map<std::string, Json> skills;
  const Json scores = readJson("scores.json");
  for (const Json& skill : scores.at("skills")) skills[skill.at("name")] = skill;
  return skills;
}

/// The model's pass over one text: weights of all layers and heads, and the most likely next token.
struct Reading {
  std::vector<Index> ids;
  LayerResults layers;
  Index next = 0;

  /// [n, n]; rows sum to 1.
  MatrixView weights(Index layer, Index head) const {
    return layers[static_cast<std::size_t>(layer)]->weights[head];
  }
};

class Miniature : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    model_ = test::openModel(kFolder);
    auto tokenizer = checked(TextTokenizer::open(kFolder));
    tokenizer_ = std::make_unique<TextTokenizer>(std::move(*tokenizer));
  }
  static void TearDownTestSuite() {
    model_ = nullptr;
    tokenizer_ = nullptr;
  }

  std::vector<Index> idsOf(const std::string& text) const {
    const auto encoded = tokenizer_->encode(text);
    EXPECT_TRUE(encoded.ok()) << encoded.error().message;
    return encoded ? std::vector<Index>(encoded->ids.begin(), encoded->ids.end()) : std::vector<Index>();
  }
  Reading read(const std::string& text) const {
    Reading reading{idsOf(text), {}, 0};
    ModelSession session(model_);
    auto pass = session.append(reading.ids, {});
    EXPECT_TRUE(pass.ok()) << pass.error().message;
    reading.layers = std::move(pass->layers);
    pass->logits.row(0).maxCoeff(&reading.next);
    return reading;
  }
  std::string written(const std::string& text, Index count) const {
    ModelSession session(model_);
    auto pass = session.append(idsOf(text), {});
    std::vector<std::int32_t> ids;
    const auto keep = [&](Index id, const PassResult&) {
      ids.push_back(static_cast<std::int32_t>(id));
      return true;
    };
    EXPECT_TRUE(generate(session, pass->logits, count, {}, {}, keep).ok());
    const auto decoded = tokenizer_->decode(ids);
    EXPECT_TRUE(decoded.ok());
    return decoded ? *decoded : "";
  }
  const ModelConfig& config() const { return model_->config(); }

  static std::shared_ptr<const Model> model_;
  static std::unique_ptr<TextTokenizer> tokenizer_;
};
std::shared_ptr<const Model> Miniature::model_;
std::unique_ptr<TextTokenizer> Miniature::tokenizer_;

TEST_F(Miniature, HasSizesListedInReadme) {
  EXPECT_EQ(config().layerCount(), 4);
  EXPECT_EQ(config().heads, 6);
  EXPECT_EQ(config().kvHeads, 3);
  EXPECT_EQ(config().headDim, 16);
  EXPECT_EQ(config().modelDim, 96);
  EXPECT_EQ(config().maxPositions, 128);
  EXPECT_LT(model_->checkpoint().bytes(), 2'000'000u);
}

/// The tokens are the same whether or not words and punctuation are separated, and on one line or several.
TEST_F(Miniature, EncodesOpeningTextsAsWholeWords) {
  EXPECT_EQ(idsOf("The animal didn't cross the street because it was too tired .").size(), 12u);
  EXPECT_EQ(idsOf("The animal didn’t cross\n the street because  it was too tired."),
            idsOf("The animal didn't cross the street because it was too tired ."));
  EXPECT_EQ(idsOf(kOpeningStory).size(), 17u);
}

TEST_F(Miniature, EncodesUnknownWordsInPieces) {
  for (const char* text :
       {"Transformers elephant", "don't", "1984", "Zürich 東京 🙂", "\t\x01", "attention-heads"}) {
    const auto encoded = tokenizer_->encode(text);
    ASSERT_TRUE(encoded.ok()) << text;
    for (const auto id : encoded->ids) EXPECT_LT(id, config().vocabulary);
  }
  const auto ids = tokenizer_->encode("The elephant slept .")->ids;
  EXPECT_GT(ids.size(), 4u);
  EXPECT_EQ(*tokenizer_->decode(ids), "The elephant slept .");
}

double meanPrevious(const MatrixView& weights) {
  return weights.diagonal<-1>().mean();
}

/// The induction detector's raw score.
double induction(const Reading& reading, const MatrixView& weights) {
  std::vector<Token> tokens;
  for (const Index id : reading.ids) tokens.push_back({std::to_string(id), false});
  const HeadText text(tokens, tokens, false);
  // Scores only define which keys are visible.
  Matrix scores = Matrix::Zero(weights.rows(), weights.cols());
  for (Index i = 0; i < scores.rows(); ++i) scores.row(i).tail(scores.cols() - i - 1).setConstant(-INFINITY);
  return profileHead(ObservedHead(weights, {scores.data(), scores.rows(), scores.cols()}, text))["induction"]
      .raw;
}

/// The values in scores.json, counted again.
TEST_F(Miniature, ScoresMatchStoredFile) {
  const std::map<std::string, Json> skills = readSkills();
  const Json& previous = skills.at("previous");
  double before = 0;
  Index texts = 0;
  const Json heldOut = readJson("held_out.json").at("skills");
  for (const auto& [name, sentences] : heldOut.items()) {
    const Json& skill = skills.at(name);
    Index right = 0;
    double looked = 0;
    for (const Json& sentence : sentences) {
      const Reading reading = read(sentence[0]);
      right += reading.next == idsOf(sentence[1])[0];
      before += meanPrevious(reading.weights(previous.at("layer"), previous.at("head")));
      ++texts;
      if (!skill.contains("score")) continue;
      const MatrixView weights = reading.weights(skill.at("layer"), skill.at("head"));
      looked += name == "list"
                    ? induction(reading, weights)
                    : static_cast<double>(weights(sentence[2].get<Index>(), sentence[3].get<Index>()));
    }
    const auto of = static_cast<Index>(sentences.size());
    EXPECT_EQ(skill.at("of"), of);
    // Two predictions may be equally likely except for rounding.
    EXPECT_NEAR(skill.at("right").get<double>(), static_cast<double>(right), 1) << name;
    if (!skill.contains("score")) continue;
    EXPECT_NEAR(skill.at("score").get<double>(), looked / static_cast<double>(of), 2e-3) << name;
  }
  EXPECT_NEAR(previous.at("score").get<double>(), before / static_cast<double>(texts), 2e-3);
}

/// The scores that the model had to reach.
TEST_F(Miniature, ScoresReachTheirThresholds) {
  const std::map<std::string, Json> skills = readSkills();
  for (const char* name : {"it", "got", "pronoun", "found", "list"})
    EXPECT_GE(skills.at(name).at("right").get<int>() * 100, 95 * skills.at(name).at("of").get<int>()) << name;
  for (const auto& [name, least] : {std::pair{"previous", 0.8}, {"list", 0.8}, {"it", 0.8}, {"pronoun", 0.7}})
    EXPECT_GE(skills.at(name).at("score").get<double>(), least) << name;
}

TEST_F(Miniature, ManualQuotesScores) {
  for (const std::filesystem::path& path :
       {kFolder / "README.md", std::filesystem::path(HEADSCOPE_SOURCE_DIR "/assets/manual/model.md")}) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const auto& [name, skill] : readSkills()) {
      std::string row =
          "| " + skill.at("title").get<std::string>() + " | `" + skill.at("text").get<std::string>() + "` |";
      if (skill.contains("of")) row += " " + skill.at("right").dump() + " of " + skill.at("of").dump() + " |";
      EXPECT_THAT(text, testing::HasSubstr(row)) << path;
      if (!skill.contains("score")) continue;
      char score[8];
      std::snprintf(score, sizeof score, "%.2f", skill.at("score").get<double>());
      const std::string head =
          "| layer " + skill.at("layer").dump() + ", head " + skill.at("head").dump() + ": " + score + ", ";
      EXPECT_THAT(text, testing::HasSubstr(head)) << path;
    }
  }
}

/// From the second "The", one head attends to the animal after "tired", and to the bridge after "wide".
TEST_F(Miniature, PronounHeadAttendsToItsReferent) {
  const Json it = readSkills().at("it");
  const Reading tired = read("The dog didn't cross the bridge because it was too tired . The");
  const Reading wide = read("The dog didn't cross the bridge because it was too wide . The");
  EXPECT_GE(tired.weights(it.at("layer"), it.at("head"))(12, 1), 0.8);
  EXPECT_GE(wide.weights(it.at("layer"), it.at("head"))(12, 5), 0.8);
  EXPECT_EQ(tired.next, idsOf("dog")[0]);
  EXPECT_EQ(wide.next, idsOf("bridge")[0]);
}

TEST_F(Miniature, HeadsOfALayerDiffer) {
  for (const char* text : {kOpeningStory, "The animal didn't cross the street because it was too tired ."}) {
    const Reading reading = read(text);
    for (Index layer = 0; layer < config().layerCount(); ++layer)
      for (Index a = 0; a < config().heads; ++a)
        for (Index b = 0; b < a; ++b) {
          const Matrix x = reading.weights(layer, a), y = reading.weights(layer, b);
          EXPECT_LE(x.cwiseProduct(y).sum() / (x.norm() * y.norm()), 0.95)
              << layer << ": " << a << " and " << b;
        }
  }
}

TEST_F(Miniature, ContinuesLearnedTexts) {
  EXPECT_THAT(written("The dog didn't cross the bridge because it was too wide .", 5),
              testing::StartsWith("The bridge was wide ."));
  EXPECT_EQ(written("milk river Ben cold door Mia hill sad ring milk river", 7),
            "Ben cold door Mia hill sad ring");
}

/// What the window shows under "What it learned" really happens on these texts.
TEST_F(Miniature, SkillTextsPredictTheirAnswers) {
  for (const auto& [name, skill] : readSkills())
    if (skill.contains("next")) {
      EXPECT_EQ(read(skill.at("text")).next, idsOf(skill.at("next"))[0]) << name;
    }
}

}  // namespace
}  // namespace headscope::attention
