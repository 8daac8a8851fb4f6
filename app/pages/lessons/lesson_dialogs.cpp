#include <fmt/core.h>

#include "app/pages/lessons/lessons_page.h"
#include "app/platform/assets.h"
#include "app/platform/track.h"

namespace headscope::app::lessons_page {

// Dialogs to choose a step of the open lesson, or a question that was answered wrong.

namespace {

/// A line of the list.
struct StepLine {
  std::string number, title, note;  ///< the note is right-aligned
  bool current = false;
};

/// Draws a scrolling list of steps. Returns the one clicked, −1 = none.
Index stepList(View& view, const std::string& name, const std::vector<StepLine>& lines) {
  Index clicked = -1;
  const float high = view.px(32);
  if (ImGui::BeginChild(name.c_str(), ImVec2(0, 0), false, ImGuiWindowFlags_NoBackground)) {
    Canvas list = *ImGui::GetWindowDrawList();
    const float width = ImGui::GetContentRegionAvail().x;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const StepLine& line = lines[i];
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const std::string id = fmt::format("{}.{}", name, i);
      if (hitArea(id, ImVec2(width, high))) clicked = static_cast<Index>(i);
      if (ImGui::IsItemHovered())
        list.AddRectFilled(at, ImVec2(at.x + width, at.y + high), view.theme->line, view.px(4));
      const float y = at.y + high / 2, left = at.x + view.px(42), right = at.x + width - view.px(8);
      paintText(list, view.fonts->mono, ImVec2(at.x + view.px(28), y), view.theme->secondary, line.number,
                Align::right);
      const float note = std::min(textWidth(view.fonts->small, line.note), width * 0.45f);
      paintFitted(view, list, line.current ? view.fonts->bold : view.fonts->text, ImVec2(left, y),
                  right - note - view.px(note > 0 ? 12 : 0) - left, view.theme->text, line.title);
      if (note > 0)
        paintFitted(view, list, view.fonts->small, ImVec2(right, y), note + 1, view.theme->secondary,
                    line.note, Align::right);
    }
  }
  compat::endChild();
  return clicked;
}

float listHeight(std::size_t lines) {
  return 74 + 36 * static_cast<float>(std::min<std::size_t>(lines, 16));
}

class StepChoice : public Dialog {
 public:
  explicit StepChoice(State& page) : page_(page) {}
  std::string name() const override { return "lesson.steps"; }

  void draw(Scene&, View& view, bool) override {
    if (!page_.here.lesson) {
      view.dialog.reset();
      return;
    }
    std::vector<StepLine> lines;
    for (const LessonStep& step : page_.here.lesson->steps) {
      const bool here = std::ssize(lines) == page_.here.step;
      const bool changed = here ? page_.stage.changed : page_.stage.waiting.contains(step.id);
      lines.push_back({std::to_string(lines.size() + 1), step.title, changed ? "changed by you" : "", here});
    }
    if (beginDialog(view, "lesson.steps", page_.here.lesson->title, 520, listHeight(lines.size())))
      if (const Index chosen = stepList(view, "lesson.goto", lines); chosen >= 0) {
        page_.asked.step = chosen;
        view.dialog.reset();
      }
    endDialog();
  }

 private:
  State& page_;
};

/// A question that was answered wrong.
struct WrongGuess {
  const Lesson* lesson;
  Index step;
};

/// All of them, in the order of the lesson list.
std::vector<WrongGuess> wrongGuesses(const State& page) {
  std::vector<WrongGuess> wrong;
  for (const LessonEntry& entry : page.list.library->lessons) {
    const Lesson& lesson = *entry.lesson;
    const auto known = page.record.progress.lessons.find(lesson.id);
    if (known == page.record.progress.lessons.end()) continue;
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
      const auto guess = known->second.guesses.find(lesson.steps[i].id);
      if (guess != known->second.guesses.end() && !guess->second.right)
        wrong.push_back({&lesson, static_cast<Index>(i)});
    }
  }
  return wrong;
}

/// Opens the step unanswered, so that it asks its question again.
void openGuess(State& page, const WrongGuess& guess) {
  page.asked.lesson = guess.lesson->id;
  page.asked.fromStart = true;
  page.asked.step = guess.step;
}

class WrongGuesses : public Dialog {
 public:
  explicit WrongGuesses(State& page) : page_(page) {}
  std::string name() const override { return "lesson.wrong"; }

  void draw(Scene&, View& view, bool) override {
    const std::vector<WrongGuess> wrong = wrongGuesses(page_);
    if (wrong.empty()) {
      view.dialog.reset();
      return;
    }
    std::vector<StepLine> lines;
    for (const WrongGuess& guess : wrong)
      lines.push_back({guess.lesson->number > 0 ? std::to_string(guess.lesson->number) : "",
                       guess.lesson->steps[static_cast<std::size_t>(guess.step)].title, guess.lesson->title});
    if (beginDialog(view, "lesson.wrong", "Review wrong answers", 640, listHeight(lines.size())))
      if (const Index chosen = stepList(view, "lesson.again", lines); chosen >= 0) {
        openGuess(page_, wrong[static_cast<std::size_t>(chosen)]);
        view.dialog.reset();
      }
    endDialog();
  }

 private:
  State& page_;
};

}  // namespace

std::shared_ptr<Dialog> stepChoice(State& page) {
  return std::make_shared<StepChoice>(page);
}

void chooseWrongGuess(State& page) {
  const std::vector<WrongGuess> wrong = wrongGuesses(page);
  if (wrong.size() == 1)
    openGuess(page, wrong.front());
  else if (!wrong.empty())
    page.view.dialog = std::make_shared<WrongGuesses>(page);
}

Index wrongGuessCount(const State& page) {
  return std::ssize(wrongGuesses(page));
}

constexpr double kWatchInterval = 1;  ///< seconds between checks of an edited lesson file

const LibraryQuestion& LessonFiles::question() {
  const bool remembers = services_.view.showTimings;
  const std::filesystem::path folder = remembers ? configurationFolder() : "";
  question_.shipped = assetFolder() / "lessons";
  question_.own = folder.empty() ? folder : folder / "lessons";
  question_.progress = remembers ? stateFolder() : "";
  return question_;
}

void LessonFiles::watch(const LessonEntry& entry) {
  watched_ = entry.own ? Watched{entry.path, entry.writtenAt} : Watched{};
}

double LessonFiles::nextCheckIn() const {
  return watched_.path.empty() ? std::numeric_limits<double>::infinity() : kWatchInterval;
}

void LessonFiles::check() {
  const double now = services_.view.time;
  if (watched_.path.empty() || now - watchedAt_ < kWatchInterval) return;
  watchedAt_ = now;
  using Time = std::filesystem::file_time_type;
  services_.files.read<Time>(
      watched_.path,
      [watched = watched_]() -> attention::Result<Time> {
        std::error_code failed;
        const Time written = std::filesystem::last_write_time(watched.path, failed);
        return failed ? watched.writtenAt : written;
      },
      [this, path = watched_.path](attention::Result<Time> written) {
        if (!written || path != watched_.path || *written == watched_.writtenAt) return;
        watched_.writtenAt = *written;
        ++question_.reading;
      });
}

void LessonFiles::open(const std::filesystem::path& path, const Outcome& outcome) {
  services_.files.read<std::shared_ptr<const Lesson>>(
      path, [path, stop = services_.files.stopToken()] { return readLesson(path, stop); },
      [this, path, outcome](attention::Result<std::shared_ptr<const Lesson>> lesson) {
        if (!lesson) return outcome.fail(lesson.error().message);
        question_.opened.push_back(std::filesystem::absolute(path));
        writing_ = question_.opened.back();
        page_.asked.lesson = (*lesson)->id;
        page_.asked.fromStart = true;
        services_.view.request("page.lessons");
        outcome.done("Opened the lesson " + attention::shownPath(path.filename()));
      });
}

void LessonFiles::save(const Scene& scene) {
  auto saved = std::make_shared<const Scene>(scene);
  const auto write = [this, saved](Scene&, const std::filesystem::path& path, const Outcome& outcome) {
    services_.files.write(
        path,
        [path, saved]() -> attention::Status {
          return attention::writeFile(path, newLesson(*saved, path.stem().string()));
        },
        [this, path, outcome](attention::Status written) {
          if (!written) return outcome.fail(written.error().message);
          writing_ = std::filesystem::absolute(path);
          question_.opened.push_back(writing_);
          ++question_.reading;
          outcome.tell("Saved the lesson " + attention::shownPath(path.filename()));
        });
  };
  services_.view.dialog = std::make_shared<FilePicker>(
      FileQuestion{"Save the scene as a lesson", {".json"}, "lesson.json", write}, services_.folders);
}

void LessonFiles::addStep(const Scene& scene) {
  View& view = services_.view;
  if (writing_.empty())
    return view.messages.fail("No lesson to add to. Save the scene as a lesson, or open your own.");
  auto saved = std::make_shared<const Scene>(scene);
  services_.files.write(
      writing_,
      [path = writing_, saved]() -> attention::Status {
        const auto bytes = attention::readFile(path, kMaxLessonBytes);
        if (!bytes) return bytes.error();
        const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
        const attention::Result<std::string> lesson =
            appendStep(text, *saved, "Next step", path.parent_path());
        if (!lesson) return lesson.error();
        return attention::writeFile(path, *lesson);
      },
      [this](attention::Status written) {
        if (!written) return services_.view.messages.fail(written.error().message);
        ++question_.reading;
        services_.view.tell("Added a step to " + attention::shownPath(writing_.filename()),
                            services_.view.pressedAt);
      });
}

std::vector<Action> LessonFiles::actions() {
  return {{.id = "lesson.save",
           .name = "Save the scene as a lesson…",
           .whileTyping = true,
           .run = [this](Scene& scene) { save(scene); }},
          {.id = "lesson.add_step",
           .name = "Add the scene as the lesson's next step",
           .whileTyping = true,
           .run = [this](Scene& scene) { addStep(scene); }},
          {.id = "lesson.talk",
           .name = "Make a talk of the lesson's steps",
           .whileTyping = true,
           .words = "slides presentation views",
           .run =
               [this](Scene&) {
                 if (!page_.here.lesson) return services_.view.say("Open a lesson first.");
                 Document& own = *services_.own();
                 Scene scene = own.scene();
                 scene.talk = talkOf(*page_.here.lesson);
                 scene.cursor.view = 0;
                 scene.cursor.page = "talk";
                 own.open(std::move(scene), std::filesystem::path());
               }},
          {.id = "lesson.open", .name = "Open a lesson…", .whileTyping = true, .run = [this](Scene&) {
             services_.view.dialog = std::make_shared<FilePicker>(
                 FileQuestion{"Open a lesson",
                              {".json"},
                              "",
                              [this](Scene&, const std::filesystem::path& path, const Outcome& outcome) {
                                open(path, outcome);
                              }},
                 services_.folders);
           }}};
}

}  // namespace headscope::app::lessons_page
