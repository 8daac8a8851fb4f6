#include <fmt/core.h>

#include <memory>

#include "app/commands/commands.h"
#include "app/commands/handout_views.h"
#include "app/commands/report.h"
#include "app/compute/figures/picture_file.h"
#include "app/headless.h"
#include "app/pages/lessons/lessons_state.h"
#include "app/platform/address_space.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

struct HandoutOptions {
  std::vector<std::string> files;
  std::string output, theme = "light";
  bool answers = false;
};

// A sheet of A4 in pixels: the picture of a view as wide as it is presented, and around it a margin.
constexpr int kPictureWidth = 1280, kPictureHeight = 720, kSheetMargin = 90;
constexpr int kSheetWidth = kPictureWidth + 2 * kSheetMargin, kSheetHeight = kSheetWidth * 297 / 210;
constexpr double kSheetMillimetres = 210;
/// Pixels of a layout unit: the text is set at 13 points a line, and where that takes too much room smaller.
constexpr float kSheetUnit = 2.2f, kLeastSheetUnit = 0.9f;

/// Without the numbered marks, which point at places of the window, and the spaces before them.
RichText readText(const std::string& text) {
  RichText rich = lessons_page::richOrPlain(text);
  for (auto& paragraph : rich)
    for (std::size_t i = paragraph.size(); i-- > 0;) {
      if (paragraph[i].kind != RichSpan::Kind::mark) continue;
      paragraph.erase(paragraph.begin() + static_cast<std::ptrdiff_t>(i));
      if (i > 0 && paragraph[i - 1].text.ends_with(' ')) paragraph[i - 1].text.pop_back();
    }
  return rich;
}

/// Sets what is said about a view; returns how far down it goes. Without a list nothing is drawn.
float setWords(const View& view, Canvas* list, const HandoutView& said, float y) {
  const Theme& theme = *view.theme;
  const Fonts& fonts = *view.fonts;
  const auto set = [&](ImFont* plain, const std::string& text, float indent, float gap) {
    if (text.empty()) return;
    const RichFonts rich{plain, fonts.bold, fonts.mono, fonts.small, theme.text};
    y += paintRichText(view, list, rich, readText(text), ImVec2(kSheetMargin + indent, y),
                       kPictureWidth - indent) +
         view.px(gap);
  };
  set(fonts.title, said.title, 0, 8);
  set(fonts.text, said.notes, 0, 14);
  set(fonts.bold, said.ask, 0, 6);
  const float letter = view.px(24);
  for (std::size_t i = 0; i < said.options.size(); ++i) {
    if (list)
      paintText(*list, fonts.mono, ImVec2(kSheetMargin, y + lineHeight(fonts.text) * 0.6f), theme.text,
                lessons_page::optionLetter(i));
    set(fonts.text, said.options[i], letter, 6);
  }
  y += said.answer.empty() ? 0 : view.px(8);
  set(fonts.text, said.answer, 0, 0);
  return y;
}

/// The sheet without its picture.
Drawing sheetOf(HeadlessApp& headless, const HandoutView& said, const std::string& place) {
  constexpr float kTop = kSheetMargin + kPictureHeight + 36, kBottom = kSheetHeight - 2 * kSheetMargin / 3.0f;
  float unit = kSheetUnit, end = 0;
  const auto paint = [&](const View& view, Canvas list) {
    end = setWords(view, &list, said, kTop);
    ImFont* const font = view.fonts->small;
    paintText(list, font, ImVec2(kSheetMargin, kBottom), view.theme->secondary, said.file);
    paintText(list, font, ImVec2(kSheetWidth - kSheetMargin, kBottom), view.theme->secondary, place,
              Align::right);
    compat::rectOutline(list, ImVec2(kSheetMargin - 1, kSheetMargin - 1),
                        ImVec2(kSheetWidth - kSheetMargin + 1, kSheetMargin + kPictureHeight + 1),
                        view.theme->line, 0, 1);
  };
  while (true) {
    Drawing sheet = headless.sheet(kSheetWidth, kSheetHeight, unit, paint);
    if (end < kBottom - 20 || unit <= kLeastSheetUnit) return sheet;
    unit *= 0.93f;
  }
}

attention::Status writeHandout(const HandoutOptions& options, const std::vector<HandoutView>& views) {
  HeadlessApp headless(kPictureWidth, kPictureHeight);
  View& view = headless.session().view();
  view.preferences.light = options.theme == "light";
  std::vector<Drawing> pages;
  for (std::size_t i = 0; i < views.size(); ++i) {
    view.present = true;
    headless.session().setScene(views[i].scene);
    headless.draw();
    const Drawing picture = headless.drawing();
    Drawing page = sheetOf(headless, views[i], fmt::format("{} / {}", i + 1, views.size()));
    page.shapes.push_back(
        Box{{kSheetMargin, kSheetMargin, kPictureWidth, kPictureHeight}, picture.background});
    page.add(picture, kSheetMargin, kSheetMargin);
    page.title = views[i].title;
    pages.push_back(std::move(page));
  }
  return writePdf(options.output, pages, {.width = Length{kSheetMillimetres, true}});
}

int runHandout(const HandoutOptions& options) {
  const auto format = pictureFormat(options.output);
  if (!format || *format != PictureFormat::pdf)
    return usage(
        {"--output is " + attention::quotedText(options.output) + ", expected a name that ends in .pdf"});
  std::vector<HandoutView> views;
  for (const std::string& file : options.files) {
    auto read = handoutViews(file, options.answers);
    if (!read) return fail(read.error());
    views.insert(views.end(), std::make_move_iterator(read->begin()), std::make_move_iterator(read->end()));
  }
  requireAddressSpace();
  const auto written = writeHandout(options, views);
  return written.ok() ? kExitDone : fail(written.error());
}

}  // namespace

void addHandoutCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand("handout",
                                         "Write a PDF to hand out, with one view per page, its text and its "
                                         "question");
  auto options = std::make_shared<HandoutOptions>();
  command
      ->add_option("FILE", options->files,
                   "Scenes and lessons, in order; a lesson has a page for each step, a talk for each view")
      ->required()
      ->check(namesFile);
  command->add_option("-o,--output", options->output, "The PDF to write")->required()->check(namesFile);
  command->add_option("--theme", options->theme, "dark or light; default light")
      ->check(CLI::IsMember({"dark", "light"}));
  command->add_flag("--answers", options->answers, "Include the answers, and the pictures after them");
  command->callback([options, &exitCode] { exitCode = guarded([&] { return runHandout(*options); }); });
}

}  // namespace headscope::app
