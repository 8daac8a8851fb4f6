#include "app/pages/lessons/lessons_page.h"

#include <fmt/core.h>

#include "app/platform/assets.h"
#include "app/scene/scene_json.h"

namespace headscope::app::lessons_page {

namespace {

/// "step 3 of Why divide by √d".
std::string stepPlace(const Lesson& lesson, Index step) {
  return fmt::format("step {} of {}", step + 1, lesson.title);
}

bool setsField(const LessonStep& step, const std::string& field) {
  return std::ranges::find(step.changed, field) != step.changed.end();
}

auto study(const StepQuestion& question, Resources& resources, std::stop_token stop) {
  return studyStep(*question.lesson, asSize(question.step), resources, stop);
}

attention::Result<FinishedTalks> readTalks(std::monostate, std::stop_token stop) {
  FinishedTalks talks;
  for (const ReadyTalk& talk : kReadyTalks) {
    auto scene = readScene(assetFolder() / "talks" / talk.file, stop);
    if (!scene) return scene.error();
    talks.push_back(std::make_shared<const Scene>(*std::move(scene)));
  }
  return talks;
}

}  // namespace

Scene stageScene(const Lesson& lesson, const LessonStep& step, bool after) {
  if (after) return step.scene;
  Scene scene = sceneBefore(lesson, step);
  // The mistake shown, or the model's view, may itself be the answer.
  const Cursor before = scene.cursor;
  scene.cursor = step.scene.cursor;
  scene.cursor.lab.mistake = before.lab.mistake;
  if (scene.cursor.model.view != before.model.view) {
    scene.cursor.model.view = before.model.view;
    scene.cursor.page = before.page;
  }
  return scene;
}

Page::Page(PageServices& services)
    : services_(services),
      page_(services.view),
      files_(services, page_),
      shown_(services.view, services.workers, services.resources),
      library_(
          shown_,
          [](const LibraryQuestion& question, std::stop_token stop) {
            return Library(readLessons(question, stop), readProgress(question.progress));
          },
          {}, [this](const LibraryQuestion&, const auto& found) { takeLibrary(found); }),
      cover_(
          shown_,
          [](const std::shared_ptr<const Lesson>& lesson, Resources& resources, std::stop_token stop) {
            auto cover = LessonRunner(*lesson, resources, stop).cover();
            return cover ? *std::move(cover) : attention::Matrix();
          },
          {},
          [this](const std::shared_ptr<const Lesson>& lesson, const auto& cover) {
            for (std::size_t i = 0; i < page_.list.covers.size(); ++i)
              if (page_.list.library->lessons[i].lesson == lesson) page_.list.covers[i] = *cover;
          }),
      talks_(shown_, readTalks, {}, [this](std::monostate, const auto& talks) { takeTalks(talks); }),
      study_(shown_, study),
      ahead_(shown_, study) {}

void Page::arrange(Document& own) {
  View& view = services_.view;
  if (std::exchange(page_.asked.take, false) && staged()) {
    // One undo step; the person's scene stays in its file.
    Scene taken = staged()->scene();
    taken.cursor.lesson = own.scene().cursor.lesson;
    own.openInTalk(std::move(taken), *staged()->file());
    view.say("You now have the lesson's scene. Undo restores your own.");
  }
  if (page_.here.lesson && page_.asked.move == Move::restore) {
    stage_.restore();
    renewStage();
  }
  applyMoves(services_, page_, own.scene().cursor.lesson);
  place(own.scene().cursor.lesson);
  page_.stage.shown = services_.layer.snapshot();
  files_.check();
  view.guessedRow.clear();
  if (!page_.here.study || !page_.here.answered || page_.here.guess < 0) return;
  const OptionStudy& option = page_.here.study->options[asSize(page_.here.guess)];
  if (option.picture.rows() == 1)
    view.guessedRow.assign(option.picture.data(), option.picture.data() + option.picture.size());
}

/// Updates the stage to the person's place in the lesson.
void Page::place(LessonCursor& at) {
  const LessonEntry* entry = page_.list.library ? page_.list.library->find(at.lesson) : nullptr;
  if (entry) at.lesson = entry->lesson->id;  // a link may have named it by number
  if (entry && entry->lesson != placed_.lesson) files_.watch(*entry);
  // An open lesson stays while its file is broken.
  const bool open = placed_.lesson && placed_.lesson->id == at.lesson;
  LessonPlace& here = page_.here;
  here.lesson = entry ? entry->lesson : open ? placed_.lesson : nullptr;
  if (!here.lesson) {
    clearStage();
    here.problem.clear();
    return;
  }
  at.step = std::clamp<Index>(at.step, 0, static_cast<Index>(here.lesson->steps.size()) - 1);
  here.step = at.step;
  const LessonStep& step = page_.at();
  const auto options = step.question ? static_cast<Index>(step.question->options.size()) : 0;
  if (at.guess >= options) at.guess = -1;
  here.guess = at.guess;
  here.answered = at.answered && step.question;
  if (page_.asking()) here.ended = false;
  if (const Placed now{here.lesson, at.step, !page_.asking()}; now != placed_) {
    if (now.lesson != placed_.lesson || now.step != placed_.step) {
      here.study = nullptr;
      here.put = here.ended = false;
      here.problem.clear();
      studied_ = {};
    }
    setStage(now);
    remember(services_, page_);
    takeStudy();
  }
  page_.stage.document = stage_.document().get();
  page_.stage.changed = stage_.changed();
}

/// Stages the step with the person's changes, if it has any, else as the lesson defines it.
void Page::setStage(const Placed& now) {
  clearStage();
  const LessonStep& step = now.lesson->steps[asSize(now.step)];
  const auto left = waiting_.extract({now.lesson->id, step.id, now.after});
  stage_.put(stageScene(*now.lesson, step, now.after), left.empty() ? nullptr : left.mapped().document);
  placed_ = now;
  page_.stage.waiting.clear();
  for (const auto& [where, staged] : waiting_)
    if (std::get<0>(where) == now.lesson->id) page_.stage.waiting.insert(std::get<1>(where));
  renewStage();
}

/// Empties the stage, keeping its changes until the person returns.
void Page::clearStage() {
  const Placed left = std::exchange(placed_, {});
  page_.stage.document = nullptr;
  const std::shared_ptr<Document> document = stage_.take();
  if (!document) return;
  const std::string& step = left.lesson->steps[asSize(left.step)].id;
  waiting_[{left.lesson->id, step, left.after}] = {document, stepPlace(*left.lesson, left.step)};
  if (!services_.view.present)
    services_.view.say(fmt::format("Your changes are kept in {}.", stepPlace(*left.lesson, left.step)));
}

/// Call when another scene is on the stage.
void Page::renewStage() {
  page_.stage.settled = false;
  stillFrames_ = 0;
  services_.view.controls = {};
  services_.view.redraw();
}

std::vector<Staged> Page::stages() const {
  std::vector<Staged> stages;
  for (const auto& [where, staged] : waiting_) stages.push_back(staged);
  if (staged()) stages.push_back({staged(), stepPlace(*placed_.lesson, placed_.step)});
  return stages;
}

bool Page::take(const Scene&) {
  const bool any = shown_.take();
  return takeStudy() || any;
}

void Page::takeLibrary(const std::shared_ptr<const Library>& found) {
  LessonList& list = page_.list;
  std::string& error = services_.view.messages.error;
  if (!list.library) {
    page_.record.progress = found->second;
    page_.record.file->begin(formatProgress(found->second));
  } else {
    // The error disappears with its cause.
    if (!list.library->problems.empty() && error == list.library->problems.back()) error.clear();
    if (!found->first.problems.empty()) services_.view.messages.fail(found->first.problems.back());
  }
  list.library = std::shared_ptr<const LessonLibrary>(found, &found->first);
  list.covers.assign(found->first.lessons.size(), std::nullopt);
}

void Page::takeTalks(const std::shared_ptr<const FinishedTalks>& talks) {
  page_.list.talks = talks;
  for (const auto& talk : *talks)
    for (const TalkView& each : talk->talk->views) services_.view.pictures.kept.push_back(each.scene);
}

/// Takes the step's study. One that was computed ahead is used at once.
bool Page::takeStudy() {
  const StepQuestion wanted{placed_.lesson, placed_.step};
  if (!wanted.lesson || studied_ == wanted) return false;
  for (const auto* each : {&study_, &ahead_}) {
    if (!each->answers(wanted)) continue;
    studied_ = wanted;
    page_.here.problem = each->problem();
    page_.here.study = page_.here.problem.empty() ? each->shared() : nullptr;
    return true;
  }
  return false;
}

void Page::ask(const Scene&) {
  library_.ask(files_.question(), Lane::front);
  if (!page_.list.library) return;
  if (!placed_.lesson) {
    auto& covers = page_.list.covers;
    const auto missing = std::find(covers.begin(), covers.end(), std::nullopt);
    if (missing == covers.end()) {
      if (!page_.list.talks) talks_.ask({}, Lane::back);
      return;
    }
    const auto& lesson = page_.list.library->lessons[asSize(missing - covers.begin())].lesson;
    if (cover_.problem(lesson).empty()) return cover_.ask(lesson, Lane::back);
    *missing = attention::Matrix();  // no cover, and on to the next
    return services_.view.redraw();
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
  talks_.cancel();
  study_.cancel();
  ahead_.cancel();
}

void Page::reset() {
  stage_ = {};
  placed_ = {};
  page_.stage.document = nullptr;
  page_.here.lesson = nullptr;
}

/// The stage gets the space the column leaves, with the page's own side panel if the step refers to it.
Layout Page::stageLayout(const Layout& window, bool hasSide, bool hasStrip) const {
  const View& view = services_.view;
  Layout stage = window;
  const ImRect whole(0, window.center.Min.y, window.center.Max.x, window.center.Max.y);
  ImRect area = besideWords(page_, whole);
  if (compares(page_)) area.Max.x -= comparisonWidth(view, whole);
  // A step about one head of a model shows it enlarged.
  const auto enlarges = [](const LessonLook& look) {
    return look.at == LookAt::side || look.control.starts_with("model.");
  };
  const bool side = hasSide && page_.here.lesson && enlarges(page_.at().look);
  const float sideWidth = side ? std::min(view.px(384), area.GetWidth() * 0.45f) : 0;
  const bool high = area.GetHeight() >= view.px(760);
  // While presenting, the cache leaves its place to the heads, unless the step is about it.
  const bool cache =
      hasStrip && (!view.present || (page_.here.lesson && setsField(page_.at(), "model.kv_heads")));
  const float strip = cache ? view.px(high ? 180 : view.present ? 64 : 44) : 0;
  // In place of the staged page.
  if (page_.pictured()) area.Max.x = area.Min.x;
  stage.narrow = true;
  if (page_.here.lesson) stage.named = page_.at().look.control;
  stage.showLeft = false;
  stage.left = ImRect(area.Min.x, area.Min.y, area.Min.x, area.Max.y);
  stage.showRight = side;
  stage.right = ImRect(area.Max.x - sideWidth, area.Min.y, area.Max.x, area.Max.y);
  stage.showCache = cache;
  stage.cache = ImRect(area.Min.x, area.Max.y - strip, area.Max.x - sideWidth, area.Max.y);
  stage.center = ImRect(area.Min.x, area.Min.y, area.Max.x - sideWidth, area.Max.y - strip);
  return stage;
}

void Page::draw(Scene& scene, const Layout& layout) {
  if (!page_.here.lesson) return lessonList(page_, scene, layout);
  const View& view = services_.view;
  ImRect area(0, layout.center.Min.y, layout.center.Max.x, layout.center.Max.y);
  if (compares(page_))
    comparison(page_, ImRect(area.Max.x - comparisonWidth(view, area), area.Min.y, area.Max.x, area.Max.y));
  (view.present ? lessonCaption : lessonColumn)(page_, wordsArea(page_, area));
  if (page_.pictured()) return lessonPicture(page_, besideWords(page_, area));
  lookMark(page_, area);
}

std::vector<CaptionPart> Page::caption(const Scene&) const {
  const Theme& theme = *services_.view.theme;
  if (!page_.here.lesson) return {{"Choose a lesson", theme.text}};
  return {{page_.here.lesson->title, theme.text},
          {fmt::format("   step {} of {}{}", page_.here.step + 1, page_.here.lesson->steps.size(),
                       showsBefore() ? "   ·   the picture changes with the answer" : ""),
           theme.secondary}};
}

/// Whether the words may already speak of a scene that is shown only with the answer.
bool Page::showsBefore() const {
  if (!page_.asking() || page_.pictured()) return false;
  const LessonStep& step = page_.at();
  return !sameDocument(sceneBefore(*page_.here.lesson, step), step.scene);
}

std::string Page::notes(const Scene&) const {
  return page_.here.lesson ? page_.at().notes : "";
}

std::shared_ptr<const Scene> Page::nextScene(const Scene&) const {
  const auto next = asSize(page_.here.step) + 1;
  if (!page_.here.lesson || next >= page_.here.lesson->steps.size()) return nullptr;
  return {page_.here.lesson, &page_.here.lesson->steps[next].scene};
}

PageStatus Page::status(const Scene&) const {
  PageStatus status;
  if (!page_.list.library) return status;
  const auto& lessons = page_.list.library->lessons;
  const auto own = std::count_if(lessons.begin(), lessons.end(), [](const auto& entry) { return entry.own; });
  status.figures = {{"lessons", std::to_string(std::ssize(lessons) - own)}, {"yours", std::to_string(own)}};
  if (page_.here.lesson) status.hint = "Page Down goes on";
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
  return library_.busySeconds() > 0 || study_.busySeconds() > 0 ? 0.2 : files_.nextCheckIn();
}

bool Page::open(const NamedFile& file, const Requester&, const Outcome& outcome) {
  if (file.folder || file.path.extension() != ".json" || file.path.filename() == "config.json") return false;
  files_.open(file.path, outcome);
  return true;
}

std::vector<Action> Page::places() {
  library_.ask(files_.question(), Lane::front);
  return lessonPlaces(services_, page_);
}

std::vector<Action> Page::actions() {
  ActionList list;
  addStepActions(list, services_, page_);
  files_.addActions(list);
  return std::move(list.all);
}

}  // namespace headscope::app::lessons_page
