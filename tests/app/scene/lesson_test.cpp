#include "app/scene/lessons/lesson.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>

#include "app/scene/fields.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "app/scene/scene_json.h"
#include "tests/app/scene/random_scene.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

using attention::Result;

using Parsed = Result<std::shared_ptr<const Lesson>>;

/// The design's example, shortened.
const char* const kSinks =
    R"J({"format": "headscope lesson", "version": 1, "id": "sinks", "number": 11,
 "title": "Windows", "minutes": 8, "summary": "A head cannot say nothing",
 "cover": {"step": "window", "picture": "W[1]"}, "scene": {"cursor.focus": 1},
 "steps": [
  {"id": "open", "title": "The sink", "text": "Head 1 puts {W[1][11][0]:.2} on “The”."},
  {"id": "window", "title": "Take it away", "patch": {"mask.expression": "causal & window(4) & padding",
   "cursor.query": 11}, "text": "It was {open.W[1][11][0]:.3}: $w_j = e^{s_j}$ [row](query) [1](mark)",
   "look": {"page": "heads", "at": "row", "head": 1, "query": 11, "mark": 1}, "compare": "open",
   "try": ["mask.window", "model.sharpness"], "notes": "slowly",
   "question": {"ask": "Where to?", "options": [
    {"text": "nowhere", "true_if": "sum(W[1][11])==0", "why": "no", "row": "0"},
    {"text": "¼ each", "true_if": "max(abs(W[1][11][8:]-0.25))<1e-6", "row": "0.25"}]},
   "claims": ["max(abs(open.W[1][11][0]-0.989))<0.0005"]},
  {"id": "back", "from": "open", "title": "Back", "text": "As before.", "patch": {"model.heads": 4,
   "model.model_dim": 128}}]})J";

Parsed parse(const std::string& text) {
  return parseLesson(text, "a.json");
}
/// The message for an invalid lesson: one sentence that begins with the file's name.
std::string refusal(const std::string& text) {
  const Parsed lesson = parse(text);
  EXPECT_FALSE(lesson.ok()) << text.substr(0, 300);
  if (lesson.ok()) return "";
  EXPECT_THAT(lesson.error().message, StartsWith("a.json"));
  EXPECT_LE(lesson.error().message.size(), 500u);
  return lesson.error().message;
}
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
/// A lesson of one step with these additional fields.
std::string withStep(const std::string& fields) {
  return "{\"format\": \"headscope lesson\", \"version\": 1, \"id\": \"a\", \"title\": \"A\", \"steps\": [\n"
         "{\"id\": \"one\", \"title\": \"One\", \"text\": \"x\"" +
         fields + "}]}";
}

TEST(Lesson, ReadsEveryField) {
  const Parsed read = parse(kSinks);
  ASSERT_TRUE(read.ok()) << read.error().message;
  const Lesson& lesson = **read;
  EXPECT_EQ(lesson.id, "sinks");
  EXPECT_EQ(lesson.number, 11);
  EXPECT_EQ(lesson.minutes, 8);
  EXPECT_EQ(lesson.coverStep, "window");
  EXPECT_EQ(lesson.cover.text(), "W[1]");
  ASSERT_EQ(lesson.steps.size(), 3u);
  const LessonStep& window = lesson.steps[1];
  EXPECT_EQ(window.from, "open");
  EXPECT_THAT(window.changed, ElementsAre("mask.expression", "cursor.query"));
  EXPECT_EQ(attention::maskText(window.scene.setup.mask.layers), "causal & window(4) & padding");
  EXPECT_EQ(window.scene.cursor.focus, 1);
  EXPECT_EQ(window.scene.cursor.cell.head, 1);
  EXPECT_EQ(window.scene.cursor.cell.query, 11);
  EXPECT_EQ(window.look, (LessonLook{"heads", LookPicture::none, LookAt::row, 1, 11, -1, "", 1}));
  EXPECT_EQ(window.compare, "open");
  EXPECT_THAT(window.tries, ElementsAre("mask.window", "model.sharpness"));
  EXPECT_EQ(window.notes, "slowly");
  ASSERT_TRUE(window.question.has_value());
  ASSERT_EQ(window.question->options.size(), 2u);
  EXPECT_EQ(window.question->options[1].trueIf.text(), "max(abs(W[1][11][8:]-0.25))<1e-6");
  EXPECT_EQ(window.question->options[0].row->text(), "0");
  EXPECT_EQ(window.claims.size(), 1u);
  // The third step starts from the first again, so the mask is as before.
  const Scene& back = lesson.steps[2].scene;
  EXPECT_EQ(back.setup.mask.layers, openingScene().setup.mask.layers);
  EXPECT_EQ(back.setup.model.heads, 4);
}

TEST(Lesson, TextsKeepMarkupAndInsertNumbers) {
  const auto text = LessonText::parse(
      "a {1+1:.2} \\{b\\} $x_{1}$ `c` **d** {2048:,} {0.125:%} {2304:B} {1/3} {[1, 2]} [w](key)");
  ASSERT_TRUE(text.ok()) << text.error().message;
  struct Nobody : attention::ExpressionNames {
    Result<attention::Array> value(const std::string&) const override { return attention::Error{"no"}; }
    Result<attention::Array> call(const std::string&,
                                  std::span<const attention::ExpressionArgument>) const override {
      return attention::Error{"no"};
    }
  };
  const auto filled = text->filled([](const attention::Expression& e) { return e.evaluate(Nobody()); });
  ASSERT_TRUE(filled.ok()) << filled.error().message;
  EXPECT_EQ(*filled, "a 2.00 {b} $x_{1}$ `c` **d** 2,048 12.5 % 2.25 KiB 0.333 1, 2 [w](key)");
}

TEST(Lesson, FormatsNumbers) {
  using Kind = NumberFormatText::Kind;
  EXPECT_EQ(formatNumber(-0.001, {Kind::decimals, 2}), "0.00");
  EXPECT_EQ(formatNumber(-1.5, {Kind::decimals, 1}), "−1.5");
  EXPECT_EQ(formatNumber(1048576, {Kind::thousands}), "1,048,576");
  EXPECT_EQ(formatNumber(-2048, {Kind::thousands}), "−2,048");
  EXPECT_EQ(formatNumber(0.4375, {Kind::percent, 2}), "43.75 %");
  EXPECT_EQ(formatNumber(12, {}), "12");
  EXPECT_EQ(formatNumber(-3, {}), "−3");
  EXPECT_EQ(formatNumber(std::numeric_limits<double>::quiet_NaN(), {}), "NaN");
  EXPECT_EQ(formatNumber(-std::numeric_limits<double>::infinity(), {}), "−∞");
}

TEST(Lesson, RefusesUnclosedText) {
  const auto refused = [](const std::string& text) {
    const auto parsed = LessonText::parse(text);
    EXPECT_FALSE(parsed.ok()) << text;
    return parsed.ok() ? "" : parsed.error().message;
  };
  EXPECT_THAT(refused("a {1"), HasSubstr("the brace at byte 3 isn't closed"));
  EXPECT_THAT(refused("a }"), HasSubstr("closes nothing"));
  EXPECT_THAT(refused("{1:x}"), HasSubstr("the format is \"x\""));
  EXPECT_THAT(refused("{1:.}"), HasSubstr("no digit"));
  EXPECT_THAT(refused("{1+}"), HasSubstr("{1+}"));
  EXPECT_THAT(refused("{}"), HasSubstr("a value is expected"));
  for (const char* text : {"$x", "`x", "**x"})
    EXPECT_THAT(refusal(replaced(withStep(""), "\"text\": \"x\"", fmt::format("\"text\": \"{}\"", text))),
                HasSubstr("doesn't close"))
        << text;
}

TEST(Lesson, ErrorsNameLineAndKey) {
  EXPECT_EQ(
      refusal(withStep(", \n\"patch\": {\n\"model.head\": 3}")),
      "a.json, line 4: steps[0].patch.model.head: \"model.head\" is not a field of a scene; did you mean "
      "model.heads?");
  EXPECT_THAT(refusal(withStep(",\n\"patch\": {\"model.heads\": \"x\"}")),
              StartsWith("a.json, line 3: steps[0].patch.model.heads is \"x\", expected a whole number"));
  EXPECT_THAT(refusal(withStep(",\n\"patch\": {\"model.heads\": 65}")),
              HasSubstr("model.heads is 65, expected 1 to 64"));
  EXPECT_THAT(refusal(withStep(",\n\"patch\": {\"mask.expression\": \"causal & windo(4)\"}")),
              HasSubstr("windo"));
  EXPECT_EQ(refusal(withStep(", \"claims\": [\"1\",\n \"W[0\"]")),
            "a.json, line 3: steps[0].claims[1]: column 4: the expression ends where ] or , is expected");
  EXPECT_THAT(refusal(withStep(", \"claims\": [\n\"w[0] == 1\"]")),
              StartsWith("a.json, line 3: steps[0].claims[0]: column 1: \"w\" is not a name"));
  for (const char* former : {"cumsum(W)==1", "one.Q==1", "loss>1"})
    EXPECT_THAT(refusal(withStep(fmt::format(", \"claims\": [\"{}\"]", former))),
                HasSubstr("no longer exists in expressions; the manual's chapter"))
        << former;
  EXPECT_THAT(refusal(withStep(", \"claims\": [\"other.W[0] == 1\"]")),
              HasSubstr("\"other\" is not a step's id"));
  EXPECT_THAT(refusal(withStep(", \"claims\": [\"sumn(W) == 1\"]")), HasSubstr("did you mean sum?"));
  EXPECT_THAT(refusal(withStep(", \"claims\": [3]")), HasSubstr("claims[0] is 3, expected an expression"));
  EXPECT_THAT(refusal(withStep(", \"colour\": 1")),
              HasSubstr("\"steps[0].colour\" is not a field of a lesson"));
  EXPECT_THAT(refusal(withStep(", \"compare\": \"two\"")),
              HasSubstr("compare is \"two\", which is not a step's id"));
  EXPECT_THAT(refusal(withStep(", \"from\": \"one\"")),
              HasSubstr("expected the id of an earlier step, or opening"));
  EXPECT_THAT(refusal(withStep(", \"try\": [\"model.head\"]")), HasSubstr("did you mean model.heads?"));
  EXPECT_THAT(refusal(withStep(", \"look\": {\"mark\": 10}")), HasSubstr("mark is 10, expected 0 to 9"));
  EXPECT_THAT(refusal(withStep(", \"look\": {\"at\": \"rwo\"}")),
              HasSubstr("at is \"rwo\", expected page, head, row"));
  EXPECT_THAT(refusal(withStep(", \"look\": {\"head\": -2}")), HasSubstr("head is -2"));
  EXPECT_THAT(refusal(withStep("}, {\"id\": \"one\", \"title\": \"x\", \"text\": \"x\"")),
              HasSubstr("which another step has"));
  EXPECT_THAT(refusal(withStep(
                  ", \"question\": {\"ask\": \"a\", \"options\": [{\"text\": \"x\", \"true_if\": \"1\"}]}")),
              HasSubstr("has 1 entries, expected 2 to 6"));
  EXPECT_THAT(refusal(withStep(
                  ", \"question\": {\"ask\": \"a\", \"options\": [{\"text\": \"x\"}, {\"text\": \"y\"}]}")),
              HasSubstr("options[0].true_if is missing"));
}

TEST(Lesson, RefusesIdsUnusableInExpressions) {
  for (const char* id : {"", "A", "1a", "a-b", "a.b", "W W"})
    EXPECT_THAT(refusal(replaced(withStep(""), "\"one\"", fmt::format("\"{}\"", id))),
                HasSubstr("lower-case letters"))
        << id;
  for (const char* id : {"wrong", "cost", "opening", "n", "heads"})
    EXPECT_THAT(refusal(replaced(withStep(""), "\"one\"", fmt::format("\"{}\"", id))),
                HasSubstr("is a name in expressions"))
        << id;
}

TEST(Lesson, RefusesInvalidLessons) {
  EXPECT_THAT(refusal("{\n\"format\": \"headscope lesson\",,}"),
              StartsWith("a.json, line 2: this is not JSON"));
  EXPECT_THAT(refusal(""), HasSubstr("not JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("the file is not an object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("not a lesson"));
  EXPECT_THAT(refusal(formatScene(openingScene())),
              HasSubstr("not a lesson: \"format\" is \"headscope scene\""));
  EXPECT_THAT(refusal(replaced(kSinks, "\"version\": 1", "\"version\": 2")), HasSubstr("version 2"));
  EXPECT_EQ(refusal(replaced(kSinks, "\"minutes\": 8", "\"level\": 2, \"minutes\": 8")),
            "a.json, line 2: level is no longer a field of a lesson; remove it");
  EXPECT_THAT(refusal("{\"format\": \"headscope lesson\", \"version\": 1, \"id\": \"a\", \"title\": \"A\"}"),
              HasSubstr("steps is missing"));
  EXPECT_THAT(refusal("{\"format\": \"headscope lesson\", \"version\": 1, \"id\": \"a\", \"title\": \"A\", "
                      "\"steps\": []}"),
              HasSubstr("steps has 0 entries"));
  EXPECT_THAT(refusal(withStep(", \"text\": \"twice\"")), HasSubstr("appears twice"));
}

TEST(Lesson, RefusesHostileFilesEarly) {
  for (const std::size_t depth : {20u, 10'000u, 1'000'000u}) {
    const std::string open(depth, '['), close(depth, ']');
    refusal(open + close);
    refusal(withStep(", \"claims\": " + open + close));
    refusal(withStep(", \"claims\": [\"" + std::string(std::min<std::size_t>(depth, 20'000), '(') + "\"]"));
  }
  std::string steps;
  for (int i = 0; i < 1'000'000; ++i) steps += "{},";
  refusal("{\"format\": \"headscope lesson\", \"version\": 1, \"steps\": [" + steps + "{}]}");
  EXPECT_THAT(refusal(std::string(kMaxLessonBytes + 1, ' ')), HasSubstr("expected at most 4194304"));
  EXPECT_THAT(refusal(withStep(", \"notes\": \"" + std::string(9000, 'a') + "\"")),
              HasSubstr("notes has 9000 bytes, expected at most 8192"));
  for (const char* number : {"NaN", "1e999", "-1e999", "18446744073709551616"})
    refusal(withStep(fmt::format(", \"patch\": {{\"model.heads\": {}}}", number)));
  for (const char* value : {"null", "[]", "{}", "true", "\"\"", "-1", "1.5"})
    for (const char* field : {"look", "question", "try", "claims", "patch", "from", "compare", "notes"})
      (void)parse(withStep(fmt::format(", \"{}\": {}", field, value)));
}

TEST(Lesson, ReadsUpTo200Steps) {
  const auto lesson = [](int steps) {
    std::string text =
        "{\"format\": \"headscope lesson\", \"version\": 1, \"id\": \"a\", \"title\": \"A\", \"steps\": [";
    for (int i = 0; i < steps; ++i)
      text += fmt::format(
          "{}{{\"id\": \"s{}\", \"title\": \"S\", \"text\": \"{{W[0][0][0]:.2}}\", \"patch\": "
          "{{\"model.sharpness\": {}}}}}",
          i > 0 ? "," : "", i, i % 7 + 1);
    return text + "]}";
  };
  const Parsed most = parse(lesson(200));
  ASSERT_TRUE(most.ok()) << most.error().message;
  EXPECT_EQ((*most)->steps.back().scene.setup.model.sharpness, 199 % 7 + 1);
  EXPECT_THAT(refusal(lesson(201)), HasSubstr("steps has 201 entries, expected 1 to 200"));
}

TEST(Lesson, OpensAModelOnceAcrossSteps) {
  const Parsed read = parse(withStep(
      ", \"patch\": {\"subject.model\": \"learned\", \"subject.layer\": 2}}, "
      "{\"id\": \"two\", \"title\": \"T\", \"text\": \"x\", \"patch\": {\"subject.layer\": 1}}, "
      "{\"id\": \"three\", \"title\": \"T\", \"text\": \"x\", \"patch\": {\"subject.model\": \"\"}"));
  ASSERT_TRUE(read.ok()) << read.error().message;
  const Scene &one = (*read)->steps[0].scene, &two = (*read)->steps[1].scene;
  ASSERT_TRUE(one.setup.subject.opened);
  EXPECT_EQ(one.setup.subject.opened, two.setup.subject.opened);
  EXPECT_EQ(one.setup.model.heads, one.setup.subject.opened->config().heads);
  EXPECT_TRUE(one.setup.mask.layers.empty());
  EXPECT_EQ(two.setup.subject.layer, 1);
  const Scene& three = (*read)->steps[2].scene;
  EXPECT_EQ(three.setup.model, openingScene().setup.model);
  EXPECT_EQ(three.setup.mask, openingScene().setup.mask);
  EXPECT_THAT(refusal(withStep(", \"patch\": {\"subject.model\": \"learned\", \"subject.layer\": 9}")),
              HasSubstr("has layers 0 to 3"));
  EXPECT_THAT(refusal(withStep(", \"patch\": {\"subject.model\": \"/nowhere\"}")), HasSubstr("nowhere"));
}

TEST(Lesson, FilePathsAreRelativeToTheLesson) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "a.json") << withStep(", \"patch\": {\"weights.file\": \"w.safetensors\"}");
  const Parsed read = readLesson(folder.path() / "a.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ((*read)->steps[0].scene.setup.weights.file, (folder.path() / "w.safetensors").string());
}

// --- Writing ---------------------------------------------------------------------------------------------

TEST(LessonWriting, NewLessonHasOneStepOfTheScene) {
  Scene now = openingScene();
  now.setup.model.sharpness = 2;
  now.cursor.focus = 3;
  const std::string text = newLesson(now, "Sharp “heads”");
  const Parsed read = parse(text);
  ASSERT_TRUE(read.ok()) << read.error().message << "\n" << text;
  EXPECT_EQ((*read)->id, "sharp_heads");
  EXPECT_EQ((*read)->title, "Sharp “heads”");
  EXPECT_THAT((*read)->steps[0].changed, ElementsAre("model.sharpness", "cursor.focus"));
  EXPECT_EQ((*read)->steps[0].scene, now);
}

TEST(LessonWriting, AppendedStepHoldsOnlyChanges) {
  Scene now = (*parse(kSinks))->steps.back().scene;
  now.setup.model.heads = 2;
  now.setup.model.modelDim = 64;
  const auto grown = appendStep(kSinks, now, "Back");
  ASSERT_TRUE(grown.ok()) << grown.error().message;
  const std::string before(kSinks);
  EXPECT_THAT(*grown, StartsWith(before.substr(0, before.size() - 2)));
  const Parsed read = parse(*grown);
  ASSERT_TRUE(read.ok()) << read.error().message;
  const LessonStep& step = (*read)->steps.back();
  EXPECT_EQ(step.id, "back_2");
  EXPECT_THAT(step.changed, ElementsAre("model.heads", "model.model_dim"));
  EXPECT_EQ(step.scene, now);
  EXPECT_FALSE(appendStep("{}", now, "x").ok());
}

TEST(LessonWriting, RandomScenesRoundTrip) {
  std::string text = newLesson(openingScene());
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    test::Dice dice(seed);
    Scene now = test::randomScene(dice, test::SceneSizes{});
    if (!now.setup.subject.model.empty()) continue;
    now.cursor.page = "heads";
    now.cursor.lesson = {};  // a lesson's step sets neither this nor the talk's view
    now.cursor.view = 0;
    const auto grown = appendStep(text, now, fmt::format("Scene {}", seed), "/");
    ASSERT_TRUE(grown.ok()) << grown.error().message;
    const Parsed read = parseLesson(*grown, "a.json", {}, "/");
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(formatScene((*read)->steps.back().scene), formatScene(now)) << seed;
    text = *grown;
  }
}

TEST(LessonWriting, AppendsAStepWithAModel) {
  Scene now = openingScene();
  now.setup.subject.model = kLearned;
  adoptModel(now, kLearned, *openModel(kLearned));
  now.setup.subject.layer = 2;
  const auto grown = appendStep(newLesson(openingScene()), now, "Learned");
  ASSERT_TRUE(grown.ok()) << grown.error().message;
  const Parsed read = parse(*grown);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(formatScene((*read)->steps.back().scene), formatScene(now));
  EXPECT_THAT((*read)->steps.back().changed, ElementsAre("subject.model", "subject.layer"));
}

// --- The tables ------------------------------------------------------------------------------------------

TEST(LessonNames, FindsControlsByFormerNames) {
  for (const auto& [former, now] : {std::pair("hand.plane", "embeddings.plane"),
                                    {"room.biases", "studio_view.biases"},
                                    {"ablation.room", "ablation.view"},
                                    {"lab.tab.wrong", "lab.tab.mistakes"},
                                    {"lab.tab.precision", "cache_view.precision"},
                                    {"precision.format.bf16", "precision.bf16"},
                                    {"handle", "handle"},
                                    {"mask_map", "mask_map"}})
    EXPECT_EQ(currentControl(former), now);
}

TEST(LessonNames, FindsNamesWithAndWithoutAStep) {
  EXPECT_EQ(splitLessonName("W", false).name->name, "W");
  EXPECT_EQ(splitLessonName("cost.bytes", false).step, "");
  EXPECT_EQ(splitLessonName("open.cost.bytes", false).step, "open");
  EXPECT_EQ(splitLessonName("open.cost.bytes", false).name->name, "cost.bytes");
  EXPECT_EQ(splitLessonName("open.nothing", false).name, nullptr);
  EXPECT_EQ(splitLessonName("W", true).name, nullptr);
  ASSERT_NE(splitLessonName("open.probability", true).name, nullptr);
}

}  // namespace
}  // namespace headscope::app
