#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/compute/jobs/memory_budget.h"
#include "app/compute/lessons/lesson_study.h"
#include "app/scene/scene_json.h"
#include "test_paths.h"

// The program's finished talks: the table describes their files, and what their notes say is what it
// computes.

namespace headscope::app {
namespace {

const std::filesystem::path kTalkFolder = HEADSCOPE_SOURCE_DIR "/assets/talks";

/// A number in the notes of a view, counted from 1, and the expression that it is the value of, rounded.
struct NoteNumber {
  std::string talk;
  std::size_t view;
  std::string written, expression;
};
const std::vector<NoteNumber> kNoteNumbers{
    {"attention", 2, "0.942", "W[0,7,6]"},
    {"attention", 3, "61.09", "S[0,7,6]*sqrt(32)"},
    {"attention", 4, "78", "sum(seen[0])"},
    {"attention", 4, "144", "n*m"},
    {"attention", 5, "1.062", "sum(exp(S[0,7,:8]-max(S[0,7,:8])))"},
    {"attention", 5, "0.942", "W[0,7,6]"},
    {"attention", 6, "0.942", "W[0,7,6]"},
    {"attention", 7, "0.083", "W[3,7,8]"},
    {"attention", 8, "0.999", "W[6,4,0]"},
    {"attention", 9, "0.229", "W[7,7,5]"},
    {"attention", 10, "1.000", "A[2,1,12,1]"},
    {"attention", 10, "0.997", "probability(12,'dog')"},
    {"attention", 11, "1.000", "A[2,1,12,5]"},
    {"attention", 11, "0.999", "probability(12,'bridge')"},
    {"attention", 12, "0.996", "probability(12,'dog')"},
    {"attention", 12, "0.990", "A[1,0,12,1]"},
    {"kv_cache", 2, "0.342", "W[5,8,7]"},
    {"kv_cache", 3, "4,096", "bytes"},
    {"kv_cache", 4, "1,024", "bytes_per_token"},
    {"kv_cache", 4, "9,216", "bytes"},
    {"kv_cache", 4, "533,864", "flops"},
    {"kv_cache", 4, "8.9", "flops_without/flops"},
    {"kv_cache", 5, "256", "bytes_per_token"},
    {"kv_cache", 5, "2,304", "bytes"},
    {"kv_cache", 6, "128", "bytes_per_token"},
    {"kv_cache", 6, "1,152", "bytes"},
    {"kv_cache", 7, "0.940", "W[0,7,6]"},
    {"kv_cache", 8, "2.5 GiB", "cost.bytes/2^30"},
    {"kv_cache", 8, "20 GiB", "cost.mha_bytes/2^30"},
    {"kv_cache", 9, "40 GiB", "cost.bytes/2^30"},
    {"kv_cache", 9, "65.71 GiB", "cost.weight_bytes/2/2^30"},
    {"kv_cache", 10, "320 GiB", "cost.bytes/2^30"},
    {"kv_cache", 10, "131.4 GiB", "cost.weight_bytes/2^30"},
    {"induction", 1, "0.937", "probability(11,'cold')"},
    {"induction", 1, "1.000", "A[0,0,11,10]"},
    {"induction", 2, "0.990", "A[1,2,11,3]"},
    {"induction", 3, "0.086", "max(A[0,:,11,3])"},
    {"induction", 4, "1.000", "A[0,0,3,2]"},
    {"induction", 6, "0.004", "A[1,2,11,3]"},
    {"induction", 6, "0.004", "probability(11,'cold')"},
    {"induction", 7, "1.000", "A[1,0,11,3]"},
    {"induction", 7, "1.000", "A[1,1,11,3]"},
    {"induction", 7, "0.123", "probability(11,'cold')"},
    {"induction", 8, "0.413", "A[1,2,11,5]"},
    {"induction", 9, "0.999", "A[1,0,11,3]"},
    {"induction", 10, "0.943", "A[0,0,3,2]"},
    {"induction", 11, "0.091", "A[1,0,11,3]"},
};

/// Returns what to evaluate so that it holds if `number` is the expression's value, rounded as written.
std::string claimOf(const NoteNumber& number) {
  std::string digits = number.written.substr(0, number.written.find(' '));
  std::erase(digits, ',');
  const std::size_t point = digits.find('.'), decimals = point == digits.npos ? 0 : digits.size() - point - 1;
  return fmt::format("abs({}-{})<0.{}51", number.expression, digits, std::string(decimals, '0'));
}

/// The minutes with which a view's notes begin; 0 if they don't.
int minutesOf(const std::string& notes) {
  int minutes = 0;
  const char* const end = notes.data() + notes.size();
  const auto read = std::from_chars(notes.data(), end, minutes);
  return std::string_view(read.ptr, static_cast<std::size_t>(end - read.ptr)).starts_with(" minute") ? minutes
                                                                                                     : 0;
}

class ReadyTalkFile : public testing::TestWithParam<ReadyTalk> {
 protected:
  void SetUp() override {
    auto read = readScene(kTalkFolder / GetParam().file);
    ASSERT_TRUE(read) << read.error().message;
    scene = *std::move(read);
  }
  const std::vector<TalkView>& views() const { return scene.talk->views; }
  Scene scene;
};

TEST_P(ReadyTalkFile, IsAsTheTableSays) {
  EXPECT_EQ(std::ssize(views()), GetParam().views);
  EXPECT_EQ(scene.cursor.page, "talk");
  EXPECT_EQ(scene.cursor.view, 0);
  int minutes = 0;
  std::set<std::string> titles, pages;
  for (const TalkView& view : views()) {
    SCOPED_TRACE(view.name);
    EXPECT_TRUE(titles.insert(view.name).second) << "twice";
    EXPECT_LE(view.name.size(), 40u) << "the strip has room for short titles";
    pages.insert(view.scene->cursor.page);
    EXPECT_GT(minutesOf(view.notes), 0) << view.notes;
    EXPECT_GE(std::count(view.notes.begin(), view.notes.end(), '.'), 3) << "what to say and what to ask";
    const Cursor& cursor = view.scene->cursor;
    const bool drawsArc = cursor.page == "heads" || cursor.page == "model";
    EXPECT_FALSE(drawsArc && cursor.cell.query == cursor.cell.key) << "from a word to itself";
    const Index layer = cursor.page == "model" ? cursor.model.layer : view.scene->setup.subject.layer;
    for (const SwitchedHead& off : view.scene->setup.subject.switchedOff)
      EXPECT_FALSE(off.layer == layer && off.head == cursor.cell.head) << "off, and shown large";
    minutes += minutesOf(view.notes);
  }
  EXPECT_EQ(minutes, GetParam().minutes);
  EXPECT_GE(pages.size(), 2u);
}

TEST_P(ReadyTalkFile, NotesSayWhatIsComputedAndSelectionsExist) {
  Lesson lesson;
  lesson.name = GetParam().file;
  for (std::size_t i = 0; i < views().size(); ++i) {
    const TalkView& view = views()[i];
    LessonStep& step = lesson.steps.emplace_back();
    step.id = fmt::format("v{}", i + 1);
    step.scene = *view.scene;
    const Cell cell = view.scene->cursor.cell;
    std::vector<std::string> claims{fmt::format("n>{}", cell.query), fmt::format("m>{}", cell.key),
                                    fmt::format("heads>{}", cell.head)};
    for (const NoteNumber& number : kNoteNumbers) {
      if (number.talk != GetParam().id || number.view != i + 1) continue;
      EXPECT_NE(view.notes.find(number.written), std::string::npos) << number.written << " in " << view.notes;
      claims.push_back(claimOf(number));
    }
    for (const std::string& claim : claims) {
      auto parsed = attention::Expression::parse(claim);
      ASSERT_TRUE(parsed) << claim << ": " << parsed.error().message;
      step.claims.push_back(*std::move(parsed));
    }
  }
  Resources resources(defaultLimits());
  LessonRunner runner(lesson, resources);
  for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
    const auto study = runner.study(i);
    ASSERT_TRUE(study) << study.error().message;
    for (const std::string& claim : (*study)->failedClaims) ADD_FAILURE() << views()[i].name << ": " << claim;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReadyTalkFile, testing::ValuesIn(kReadyTalks),
                         [](const auto& param) { return std::string(param.param.id); });

TEST(ReadyTalks, TableListsAllFiles) {
  std::set<std::string> files, listed;
  for (const auto& entry : std::filesystem::directory_iterator(kTalkFolder))
    files.insert(entry.path().filename().string());
  for (const ReadyTalk& talk : kReadyTalks) listed.insert(talk.file);
  EXPECT_EQ(files, listed);
  for (const NoteNumber& number : kNoteNumbers)
    EXPECT_TRUE(std::ranges::any_of(kReadyTalks,
                                    [&](const ReadyTalk& talk) {
                                      return number.talk == talk.id && number.view >= 1 &&
                                             number.view <= static_cast<std::size_t>(talk.views);
                                    }))
        << number.talk << " " << number.view;
}

}  // namespace
}  // namespace headscope::app
