// Documents as large as they may be: no frame waits for them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "app/labs/common/lab.h"
#include "app/widgets/long_text.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;
using app::Scene;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// Seconds of the shortest frame of each scene, shown in turns, so that whatever else the machine does slows
/// both.
std::pair<double, double> frameSeconds(UiDriver& ui, const Scene& first, const Scene& second) {
  double shortest[2] = {1e9, 1e9};
  for (int round = 0; round < 4; ++round)
    for (int which = 0; which < 2; ++which) {
      ui.session().setScene(which == 0 ? first : second);
      ui.draw();
      for (int i = 0; i < 8; ++i) {
        const auto start = Clock::now();
        ui.frames(1);
        shortest[which] =
            std::min(shortest[which], std::chrono::duration<double>(Clock::now() - start).count());
      }
    }
  return {shortest[0], shortest[1]};
}

Scene withLayers(int count, const std::string& page) {
  Scene scene = app::openingScene();
  std::string text = "causal";
  for (int i = 0; i < count; ++i) text += " & window_both(" + std::to_string(i + 2) + ")";
  scene.setup.mask.layers = attention::parseMask(text).layers;
  scene.cursor.page = page;
  return scene;
}

Scene withText(std::size_t bytes, const std::string& word) {
  Scene scene = app::openingScene();
  std::string text;
  while (text.size() + word.size() <= bytes) text += word;
  scene.setup.input.text = text;
  return scene;
}

/// Frames of a large document take a few times as long as those of a small one, where they took thousands.
TEST(LargeDocuments, FramesDoNotWaitForLayers) {
  UiDriver ui;
  for (const char* page : {"heads", "mask"}) {
    const auto [few, many] = frameSeconds(ui, withLayers(10, page), withLayers(4000, page));
    EXPECT_LT(many, 30 * few) << page << ": " << few << " and " << many;
  }
}

TEST(LargeDocuments, FramesDoNotWaitForTexts) {
  UiDriver ui;
  for (const char* word : {"word ", "word\n", "letters", "é"}) {
    const auto [few, many] = frameSeconds(ui, withText(50, word), withText(app::kMaxTextBytes, word));
    EXPECT_LT(many, 10 * few) << word << ": " << few << " and " << many;
  }
}

TEST(LargeDocuments, ALongTextIsShownAndCanBeCleared) {
  UiDriver ui;
  ui.session().setScene(withText(app::kMaxEditedBytes + 5, "word "));
  ui.draw();
  ASSERT_TRUE(ui.has("text.clear"));
  const std::string before = ui.scene().setup.input.text;
  ui.click("text");
  ui.type("more");
  EXPECT_EQ(ui.scene().setup.input.text, before) << "it can't be edited";
  ui.click("text.clear");
  EXPECT_EQ(ui.scene().setup.input.text, "");
  ui.click("text");
  ui.type("anew");
  EXPECT_EQ(ui.scene().setup.input.text, "anew");
  ui.clickAway();
  ui.wait(1);
  ui.chord(kCtrl, Key::z);
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(ui.scene().setup.input.text, before);
}

TEST(LargeDocuments, WhatIsTooMuchIsNotPasted) {
  UiDriver ui;
  ui.click("text");
  ui.chord(kCtrl, Key::a);
  ImGui::SetClipboardText(std::string(app::kMaxTextBytes + 1, 'a').c_str());
  const std::string before = ui.scene().setup.input.text;
  ui.chord(kCtrl, Key::v);
  EXPECT_EQ(ui.scene().setup.input.text, before);
  EXPECT_THAT(ui.view().messages.error, HasSubstr("What is on the clipboard has 4,194,305 bytes"));
  ImGui::SetClipboardText("a b");
  ui.chord(kCtrl, Key::v);
  EXPECT_EQ(ui.scene().setup.input.text, "a b");
  const std::string longer(app::kMaxEditedBytes, 'b');
  ImGui::SetClipboardText((" " + longer).c_str());
  ui.chord(kCtrl, Key::v);
  EXPECT_EQ(ui.scene().setup.input.text, "a b " + longer) << "it is taken, and can't be edited then";
  EXPECT_TRUE(ui.has("text.clear"));
}

TEST(LargeDocuments, AWordWithoutAnEndIsASentence) {
  UiDriver ui;
  ui.session().setScene(withText(20'000, "letters"));
  ui.draw();
  ASSERT_TRUE(ui.snapshot().error.has_value());
  EXPECT_THAT(ui.snapshot().error->message, HasSubstr("Token 0 of line 1 has 19999 bytes"));
}

/// A page that asks for one thing after another, as one about every head of a model may.
template <int most>
class OneByOne : public app::Lab {
 public:
  explicit OneByOne(app::LabServices& services)
      : answer_(services.workers,
                [](const int& asked, const std::stop_token&) { return attention::Result<int>(asked); }) {}

  bool take(const Scene&) override {
    const auto answer = answer_.current();
    if (!answer || answer->request != asked_) return false;
    ++asked_;
    return true;
  }
  void draw(Scene&, const app::Layout&) override {}
  void ask(const Scene&) override {
    if (asked_ < most) answer_.ask(asked_, app::Lane::back);
  }
  app::LabStatus status(const Scene&) const override { return {}; }
  int answered() const { return asked_; }

  static std::unique_ptr<app::Lab> make(app::LabServices& services) {
    return std::make_unique<OneByOne>(services);
  }
  static constexpr app::LabRow kRow{{"heads", "Heads", {}, "Go to the heads", ""}, make};

 private:
  int asked_ = 0;
  app::Answer<int, int> answer_;
};

TEST(Drawing, GoesOnUntilNothingIsMissing) {
  using Page = OneByOne<300>;
  UiDriver ui(320, 240, 1, {&Page::kRow, 1});
  EXPECT_EQ(ui.session().lab<Page>().answered(), 300);
}

TEST(Drawing, SaysSoWhereThatHasNoEnd) {
  using Page = OneByOne<1'000'000'000>;
  EXPECT_THROW(UiDriver(320, 240, 1, {&Page::kRow, 1}), std::runtime_error);
}

}  // namespace
}  // namespace headscope::test
