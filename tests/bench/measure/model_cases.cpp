#include <fmt/core.h>

#include "app/compute/model/pair_study.h"
#include "app/pages/lessons/lessons_page.h"
#include "app/platform/process.h"
#include "app/scene/models/open_model.h"
#include "app/scene/text/number_text.h"
#include "app/session/headless.h"
#include "attention/core/random.h"
#include "attention/expressions/expression.h"
#include "attention/models/config/families.h"
#include "attention/models/session.h"
#include "tests/bench/measure/bench.h"

namespace headscope::app {

// Measures a whole model: a pass over a text with all attention kept, and a decode step after it.

namespace {

using attention::Error;
using attention::Index;
using attention::Model;
using attention::ModelSession;
using attention::Result;

constexpr double kModelCaseSeconds = 0.5;

/// The count of numbers that one token is multiplied with in all layers: matrices, without embedding tables.
double layerNumbers(const Model& model) {
  double numbers = 0;
  for (const auto& layer : model.weights().layers)
    for (const auto* linear : attention::mapsOfToken(layer, model.config().mixture.used))
      numbers += static_cast<double>(linear->out) * static_cast<double>(linear->in);
  return numbers;
}

double headNumbers(const Model& model) {
  const auto& head = model.weights().head;
  return head ? static_cast<double>(head->out) * static_cast<double>(head->in) : 0;
}

/// Average bytes per number in the checkpoint.
double storedBytes(const Model& model) {
  double bytes = 0, numbers = 0;
  for (const auto& [name, tensor] : model.checkpoint().tensors()) {
    numbers += static_cast<double>(tensor.numbers());
    bytes += static_cast<double>(tensor.bytes);
  }
  return numbers > 0 ? bytes / numbers : 4;
}

std::vector<Index> randomIds(const Model& model, Index count) {
  attention::Random random(1);
  std::vector<Index> ids(static_cast<std::size_t>(count));
  for (Index& id : ids)
    id = static_cast<Index>(random.uniform() * static_cast<double>(model.config().vocabulary));
  return ids;
}

/// Counts each multiply-add as two operations: the matrices, the scores of visible pairs, the weighted
/// values, and one row of logits.
BenchCase passCase(std::shared_ptr<const Model> model, const std::vector<Index>& ids) {
  const auto n = static_cast<double>(ids.size());
  const attention::ModelConfig& config = model->config();
  const double pairs = visiblePairs(config.causal, static_cast<Index>(ids.size()));
  const double flop = 2 * n * layerNumbers(*model) + 2 * headNumbers(*model) +
                      4 * pairs * static_cast<double>(config.heads * config.headDim * config.layerCount());
  const auto run = [model, ids] {
    return std::vector{medianSeconds(kModelCaseSeconds, [&] {
      ModelSession session(model);
      attention::require(session.append(ids).ok(), "the pass was refused");
    })};
  };
  return {{{"model_pass", "pass over the text, all attention kept", {BenchWork::Kind::flop, flop}}}, run};
}

/// Counts what has to be read: every matrix once, and the keys and values of all earlier tokens.
BenchCase decodeCase(std::shared_ptr<const Model> model, const std::vector<Index>& ids) {
  auto session = std::make_shared<ModelSession>(model);
  attention::PassRequest request;
  request.weights = false;
  request.logits = attention::LogitRows::none;
  attention::require(session->append(ids, request).ok(), "the text was refused");
  const double bytes = storedBytes(*model) * (layerNumbers(*model) + headNumbers(*model)) +
                       static_cast<double>(model->cacheBytesPerToken()) * static_cast<double>(ids.size());
  const auto run = [session, length = session->length()] {
    return std::vector{medianSeconds(kModelCaseSeconds, [&] {
      attention::PassRequest step;
      step.weights = false;
      session->truncate(length);
      const Index id = 0;
      attention::require(session->append(std::span(&id, 1), step).ok(), "the step was refused");
    })};
  };
  return {{{"model_decode", "one more token, with the cache", {BenchWork::Kind::bytes, bytes}}}, run};
}

/// Opening reads only the headers, whatever the size.
BenchCase openCase(const std::filesystem::path& folder) {
  const auto run = [folder] {
    return std::vector{medianSeconds(
        0.05, [&] { attention::require(Model::open(folder).ok(), "the model can no longer be opened"); })};
  };
  return {{{"model_open", "opening the checkpoint", {}}}, run};
}

/// The lower bound for the time of a decode step.
BenchCase readCase(const std::shared_ptr<const Model>& model) {
  double bytes = 0;
  for (const auto& [name, tensor] : model->checkpoint().tensors()) bytes += static_cast<double>(tensor.bytes);
  const auto run = [model] {
    return std::vector{medianSeconds(kModelCaseSeconds, [&] {
      volatile float sum = 0;
      for (const auto& [name, tensor] : model->checkpoint().tensors())
        sum = sum + readOnce(attention::kernels::sharedPool(),
                             {tensor.data, static_cast<std::size_t>(tensor.bytes)});
    })};
  };
  return {{{"model_read", "reading all weights once", {BenchWork::Kind::bytes, bytes}}}, run};
}

/// The wait for a text's first pictures.
BenchCase firstLayerCase(const std::filesystem::path& folder, const std::vector<Index>& ids) {
  const auto run = [folder, ids] {
    return std::vector{medianSeconds(kModelCaseSeconds, [&] {
      Result<Model> opened = Model::open(folder);
      attention::require(opened.ok(), "the model can no longer be opened");
      attention::PassRequest request;
      request.depth = 1;
      ModelSession session(std::make_shared<const Model>(*std::move(opened)));
      attention::require(session.append(ids, request).ok(), "the pass was refused");
    })};
  };
  return {{{"model_first_layer", "opening it, and the text's first layer", {}}}, run};
}

constexpr Index kPatchedTokens = 20;

/// A text with everything that its pass records, as patches need it.
RecordedText recordedText(const std::shared_ptr<const Model>& model, std::vector<Index> ids) {
  RecordedText text;
  attention::PassRequest request;
  request.projections = request.hidden = request.between = request.mlp = true;
  ModelSession session(model);
  auto pass = session.append(ids, request);
  attention::require(pass.ok(), "the text was refused");
  text.run = std::make_shared<const attention::PassResult>(std::move(*pass));
  text.text.ids = std::move(ids);
  return text;
}

/// Puts every head's output of one text into another that differs in one token, one head at a time.
BenchCase patchCase(const std::shared_ptr<const Model>& model, std::vector<Index> ids) {
  ids.resize(std::min<std::size_t>(ids.size(), kPatchedTokens));
  auto pair = std::make_shared<PairStudy>();
  pair->opened = std::make_shared<const OpenModel>(OpenModel{"", model});
  pair->a = recordedText(model, ids);
  std::vector<Index> same(ids.size());
  for (std::size_t i = 0; i < same.size(); ++i) same[i] = static_cast<Index>(i);
  ids[ids.size() / 2] = (ids[ids.size() / 2] + 1) % model->config().vocabulary;
  pair->b = recordedText(model, ids);
  pair->aOfB = pair->bOfA = std::make_shared<const std::vector<Index>>(std::move(same));
  pair->answers = {0, 1};
  const PatchGridQuestion question{{pair, false}};
  const auto run = [question] {
    return std::vector{secondsOf([&] {
      const auto grid = computePatchGrid(
          question, [] { return Index{0}; }, [](const PatchGrid&) {}, {});
      attention::require(grid.ok(), "the patches were refused");
    })};
  };
  return {{{"model_patch_grid", fmt::format("each head patched by itself, {} tokens", ids.size()), {}}}, run};
}

}  // namespace

Result<BenchReport> benchModel(const std::filesystem::path& folder, Index tokens, const BenchParts& parts,
                               int rounds) {
  Result<Model> opened = Model::open(folder);
  if (!opened) return opened.error();
  const auto model = std::make_shared<const Model>(*std::move(opened));
  const attention::ModelConfig& config = model->config();
  const std::vector<Index> ids = randomIds(*model, tokens);
  const bool decodes = config.causal;
  if (const auto fits = model->checkTokens(ids, decodes ? 1 : 0); !fits) return fits.error();
  std::vector<BenchCase> cases{openCase(folder), firstLayerCase(folder, ids)};
  if (parts.forward) cases.push_back(passCase(model, ids));
  if (parts.decode && decodes) {
    cases.push_back(readCase(model));
    cases.push_back(decodeCase(model, ids));
  }
  if (parts.patches && decodes && model->predictsTokens()) cases.push_back(patchCase(model, ids));
  BenchReport report = runCases(cases, rounds);
  report.title =
      fmt::format("{}, {} layers of {} heads over {} of size {}, {} wide, vocabulary of {}; {} tokens",
                  config.family->name, config.layerCount(), config.heads, config.kvHeads, config.headDim,
                  countText(static_cast<std::uint64_t>(config.modelDim)),
                  countText(static_cast<std::uint64_t>(config.vocabulary)),
                  countText(static_cast<std::uint64_t>(tokens)));
  return report;
}

// Measures how long each step of the bundled lessons takes to its picture.

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
