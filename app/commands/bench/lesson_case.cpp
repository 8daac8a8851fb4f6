// Measures how long each step of the bundled lessons takes to its picture.

#include <fmt/core.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "app/commands/bench/bench.h"
#include "app/commands/bench/stopwatch.h"
#include "app/headless.h"
#include "app/pages/lessons/lessons_page.h"
#include "app/platform/address_space.h"
#include "attention/core/random.h"
#include "attention/expressions/expression.h"

namespace headscope::app {
namespace {

/// "Opened": from the list, with nothing computed for it. "Computed ahead": with Page Down; for a question,
/// the slower of asking and answering.
class LessonBench {
 public:
  LessonBench() {
    requireAddressSpace();
    app_ = std::make_unique<HeadlessApp>(kBenchWidth, kBenchHeight);
    show({});
    if (!page().list.library) throw std::runtime_error("the lessons can't be read");
    for (const LessonEntry& entry : page().list.library->lessons) lessons_.push_back(entry.lesson);
  }

  std::vector<BenchLine> lines() const {
    std::vector<BenchLine> lines;
    for (const auto& lesson : lessons_)
      for (std::size_t step = 0; step < lesson->steps.size(); ++step) {
        const std::string name = lesson->id + "." + lesson->steps[step].id;
        const std::string words = fmt::format("lesson {}, step {}", lesson->number, step + 1);
        lines.push_back({name + ".opened", words + ", opened", {}});
        if (step > 0) lines.push_back({name + ".ahead", words + ", computed ahead", {}});
      }
    return lines;
  }

  std::vector<double> run() {
    std::vector<double> seconds;
    for (const auto& lesson : lessons_)
      for (Index step = 0; step < std::ssize(lesson->steps); ++step) {
        show({});
        seconds.push_back(untilItStands([&] { go({lesson->id, step, -1, true}); }));
        if (step == 0) continue;
        show({lesson->id, step - 1, -1, true});
        double slowest = untilItStands([&] { next(); });
        if (page().asking()) {
          app_->draw();
          slowest = std::max(slowest, untilItStands([&] { next(); }));
        }
        seconds.push_back(slowest);
      }
    return seconds;
  }

 private:
  const lessons_page::State& page() const { return app_->session().page<lessons_page::Page>().state(); }

  void go(const LessonCursor& at) {
    Scene scene = app_->session().document().scene();
    scene.cursor.page = "lessons";
    scene.cursor.lesson = at;
    app_->session().setScene(std::move(scene));
  }
  void next() {
    Session& session = app_->session();
    session.actions().find("lesson.next").run(session.scene());
  }
  /// Goes there, and waits for everything that is computed for it and ahead.
  void show(const LessonCursor& at) {
    go(at);
    app_->draw();
  }

  /// Seconds from `begin` until the picture is complete, in frames as the window draws them.
  template <typename Begin>
  double untilItStands(const Begin& begin) {
    return secondsOf([&] {
      begin();
      do {
        app_->frame();
        app_->finish();
        if (!page().here.problem.empty()) throw std::runtime_error(page().here.problem);
        if (!page().stage.settled) std::this_thread::sleep_for(std::chrono::microseconds(500));
      } while (!page().stage.settled);
    });
  }

  std::unique_ptr<HeadlessApp> app_;
  std::vector<std::shared_ptr<const Lesson>> lessons_;
};

/// A claim over the weights of many heads, as in lessons.
BenchCase claimCase() {
  constexpr attention::Index kHeads = 64, kTokens = 512;
  using attention::Array;
  struct Weights : attention::ExpressionNames {
    Weights() : values(static_cast<std::size_t>(kHeads * kTokens * kTokens)) {
      attention::Random random(1);
      for (float& value : values) value = static_cast<float>(random.uniform());
    }
    attention::Result<Array> value(const std::string&) const override {
      return Array({kHeads, kTokens, kTokens}, values.data(), nullptr);
    }
    attention::Result<Array> call(const std::string& name,
                                  std::span<const attention::ExpressionArgument>) const override {
      return attention::Error{name + " is not known here"};
    }
    std::vector<float> values;
  };
  const auto weights = std::make_shared<const Weights>();
  const auto claim = attention::Expression::parse("max(abs(sum(W, -1) - 1)) < 1e4");
  attention::require(claim.ok(), "a claim of the bench that can't be read");
  return {{{"claim", "a claim over 64 heads of 512² tokens", {}}}, [weights, claim = *claim] {
            return std::vector{
                secondsOf([&] { attention::require(claim.holds(*weights).ok(), "it can't be evaluated"); })};
          }};
}

}  // namespace

BenchReport benchLessons(int rounds) {
  const auto lessons = std::make_shared<LessonBench>();
  BenchReport report =
      runCases({{lessons->lines(), [lessons] { return lessons->run(); }}, claimCase()}, rounds);
  report.title = fmt::format("time until each lesson step is drawn, {} × {}", kBenchWidth, kBenchHeight);
  return report;
}

}  // namespace headscope::app
