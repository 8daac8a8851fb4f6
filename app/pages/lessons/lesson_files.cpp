#include "app/pages/lessons/lesson_files.h"

#include <limits>

#include "app/platform/assets.h"
#include "app/platform/configuration.h"
#include "app/widgets/file_picker.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/files/regular_file.h"
#include "attention/formats/quote.h"

namespace headscope::app::lessons_page {

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
