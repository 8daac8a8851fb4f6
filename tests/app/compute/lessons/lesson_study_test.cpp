#include "app/compute/lessons/lesson_study.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "app/scene/lessons/lesson.h"
#include "render/heatmap.h"
#include "test_paths.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using Studied = attention::Result<std::shared_ptr<const StepStudy>>;

constexpr Limits kLimits{std::uint64_t{1} << 30};

struct Written {
  std::string id, patch, claims;
  std::string more = {};
};

/// Reads a lesson with these steps, each based on the opening scene.
std::shared_ptr<const Lesson> lessonOf(const std::vector<Written>& steps) {
  std::string text = R"J({"format": "headscope lesson", "version": 1, "id": "a", "title": "A", "steps": [)J";
  for (std::size_t i = 0; i < steps.size(); ++i)
    text += fmt::format(
        R"J({}{{"id": "{}", "title": "T", "text": "x", "from": "opening", "patch": {{{}}}, "claims": [{}]{}}})J",
        i > 0 ? ",\n" : "", steps[i].id, steps[i].patch, steps[i].claims, steps[i].more);
  const auto lesson = parseLesson(text + "]}", "a.json");
  EXPECT_TRUE(lesson.ok()) << lesson.error().message << "\n" << text;
  return lesson.ok() ? *lesson : nullptr;
}

/// Expects every claim of every step to hold.
void expectHolds(const std::vector<Written>& steps) {
  const auto lesson = lessonOf(steps);
  ASSERT_TRUE(lesson);
  Resources resources(kLimits);
  LessonRunner runner(*lesson, resources);
  for (std::size_t i = 0; i < lesson->steps.size(); ++i) {
    const Studied study = runner.study(i);
    ASSERT_TRUE(study.ok()) << study.error().message;
    EXPECT_THAT((*study)->failedClaims, IsEmpty()) << lesson->steps[i].id;
  }
}

/// The error of one step's claim.
std::string refused(const std::string& claim, const std::string& patch = "") {
  const auto lesson = lessonOf({{"one", patch, "\"" + claim + "\""}});
  if (!lesson) return "";
  Resources resources(kLimits);
  const Studied study = studyStep(*lesson, 0, resources);
  EXPECT_FALSE(study.ok()) << claim;
  return study.ok() ? "" : study.error().message;
}

// All questions and claims of the design's twelve lessons can be expressed.

TEST(LessonStudy, ScaledDotProductClaimsHold) {
  expectHolds({{"open", "",
                R"J("abs(W[0][7][6]-0.942)<0.0005", "max(abs(sum(W,-1)-1))<1e-6",
                   "abs(sum(q[0][7]*k[0][6])-61.09)<0.005", "abs(S[0][7][6]-10.80)<0.005",
                   "max(abs(O[0][7]-sum(W[0][7][:,None]*v[0],0)))<1e-5", "abs(sum(W[1][:,0])-11.94)<0.005",
                   "max(abs(Y-sum(matmul(O,W_O),0)))<1e-4", "max(abs(matmul(X,W_Q)-q))<1e-4", "max(abs(matmul(X,W_K)-k))<1e-4")J"},
               {"both", R"J("mask.expression": "padding")J",
                R"J("abs(S[0][7][6]-10.80)<0.005", "abs(S[0][6][7]-3.61)<0.005")J"},
               {"dog",
                R"J("input.text": "the dog bit the man .", "weights.source": "random", "model.kv_heads": 8,
                   "model.position": "none", "mask.expression": "padding")J",
                R"J("max(abs(man.Y[4]-Y[1]))<1e-5")J"},
               {"man",
                R"J("input.text": "the man bit the dog .", "weights.source": "random", "model.kv_heads": 8,
                   "model.position": "none", "mask.expression": "padding")J",
                R"J("n==6")J"}});
}

TEST(LessonStudy, RootScalingClaimsHold) {
  const std::string common =
      R"J("weights.source": "random", "weights.seed": 7, "model.linked": false, "model.heads": 1, "model.kv_heads": 1,
         "model.head_dim": 512, "model.model_dim": 512, "model.position": "none", "mask.expression": "padding")J";
  expectHolds(
      {{"off", common + R"J(, "model.scaled": false)J",
        R"J("mean(max(W,-1))>0.95", "abs(mean(max(W,-1))-0.988)<0.0005", "abs(std(S)-21.2)<0.05",
                   "abs(mean(entropy(W[0]))/log(m)-0.019)<0.0005")J"},
       {"on", common,
        R"J("mean(max(W,-1))<0.3", "argmax(off.W,-1)==argmax(W,-1)", "max(abs(off.S/sqrt(512)-S))<1e-5")J"}});
}

TEST(LessonStudy, RankClaimsHold) {
  const std::string common =
      R"J("weights.source": "random", "weights.seed": 7, "model.linked": false, "model.heads": 1, "model.kv_heads": 1,
         "model.position": "none", "mask.expression": "padding", "model.sharpness": 8, "model.model_dim": 256, "model.head_dim": )J";
  expectHolds(
      {{"open", "", R"J("rank(W[3])==12", "argmax(W[0:3,7],-1)==[6,0,7]", "heads==8 && layers==1")J"},
       {"unmasked", R"J("mask.expression": "padding")J", R"J("rank(S)[[0,1,2,3,6,7]]==[11,1,11,0,12,12]")J"},
       {"d1", common + "1", R"J("rank(S[0])==head_dim", "size(unique(argmax(S[0],-1)))<=2")J"},
       {"d2", common + "2", R"J("rank(S[0])==head_dim")J"},
       {"d4", common + "4", R"J("rank(S[0])==head_dim")J"}});
}

TEST(LessonStudy, CausalMaskClaimsHold) {
  expectHolds(
      {{"open", "", R"J("visible==78", "max(where(j>i,W,0))==0", "W[:,0,0]==1", "visible==n*(n+1)/2")J"},
       {"wide", R"J("input.text": "The animal didn't cross the street because it was too wide .")J",
        R"J("max(abs(open.Y[:10]-Y[:10]))==0", "max(abs(open.Y[10:]-Y[10:]))>0.01")J"},
       {"wrong_way", R"J("mask.expression": "!causal")J",
        R"J("L[:,11]==-inf", "W[:,11]==0", "count(seen[0][11])==0")J"},
       {"long", R"J("mask.expression": "causal")J",
        R"J("abs(blocks_saved(1024,128)-0.4375)<1e-9", "abs(blocks_saved(2048,128)-0.46875)<1e-9", "blocks_saved(12,128)==0")J"}});
}

TEST(LessonStudy, PaddingClaimsHold) {
  const std::string two =
      R"J("input.text": "The animal didn't cross the street because it was too tired .\nThe street was too wide .")J";
  expectHolds(
      {{"both", two,
        R"J("shape(W)==[2,8,12,12]", "max(W[1,:,:,6:])==0", "lengths==[12,6]", "lines==2", "sum(lines*n-sum(lengths))==6",
                   "max(abs(Y[1,:6]-alone.Y))<1e-6", "abs(sum(W[1,3,8])-1)<1e-6")J"},
       {"alone", R"J("input.text": "The street was too wide .")J", R"J("n==6")J"},
       {"causal", two + R"J(, "mask.expression": "causal")J", R"J("max(abs(Y[1,:6]-both.Y[1,:6]))==0")J"},
       {"full", two + R"J(, "mask.expression": "full")J", R"J("sum(W[1,3,0,6:])==0.5")J"}});
}

TEST(LessonStudy, SharedKeyClaimsHold) {
  expectHolds(
      {{"open", "", R"J("bytes_per_token==256", "mha_bytes==4*bytes", "parameters==2*256*256+2*256*64")J"},
       {"one", R"J("model.kv_heads": 1)J",
        R"J("all(shape(k)==[1,12,32]) && W[0][7][6]>0.93", "bytes_per_token==128")J"},
       {"uniform",
        R"J("model.kv_heads": 1, "weights.planted": [{"pattern": "uniform"}, {"pattern": "uniform"},
                   {"pattern": "uniform"}, {"pattern": "uniform"}, {"pattern": "uniform"}, {"pattern": "uniform"},
                   {"pattern": "uniform"}, {"pattern": "uniform"}])J",
        R"J("max(abs(O[0]-O[7]))==0")J"}});
}

TEST(LessonStudy, CacheClaimsHold) {
  expectHolds(
      {{"open", R"J("cursor.decoding": true, "cursor.step": 9)J",
        R"J("bytes==2304", "mha_bytes==9216", "step==9", "flops==337256", "flops_without==2997000")J"},
       {"cut", R"J("input.text": "The animal didn't cross the street because it was")J",
        R"J("max(abs(Y-open.Y[:9]))==0", "max(abs(W-open.W[:,:9,:9]))==0")J"},
       {"free",
        R"J("mask.expression": "padding", "input.text": "The animal didn't cross the street because it was")J",
        R"J("max(abs(k-open.k[:,:9]))==0", "max(abs(Y-open.Y[:9]))>0.1")J"},
       {"large", R"J("cost.model": "")J",
        R"J("cache_bytes(80,64,128,8192,1,2)==20*2^30", "cache_bytes(80,8,128,8192,1,2)==2.5*2^30",
           "cache_bytes(1,4,16,5,2,4)==5120", "count(range(9)<=0)==1")J"}});
}

TEST(LessonStudy, MemoryWallClaimsHold) {
  expectHolds(
      {{"layer",
        R"J("cost.model": "", "model.linked": false, "model.model_dim": 512, "model.head_dim": 64, "model.kv_heads": 8)J",
        R"J("matrix_bytes(1024,1,1)==4*2^20", "matrix_bytes(2048,1,1)==16*2^20", "matrix_bytes(2048,96,1)==1.5*2^30",
                   "matrix_bytes(32768,120,1)==480*2^30", "matrix_bytes(2048,96,96)==144*2^30", "cost.overtakes_projections==1024",
                   "cost.model_dim==512")J"},
       {"gpt3", R"J("cost.model": "GPT-3 175B", "cost.tokens": 2048)J",
        R"J("abs(cost.attention_flops_all/(cost.projection_flops+cost.feed_forward_flops+cost.attention_flops_all)-0.027)<0.0005",
                   "cost.layers==96")J"}});
}

TEST(LessonStudy, HeadLearningClaimsHold) {
  const auto seed = [](int number) {
    return Written{fmt::format("s{}", number), fmt::format("\"weights.seed\": {}", number), ""};
  };
  std::vector<Written> steps{
      {"open", "", R"J("abs(sum(where(j==i-1,W[0],0))/11-0.945)<0.0005", "W[6][4][0]>0.99",
                      "abs(sum(where(j==i-1,seen[0]/sum(seen[0],-1)[:,None],0))/11-0.191)<0.0005",
                      "size(unique([argmax(s1.W[7][7]),argmax(s2.W[7][7]),argmax(s3.W[7][7]),argmax(s4.W[7][7])]))>1")J"},
      {"nonsense", R"J("input.text": "Xa xb xc xd xe xf xg xh xi xj xk xl")J",
       R"J("max(abs(open.W[:6]-W[:6]))==0")J"}};
  for (int number = 1; number <= 4; ++number) steps.push_back(seed(number));
  expectHolds(steps);
}

TEST(LessonStudy, LearnedModelClaimsHold) {
  const std::string text =
      R"J("subject.model": "learned", "input.text": "The dog didn't cross the bridge because it was too tired . The")J";
  expectHolds(
      {{"whole", text,
        R"J("probability(-1,'dog')>0.5", "guess_rank(-1,'dog')==1", "shape(A)==[4,6,n,n]", "layers==4",
           "max(A[2][1][-1])>0.9", "max(abs(A[0]-W))<1e-5",
           "off.probability(-1,'dog')<probability(-1,'dog')")J"},
       {"off", text + R"J(, "subject.switched_off": [{"layer": 2, "head": 1, "by": "zero"}])J",
        R"J("abs(probability(-1,'dog')-whole.probability(-1,'dog'))>1e-6")J"}});
  EXPECT_THAT(refused("A[0]>0"), HasSubstr("the step's scene has one synthetic layer"));
  EXPECT_THAT(refused("probability(99,'dog')>0", text),
              HasSubstr("the position is outside the text, expected 0 to"));
  EXPECT_THAT(refused("probability(0,'qqqq')>0", text), HasSubstr("is not a single token"));
  EXPECT_THAT(refused("W_Q[0][0][0]>0", text), HasSubstr("a synthetic layer"));
}

TEST(LessonStudy, MistakeClaimsHold) {
  const auto mistake = [](const char* name, const char* subject = "layer") {
    return fmt::format("\"cursor.lab.mistake\": \"{}\", \"cursor.lab.subject\": \"{}\"", name, subject);
  };
  expectHolds({{"flipped", mistake("upper_triangle"),
                "\"max(abs(sum(wrong.W,-1)-1))<1e-5\", \"max(abs(right.W-W))<1e-5\", \"wrong.raises==0\""},
               {"random", mistake("no_scale", "random"),
                "\"shape(wrong.W)==[1,12,12]\", \"mean(max(wrong.W,-1))>0.9\""},
               {"divisor", mistake("not_divisible"), "\"wrong.raises==1\""}});
  EXPECT_THAT(refused("wrong.W[0][0][0]>0", mistake("not_divisible")),
              HasSubstr("this mistake has no result"));
}

TEST(LessonStudy, CrossAttentionClaimsHold) {
  const std::string cross =
      R"J("input.cross": true, "mask.expression": "full", "input.context": "The animal didn't cross the street because it was too tired .", )J";
  expectHolds(
      {{"short_text", cross + R"J("input.text": "It was tired")J",
        R"J("shape(W)==[8,3,12]", "argmax(W[6],-1)==[7,8,10]", "bytes==3072", "W[6][0][7]>0.99")J"},
       {"longer", cross + R"J("input.text": "It was tired and slept")J",
        R"J("shape(W)==[8,5,12]", "max(abs(k-short_text.k))==0", "max(abs(Y[:3]-short_text.Y))<1e-6")J"}});
}

TEST(LessonStudy, WindowAndSinkClaimsHold) {
  expectHolds(
      {{"open", "", R"J("abs(W[1][11][0]-0.989)<0.0005")J"},
       {"window", R"J("mask.expression": "causal & window(4)")J",
        R"J("visible==42", "max(abs(W[1][11][8:]-0.25))<1e-6", "count(W[3][11]>0)==4", "4*bytes_per_token==1024",
           "abs(norm(O[1][11]-open.O[1][11])/norm(open.O[1][11])-1.16)<0.005")J"},
       {"sinks", R"J("mask.expression": "streaming(sinks=1, window=4)")J", R"J("W[1][11][0]>0.995")J"},
       {"mistral", R"J("mask.expression": "causal & window(4096)")J",
        R"J("abs(mask_density(32768)-0.1172)<0.00005")J"},
       {"gemma", R"J("cost.model": "Gemma-3-27B", "cost.tokens": 131072)J",
        R"J("abs(cost.bytes/2^30-10.41)<0.005", "abs(cost.global_bytes/2^30-62.0)<0.05", "32*4095+1==131041")J"}});
}

TEST(LessonStudy, FillsTextsAndQuestions) {
  const auto lesson =
      lessonOf({{"open", "", ""},
                {"window", R"J("mask.expression": "causal & window(4)")J", "\"1==2\", \"W[0][0][0]<0.5 \"",
                 R"J(, "look": {"head": 1, "query": 11}, "compare": "open",
       "question": {"ask": "Of {visible} cells?", "options": [
        {"text": "{0:.2}", "true_if": "sum(W[1][11])==0", "why": "It is {open.W[1][11][0]:.3}", "row": "0"},
        {"text": "b", "true_if": "max(abs(W[1][11][8:]-0.25))<1e-6", "row": "W[1][11]"},
        {"text": "c", "true_if": "0", "row": "j==0"},
        {"text": "d", "true_if": "0", "row": "W[1]"}]})J"}});
  Resources resources(kLimits);
  const Studied studied = studyStep(*lesson, 1, resources);
  ASSERT_TRUE(studied.ok()) << studied.error().message;
  const StepStudy& study = **studied;
  EXPECT_EQ(study.ask, "Of 42 cells?");
  ASSERT_EQ(study.options.size(), 4u);
  EXPECT_EQ(study.options[0].text, "0.00");
  EXPECT_EQ(study.options[0].why, "It is 0.989");
  EXPECT_FALSE(study.options[0].holds);
  EXPECT_TRUE(study.options[1].holds);
  ASSERT_TRUE(study.before);
  EXPECT_EQ(study.before->setup, lesson->steps[0].scene.setup);
  EXPECT_EQ(study.snapshot->setup, lesson->steps[1].scene.setup);
  // Keys that aren't visible are masked, unless the option's picture says otherwise.
  const attention::Matrix& none = study.options[0].picture;
  ASSERT_EQ(none.rows(), 1);
  ASSERT_EQ(none.cols(), 12);
  EXPECT_EQ(none(0, 7), render::kMaskedCell);
  EXPECT_EQ(none(0, 8), 0);
  EXPECT_EQ(study.options[2].picture(0, 0), 1);
  EXPECT_EQ(study.options[2].picture(0, 1), render::kMaskedCell);
  EXPECT_EQ(study.options[3].picture.rows(), 12);
  EXPECT_EQ(study.options[3].picture(0, 1), render::kMaskedCell);
  ASSERT_EQ(study.failedClaims.size(), 2u);
  EXPECT_EQ(study.failedClaims[0], "1==2 does not hold; found 1");
  EXPECT_EQ(study.failedClaims[1], "W[0][0][0]<0.5  does not hold; found 1");
}

TEST(LessonStudy, RequiresExactlyOneTrueOption) {
  const auto question = [](const char* first, const char* second) {
    const auto lesson = lessonOf({{"open", "", "",
                                   fmt::format(R"J(, "question": {{"ask": "a", "options": [
        {{"text": "x", "true_if": "{}"}}, {{"text": "y", "true_if": "{}"}}]}})J",
                                               first, second)}});
    Resources resources(kLimits);
    const Studied study = studyStep(*lesson, 0, resources);
    return study.ok() ? "" : study.error().message;
  };
  EXPECT_EQ(question("1", "0"), "");
  EXPECT_EQ(question("0", "0"), "a.json: step open: question.options: none holds, expected exactly one");
  EXPECT_EQ(question("1", "1"),
            "a.json: step open: question.options: 2 hold: 0 \"x\", 1 \"y\"; expected exactly one");
  EXPECT_EQ(question("W[9][0][0]==1", "1"),
            "a.json: step open: question.options[0].true_if: column 1: index 9 is out of range: "
            "axis 0 of [8, 12, 12] "
            "has -8 to 7");
}

TEST(LessonStudy, ReportsFailedComputations) {
  EXPECT_THAT(refused("1", R"J("weights.source": "file", "weights.file": "/nowhere")J"),
              HasSubstr("step one: patch: "));
  EXPECT_THAT(refused("1", R"J("input.text": "")J"), HasSubstr("no text"));
  EXPECT_THAT(refused("flops>0", R"J("mask.expression": "padding")J"), HasSubstr("needs a causal mask"));
  EXPECT_THAT(refused("cost.bytes>0", R"J("cost.model": "Nobody")J"), HasSubstr("no model \"Nobody\""));
  EXPECT_THAT(refused("mask_density(0.5)>0"), HasSubstr("whole numbers of tokens"));
  EXPECT_THAT(refused("mask_density(-1)>0"), HasSubstr("is not a number above 0"));
  EXPECT_THAT(refused("blocks_saved(100,3)>0"), HasSubstr("blocks of 16 to 1024"));
  EXPECT_THAT(refused("cache_bytes(1)>0"), HasSubstr("has 1 arguments, expected cache_bytes(layers"));
  EXPECT_THAT(refused("probability(0)>0"), HasSubstr("expected probability(position"));
  EXPECT_THAT(refused("probability(0,'dog')>0"), HasSubstr("synthetic"));
}

TEST(LessonStudy, StoppedStudyCanBeRepeated) {
  const auto lesson = lessonOf({{"open", "", "\"W[0][0][0]==1\""}});
  Resources resources(kLimits);
  std::stop_source stop;
  stop.request_stop();
  const Studied stopped = studyStep(*lesson, 0, resources, stop.get_token());
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().message, "stopped");
  EXPECT_TRUE(studyStep(*lesson, 0, resources).ok());
}

TEST(LessonStudy, CoverIsAWeightMatrix) {
  const auto lesson = lessonOf({{"open", "", ""}});
  Resources resources(kLimits);
  LessonRunner runner(*lesson, resources);
  const auto cover = runner.cover();
  ASSERT_TRUE(cover.ok()) << cover.error().message;
  EXPECT_EQ(cover->rows(), 12);
  EXPECT_NEAR((*cover)(7, 6), 0.942, 0.0005);
}

// --- The manual ------------------------------------------------------------------------------------------

std::string manual() {
  std::ifstream file(HEADSCOPE_SOURCE_DIR "/assets/manual/lessons.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(LessonManual, ContainsTablesOfNamesAndFunctions) {
  EXPECT_THAT(manual(), HasSubstr(lessonNamesMarkdown())) << "`headscope help --update` rewrites them";
}

TEST(LessonManual, ExampleLessonHolds) {
  const std::string text = manual();
  const auto begin = text.find("```json\n{\"format\": \"headscope lesson\"") + 8;
  const auto lesson = parseLesson(text.substr(begin, text.find("```", begin) - begin), "lessons.md");
  ASSERT_TRUE(lesson.ok()) << lesson.error().message;
  Resources resources(kLimits);
  LessonRunner runner(**lesson, resources);
  for (std::size_t i = 0; i < (*lesson)->steps.size(); ++i) {
    const Studied study = runner.study(i);
    ASSERT_TRUE(study.ok()) << study.error().message;
    EXPECT_THAT((*study)->failedClaims, IsEmpty());
  }
  EXPECT_TRUE(runner.cover().ok());
}

}  // namespace
}  // namespace headscope::app
