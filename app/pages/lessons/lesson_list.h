#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/pages/lessons/lessons_page.h"

namespace headscope::app::lessons_page {

// Learn, as long as no lesson is open: the lessons as a path, the talks, and the one to go on with.

bool isDone(const State& page, const Lesson& lesson);
/// The step at which a lesson continues; −1 if it wasn't started.
Index lastStep(const State& page, const Lesson& lesson);
/// Paints the picture of the library's lesson `at`, an outline until it is computed.
void paintCover(const State& page, std::size_t at, const ImRect& room);

/// Lessons that stand together under their heading, as indices into the library.
struct PathPart {
  std::string heading;
  std::vector<std::size_t> lessons;
  bool ends = false;  ///< comes after all other parts of the program's lessons
};
/// The lessons whose title, summary or part contains the search, in parts, which are ordered by their first
/// lesson of all.
std::vector<PathPart> pathParts(const LessonLibrary& library, const std::string& search = "");

/// Where the cards of a path stand.
struct PathPlan {
  std::vector<std::vector<ImRect>> cards;  ///< of each part, in its order
  std::optional<std::size_t> end;          ///< the part that stands right of those before
  float bottom = 0;
};
/// Places cards in at most `columns` columns, each part in a new row under a heading `head` high. The part
/// that ends stands right of the parts between the first and itself, if it is one lesson and they leave their
/// last column free. All lengths in pixels; cards are `least` to `most` high, so the plan may be higher than
/// the area.
PathPlan layPath(std::span<const PathPart> parts, const ImRect& area, int columns, float head, ImVec2 gap,
                 float least, float most);

/// Draws the lessons found along their path. Returns its lower end.
float lessonPath(State& page, const ImRect& area);
/// What to do next: the lesson to start or to go on with, with a picture of at most `room` pixels.
void nextLesson(Rows& rows, State& page, float room);
/// The talk of the window's scene, or how to make one.
void ownTalk(Rows& rows, State& page, const Scene& own);
/// Draws the finished talks, with as many rows of their views as have room.
void finishedTalks(State& page, const ImRect& area);

}  // namespace headscope::app::lessons_page
