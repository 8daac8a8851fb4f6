#include <fmt/core.h>

#include "app/pages/lessons/lessons_page.h"
#include "app/platform/assets.h"
#include "app/platform/track.h"

namespace headscope::app::lessons_page {

// Dialogs to choose a step of the open lesson, or a question that was answered wrong.

namespace {

/// A scrolling list of steps in a dialog. Returns the one clicked, −1 = none.
Index stepList(View& view, const char* name, const std::string& title, float width,
               const std::vector<Rows::Option>& steps, int chosen) {
  const float high = 78 + 28 * static_cast<float>(std::clamp<std::size_t>(steps.size(), 3, 16));
  Index clicked = -1;
  if (beginDialog(view, name, title, width, high)) clicked = Rows(view).options(name, steps, chosen, 0);
  endDialog();
  return clicked;
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
    std::vector<Rows::Option> lines;
    for (const LessonStep& step : page_.here.lesson->steps) {
      const std::size_t at = lines.size();
      const bool here = static_cast<Index>(at) == page_.here.step;
      const bool changed = here ? page_.stage.changed : page_.stage.waiting.contains(step.id);
      lines.push_back({fmt::format("lesson.goto.{}", at), fmt::format("{}  {}", at + 1, step.title),
                       changed ? "changed by you" : ""});
    }
    const Index chosen = stepList(view, "lesson.steps", page_.here.lesson->title, 520, lines,
                                  static_cast<int>(page_.here.step));
    if (chosen < 0) return;
    page_.asked.step = chosen;
    view.dialog.reset();
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
    std::vector<Rows::Option> lines;
    for (const WrongGuess& guess : wrong)
      lines.push_back({fmt::format("lesson.again.{}", lines.size()),
                       guess.lesson->steps[asSize(guess.step)].title, guess.lesson->title});
    const Index chosen = stepList(view, "lesson.wrong", "Review wrong answers", 640, lines, -1);
    if (chosen < 0) return;
    openGuess(page_, wrong[asSize(chosen)]);
    view.dialog.reset();
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
        showLessons(services_);
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
  services_.ask({"Save the scene as a lesson", {".json"}, "lesson.json", write});
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

void LessonFiles::addActions(ActionList& to) {
  to.add({.id = "lesson.save", .name = "Save the scene as a lesson…", .whileTyping = true},
         [this](Scene& scene) { save(scene); });
  to.add({.id = "lesson.add_step", .name = "Add the scene as the lesson's next step", .whileTyping = true},
         [this](Scene& scene) { addStep(scene); });
  to.add({.id = "lesson.talk",
          .name = "Make a talk of the lesson's steps",
          .whileTyping = true,
          .words = "slides presentation views"},
         [this](Scene&) {
           if (!page_.here.lesson) return services_.view.say("Open a lesson first.");
           Document& own = *services_.own();
           Scene scene = own.scene();
           scene.talk = talkOf(*page_.here.lesson);
           scene.cursor.view = 0;
           scene.cursor.page = "talk";
           own.open(std::move(scene), std::filesystem::path());
         });
  to.add({.id = "lesson.open", .name = "Open a lesson…", .whileTyping = true}, [this](Scene&) {
    services_.ask({"Open a lesson", {".json"}, "", [this](Scene&, const auto& path, const Outcome& outcome) {
                     open(path, outcome);
                   }});
  });
}

}  // namespace headscope::app::lessons_page
