// Figures as files: their size, and figures that can't be written.

#include "app/compute/figures/picture_file.h"

#include <gtest/gtest.h>

#include "app/compute/figures/drawing.h"
#include "app/compute/figures/picture_formats.h"
#include "render/image.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

using namespace app;

const MemoryBudget kMemory(std::uint64_t{1} << 30);

Drawing someDrawing() {
  Drawing drawing;
  drawing.width = 400;
  drawing.height = 200;
  drawing.background = {1, 1, 1, 1};
  drawing.shapes.push_back(Box{{0, 0, 400, 200}, {1, 0, 0, 1}});
  return drawing;
}

TEST(PictureFile, ParsesLengths) {
  EXPECT_EQ(*parseLength("800"), (Length{800, false}));
  EXPECT_EQ(*parseLength("800px"), (Length{800, false}));
  EXPECT_EQ(*parseLength("120.5mm"), (Length{120.5, true}));
  for (const char* bad : {"", "mm", "12cm", "-3", "0", "nan", "inf", "1e5", "12 mm", "99999999999", "120mmm"})
    EXPECT_THAT(parseLength(bad).ok() ? "" : parseLength(bad).error().message, HasSubstr("is not a length"))
        << bad;
}

TEST(PictureFile, PngHasRequestedSize) {
  const TemporaryFolder folder;
  const auto sizeOf = [&](const PictureSize& size) {
    const auto path = folder / "a.png";
    const auto written = writePicture(path, someDrawing(), size, kMemory);
    EXPECT_TRUE(written.ok()) << written.error().message;
    const render::Image image = decodePng(fileBytes(path));
    return std::pair(image.width, image.height);
  };
  EXPECT_EQ(sizeOf({}), std::pair(400, 200));
  EXPECT_EQ(sizeOf({.scale = 3}), std::pair(1200, 600));
  EXPECT_EQ(sizeOf({.width = Length{1000}}), std::pair(1000, 500));
  EXPECT_EQ(sizeOf({.height = Length{1000}}), std::pair(2000, 1000));
  EXPECT_EQ(sizeOf({.width = Length{300}, .height = Length{300}}), std::pair(300, 300));
  EXPECT_EQ(fileText(folder / "a.png").find("pHYs"), std::string::npos);
  EXPECT_EQ(sizeOf({.width = Length{50.8, true}, .dpi = 600}), std::pair(1200, 600));
  // 600 dpi are 23,622 pixels per metre.
  EXPECT_THAT(fileText(folder / "a.png"), HasSubstr(std::string("pHYs\0\0\x5C\x46\0\0\x5C\x46\1", 13)));
}

TEST(PictureFile, ClipsLastUntilTheNextAndColoursBlend) {
  const TemporaryFolder folder;
  Drawing drawing = someDrawing();
  drawing.shapes = {Clip{Frame{0, 0, 100, 200}},
                    Box{{0, 0, 400, 200}, {1, 0, 0, 1}},
                    Clip{Frame{200, 0, 50, 200}},
                    Box{{0, 0, 400, 200}, {1, 0, 0, 0.5f}},
                    Clip{},
                    Area{{{{300, 0}, {400, 0}, {400, 200}, {300, 200}}}, {0, 0, 1, 1}}};
  ASSERT_TRUE(writePicture(folder / "a.png", drawing, {}, kMemory).ok());
  const render::Image image = decodePng(fileBytes(folder / "a.png"));
  const auto at = [&](int x) {
    const std::uint8_t* pixel = &image.rgba[static_cast<std::size_t>(4 * (100 * 400 + x))];
    return std::array<int, 3>{pixel[0], pixel[1], pixel[2]};
  };
  EXPECT_EQ(at(50), (std::array<int, 3>{255, 0, 0}));
  EXPECT_EQ(at(150), (std::array<int, 3>{255, 255, 255}));
  EXPECT_EQ(at(225)[0], 255);
  EXPECT_NEAR(at(225)[1], 128, 2);
  EXPECT_EQ(at(350), (std::array<int, 3>{0, 0, 255}));
}

TEST(PictureFile, TextIsAlignedToItsPosition) {
  for (const Anchor anchor : {Anchor::start, Anchor::middle, Anchor::end})
    for (const char* text : {"HHHH", "سلام", "ab שלום"}) {
      Drawing drawing = someDrawing();
      drawing.shapes = {TextRun{text, 200, 100, 40, {0, 0, 0, 1}, anchor}};
      const auto image = pixelImage(drawing, 400, 200);
      ASSERT_TRUE(image.ok()) << image.error().message;
      int left = 400, right = 0;
      for (int i = 0; i < 400 * 200; ++i)
        if (image->rgba[static_cast<std::size_t>(4 * i)] < 128) {
          left = std::min(left, i % 400);
          right = std::max(right, i % 400);
        }
      EXPECT_GT(right - left, 50) << text;
      const int at = anchor == Anchor::start ? left : anchor == Anchor::end ? right : (left + right) / 2;
      EXPECT_NEAR(at, 200, 6) << text;
    }
}

TEST(PictureFile, TouchingCellsHaveSharpEdges) {
  Drawing drawing = someDrawing();
  Cells cells{{20.3, 20.6, 35, 35}, attention::Matrix::Identity(5, 5), {}};
  cells.style.gap = 0;
  drawing.shapes = {cells};
  const auto image = pixelImage(drawing, 400, 200);
  ASSERT_TRUE(image.ok()) << image.error().message;
  std::map<std::array<int, 3>, int> found;
  for (std::size_t at = 0; at < image->rgba.size(); at += 4)
    ++found[{image->rgba[at], image->rgba[at + 1], image->rgba[at + 2]}];
  EXPECT_THAT(found, testing::SizeIs(3)) << "the page and two cells' colours, nothing between";
}

TEST(PictureFile, CentresDrawingOfOtherAspectRatio) {
  const TemporaryFolder folder;
  ASSERT_TRUE(
      writePicture(folder / "a.png", someDrawing(), {.width = Length{300}, .height = Length{300}}, kMemory)
          .ok());
  const render::Image image = decodePng(fileBytes(folder / "a.png"));
  const auto green = [&](int x, int y) {
    return image.rgba[static_cast<std::size_t>(4 * (y * 300 + x) + 1)];
  };
  EXPECT_EQ(green(150, 20), 255) << "the page";
  EXPECT_EQ(green(150, 150), 0) << "the drawing, red";
  EXPECT_EQ(green(150, 280), 255);
}

TEST(PictureFile, SvgDeclaresItsSize) {
  const TemporaryFolder folder;
  ASSERT_TRUE(writePicture(folder / "a.svg", someDrawing(), {.width = Length{120, true}}, kMemory).ok());
  EXPECT_THAT(fileText(folder / "a.svg"),
              AllOf(HasSubstr("width=\"120mm\" height=\"60mm\""), HasSubstr("viewBox=\"0 0 400 200\"")));
}

/// The numbers after `/MediaBox` of the only page, which the PDF stores as plain text.
std::string mediaBox(const std::string& pdf) {
  const std::size_t at = pdf.find("/MediaBox"), from = pdf.find('[', at), to = pdf.find(']', at);
  return at == std::string::npos ? "none" : pdf.substr(from + 1, to - from - 1);
}

TEST(PictureFile, PdfHasOneSizedPageWithEmbeddedFonts) {
  const TemporaryFolder folder;
  Drawing drawing = someDrawing();
  drawing.shapes.push_back(TextRun{"animal", 20, 20, 11, {0, 0, 0, 1}});
  const auto written = [&](const char* name, const PictureSize& size) {
    const auto status = writePicture(folder / name, drawing, size, kMemory);
    EXPECT_TRUE(status.ok()) << status.error().message;
    return fileText(folder / name);
  };
  const std::string pdf = written("a.PDF", {});
  EXPECT_TRUE(pdf.starts_with("%PDF-1.")) << pdf.substr(0, 16);
  EXPECT_THAT(pdf, AllOf(HasSubstr("/Count 1"), HasSubstr("/FontFile"), HasSubstr("%%EOF")));
  EXPECT_THAT(mediaBox(pdf), testing::ContainsRegex("0 0 300 150")) << "400 x 200 pixels of 1/96 inch";
  EXPECT_THAT(mediaBox(written("b.pdf", {.width = Length{127, true}})), testing::ContainsRegex("0 0 360 180"))
      << "5 inches";
  const auto large = writePicture(folder / "c.pdf", drawing, {.width = Length{99999, true}}, kMemory);
  ASSERT_FALSE(large.ok());
  EXPECT_THAT(large.error().message, HasSubstr("expected 1 to 14,400 a side"));
}

TEST(PictureFile, PdfHasItsTitleAndNoDate) {
  const TemporaryFolder folder;
  Drawing drawing = someDrawing();
  drawing.title = "Heads of a layer";
  drawing.shapes.push_back(TextRun{"animal", 20, 20, 11, {0, 0, 0, 1}});
  for (const char* name : {"a.pdf", "b.pdf"})
    ASSERT_TRUE(writePicture(folder / name, drawing, {}, kMemory).ok());
  const std::string pdf = fileText(folder / "a.pdf");
  EXPECT_THAT(pdf, AllOf(HasSubstr("/Title (Heads of a layer)"), testing::Not(HasSubstr("Date"))));
  EXPECT_EQ(pdf, fileText(folder / "b.pdf"));
}

TEST(PictureFile, PdfCrossReferenceTableIsCorrect) {
  const TemporaryFolder folder;
  Drawing drawing = someDrawing();
  drawing.shapes.push_back(TextRun{"turned", 200, 100, 11, {0, 0, 0, 0.5f}, Anchor::middle, true, false, 30});
  ASSERT_TRUE(writePdf(folder / "a.pdf", {drawing, drawing}, {}).ok());
  const std::string pdf = fileText(folder / "a.pdf");
  const std::size_t table = std::stoul(pdf.substr(pdf.rfind("startxref") + 10));
  ASSERT_EQ(pdf.substr(table, 5), "xref\n");
  const std::size_t count = std::stoul(pdf.substr(table + 7)), first = pdf.find("n \n", table) - 16;
  ASSERT_GT(count, 8u);
  for (std::size_t i = 1; i < count; ++i) {
    const std::size_t at = std::stoul(pdf.substr(first + 20 * (i - 1), 10));
    EXPECT_EQ(pdf.substr(at, 8).substr(0, pdf.substr(at, 8).find('\n')), std::to_string(i) + " 0 obj");
  }
  EXPECT_LT(pdf.size(), 20'000u) << "a font has the letters that are shown alone";
}

/// The text that pdftotext finds in a PDF; "" if pdftotext isn't installed.
std::string wordsInPdf(const std::filesystem::path& file) {
  std::string words;
  FILE* const pipe = ::popen(("pdftotext '" + file.string() + "' - 2>&1").c_str(), "r");
  if (!pipe) return words;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) words.append(buffer, got);
  return ::pclose(pipe) == 0 ? words : "";
}

TEST(PictureFile, PdfTextIsSearchableInAllScriptsAndRotations) {
  const TemporaryFolder folder;
  Drawing drawing = someDrawing();
  drawing.shapes.clear();
  for (const auto& [text, y, degrees] :
       {std::tuple{"A != b", 20, 0}, std::tuple{"Zeile λ² → ∞", 40, 0}, std::tuple{"नमस्ते", 60, 0},
        std::tuple{"हिन्दी", 80, 0}, std::tuple{"שלום עולם", 100, 0}, std::tuple{"سلام", 120, 0},
        std::tuple{"upright", 150, -90}})
    drawing.shapes.push_back(TextRun{text,
                                     60,
                                     static_cast<double>(y),
                                     11,
                                     {0, 0, 0, 1},
                                     Anchor::start,
                                     true,
                                     false,
                                     static_cast<double>(degrees)});
  ASSERT_TRUE(writePicture(folder / "a.pdf", drawing, {}, kMemory).ok());
  const std::string words = wordsInPdf(folder / "a.pdf");
  if (words.empty()) GTEST_SKIP() << "pdftotext isn't installed";
  EXPECT_THAT(words,
              AllOf(HasSubstr("A != b"), HasSubstr("Zeile λ² → ∞"), HasSubstr("नमस्ते"), HasSubstr("हिन्दी"),
                    HasSubstr("שלום עולם"), HasSubstr("سلام"), HasSubstr("upright")));
}

TEST(PictureFile, RefusesBadSizesAndNamesKeepingOldFile) {
  const TemporaryFolder folder;
  putFile(folder / "a.png", "mine");
  const auto refusal = [&](const std::string& name, const PictureSize& size,
                           const MemoryBudget& memory = kMemory) {
    const auto written = writePicture(folder / name, someDrawing(), size, memory);
    return written.ok() ? std::string("written") : written.error().message;
  };
  EXPECT_THAT(refusal("a.png", {.width = Length{20000}}),
              HasSubstr("20000 × 10000 pixels, expected 16 to 16,384"));
  EXPECT_THAT(refusal("a.png", {.width = Length{16000}}), HasSubstr("67,108,864"));
  EXPECT_THAT(refusal("a.png", {.width = Length{1000, true}, .dpi = 2400}), HasSubstr("pixels, expected"));
  EXPECT_THAT(refusal("a.png", {.width = Length{20}}), HasSubstr("20 × 10 pixels, expected"));
  EXPECT_THAT(refusal("a.png", {.width = Length{8000}}, MemoryBudget(1 << 20)), HasSubstr("budget"));
  EXPECT_THAT(refusal("a.jpg", {}), HasSubstr("expected .png, .svg or .pdf"));
  EXPECT_THAT(refusal("a", {}), HasSubstr("expected .png, .svg or .pdf"));
  EXPECT_THAT(refusal("none/a.svg", {}), HasSubstr("cannot be written"));
  EXPECT_EQ(fileText(folder / "a.png"), "mine");
  EXPECT_EQ(folder.count(), 1u) << "nothing else is left";
}

}  // namespace
}  // namespace headscope::test
