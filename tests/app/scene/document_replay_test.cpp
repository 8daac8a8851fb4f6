#include "tests/fuzz/document_targets.h"
#include "tests/fuzz/replay.h"

namespace headscope::app {
namespace {

TEST(FuzzReplay, Scene) {
  fuzz::replay("scene", {}, fuzz::fuzzScene);
}

TEST(FuzzReplay, Link) {
  fuzz::replay("link", {}, fuzz::fuzzLink);
}

TEST(FuzzReplay, Lesson) {
  fuzz::replay("lesson", {}, fuzz::fuzzLesson);
}

TEST(FuzzReplay, Catalogue) {
  fuzz::replay("catalogue", {}, fuzz::fuzzCatalogue);
}

TEST(FuzzReplay, Settings) {
  fuzz::replay("settings", {}, fuzz::fuzzSettings);
}

TEST(FuzzReplay, Hub) {
  fuzz::replay("hub", {}, fuzz::fuzzHub);
}

}  // namespace
}  // namespace headscope::app
