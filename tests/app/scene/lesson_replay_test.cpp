#include "tests/fuzz/lesson_target.h"
#include "tests/fuzz/replay.h"

namespace headscope::app {
namespace {

TEST(FuzzReplay, Lesson) {
  fuzz::replay("lesson", {}, fuzz::fuzzLesson);
}

}  // namespace
}  // namespace headscope::app
