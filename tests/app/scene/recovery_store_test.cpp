#include "app/scene/recovery_store.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/scene/scene_json.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

using namespace app;

KeptScene kept(const std::string& text, const std::filesystem::path& path = {}) {
  Scene scene = openingScene();
  scene.setup.input.text = text;
  return {path, std::make_shared<const Scene>(scene)};
}

class Recoveries : public testing::Test {
 protected:
  /// The texts of the scenes offered for recovery, per file.
  std::vector<std::vector<std::string>> offered() {
    std::vector<std::vector<std::string>> texts;
    for (const auto& recovery : RecoveryStore(folder_.path()).abandoned()) {
      texts.emplace_back();
      for (const Recovery::Entry& entry : recovery->entries)
        texts.back().push_back(*recoveredScene(entry).value().setup.input.text);
    }
    return texts;
  }
  std::size_t files() { return folder_.count(); }

  const TemporaryFolder folder_;
};

TEST_F(Recoveries, RestoresScenesPathsAndTime) {
  const RecoveryStore::Clock::time_point at(std::chrono::seconds(1'764'000'000));
  const std::string odd = "/tmp/a \"quoted\"\n名.json";
  const KeptScene first = kept("the first \\ \"one\"\n名", odd), second = kept("the second");
  {
    RecoveryStore window(folder_.path());
    window.note({first, second});
    ASSERT_TRUE(window.write(at).ok());
  }
  const auto found = RecoveryStore(folder_.path()).abandoned();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->at, at);
  EXPECT_EQ(found[0]->problem, "");
  ASSERT_EQ(found[0]->entries.size(), 2u);
  EXPECT_EQ(found[0]->entries[0].path, odd);
  EXPECT_EQ(found[0]->entries[1].path, "");
  for (std::size_t i = 0; i < 2; ++i) {
    const auto scene = recoveredScene(found[0]->entries[i]);
    ASSERT_TRUE(scene.ok()) << scene.error().message;
    EXPECT_EQ(formatScene(*scene), formatScene(*(i == 0 ? first : second).scene));
  }
}

TEST_F(Recoveries, DestructorWritesNotedScenes) {
  {
    RecoveryStore window(folder_.path());
    window.note({kept("typed")});
    EXPECT_EQ(files(), 0u) << "what is only noted is not on disk";
  }
  EXPECT_EQ(offered(), (std::vector<std::vector<std::string>>{{"typed"}}));
}

TEST_F(Recoveries, RemovesFilesWhenNothingIsUnsaved) {
  RecoveryStore window(folder_.path());
  window.note({kept("typed")});
  ASSERT_TRUE(window.write().ok());
  EXPECT_FALSE(window.outdated());
  window.note({});
  EXPECT_TRUE(window.outdated());
  ASSERT_TRUE(window.write().ok());
  EXPECT_FALSE(window.outdated());
  EXPECT_EQ(files(), 0u) << "neither file nor lock is left";
}

TEST_F(Recoveries, LeavesFilesOfOpenWindowsAlone) {
  RecoveryStore first(folder_.path()), second(folder_.path());
  first.note({kept("the first window's")});
  second.note({kept("the second window's")});
  ASSERT_TRUE(first.write().ok());
  ASSERT_TRUE(second.write().ok());
  EXPECT_TRUE(offered().empty());
  second.note({});
  ASSERT_TRUE(second.write().ok());
  EXPECT_TRUE(first.holdsWork());
  EXPECT_EQ(files(), 2u) << "the first window's file and its lock";
}

TEST_F(Recoveries, OffersNewestFirstToOneStartAtATime) {
  for (const int second : {100, 300, 200}) {
    RecoveryStore window(folder_.path());
    window.note({kept("at " + std::to_string(second))});
    ASSERT_TRUE(window.write(RecoveryStore::Clock::time_point(std::chrono::seconds(second))).ok());
  }
  {
    const auto held = RecoveryStore(folder_.path()).abandoned();
    EXPECT_TRUE(offered().empty()) << "another start is offering them";
  }
  EXPECT_EQ(offered(), (std::vector<std::vector<std::string>>{{"at 300"}, {"at 200"}, {"at 100"}}));
}

TEST_F(Recoveries, RemovesAdoptedFileAfterWritingItsOwn) {
  {
    RecoveryStore(folder_.path()).note({});
    RecoveryStore window(folder_.path());
    window.note({kept("left")});
  }
  {
    RecoveryStore next(folder_.path());
    auto found = next.abandoned();
    ASSERT_EQ(found.size(), 1u);
    next.note({kept("left, and more")});
    next.adopt(found[0]);
    found.clear();
    EXPECT_EQ(files(), 2u) << "until then they stay";
    ASSERT_TRUE(next.write().ok());
    EXPECT_EQ(files(), 2u) << "one file and its lock";
  }
  EXPECT_EQ(offered(), (std::vector<std::vector<std::string>>{{"left, and more"}}));
  const auto found = RecoveryStore(folder_.path()).abandoned();
  RecoveryStore next(folder_.path());
  next.adopt(found.at(0));
  EXPECT_TRUE(next.outdated()) << "it was saved";
  ASSERT_TRUE(next.write().ok());
  EXPECT_EQ(files(), 0u);
}

TEST_F(Recoveries, DiscardRemovesTheFiles) {
  {
    RecoveryStore window(folder_.path());
    window.note({kept("left")});
  }
  RecoveryStore::discard(*RecoveryStore(folder_.path()).abandoned().at(0));
  EXPECT_EQ(files(), 0u);
}

TEST_F(Recoveries, ReportsAndKeepsBrokenFiles) {
  const std::string scene = formatScene(openingScene());
  const std::vector<std::pair<std::string, std::string>> broken{
      {"", "not a recovery file"},
      {"[1]", "not a recovery file"},
      {std::string(1'000'000, '['), "not a recovery file"},
      {R"({"format": "headscope recovery", "version": 1, "time": 5, "scenes": [{"path": "", "scene": )" +
           std::string(1'000'000, '['),
       "deeper"},
      {"{\"format\": \"headscope scene\"}", "not a recovery file"},
      {R"({"format": "headscope recovery", "version": 2})", "not of version 1"},
      {R"({"format": "headscope recovery", "version": 1, "time": "now", "scenes": []})", "\"time\""},
      {R"({"format": "headscope recovery", "version": 1, "time": 5, "scenes": []})", "\"scenes\""},
      {R"({"format": "headscope recovery", "version": 1, "time": 5, "scenes": [7]})", "\"path\""},
      {R"({"format": "headscope recovery", "version": 1, "time": 5, "scenes": [{"path": 1, "scene": {}}]})",
       "\"path\""}};
  for (const auto& [text, why] : broken) {
    putFile(folder_ / "1-0.json", text);
    const auto found = RecoveryStore(folder_.path()).abandoned();
    ASSERT_EQ(found.size(), 1u) << text;
    EXPECT_THAT(found[0]->problem, HasSubstr(why)) << text;
    EXPECT_TRUE(found[0]->entries.empty());
    EXPECT_EQ(fileText(folder_ / "1-0.json"), text);
  }
  // An unusable scene is detected when it is requested.
  putFile(
      folder_ / "1-0.json",
      R"({"format": "headscope recovery", "version": 1, "time": 5, "scenes": [{"path": "", "scene": 7}]})");
  const auto found = RecoveryStore(folder_.path()).abandoned();
  ASSERT_EQ(found.at(0)->entries.size(), 1u);
  EXPECT_FALSE(recoveredScene(found[0]->entries[0]).ok());
}

TEST_F(Recoveries, KeepsContentMarkOfTheFile) {
  KeptScene known = kept("opened", "/a.json");
  known.content = 0xFEDC'BA98'7654'3210;
  {
    RecoveryStore window(folder_.path());
    window.note({known, kept("new")});
  }
  const auto found = RecoveryStore(folder_.path()).abandoned();
  ASSERT_EQ(found.at(0)->entries.size(), 2u);
  EXPECT_EQ(found[0]->entries[0].content, known.content);
  EXPECT_EQ(found[0]->entries[1].content, std::nullopt);
}

TEST_F(Recoveries, OffersTimesBeyondTheClock) {
  for (const char* time : {"9223372036854775807", "-9223372036854775808"}) {
    putFile(folder_ / "1-0.json", R"({"format": "headscope recovery", "version": 1, "time": )" +
                                      std::string(time) + R"(, "scenes": [{"path": "", "scene": {}}]})");
    EXPECT_EQ(RecoveryStore(folder_.path()).abandoned().at(0)->problem, "") << time;
  }
}

/// Each takes a descriptor until it is answered.
TEST_F(Recoveries, ReadsManyInParts) {
  const std::size_t many = RecoveryStore::kMaxOffered + 7;
  for (std::size_t i = 0; i < many; ++i) putFile(folder_ / (std::to_string(i) + "-0.json"), "{}");
  std::size_t answered = 0;
  for (std::vector<std::shared_ptr<Recovery>> found;
       !(found = RecoveryStore(folder_.path()).abandoned()).empty();) {
    EXPECT_LE(found.size(), RecoveryStore::kMaxOffered);
    EXPECT_TRUE(answered > 0 || RecoveryStore(folder_.path()).abandoned().size() == 7) << "the others";
    for (const auto& each : found) RecoveryStore::discard(*each);
    answered += found.size();
  }
  EXPECT_EQ(answered, many);
  EXPECT_EQ(files(), 0u);
}

TEST_F(Recoveries, LinkedFolderKeepsItsMode) {
  namespace fs = std::filesystem;
  constexpr fs::perms kMode = fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec;
  fs::create_directory(folder_ / "target");
  fs::permissions(folder_ / "target", kMode);
  fs::create_directory_symlink(folder_ / "target", folder_ / "link");
  RecoveryStore window(folder_ / "link");
  window.note({kept("typed")});
  ASSERT_TRUE(window.write().ok());
  EXPECT_EQ(fs::status(folder_ / "target").permissions(), kMode);
}

TEST_F(Recoveries, RemovesOrphanedLocks) {
  putFile(folder_ / "77-0.json.lock", "");
  EXPECT_TRUE(offered().empty());
  EXPECT_EQ(files(), 0u);
}

TEST_F(Recoveries, RetriesAfterFailedWrite) {
  putFile(folder_ / "blocked", "a file");
  RecoveryStore window(folder_ / "blocked");
  window.note({kept("typed")});
  EXPECT_FALSE(window.write().ok());
  EXPECT_FALSE(window.holdsWork());
  std::filesystem::remove(folder_ / "blocked");
  EXPECT_TRUE(window.write().ok());
  EXPECT_TRUE(window.holdsWork());
  RecoveryStore nowhere("");
  nowhere.note({kept("typed")});
  EXPECT_TRUE(nowhere.write().ok());
  EXPECT_FALSE(nowhere.holdsWork()) << "nothing is claimed that isn't there";
}

}  // namespace
}  // namespace headscope::test
