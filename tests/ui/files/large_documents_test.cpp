// Documents of the maximum size: no frame waits for them.

#include <gtest/gtest.h>

#include "app/pages/common/page.h"
#include "app/widgets/text/text_box.h"
#include "tests/support/allocations.h"
#include "tests/support/matchers.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;
using app::Scene;

/// The cost of a frame of a scene after everything has settled.
struct FrameCost {
  int vertices = 0;
  std::uint64_t bytes = 0;  ///< requested from operator new
};
FrameCost frameCost(UiDriver& ui, const Scene& scene) {
  ui.show(scene).wait(1);
  const std::uint64_t before = allocatedBytes();
  ui.frames(1);
  return {ImGui::GetDrawData()->TotalVtxCount, allocatedBytes() - before};
}

/// Expects the larger document to draw little more than the small one, and to copy at most `bytes` more.
void expectLittleMore(const FrameCost& large, const FrameCost& small, std::uint64_t bytes) {
  EXPECT_LT(large.vertices, 2 * small.vertices);
  EXPECT_LT(large.bytes, small.bytes + bytes);
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

TEST(LargeDocuments, FrameCostStaysLowForThousandsOfLayers) {
  UiDriver ui;
  // Each row of the mask's list builds names for its parts, visible or not; Heads copies nothing of a layer.
  for (const auto& [page, each] : {std::pair("heads", 25), {"mask", 256}}) {
    SCOPED_TRACE(page);
    const FrameCost small = frameCost(ui, withLayers(10, page));
    expectLittleMore(frameCost(ui, withLayers(4000, page)), small, 4000 * each);
  }
}

TEST(LargeDocuments, FrameCostStaysLowForLongTexts) {
  UiDriver ui;
  for (const char* word : {"word ", "word\n", "letters", "é"}) {
    SCOPED_TRACE(word);
    const FrameCost small = frameCost(ui, withText(50, word));
    expectLittleMore(frameCost(ui, withText(app::kMaxTextBytes, word)), small, 100'000);
  }
}

TEST(LargeDocuments, LongTextIsShownAndCanBeCleared) {
  UiDriver ui;
  ui.show(withText(app::kMaxEditedBytes + 5, "word "));
  ASSERT_TRUE(ui.has("text.clear"));
  const std::string before = ui.scene().setup.input.text;
  ui.click("text").type("more");
  EXPECT_EQ(ui.scene().setup.input.text, before) << "it can't be edited";
  ui.click("text.clear");
  EXPECT_EQ(ui.scene().setup.input.text, "");
  ui.click("text").type("anew");
  EXPECT_EQ(ui.scene().setup.input.text, "anew");
  ui.clickAway().wait(1).chord(kCtrl, Key::z).chord(kCtrl, Key::z);
  EXPECT_EQ(ui.scene().setup.input.text, before);
}

TEST(LargeDocuments, RefusesToPasteTooMuchText) {
  UiDriver ui;
  ui.click("text").chord(kCtrl, Key::a);
  ImGui::SetClipboardText(std::string(app::kMaxTextBytes + 1, 'a').c_str());
  const std::string before = ui.scene().setup.input.text;
  ui.chord(kCtrl, Key::v);
  EXPECT_EQ(ui.scene().setup.input.text, before);
  EXPECT_THAT(ui.view().messages.error, HasSubstr("The clipboard has 4,194,305 bytes"));
  ImGui::SetClipboardText("a b");
  ui.chord(kCtrl, Key::v);
  EXPECT_EQ(ui.scene().setup.input.text, "a b");
  const std::string longer(app::kMaxEditedBytes, 'b');
  ImGui::SetClipboardText((" " + longer).c_str());
  ui.chord(kCtrl, Key::v);
  EXPECT_EQ(ui.scene().setup.input.text, "a b " + longer) << "it is taken, and can't be edited then";
  EXPECT_TRUE(ui.has("text.clear"));
}

TEST(LargeDocuments, ReportsOverlongWord) {
  UiDriver ui;
  ui.show(withText(20'000, "letters"));
  ASSERT_TRUE(ui.snapshot().error.has_value());
  EXPECT_THAT(ui.snapshot().error->message, HasSubstr("Token 0 of line 1 has 19999 bytes"));
}

/// A page that requests one computation after another, as a page about every head of a model may.
template <int most>
class OneByOne : public app::Page {
 public:
  explicit OneByOne(app::PageServices& services)
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
  app::PageStatus status(const Scene&) const override { return {}; }
  int answered() const { return asked_; }

  static std::unique_ptr<app::Page> make(app::PageServices& services) {
    return std::make_unique<OneByOne>(services);
  }
  static constexpr app::PageRow kRow{{"heads", "Heads", {}, "Go to Heads", "", ""}, make};

 private:
  int asked_ = 0;
  app::Answer<int, int> answer_;
};

TEST(Drawing, ContinuesUntilAllAnswersArrive) {
  using Page = OneByOne<300>;
  UiDriver ui(320, 240, 1, {&Page::kRow, 1});
  EXPECT_EQ(ui.session().page<Page>().answered(), 300);
}

TEST(Drawing, ThrowsIfAnswersNeverEnd) {
  using Page = OneByOne<1'000'000'000>;
  EXPECT_THROW(UiDriver(320, 240, 1, {&Page::kRow, 1}), std::runtime_error);
}

}  // namespace
}  // namespace headscope::test
