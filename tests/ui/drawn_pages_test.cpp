// A page as lines and text: what is on screen is in the drawing, at the same place, and in the PDF written
// from it.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <regex>

#include "app/compute/figures/picture_file.h"
#include "app/platform/ui_state.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"
#include "tests/ui/page_views.h"

namespace headscope::test {
namespace {

using app::Drawing;
using app::TextRun;

std::string withoutBlanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

std::vector<TextRun> runsOf(const Drawing& drawing) {
  std::vector<TextRun> runs;
  for (const app::Shape& shape : drawing.shapes)
    if (const auto* run = std::get_if<TextRun>(&shape)) runs.push_back(*run);
  return runs;
}

/// The texts on screen that the drawing lacks at their places.
std::vector<std::string> missing(const std::vector<app::DrawnText>& texts, const std::vector<TextRun>& runs) {
  std::vector<std::string> all;
  for (const app::DrawnText& text : texts) {
    if (!text.clip.Contains(text.area) || withoutBlanks(text.text).empty()) continue;
    std::string there;
    for (const TextRun& run : runs)
      if (run.degrees == 0 && run.x > text.area.Min.x - 2 && run.x < text.area.Max.x + 2 &&
          run.y > text.area.Min.y && run.y < text.area.Max.y)
        there += withoutBlanks(run.text);
    if (there.find(withoutBlanks(text.text)) == std::string::npos)
      all.push_back(fmt::format("\"{}\" at {:.0f}, {:.0f}; there is \"{}\"", text.text, text.area.Min.x,
                                text.area.Min.y, there));
  }
  return all;
}

/// The texts with a hyphen before a number, where a minus sign belongs. Code has hyphens.
std::vector<std::string> hyphened(const std::vector<app::DrawnText>& texts) {
  static const std::regex kHyphen(R"((^|[ (])-\.?[0-9])"), kCode(R"([a-z]\(|\)\.)");
  std::vector<std::string> all;
  for (const app::DrawnText& text : texts)
    if (std::regex_search(text.text, kHyphen) && !std::regex_search(text.text, kCode))
      all.push_back(text.text);
  return all;
}

struct Word {
  std::string text;
  double x = 0, y = 0;  ///< left edge and vertical middle, in pixels of the page
};
/// The words that pdftotext finds in a PDF.
std::vector<Word> wordsOf(const std::string& pdf) {
  std::vector<Word> words;
  FILE* pipe = ::popen(("pdftotext -bbox '" + pdf + "' -").c_str(), "r");
  if (!pipe) return words;
  std::string all;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) all.append(buffer, got);
  ::pclose(pipe);
  const std::regex word(
      "<word xMin=\"([0-9.-]+)\" yMin=\"([0-9.-]+)\" xMax=\"[0-9.-]+\" yMax=\"([0-9.-]+)\">([^<]*)<");
  constexpr double kPixels = 96.0 / 72;
  for (std::sregex_iterator at(all.begin(), all.end(), word), end; at != end; ++at)
    words.push_back(
        {(*at)[4], std::stod((*at)[1]) * kPixels, (std::stod((*at)[2]) + std::stod((*at)[3])) / 2 * kPixels});
  return words;
}

class DrawnPages : public testing::TestWithParam<bool> {
 protected:
  DrawnPages() : ui(1280, 720) {
    ui.view().present = GetParam();
    ui.park();
  }
  Drawing drawn() {
    ui.draw().wait(0.3);
    app::uiState().watches = true;
    Drawing drawing = ui.app().drawing();
    app::uiState().watches = false;
    return drawing;
  }
  UiDriver ui;
};

TEST_P(DrawnPages, ContainScreenTextsInPlace) {
  const app::Scene opening = ui.scene();
  for (const PageView& view : pageViews()) {
    SCOPED_TRACE(view.name);
    ui.session().setScene(withView(opening, view));
    const Drawing drawing = drawn();
    EXPECT_GT(app::uiState().texts.size(), 3u);
    EXPECT_THAT(missing(app::uiState().texts, runsOf(drawing)), IsEmpty());
    EXPECT_THAT(hyphened(app::uiState().texts), IsEmpty());
  }
}

TEST_P(DrawnPages, ClipShapesToTheirPanels) {
  const app::Scene opening = ui.scene();
  for (const PageView& view : pageViews()) {
    SCOPED_TRACE(view.name);
    ui.session().setScene(withView(opening, view));
    std::optional<app::Frame> clip;
    const Drawing drawing = drawn();
    for (const app::Shape& shape : drawing.shapes) {
      if (const auto* next = std::get_if<app::Clip>(&shape)) clip = next->frame;
      if (const auto* box = std::get_if<app::Box>(&shape); box && !clip) {
        EXPECT_GE(box->frame.x, -1.5);
        EXPECT_LE(box->frame.bottom(), 721.5);
        EXPECT_LE(box->frame.right(), 1281.5);
      }
      if (clip) {
        EXPECT_GE(clip->x, 0);
        EXPECT_LE(clip->right(), 1280);
      }
    }
    EXPECT_FALSE(clip) << "the drawing's last shapes would clip what is added to it";
  }
}

TEST_P(DrawnPages, PdfWordsMatchTheScreen) {
  const TemporaryFolder folder;
  const app::MemoryBudget memory(std::uint64_t{1} << 30);
  int looked = 0;
  for (const app::PageRow& row : app::pageTable()) {
    SCOPED_TRACE(row.info.key);
    ui.session().scene().cursor.page = row.info.key;
    const Drawing drawing = drawn();
    const std::string pdf = (folder / (std::string(row.info.key) + ".pdf")).string();
    const auto written = app::writePicture(pdf, drawing, {}, memory);
    ASSERT_TRUE(written.ok()) << written.error().message;
    const std::vector<Word> words = wordsOf(pdf);
    if (words.empty()) GTEST_SKIP() << "pdftotext isn't installed";
    for (const TextRun& run : runsOf(drawing)) {
      const bool plain = std::ranges::all_of(run.text, [](unsigned char c) { return std::isalnum(c); });
      if (run.degrees != 0 || !plain || run.text.size() < 3) continue;
      ++looked;
      EXPECT_TRUE(std::ranges::any_of(words,
                                      [&](const Word& word) {
                                        return word.text.find(run.text) != std::string::npos &&
                                               std::abs(word.y - run.y) < 3 &&
                                               (std::abs(word.x - run.x) < 2 || word.x < run.x);
                                      }))
          << run.text << " at " << run.x << ", " << run.y;
    }
  }
  EXPECT_GT(looked, 50);
}

INSTANTIATE_TEST_SUITE_P(Presented, DrawnPages, testing::Bool(), [](const auto& info) {
  return info.param ? std::string("Presented") : std::string("AtTheDesk");
});

TEST(DrawnPages, CellsMatchTheAttentionWeights) {
  UiDriver ui(1280, 720);
  ui.session().scene().cursor.focus = 2;
  ui.park();
  const Drawing drawing = ui.app().drawing();
  std::vector<attention::Matrix> found;
  for (const app::Shape& shape : drawing.shapes)
    if (const auto* cells = std::get_if<app::Cells>(&shape); cells && cells->frame.width > 200)
      found.push_back(cells->values);
  ASSERT_EQ(found.size(), 1u);
  const auto& weights = ui.sequence().probabilities()[2];
  ASSERT_EQ(found[0].rows(), weights.rows());
  for (attention::Index row = 0; row < weights.rows(); ++row)
    for (attention::Index col = 0; col <= row; ++col) EXPECT_EQ(found[0](row, col), weights(row, col));
}

}  // namespace
}  // namespace headscope::test
