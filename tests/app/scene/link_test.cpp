#include "app/scene/links/link.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/scene/document.h"
#include "app/scene/fields.h"
#include "app/scene/mask_rules.h"
#include "app/scene/scene_json.h"
#include "test_paths.h"
#include "tests/app/scene/random_scene.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

using test::Dice;

/// The scene of a link that has to be readable.
Scene opened(const std::string& link) {
  const auto scene = readLink(link);
  EXPECT_TRUE(scene.ok()) << link << "\n" << (scene.ok() ? "" : scene.error().message);
  return scene.ok() ? *scene : Scene{};
}

/// The one-sentence message that a link is refused with.
std::string refused(const std::string& link) {
  const auto scene = readLink(link);
  if (scene.ok()) return "accepted: " + link;
  const std::string& message = scene.error().message;
  EXPECT_THAT(message, StartsWith("the link"));
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_LE(message.size(), 400u);
  return message;
}

std::string linkOf(const Scene& scene) {
  const auto link = linkTo(scene);
  EXPECT_TRUE(link.ok()) << (link.ok() ? "" : link.error().message);
  return link.ok() ? *link : "";
}

std::string packed(const std::string& json) {
  return "#scene=" + packText(json, kLinkVersion);
}

TEST(Link, FiveSlidersTakeAtMost200Characters) {
  Scene scene = openingScene();
  scene.setup.model.softcap = 12.5F;
  scene.setup.model.sharpness = 1.37F;
  scene.setup.model.dropout = 0.15F;
  scene.setup.weights.gain = 2.3F;
  scene.look.labelThreshold = 0.45F;
  const std::string link = linkOf(scene);
  EXPECT_LE(link.size(), 200u) << link;
  EXPECT_EQ(opened(link), scene);
  EXPECT_LE(linkOf(openingScene()).size(), 40u);
}

/// Strokes of every kind over 64 tokens, as a user would draw them.
TEST(Link, PaintedMaskTakesAtMost2000Characters) {
  Dice dice(5);
  Scene scene = openingScene();
  Index selected = -1;
  const std::string name = paintingFor(scene.setup.mask, scene.setup.mask.layers.edit(), selected);
  auto& cells = scene.setup.mask.paintings[name].edit();
  for (int i = 0; i < 24; ++i) {
    const PaintTool tool = dice.any(PaintTool::line);
    const Stroke stroke{tool,
                        dice.between(0, 63),
                        dice.between(0, 63),
                        dice.between(0, 63),
                        dice.between(0, 63),
                        dice.between(1, 4)};
    paint(cells, stroke, 64, 64, dice.coin());
  }
  const std::string link = linkOf(scene);
  EXPECT_LE(link.size(), kLongLink) << link.size();
  RecordProperty("characters", static_cast<int>(link.size()));
  EXPECT_EQ(longLinkNote(link), "");
  EXPECT_EQ(opened(link), scene);
}

TEST(Link, RoundTripsAnyScene) {
  Dice dice(36);
  int links = 0;
  for (int i = 0; i < 200; ++i) {
    Scene scene = test::randomScene(dice, test::kAnyScene);
    scene.cursor.lesson = {};
    if (!namedFiles(scene).empty()) {
      EXPECT_THAT(linkTo(scene).error().message, HasSubstr("names the file"));
      continue;
    }
    ++links;
    EXPECT_EQ(formatScene(opened(linkOf(scene))), formatScene(scene));
  }
  EXPECT_GT(links, 20);
}

TEST(Link, NamesALessonWithItsStep) {
  Scene scene = openingScene();
  scene.cursor.page = "lessons";
  scene.cursor.lesson = {"shared_heads", 1, 2, true};
  scene.setup.model.heads = 4;
  EXPECT_EQ(linkOf(scene), "headscope:#lesson=shared_heads&step=2");
  EXPECT_EQ(linkTo(scene, "https://example.org/h.html").value(),
            "https://example.org/h.html#lesson=shared_heads&step=2");
  const Scene back = opened("https://example.org/h.html#step=2&lesson=06");
  EXPECT_TRUE(showsLesson(back));
  EXPECT_EQ(back.cursor.lesson, (LessonCursor{"06", 1, -1, false}));
  EXPECT_EQ(back.setup, openingScene().setup);
  EXPECT_EQ(opened("#lesson=masks").cursor.lesson.step, 0);
  for (const char* wrong :
       {"#lesson=06&step=0", "#lesson=06&step=1001", "#lesson=06&step=", "#lesson=06&step=2x",
        "#lesson=06&step=99999999999999999999", "#step=2", "#lesson=", "#lesson=../../etc",
        "#lesson=06&lesson=07", "#lesson=06&page=3", "#lesson", "#lesson=06&scene=AXja"})
    EXPECT_THAT(refused(wrong), StartsWith("the link")) << wrong;
}

TEST(Link, DistinguishesLinksFromFiles) {
  for (const char* link :
       {"headscope:#scene=A", "headscope:", "https://a.b/c#scene=A", "#lesson=01", " #scene=A\n"})
    EXPECT_TRUE(isLink(link)) << link;
  for (const char* file : {"", "scene.json", "t5.npz#cross", "a#b.json", "https://a.b/c", "scene=A"})
    EXPECT_FALSE(isLink(file)) << file;
}

TEST(Link, RefusesCutOrDamagedLinks) {
  Scene scene = openingScene();
  scene.setup.input.text = "the cat sat on the mat";
  const std::string link = linkOf(scene);
  const std::size_t begin = link.find('=') + 1;
  for (std::size_t size = 0; size < link.size(); ++size)
    EXPECT_FALSE(readLink(link.substr(0, size)).ok()) << size;
  for (std::size_t at = begin; at + 1 < link.size(); ++at) {
    std::string other = link;
    other[at] = other[at] == 'x' ? 'y' : 'x';
    EXPECT_FALSE(readLink(other).ok()) << other;
  }
  EXPECT_THAT(refused(link.substr(0, begin + 20)), HasSubstr("is cut off"));
  EXPECT_THAT(refused(link + "AAAA"), HasSubstr("something follows its end"));
  EXPECT_THAT(refused(link + "%3D"), HasSubstr("the character \"%\""));
  EXPECT_THAT(refused("#scene="), HasSubstr("is cut off"));
  EXPECT_THAT(refused("headscope:"), HasSubstr("cut off or damaged"));
  EXPECT_THAT(refused("#scene=" + packText("{}", kLinkVersion + 1)), HasSubstr("a newer Headscope opens it"));
  EXPECT_THAT(refused("#scene=" + packText("{}", 0)), HasSubstr("has version 0, expected 1"));
  EXPECT_THAT(refused(packed("nonsense")), StartsWith("the link: "));
  EXPECT_THAT(refused(packed("[]")), HasSubstr("not an object"));
  EXPECT_THAT(refused(packed(R"({"model.softcpa": 1})")), HasSubstr("did you mean model.softcap?"));
  EXPECT_THAT(refused(packed(R"({"model.softcap": -1})")), HasSubstr("expected 0 to 1000"));
}

/// A few hundred kilobytes that would unpack to gigabytes.
TEST(Link, LimitsUnpackedSize) {
  EXPECT_TRUE(unpackText(packText(std::string(kMaxLinkBytes, ' '), 1), 1, kMaxLinkBytes).ok());
  EXPECT_THAT(refused(packed(std::string(kMaxLinkBytes + 1, ' '))), HasSubstr("more than 4 MiB"));
  EXPECT_THAT(refused("#scene=" + std::string(kMaxLinkBytes + 1, 'A')),
              HasSubstr("characters, expected no more"));
}

TEST(Link, RefusesScenesNamingFiles) {
  const test::TemporaryFolder folder;
  const std::string path = (folder / "secret").string();
  for (const char* field : {"subject.model", "weights.file", "map.file", "cost.config", "compare.recorded"}) {
    const nlohmann::json patch{{field, path}};
    EXPECT_THAT(refused(packed(patch.dump())),
                AllOf(HasSubstr("names the file"), HasSubstr("opens no files")))
        << field;
  }
  const std::string masked = R"({"mask.layers": [{"pattern": "file", "path": "/etc/passwd"}]})";
  EXPECT_THAT(refused(packed(masked)), StartsWith("the link"));
  Scene shown = openingScene();
  shown.map.file = path;
  Scene talk = openingScene();
  talk.talk.edit().views.emplace_back().scene = std::make_shared<const Scene>(shown);
  EXPECT_THAT(linkTo(talk).error().message, HasSubstr(path)) << "a view of a talk";
  Scene scene = openingScene();
  scene.setup.weights.source = WeightSource::file;
  scene.setup.weights.file = path;
  EXPECT_THAT(linkTo(scene).error().message, AllOf(HasSubstr(path), HasSubstr("share the scene's file")));
}

TEST(Link, RefusesInvalidBaseAddresses) {
  for (const char* wrong : {"a b", "x#", "ä", "a\n"})
    EXPECT_FALSE(linkTo(openingScene(), wrong).ok()) << wrong;
  EXPECT_THAT(linkTo(openingScene(), "").value(), StartsWith("#scene="));
}

/// A link contains the differences from the opening scene, including last year's. Whoever changes that scene
/// has to raise kLinkVersion and read links of the previous version relative to the previous opening scene.
/// What replaceFormerTab() reads as it was meant may change: the first tab of Lab, and its step.
TEST(Link, OpeningSceneMatchesLinkVersion) {
  const auto then = nlohmann::ordered_json::parse(test::fileText(std::string(HEADSCOPE_TEST_DIR) +
                                                                 "/app/scene/opening_of_links_1.json"))
                        .flatten();
  const auto now = nlohmann::ordered_json::parse(formatScene(openingScene())).flatten();
  for (const auto& [path, value] : then.items()) {
    ASSERT_TRUE(now.contains(path)) << path;
    EXPECT_EQ(now[path], value) << path;
  }
}

}  // namespace
}  // namespace headscope::app
