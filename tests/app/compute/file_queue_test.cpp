#include "app/compute/file_queue.h"

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
using Kind = FileRequest::Kind;

FileAnswer named(const FileRequest& request) {
  FileAnswer answer;
  answer.request = request;
  answer.content = Saved{};
  return answer;
}
std::string errorOf(const FileAnswer& answer) {
  const auto* error = std::get_if<attention::Error>(&answer.content);
  return error ? error->message : "";
}

// With the newest request winning, of two files asked for at once one was never answered.
TEST(FileQueue, AnswersEveryRequestInOrder) {
  FileQueue queue([] {}, named);
  EXPECT_FALSE(queue.take());
  EXPECT_FALSE(queue.busy());
  for (int i = 0; i < 20; ++i) queue.ask({i % 2 == 0 ? Kind::scene : Kind::saveMask, std::to_string(i)});
  queue.finish();
  EXPECT_FALSE(queue.writesPending());
  EXPECT_TRUE(queue.busy()) << "until all answers are taken";
  for (int i = 0; i < 20; ++i) {
    const auto answer = queue.take();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->request.path, std::to_string(i));
  }
  EXPECT_FALSE(queue.take());
  EXPECT_FALSE(queue.busy());
}

TEST(FileQueue, WritesAndReadsBackAScene) {
  const TemporaryFolder folder;
  FileQueue queue([] {});
  FileRequest save{Kind::saveScene, folder / "kept.json"};
  auto scene = std::make_shared<Scene>(openingScene());
  scene->setup.input.text = "saved away from the window";
  save.scene = scene;
  queue.ask(save);
  queue.ask({Kind::scene, folder / "kept.json"});
  queue.ask({Kind::scene, folder / "none.json"});
  queue.finish();
  EXPECT_TRUE(std::holds_alternative<Saved>(queue.take()->content));
  const auto read = queue.take();
  ASSERT_TRUE(std::holds_alternative<Scene>(read->content));
  EXPECT_EQ(std::get<Scene>(read->content).setup, scene->setup);
  EXPECT_THAT(errorOf(*queue.take()), testing::HasSubstr("none.json"));
}

TEST(FileQueue, ExceptionsAndExhaustedMemoryAreAnswers) {
  FileQueue queue([] {},
                  [](const FileRequest& request) -> FileAnswer {
                    if (request.path == "large.npy") throw std::bad_alloc();
                    if (request.path == "odd.npy") throw std::length_error("too long");
                    return named(request);
                  });
  for (const char* path : {"large.npy", "odd.npy", "fine.npy"}) queue.ask({Kind::table, path});
  queue.finish();
  EXPECT_EQ(errorOf(*queue.take()), "large.npy: there is not enough free memory");
  EXPECT_EQ(errorOf(*queue.take()), "odd.npy: too long");
  EXPECT_EQ(errorOf(*queue.take()), "");
}

TEST(FileQueue, WakesAfterEachAnswerWithTheAnswerThere) {
  std::atomic<int> found = 0;
  FileQueue* asked = nullptr;
  std::mutex made;
  made.lock();
  FileQueue queue(
      [&] {
        const std::lock_guard lock(made);
        found += asked->take().has_value();
      },
      named);
  asked = &queue;
  made.unlock();
  for (int i = 0; i < 3; ++i) queue.ask({Kind::scene, "a.json"});
  queue.finish();
  EXPECT_EQ(found, 3);
}

/// A disk that doesn't answer until it is let go.
struct SlowDisk {
  std::promise<void> letGo;
  std::shared_future<void> gone = letGo.get_future().share();
  std::atomic<bool> begun = false;
  std::atomic<int> written = 0;
  FileAnswer operator()(const FileRequest& request) {
    if (writes(request)) {
      ++written;
    } else {
      begun = true;
      gone.wait();
    }
    return named(request);
  }
};

TEST(FileQueue, IsLeftWhileAReadHangsAndFinishesWhatIsWritten) {
  SlowDisk disk;
  FileQueue queue([] {}, [&](const FileRequest& request) { return disk(request); });
  queue.ask({Kind::scene, "slow.json"});
  while (!disk.begun) std::this_thread::yield();
  queue.ask({Kind::saveMask, "mask.npy"});
  queue.ask({Kind::scene, "never.json"});
  EXPECT_TRUE(queue.writesPending());
  queue.stop();
  while (queue.writesPending()) std::this_thread::yield();  // for ever if it waited for the read
  EXPECT_EQ(disk.written, 1);
  EXPECT_FALSE(queue.stopped(20ms)) << "the read still hangs";
  queue.ask({Kind::saveMask, "late.npy"});
  EXPECT_FALSE(queue.writesPending()) << "nothing is taken after stop()";
  disk.letGo.set_value();
  EXPECT_TRUE(queue.stopped(10s));
}

TEST(FileQueue, FinishesItsWritesWhenItGoes) {
  std::atomic<int> written = 0;
  {
    FileQueue queue([] {},
                    [&](const FileRequest& request) {
                      std::this_thread::sleep_for(5ms);
                      ++written;
                      return named(request);
                    });
    for (int i = 0; i < 5; ++i) queue.ask({Kind::saveMask, "mask.npy"});
  }
  EXPECT_EQ(written, 5);
}

}  // namespace
}  // namespace headscope::test
