#include "app/platform/preferences.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "attention/formats/merged_file.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

TEST(Preferences, WindowSizesThatNoWindowCanHaveAreUnknown) {
  const std::vector<std::pair<const char*, int>> kWidths{
      {"640", 640}, {"1600", 1600}, {"16384", 16384}, {"2", 0},        {"-5", 0},
      {"639", 0},   {"32768", 0},   {"1e300", 0},     {"\"wide\"", 0}, {"99999999999999", 0}};
  for (const auto& [text, width] : kWidths)
    EXPECT_EQ(parsePreferences(fmt::format(R"({{"last_window": {{"width": {}}}}})", text)).last.width, width)
        << text;
  EXPECT_EQ(parsePreferences(R"({"last_window": {"height": 3}})").last.height, 0);
  EXPECT_EQ(parsePreferences(R"({"last_window": {"height": 400}})").last.height, 400);
}

TEST(Preferences, WindowsKeepEachOthersChanges) {
  const test::TemporaryFolder folder;
  const auto path = folder / "headscope/preferences.json";
  const auto read = [&] { return parsePreferences(test::fileText(path)); };
  attention::MergedFile first, second;
  first.begin(formatPreferences({}));
  second.begin(formatPreferences({}));
  Preferences mine, theirs;
  mine.light = true;
  ASSERT_TRUE(first.write(path, formatPreferences(mine)).ok());
  theirs.textSize = 2;
  theirs.last.width = 900;
  ASSERT_TRUE(second.write(path, formatPreferences(theirs)).ok());
  EXPECT_TRUE(read().light) << "the second window never changed it";
  EXPECT_EQ(read().textSize, 2);
  mine.light = false;
  ASSERT_TRUE(first.write(path, formatPreferences(mine)).ok());
  EXPECT_FALSE(read().light);
  EXPECT_EQ(read().textSize, 2);
  EXPECT_EQ(read().last.width, 900);
}

}  // namespace
}  // namespace headscope::app
