#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "app/compute/jobs/file_queue.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

using app::FolderEntry;
using app::FolderReads;
using app::FoundPath;
using app::PathQuestion;
using Kind = app::FoundPath::Kind;

FoundPath find(const PathQuestion& question) {
  std::atomic<std::size_t> seen = 0;
  return app::findPath(question, {}, seen);
}

TEST(FindPath, ListsFoldersFirstThenMatchingFiles) {
  const TemporaryFolder folder;
  for (const char* name : {"b.json", "a.json", "notes.md", ".hidden.json"}) putFile(folder / name, "");
  std::filesystem::create_directory(folder / "z");
  std::filesystem::create_directory(folder / "y.json");
  std::atomic<std::size_t> seen = 0;
  const FoundPath found = app::findPath({folder.path(), {".json"}, ""}, {}, seen);
  EXPECT_EQ(found.kind, Kind::folder);
  EXPECT_EQ(found.problem, "");
  EXPECT_THAT(found.entries, ElementsAre(FolderEntry{"y.json", true}, FolderEntry{"z", true},
                                         FolderEntry{"a.json", false}, FolderEntry{"b.json", false}));
  EXPECT_EQ(seen, 6u);
}

TEST(FindPath, DistinguishesFilesFreeNamesAndMissingFolders) {
  const TemporaryFolder folder;
  putFile(folder / "a.json", "");
  EXPECT_EQ(find({folder / "a.json", {}, ""}).kind, Kind::file);
  EXPECT_EQ(find({folder / "b.json", {}, ""}).kind, Kind::free);
  EXPECT_EQ(find({folder / "no" / "b.json", {}, ""}).kind, Kind::missing);
  EXPECT_EQ(find({folder / "a.json" / "b", {}, ""}).kind, Kind::missing) << "inside a file";
}

TEST(FindPath, AddsMissingExtensionExceptToFolders) {
  const TemporaryFolder folder;
  putFile(folder / "taken.json", "");
  std::filesystem::create_directory(folder / "inner");
  FoundPath found = find({folder / "taken", {}, ".json"});
  EXPECT_EQ(found.kind, Kind::file);
  EXPECT_EQ(found.path, folder / "taken.json");
  found = find({folder / "inner", {}, ".json"});
  EXPECT_EQ(found.kind, Kind::folder);
  EXPECT_EQ(found.path, folder / "inner");
  EXPECT_EQ(find({folder / "a.txt", {}, ".json"}).path, folder / "a.txt");
}

TEST(FindPath, TruncatesLongListsAndCountsOmitted) {
  const TemporaryFolder folder;
  for (std::size_t i = 0; i < app::kMaxFolderEntries + 7; ++i)
    putFile(folder / (std::to_string(10000 + i) + ".csv"), "");
  const FoundPath found = find({folder.path(), {".csv"}, ""});
  EXPECT_EQ(found.entries.size(), app::kMaxFolderEntries);
  EXPECT_EQ(found.entries.back().name, "11999.csv") << "the first by name, whatever the disk's order";
  EXPECT_EQ(found.omitted, 7u);
}

TEST(FindPath, StopsBetweenEntries) {
  const TemporaryFolder folder;
  putFile(folder / "a.csv", "");
  std::stop_source stop;
  stop.request_stop();
  std::atomic<std::size_t> seen = 0;
  EXPECT_THAT(app::findPath({folder.path(), {".csv"}, ""}, stop.get_token(), seen).entries, IsEmpty());
  EXPECT_EQ(seen, 0u);
}

/// A disk that doesn't answer until the test lets it.
struct Disk {
  std::mutex mutex;
  std::condition_variable changed;
  bool answers = false;
  int asked = 0, answered = 0;

  static FolderReads::Find find(const std::shared_ptr<Disk>& disk) {
    return [disk](const PathQuestion& question, std::stop_token, std::atomic<std::size_t>&) {
      std::unique_lock lock(disk->mutex);
      ++disk->asked;
      disk->changed.wait(lock, [&] { return disk->answers; });
      ++disk->answered;
      disk->changed.notify_all();
      FoundPath found;
      found.path = question.path;
      found.kind = Kind::file;
      return found;
    };
  }
  void answer() {
    const std::lock_guard lock(mutex);
    answers = true;
    changed.notify_all();
  }
  void waitForAnswers(int count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return answered == count; });
  }
};

TEST(FolderReads, DeliversResultOnceAndWakes) {
  std::atomic<int> woken = 0;
  FolderReads reads([&] { ++woken; });
  const auto look = reads.look({"/", {}, ""});
  reads.finish();
  EXPECT_EQ(woken, 1);
  const auto found = look->take();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->kind, Kind::folder);
  EXPECT_FALSE(look->take().has_value());
}

TEST(FolderReads, DoesNotWaitForAbandonedReads) {
  const auto disk = std::make_shared<Disk>();
  std::atomic<int> woken = 0;
  {
    FolderReads reads([&] { ++woken; });
    reads.findWith(Disk::find(disk));
    auto look = reads.look({"/hung", {}, ""});
    EXPECT_FALSE(look->take().has_value());
    look.reset();
    reads.finish();
    look = reads.look({"/hung too", {}, ""});
  }
  disk->answer();  // too late: nobody waits for it any more
  disk->waitForAnswers(2);
  EXPECT_EQ(woken, 0);
}

TEST(FolderReads, LimitsHangingThreads) {
  const auto disk = std::make_shared<Disk>();
  FolderReads reads([] {});
  reads.findWith(Disk::find(disk));
  for (int i = 0; i < 32; ++i) reads.look({"/hung", {}, ""});
  const auto look = reads.look({"/one more", {}, ""});
  const auto found = look->take();
  ASSERT_TRUE(found.has_value()) << "at once";
  EXPECT_THAT(found->problem, HasSubstr("/one more can't be read: 32 folders"));
  disk->answer();
  disk->waitForAnswers(32);
}

TEST(FolderReads, ReportsReaderErrors) {
  FolderReads reads([] {});
  reads.findWith([](const PathQuestion&, std::stop_token, std::atomic<std::size_t>&) -> FoundPath {
    throw std::runtime_error("no memory");
  });
  const auto look = reads.look({"/a", {}, ""});
  reads.finish();
  EXPECT_EQ(look->take()->problem, "/a can't be read: no memory.");
}

}  // namespace
}  // namespace headscope::test
