#include "app/commands/films.h"

#include "app/commands/commands.h"
#include "app/scene/lessons/lesson.h"
#include "app/scene/lessons/lesson_file.h"
#include "attention/formats/quote.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

namespace {

/// Tokens that a generation adds if no length is given.
constexpr Index kGenerated = 24;

/// Performs an action at the current moment of the film.
void perform(HeadlessApp& headless, const char* action) {
  headless.session().view().request(action);
  headless.draw(0);
}

Index decodedTokens(HeadlessApp& headless) {
  const SequenceSnapshot* shown = shownSequence(headless.session().scene(), headless.session().snapshot());
  return shown ? shown->queryLength : 0;
}

bool nextDecoded(HeadlessApp& headless) {
  Cursor& cursor = headless.session().scene().cursor;
  if (cursor.step >= decodedTokens(headless)) return false;
  cursor.cell.query = cursor.step++;
  headless.draw(0);
  return true;
}

bool nextGenerated(HeadlessApp& headless) {
  const auto count = [&] { return headless.session().scene().setup.subject.written.size(); };
  const std::size_t before = count();
  perform(headless, "model.step");
  return count() > before;
}

bool nextOfPipeline(HeadlessApp& headless) {
  const PipelineStep before = headless.session().scene().cursor.lab.step;
  perform(headless, "lab.next");
  return headless.session().scene().cursor.lab.step != before;
}

bool nextOfLesson(HeadlessApp& headless) {
  const LessonCursor& at = headless.session().document().scene().cursor.lesson;
  const auto last = at.step;
  perform(headless, "lesson.next");
  return !at.lesson.empty() && at.step >= last;
}

bool nextOfTalk(HeadlessApp& headless) {
  const Index& at = headless.session().document().scene().cursor.view;
  const Index before = at;
  perform(headless, "talk.next");
  return at != before;
}

Result<Film> lessonFilm(const std::string& file) {
  const auto lesson = readLesson(file);
  if (!lesson) return lesson.error();
  Film film{openingScene(), file, 0, 6, nextOfLesson};
  // A question takes two more steps: it is asked after its explanation, then answered.
  for (const LessonStep& step : (*lesson)->steps) film.steps += step.question ? 3 : 1;
  return film;
}

}  // namespace

Result<Film> filmOf(FilmKind kind, const std::string& named) {
  const std::string file = lessonOr(named).string();
  const bool isLesson = !file.empty() && isLessonFile(file);
  if (kind == FilmKind::lesson) {
    if (isLesson) return lessonFilm(file);
    return Error{"--what is lesson, but " +
                 (file.empty() ? "no file is given" : attention::quotedText(file) + " isn't one") +
                 ", expected a lesson's file"};
  }
  auto scene = sceneOrOpening(file);
  if (!scene) return scene.error();
  Film film{*std::move(scene), "", 0, 0.8, {}};
  Cursor& cursor = film.first.cursor;
  switch (kind) {
    case FilmKind::decode:
      if (cursor.page != "cache") cursor.page = "heads";
      cursor.decoding = true;
      cursor.step = std::max<Index>(film.first.setup.prefill, 1);
      cursor.cell.query = cursor.step - 1;
      film.next = nextDecoded;
      break;
    case FilmKind::generation:
      cursor.page = "model";
      film.steps = kGenerated;
      film.next = nextGenerated;
      break;
    case FilmKind::pipeline:
      cursor.page = "lab";
      cursor.lab.tab = "pipeline";
      cursor.lab.step = PipelineStep::input;
      film.steps = std::ssize(kPipelineStepNames);
      film.stepSeconds = 3;
      film.next = nextOfPipeline;
      break;
    case FilmKind::talk:
      if (film.first.talk->views.empty()) return Error{"--what is talk, but the scene has no talk"};
      cursor.page = "talk";
      cursor.view = 0;
      film.steps = std::ssize(film.first.talk->views);
      film.stepSeconds = 6;
      film.next = nextOfTalk;
      break;
    case FilmKind::lesson:
      break;
  }
  return film;
}

attention::Status beginFilm(Film& film, FilmKind kind, HeadlessApp& headless) {
  Session& session = headless.session();
  session.setScene(film.first);
  if (!film.lesson.empty()) session.files().open(film.lesson, Outcome(session.view()));
  headless.draw(0);
  if (const auto error = session.error()) return Error{*error};
  if (!session.view().messages.error.empty()) return Error{session.view().messages.error};
  session.view().messages.clear();  // the notice that the file was opened is not part of the film
  if (kind == FilmKind::decode) {
    if (!session.scene().cursor.decoding)
      return Error{"this scene can't be decoded step by step: expected causal self-attention"};
    film.steps = decodedTokens(headless) - session.scene().cursor.step + 1;
  }
  const auto& subject = session.scene().setup.subject;
  if (kind == FilmKind::generation && subject.model.empty())
    return Error{"the scene has no model that generates: name a model, or learned"};
  return attention::success();
}

}  // namespace headscope::app
