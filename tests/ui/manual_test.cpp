// The manual in the window: F1 opens the page's chapter, and links and the search lead to others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/shell/manual_reader.h"
#include "tests/support/ui_driver.h"

namespace headscope::app {
namespace {

using test::kCtrl;
using test::UiDriver;

const ManualReader& reader(UiDriver& ui) {
  return dynamic_cast<const ManualReader&>(*ui.view().dialog);
}

TEST(ManualReader, F1OpensTheChapterOfEveryPage) {
  UiDriver ui;
  for (const PageRow& page : pageTable()) {
    ui.key(page.info.shortcut.key).key(Key::f1);
    ASSERT_EQ(ui.dialog(), "manual") << page.info.key;
    EXPECT_EQ(reader(ui).chapter(), page.info.key);
    ui.key(Key::escape);
    EXPECT_EQ(ui.dialog(), "");
  }
}

TEST(ManualReader, ListsAndOpensEveryChapter) {
  UiDriver ui;
  ui.key(Key::f1);
  const auto chapters = ui.names("manual.chapter.");
  EXPECT_GE(chapters.size(), 17u);
  for (const std::string& chapter : chapters) {
    ui.click(chapter);
    EXPECT_EQ("manual.chapter." + reader(ui).chapter(), chapter);
  }
}

TEST(ManualReader, FollowsLinksAndBackReturns) {
  UiDriver ui;
  ui.key(Key::f1).click("manual.link.mask.md");
  EXPECT_EQ(reader(ui).chapter(), "mask");
  ui.click("manual.back");
  EXPECT_EQ(reader(ui).chapter(), "heads");
}

/// A heading comes before a table's row of the same name.
TEST(ManualReader, OpensAtHeadingsAndTerms) {
  const std::vector<Chapter> manual{
      {"a", "A",
       "# A\n\ntext\n\n| term | means |\n|---|---|\n| kv head | x |\n| b c | y |\n\n## B c\n\ntext\n"},
      {"z", "Z", "# Z\n"}};
  const auto at = [&](const char* target) {
    const ManualReader reader(manual, target);
    return reader.chapter() + "#" + reader.heading();
  };
  EXPECT_EQ(at("a"), "a#");
  EXPECT_EQ(at("a#kv-head"), "a#kv head");
  EXPECT_EQ(at("a#b-c"), "a#B c");
  EXPECT_EQ(at("z#nothing"), "z#");
  EXPECT_EQ(at("none"), "a#");
}

TEST(ManualReader, SearchListsSections) {
  UiDriver ui;
  ui.key(Key::f1).type("block table").click("manual.section.cache.paging");
  EXPECT_EQ(reader(ui).chapter(), "cache");
  EXPECT_EQ(reader(ui).heading(), "Paging");
  ui.click("manual.search").type("zzzz");
  EXPECT_TRUE(ui.names("manual.section.").empty());
}

TEST(ManualReader, OpensWhilePresentingAndAtAnyWindowSize) {
  UiDriver ui(1280, 720);
  ui.key(Key::p).key(Key::f1);
  EXPECT_EQ(ui.dialog(), "manual");
  for (const auto& [width, height] : {std::pair{640, 400}, {320, 240}, {3840, 2160}}) {
    ui.resize(width, height);
    EXPECT_EQ(reader(ui).chapter(), "heads");
  }
}

}  // namespace
}  // namespace headscope::app
