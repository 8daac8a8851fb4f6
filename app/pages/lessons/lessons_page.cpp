#include "app/pages/lessons/lessons_page.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/platform/assets.h"
#include "app/platform/configuration.h"

namespace headscope::app::lessons_page {

namespace {

std::filesystem::path shippedFolder() {
  return assetFolder() / "lessons";
}

std::filesystem::path ownFolder() {
  const std::filesystem::path folder = configurationFolder();
  return folder.empty() ? folder : folder / "lessons";
}

}  // namespace

Page::Page(PageServices& services)
    : services_(services),
      page_(services.view),
      library_(services.workers,
               [](const LibraryQuestion& question, std::stop_token stop)
                   -> attention::Result<std::shared_ptr<const std::pair<LessonLibrary, Progress>>> {
                 return std::make_shared<const std::pair<LessonLibrary, Progress>>(
                     readLessons(question, stop), readProgress(question.progress));
               }),
      cover_(services.workers,
             [this](const CoverQuestion& question, std::stop_token stop) {
               return LessonRunner(*question.lesson, services_.resources, stop).cover();
             }),
      study_(services.workers,
             [this](const StepQuestion& question, std::stop_token stop) {
               return studyStep(*question.lesson, static_cast<std::size_t>(question.step),
                                services_.resources, stop);
             }),
      ahead_(services.workers, [this](const StepQuestion& question, std::stop_token stop) {
        return studyStep(*question.lesson, static_cast<std::size_t>(question.step), services_.resources,
                         stop);
      }) {}

bool Page::take(const Scene&) {
  const bool library = takeLibrary(), covers = takeCovers(), study = takeStudy();
  return library || covers || study;
}

bool Page::takeLibrary() {
  const auto answer = library_.current();
  if (!answer || !answer->value.ok()) return false;
  const auto& found = *answer->value;
  if (page_.list.library.get() == &found->first) return false;
  const bool first = !page_.list.library;
  // The error disappears with its cause.
  std::string& error = services_.view.messages.error;
  if (!first && !page_.list.library->problems.empty() && error == page_.list.library->problems.back())
    error.clear();
  page_.list.library = std::shared_ptr<const LessonLibrary>(found, &found->first);
  page_.list.covers.assign(page_.list.library->lessons.size(), std::nullopt);
  if (first) page_.record.progress = found->second;
  if (!first && !page_.list.library->problems.empty())
    services_.view.messages.fail(page_.list.library->problems.back());
  return true;
}

bool Page::takeCovers() {
  const auto answer = cover_.current();
  if (!answer || !page_.list.library) return false;
  for (std::size_t i = 0; i < page_.list.covers.size(); ++i) {
    if (page_.list.covers[i] || page_.list.library->lessons[i].lesson != answer->request.lesson) continue;
    page_.list.covers[i] = answer->value.ok() ? *answer->value : attention::Matrix();
    return true;
  }
  return false;
}

/// Takes the step's study. One that was computed ahead is used at once.
bool Page::takeStudy() {
  const StepQuestion wanted{placed_.lesson, placed_.step};
  if (!wanted.lesson || studied_ == wanted) return false;
  for (const StudyAnswer* each : {&study_, &ahead_}) {
    const auto answer = each->current();
    if (!answer || answer->request != wanted) continue;
    studied_ = wanted;
    page_.here.study = answer->value.ok() ? *answer->value : nullptr;
    page_.here.problem = answer->value.ok() ? "" : answer->value.error().message;
    return true;
  }
  return false;
}

void Page::ask(const Scene&) {
  const bool remembers = services_.view.showTimings;
  asked_.shipped = shippedFolder();
  asked_.own = remembers ? ownFolder() : "";
  asked_.progress = remembers ? stateFolder() : "";
  library_.ask(asked_, Lane::front);
  if (!page_.list.library) return;
  if (!placed_.lesson) {
    const auto missing = std::find(page_.list.covers.begin(), page_.list.covers.end(), std::nullopt);
    if (missing != page_.list.covers.end())
      cover_.ask(
          {page_.list.library->lessons[static_cast<std::size_t>(missing - page_.list.covers.begin())].lesson},
          Lane::back);
    return;
  }
  const StepQuestion now{placed_.lesson, placed_.step}, next{placed_.lesson, placed_.step + 1};
  if (studied_ != now) return study_.ask(now, Lane::front);
  // Once the stage has everything it requested, compute the next step ahead. Each answer may lead to a new
  // request, so the stage counts as complete after two frames without work.
  if (!page_.stage.settled) {
    stillFrames_ = services_.workers.busy() ? 0 : stillFrames_ + 1;
    page_.stage.settled = stillFrames_ >= 2;
    services_.view.redraw(stillFrames_ == 1 ? 1 : 0);
  }
  if (page_.stage.settled && next.step < static_cast<Index>(placed_.lesson->steps.size()))
    ahead_.ask(next, Lane::back);
}

void Page::leave() {
  services_.view.guessedRow.clear();
  cover_.cancel();
  study_.cancel();
  ahead_.cancel();
}

void Page::reset() {
  stage_ = {};
  placed_ = {};
  page_.here.lesson = nullptr;
  page_.stage.document = nullptr;
}

/// The stage gets the space the column leaves, with the page's own side panel if the step refers to it.
Layout Page::stageLayout(const Layout& window, bool hasSide, bool hasStrip) const {
  const View& view = services_.view;
  Layout stage = window;
  const ImRect whole(0, window.center.Min.y, window.center.Max.x, window.center.Max.y);
  ImRect area = whole;
  if (window.presents) {
    const ImRect caption = captionArea(page_, whole);
    (caption.Min.x > whole.Min.x ? area.Max.x : area.Max.y) =
        caption.Min.x > whole.Min.x ? caption.Min.x : caption.Min.y;
  } else {
    area.Min.x += columnWidth(view, whole);
  }
  if (compares(page_)) area.Max.x -= comparisonWidth(view, whole);
  const bool side = hasSide && page_.here.lesson && page_.at().look.at == LookAt::side;
  const float sideWidth = side ? std::min(view.px(384), area.GetWidth() * 0.45f) : 0;
  const float strip = hasStrip ? view.px(window.presents                   ? 64
                                         : area.GetHeight() < view.px(760) ? 44
                                                                           : 180)
                               : 0;
  stage.narrow = true;
  if (page_.here.lesson) stage.named = page_.at().look.control;
  stage.showLeft = false;
  stage.left = ImRect(area.Min.x, area.Min.y, area.Min.x, area.Max.y);
  stage.showRight = side;
  stage.right = ImRect(area.Max.x - sideWidth, area.Min.y, area.Max.x, area.Max.y);
  stage.showCache = hasStrip;
  stage.cacheLine = strip == view.px(44);
  stage.cache = ImRect(area.Min.x, area.Max.y - strip, area.Max.x - sideWidth, area.Max.y);
  stage.center = ImRect(area.Min.x, area.Min.y, area.Max.x - sideWidth, area.Max.y - strip);
  return stage;
}

void Page::draw(Scene&, const Layout& layout) {
  if (!page_.here.lesson) return lessonList(page_, layout);
  const View& view = services_.view;
  ImRect area(0, layout.center.Min.y, layout.center.Max.x, layout.center.Max.y);
  if (compares(page_))
    comparison(page_, ImRect(area.Max.x - comparisonWidth(view, area), area.Min.y, area.Max.x, area.Max.y));
  if (layout.presents)
    lessonCaption(page_, captionArea(page_, area));
  else
    lessonColumn(page_, ImRect(area.Min.x, area.Min.y, area.Min.x + columnWidth(view, area), area.Max.y));
  lookMark(page_, area);
}

std::vector<CaptionPart> Page::caption(const Scene&) const {
  const Theme& theme = *services_.view.theme;
  if (!page_.here.lesson) return {{"Choose a lesson", theme.text}};
  return {{page_.here.lesson->title, theme.text},
          {fmt::format("   step {} of {}", page_.here.step + 1, page_.here.lesson->steps.size()),
           theme.secondary}};
}

std::string Page::notes(const Scene&) const {
  return page_.here.lesson ? page_.at().notes : "";
}

std::shared_ptr<const Scene> Page::nextScene(const Scene&) const {
  const auto next = static_cast<std::size_t>(page_.here.step) + 1;
  if (!page_.here.lesson || next >= page_.here.lesson->steps.size()) return nullptr;
  return {page_.here.lesson, &page_.here.lesson->steps[next].scene};
}

PageStatus Page::status(const Scene&) const {
  PageStatus status;
  if (!page_.list.library) return status;
  const auto& lessons = page_.list.library->lessons;
  const auto own = std::count_if(lessons.begin(), lessons.end(), [](const auto& entry) { return entry.own; });
  status.figures = {{"lessons", std::to_string(std::ssize(lessons) - own)}, {"yours", std::to_string(own)}};
  status.shape = "every picture here is computed";
  status.busySeconds = library_.busySeconds();
  status.busyWords = "reading lessons";
  return status;
}

std::optional<std::string> Page::error(const Scene& scene) const {
  if (page_.list.library && !scene.cursor.lesson.lesson.empty() && !page_.here.lesson)
    return fmt::format("no lesson has the id \"{}\"", scene.cursor.lesson.lesson);
  return page_.here.problem.empty() ? std::nullopt : std::optional(page_.here.problem);
}

double Page::nextFrameIn() const {
  if (library_.busySeconds() > 0 || study_.busySeconds() > 0) return 0.2;
  return watched_.path.empty() ? std::numeric_limits<double>::infinity() : kWatchInterval;
}

}  // namespace headscope::app::lessons_page
