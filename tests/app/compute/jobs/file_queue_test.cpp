#include "app/compute/jobs/file_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <new>

#include "app/scene/scene_json.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

using namespace app;
using namespace std::chrono_literals;
using attention::Result;

/// Reads the number that `job` computes, and appends it or the error to `heard`.
void readNumber(FileQueue& queue, const std::string& file, std::function<Result<int>()> job,
                std::vector<std::string>& heard) {
  queue.read<int>(file, std::move(job), [&heard](Result<int> number) {
    heard.push_back(number.ok() ? std::to_string(*number) : number.error().message);
  });
}

// Regression: when the newest request won, one of two files requested together was never answered.
TEST(FileQueue, AnswersEveryRequestInOrder) {
  FileQueue queue([] {});
  EXPECT_FALSE(queue.take());
  std::vector<std::string> heard, expected;
  for (int i = 0; i < 20; ++i) {
    expected.push_back(std::to_string(i));
    if (i % 2 == 0)
      readNumber(
          queue, "a", [i] { return Result<int>(i); }, heard);
    else
      queue.write(
          "b", [] { return attention::success(); },
          [&heard, i](attention::Status) { heard.push_back(std::to_string(i)); });
  }
  queue.finish();
  EXPECT_FALSE(queue.writesPending());
  EXPECT_TRUE(heard.empty()) << "answers wait for the thread that takes them";
  EXPECT_TRUE(queue.take());
  EXPECT_EQ(heard, expected);
  EXPECT_FALSE(queue.take());
}

TEST(FileQueue, WritesAndReadsBackAScene) {
  const TemporaryFolder folder;
  FileQueue queue([] {});
  Scene made = openingScene(), read;
  made.setup.input.text = "saved away from the window";
  const auto path = folder / "kept.json";
  queue.write(
      path, [path, made] { return writeScene(path, made); },
      [](attention::Status written) { EXPECT_TRUE(written.ok()); });
  queue.read<Scene>(
      path, [path] { return readScene(path); }, [&](Result<Scene> scene) { read = *std::move(scene); });
  std::string error;
  queue.read<Scene>(
      folder / "none.json", [none = folder / "none.json"] { return readScene(none); },
      [&](Result<Scene> scene) { error = scene.error().message; });
  queue.finish();
  queue.take();
  EXPECT_EQ(read.setup, made.setup);
  EXPECT_THAT(error, testing::HasSubstr("none.json"));
}

TEST(FileQueue, ReturnsExceptionsAsErrors) {
  std::vector<std::string> heard;
  FileQueue queue([] {});
  readNumber(
      queue, "folder/large.npy", []() -> Result<int> { throw std::bad_alloc(); }, heard);
  readNumber(
      queue, "odd.npy", []() -> Result<int> { throw std::length_error("too long"); }, heard);
  readNumber(
      queue, "fine.npy", [] { return Result<int>(7); }, heard);
  queue.finish();
  queue.take();
  EXPECT_THAT(heard,
              testing::ElementsAre("large.npy: there is not enough free memory", "odd.npy: too long", "7"));
}

TEST(FileQueue, AnswersRequestsMadeByAnswers) {
  std::vector<std::string> heard;
  FileQueue queue([] {});
  queue.read<int>(
      "first", [] { return Result<int>(1); },
      [&](Result<int>) {
        readNumber(
            queue, "second", [] { return Result<int>(2); }, heard);
      });
  queue.finish();
  EXPECT_TRUE(queue.take());
  queue.finish();
  EXPECT_TRUE(queue.take());
  EXPECT_THAT(heard, testing::ElementsAre("2"));
}

TEST(FileQueue, WakesOnceEachAnswerIsReady) {
  std::atomic<int> found = 0;
  FileQueue* asked = nullptr;
  std::mutex made;
  made.lock();
  FileQueue queue([&] {
    const std::lock_guard lock(made);
    found += asked->take();
  });
  asked = &queue;
  made.unlock();
  std::vector<std::string> heard;
  for (int i = 0; i < 3; ++i)
    readNumber(
        queue, "a", [i] { return Result<int>(i); }, heard);
  queue.finish();
  EXPECT_EQ(found, 3);
}

TEST(FileQueue, StopFinishesWritesDespiteHangingRead) {
  std::promise<void> letGo;
  const std::shared_future<void> gone = letGo.get_future().share();
  std::atomic<bool> begun = false;
  std::atomic<int> written = 0;
  std::vector<std::string> heard;
  FileQueue queue([] {});
  const auto write = [&] {
    queue.write(
        "mask.npy",
        [&] {
          ++written;
          return attention::success();
        },
        [](attention::Status) {});
  };
  const auto slow = [&] {
    begun = true;
    gone.wait();
    return Result<int>(1);
  };
  readNumber(queue, "slow.json", slow, heard);
  while (!begun) std::this_thread::yield();
  write();
  readNumber(
      queue, "never.json", [] { return Result<int>(2); }, heard);
  EXPECT_TRUE(queue.writesPending());
  queue.stop();
  while (queue.writesPending()) std::this_thread::yield();  // would loop forever if it waited for the read
  EXPECT_EQ(written, 1);
  EXPECT_FALSE(queue.stopped(20ms)) << "the read still hangs";
  write();
  EXPECT_FALSE(queue.writesPending()) << "nothing is taken after stop()";
  letGo.set_value();
  EXPECT_TRUE(queue.stopped(100s));
}

/// A text-size slider requests the write many times a second.
TEST(FileQueue, PerformsOnlyLastWaitingWriteOfAFile) {
  std::promise<void> letGo;
  const std::shared_future<void> gone = letGo.get_future().share();
  std::vector<std::string> written;  // used by the queue's thread until it finishes
  {
    FileQueue queue([] {});
    queue.read<int>(
        "slow.json",
        [gone] {
          gone.wait();
          return Result<int>(1);
        },
        [](Result<int>) {});
    const auto keep = [&](const std::string& file, int version) {
      queue.keep(file, [&written, file, version] {
        written.push_back(file + std::to_string(version));
        return attention::success();
      });
    };
    for (int version = 0; version < 50; ++version) keep("preferences", version);
    keep("progress", 7);
    queue.write(
        "mask.npy", [] { return attention::success(); }, [](attention::Status) {});
    keep("preferences", 50);
    EXPECT_TRUE(queue.writesPending());
    letGo.set_value();
  }
  EXPECT_THAT(written, testing::ElementsAre("preferences50", "progress7")) << "each once, also at the exit";
}

TEST(FileQueue, DestructorFinishesWrites) {
  std::atomic<int> written = 0;
  {
    FileQueue queue([] {});
    for (int i = 0; i < 5; ++i)
      queue.write(
          "mask.npy",
          [&] {
            std::this_thread::sleep_for(5ms);
            ++written;
            return attention::success();
          },
          [](attention::Status) {});
  }
  EXPECT_EQ(written, 5);
}

TEST(FileQueue, WithoutThreadsRunsOneJobPerCall) {
  std::vector<std::string> heard;
  int writes = 0;
  {
    FileQueue queue([] {}, false);
    EXPECT_FALSE(queue.work());
    readNumber(
        queue, "a", [] { return Result<int>(1); }, heard);
    readNumber(
        queue, "b", [] { return Result<int>(2); }, heard);
    EXPECT_FALSE(queue.take());
    EXPECT_TRUE(queue.work());
    EXPECT_TRUE(queue.take());
    EXPECT_EQ(heard, (std::vector<std::string>{"1"}));
    EXPECT_TRUE(queue.busy());
    queue.finish();
    EXPECT_TRUE(queue.take());
    EXPECT_EQ(heard, (std::vector<std::string>{"1", "2"}));
    queue.write(
        "c",
        [&writes] {
          ++writes;
          return attention::success();
        },
        [](attention::Status) {});
  }
  EXPECT_EQ(writes, 1) << "a write that waited was dropped";
}

TEST(FileQueue, WithoutThreadsNeverNestsJobs) {
  std::vector<std::string> heard;
  FileQueue queue([] {}, false);
  readNumber(
      queue, "a",
      [&queue] {
        EXPECT_TRUE(queue.working());
        EXPECT_FALSE(queue.work());
        return Result<int>(1);
      },
      heard);
  readNumber(
      queue, "b", [] { return Result<int>(2); }, heard);
  queue.finish();
  EXPECT_FALSE(queue.working());
  EXPECT_TRUE(queue.take());
  EXPECT_EQ(heard, (std::vector<std::string>{"1", "2"}));
}

}  // namespace
}  // namespace headscope::test
