// `headscope record` and `headscope handout`: films and handouts from the command line.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "test_paths.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

constexpr const char* kLesson = HEADSCOPE_SOURCE_DIR "/assets/lessons/02-why-scale.json";

/// The output of another program; "" if it isn't installed.
std::string printed(const std::string& line) {
  std::string all;
  FILE* pipe = ::popen((line + " 2>/dev/null").c_str(), "r");
  if (!pipe) return all;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) all.append(buffer, got);
  ::pclose(pipe);
  return all;
}

class Recorded : public testing::Test {
 protected:
  Outcome record(std::vector<std::string> arguments, const std::string& name) {
    arguments.insert(arguments.begin(), {"record", "-o", path(name)});
    return runHeadscope(arguments);
  }
  std::string path(const std::string& name) { return (folder_ / name).string(); }
  std::vector<std::filesystem::path> framesIn(const std::string& name) {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::directory_iterator(path(name))) all.push_back(entry.path());
    std::ranges::sort(all);
    return all;
  }
  TemporaryFolder folder_;
};

TEST_F(Recorded, LastDecodeFrameMatchesTheWindow) {
  // The first key, which all queries see, so that it is highlighted in every frame.
  nlohmann::json scene = nlohmann::json::parse(runHeadscope({"scene"}).output);
  scene["cursor"]["key"] = 0;
  putFile(folder_ / "scene.json", scene.dump());
  const Outcome outcome =
      record({path("scene.json"), "--size", "640x360", "--fps", "5", "--seconds", "4"}, "frames");
  ASSERT_EQ(outcome.exitCode, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr("20 of 20 frames"));
  const auto frames = framesIn("frames");
  ASSERT_EQ(frames.size(), 20u);
  const auto pixels = [&](const std::filesystem::path& file) { return decodePng(fileBytes(file)).rgba; };
  EXPECT_NE(pixels(frames.front()), pixels(frames.back()));
  const std::string shown = path("shown.png");
  const Outcome drawn = runHeadscope({"render", path("scene.json"), "-o", shown, "--present", "--step", "12",
                                      "--size", "640x360", "--page", "heads"});
  ASSERT_EQ(drawn.exitCode, 0) << drawn.errors;
  EXPECT_TRUE(pixels(frames.back()) == pixels(shown))
      << "the last frame isn't the window with the whole text";
}

TEST_F(Recorded, FilmsContainEveryFrame) {
  if (printed("ffprobe -version").empty()) GTEST_SKIP() << "ffmpeg isn't installed";
  for (const std::string name : {"film.mp4", "film.webm", "film.gif"}) {
    const Outcome outcome =
        record({"--what", "flow", "--size", "640x360", "--fps", "10", "--seconds", "3"}, name);
    ASSERT_EQ(outcome.exitCode, 0) << outcome.errors;
    EXPECT_THAT(printed("ffprobe -v error -count_frames -select_streams v:0 -show_entries "
                        "stream=width,height,nb_read_frames -of csv=p=0 '" +
                        path(name) + "'"),
                HasSubstr("640,360,30"))
        << name;
  }
  EXPECT_EQ(folder_.count(), 3u) << "nothing else is left";
}

/// On a full disk, ffmpeg reports an error and exits with 0. The file that was there stays.
TEST_F(Recorded, FilmThatCouldNotBeWrittenReplacesNothing) {
  if (printed("ffprobe -version").empty()) GTEST_SKIP() << "ffmpeg isn't installed";
  const std::vector<std::string> film{"--what", "flow", "--size",    "640x360",
                                      "--fps",  "10",       "--seconds", "3"};
  std::filesystem::create_directory(folder_ / "bin");
  const auto fakeFfmpeg = [&](const std::string& script) {
    putFile(folder_ / "bin/ffmpeg", "#!/bin/sh\n" + script);
    std::filesystem::permissions(folder_ / "bin/ffmpeg", std::filesystem::perms::owner_all);
    return "PATH='" + (folder_ / "bin").string() + "':$PATH; ";
  };
  const auto expectOld = [&](const std::string& name, const std::string& before, const std::string& why) {
    SCOPED_TRACE(name + " " + why);
    putFile(folder_ / name, "the old film");
    std::vector<std::string> words{"record", "-o", path(name)};
    words.insert(words.end(), film.begin(), film.end());
    const Outcome outcome = runHeadscope(words, before);
    EXPECT_EQ(outcome.exitCode, 1);
    EXPECT_THAT(outcome.errors, HasSubstr("ffmpeg could not write " + name));
    EXPECT_THAT(outcome.errors, HasSubstr(why));
    EXPECT_EQ(fileText(folder_ / name), "the old film");
  };
  for (const std::string name : {"film.mp4", "film.webm", "film.gif"})
    expectOld(name, "ulimit -f 8; ", "File too large");
  expectOld("film.mp4", fakeFfmpeg("cat >/dev/null\n"), "0 of 30 frames");
  expectOld("film.mp4", fakeFfmpeg("cat >/dev/null; echo 'no space' >&2\n"), "no space");
  expectOld("film.mp4", fakeFfmpeg("exec 0<&-; exit 3\n"), "without a message");
}

/// Nothing that the program opens takes the place of a standard stream that its caller closed.
TEST_F(Recorded, ClosedStandardStreamsChangeNothing) {
  if (printed("ffprobe -version").empty()) GTEST_SKIP() << "ffmpeg isn't installed";
  for (const char* closing : {"exec 0<&-; ", "exec 0<&- 1>&-; "}) {
    const Outcome outcome = runHeadscope({"record", "-o", path("film.mp4"), "--what", "flow", "--size",
                                          "640x360", "--fps", "10", "--seconds", "3"},
                                         closing);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    EXPECT_THAT(printed("ffprobe -v error -count_frames -select_streams v:0 -show_entries "
                        "stream=nb_read_frames -of csv=p=0 '" +
                        path("film.mp4") + "'"),
                HasSubstr("30"))
        << closing;
  }
  EXPECT_EQ(runHeadscope({"scene"}, "", ">&-").exitCode, 1) << "what can't be printed isn't lost silently";
}

TEST_F(Recorded, RecordsEveryKindOfFilm) {
  // A step has to last longer than the fade between views.
  const std::vector<std::string> small{"--size", "640x360", "--fps", "2", "--seconds", "20"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), small.begin(), small.end());
    return more;
  };
  for (const auto& [name, arguments] : {std::pair("generation", with({"--what", "generation", "learned"})),
                                        std::pair("lesson", with({"--what", "lesson", kLesson}))}) {
    const Outcome outcome = record(arguments, name);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    const auto frames = framesIn(name);
    ASSERT_EQ(frames.size(), 40u);
    std::size_t changes = 0;
    for (std::size_t i = 1; i < frames.size(); ++i)
      changes += fileBytes(frames[i]) != fileBytes(frames[i - 1]);
    EXPECT_GT(changes, 3u) << name;
  }
}

TEST_F(Recorded, ReportsImpossibleRecordings) {
  const auto expectError = [&](std::vector<std::string> arguments, const std::string& name, int code,
                               const std::string& part) {
    const Outcome outcome = record(std::move(arguments), name);
    EXPECT_EQ(outcome.exitCode, code);
    EXPECT_THAT(outcome.errors, HasSubstr(part));
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
    EXPECT_FALSE(std::filesystem::exists(path(name)));
  };
  expectError({}, "film.avi", 1, "expected .mp4, .webm, .gif");
  expectError({"--fps", "0"}, "frames", 2, "--fps is 0");
  expectError({"--seconds", "nan"}, "frames", 2, "--seconds");
  expectError({"--size", "huge"}, "frames", 2, "--size");
  expectError({"--what", "lesson"}, "frames", 1, "expected a lesson's file");
  expectError({"--what", "generation", "--seconds", "1"}, "frames", 1, "no model");
  std::filesystem::create_directory(path("full"));
  std::filesystem::create_directory(path("full") + "/other");
  EXPECT_THAT(record({}, "full").errors, HasSubstr("new or empty folder"));
}

class Handout : public Recorded {
 protected:
  /// The PDF's text. Readers insert narrow spaces or none between a number and a sign.
  std::string textOf(const std::string& name) {
    std::string text = printed("pdftotext '" + path(name) + "' -");
    for (std::size_t at; (at = text.find(" / ")) != std::string::npos;) text.replace(at, 3, "/");
    return text;
  }
};

TEST_F(Handout, LessonHasOnePagePerStep) {
  const Outcome outcome = runHeadscope({"handout", kLesson, "-o", path("lesson.pdf")});
  ASSERT_EQ(outcome.exitCode, 0) << outcome.errors;
  const std::string text = textOf("lesson.pdf");
  if (text.empty()) GTEST_SKIP() << "pdftotext isn't installed";
  const auto pages = std::count(text.begin(), text.end(), '\f');
  EXPECT_GT(pages, 3);
  EXPECT_THAT(text, HasSubstr("1/" + std::to_string(pages)));
  EXPECT_EQ(text.find("is right."), std::string::npos);
  EXPECT_EQ(text.find("” ."), std::string::npos) << "where a mark was left out";
  const Outcome answered = runHeadscope({"handout", kLesson, "-o", path("answers.pdf"), "--answers"});
  ASSERT_EQ(answered.exitCode, 0) << answered.errors;
  EXPECT_THAT(textOf("answers.pdf"), HasSubstr("is right."));
}

TEST_F(Handout, TalkHasPageAndFilmPartPerView) {
  putFile(folder_ / "talk.json", R"({"format": "headscope scene", "version": 2, "talk": [
    {"name": "Opening words", "notes": "Say hello to all", "page": "heads", "scene": {}},
    {"name": "Its masks", "notes": "", "page": "mask", "scene": {}}]})");
  const Outcome outcome = runHeadscope({"handout", path("talk.json"), "-o", path("talk.pdf")});
  ASSERT_EQ(outcome.exitCode, 0) << outcome.errors;
  if (const std::string text = textOf("talk.pdf"); !text.empty()) {
    EXPECT_THAT(text,
                testing::AllOf(HasSubstr("Opening words"), HasSubstr("Say hello to all"), HasSubstr("2/2")));
    EXPECT_THAT(text, HasSubstr("Its masks"));
  }
  const Outcome film = record(
      {path("talk.json"), "--what", "talk", "--size", "640x360", "--fps", "5", "--seconds", "4"}, "frames");
  ASSERT_EQ(film.exitCode, 0) << film.errors;
  const auto frames = framesIn("frames");
  ASSERT_EQ(frames.size(), 20u);
  EXPECT_NE(fileBytes(frames[9]), fileBytes(frames[19]));
}

TEST_F(Handout, FastFilmReachesEveryView) {
  std::string views;
  for (int i = 0; i < 5; ++i)
    views += std::string(i == 0 ? "" : ",") + R"({"page": "heads", "scene": {"model.kv_heads": )" +
             std::to_string(1 << (i % 4)) + "}}";
  putFile(folder_ / "fast.json", R"({"format": "headscope scene", "version": 2, "talk": [)" + views + "]}");
  const auto film = [&](const std::string& seconds, const std::string& to) {
    const Outcome outcome = record(
        {path("fast.json"), "--what", "talk", "--size", "640x360", "--fps", "20", "--seconds", seconds}, to);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    return framesIn(to);
  };
  const auto slow = film("10", "slow"), fast = film("2", "fast");
  ASSERT_EQ(slow.size(), 200u);
  ASSERT_EQ(fast.size(), 40u);
  for (int view = 0; view < 5; ++view)
    EXPECT_EQ(fileBytes(fast[static_cast<std::size_t>(view * 8 + 7)]),
              fileBytes(slow[static_cast<std::size_t>(view * 40 + 39)]))
        << "view " << view << " is whole before the next comes";
}

TEST_F(Handout, PenStrokesFollowTheirCell) {
  if (printed("command -v pdftoppm").empty()) GTEST_SKIP() << "pdftoppm isn't installed";
  const auto page = [&](const std::string& strokes) {
    putFile(folder_ / "drawn.json",
            R"({"format": "headscope scene", "version": 2, "look": {"strokes": [)" + strokes + "]}}");
    const Outcome outcome = runHeadscope({"handout", path("drawn.json"), "-o", path("drawn.pdf")});
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    return printed("pdftoppm -r 50 -f 1 -l 1 '" + path("drawn.pdf") + "'");
  };
  const auto line = [](int at, int of) {
    const std::string token =
        R"({"at": )" + std::to_string(at) + R"(, "of": )" + std::to_string(of) + R"(, "word": "the"})";
    return R"({"page": "heads", "on": "head.3", "arrow": false, "points": [0, 0, 4, 4], "cell": [)" + token +
           ", " + token + "]}";
  };
  const std::string none = page(""), drawn = page(line(4, 12));
  EXPECT_FALSE(none.empty());
  EXPECT_TRUE(drawn != none) << "the line isn't seen";
  EXPECT_TRUE(page(line(3, 11)) == drawn) << "of when the text had a token less before it";
  EXPECT_TRUE(page("") == none) << "something else differs";
}

TEST_F(Handout, RefusesOtherFormatsAndUnreadableInput) {
  EXPECT_EQ(runHeadscope({"handout", kLesson, "-o", path("lesson.png")}).exitCode, 2);
  EXPECT_EQ(runHeadscope({"handout", path("none.json"), "-o", path("a.pdf")}).exitCode, 1);
  EXPECT_EQ(folder_.count(), 0u);
}

}  // namespace
}  // namespace headscope::test
