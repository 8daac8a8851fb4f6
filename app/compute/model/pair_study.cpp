#include "app/compute/model/pair_study.h"

#include <fmt/core.h>

#include "app/compute/model/passes.h"

namespace headscope::app {

using attention::Error;
using attention::Matrix;
using attention::PassRequest;
using attention::Result;

namespace {

/// Rows that share one product: enough to read the weights once for many of them.
constexpr Index kRowsPerPass = 512;

/// Requests everything that a patch can be taken from.
PassRequest recording(PassRequest request) {
  request.projections = request.hidden = request.between = request.mlp = true;
  return request;
}

Result<RecordedText> readText(const Setup& setup, Resources& resources, const std::stop_token& stop) {
  RecordedText recorded;
  auto text = readModelText(setup, stop);
  if (!text) return text.error();
  recorded.text = *std::move(text);
  if (recorded.tokens() == 0) return Error{"no tokens"};
  auto request = passRequest(setup, recorded.text.tokens, resources.inputs);
  if (!request) return request.error();
  recorded.request = *std::move(request);
  return recorded;
}

attention::Status record(RecordedText& text, const OpenModel& opened, const std::stop_token& stop) {
  attention::ModelSession session(opened.model);
  auto pass = session.append(text.text.ids, recording(text.request), stop);
  if (!pass) return pass.error();
  text.run = std::make_shared<const attention::PassResult>(*std::move(pass));
  return attention::success();
}

std::uint64_t bytesOf(const RecordedText& text, const OpenModel& opened) {
  return passBytes(opened.config(), text.tokens(), recording(text.request));
}

attention::Answers answersOf(const PairStudy& study) {
  const PairQuestion& asked = study.question;
  const std::vector<Index> best = likeliestTokens(study.a, 2);
  const Index answer = asked.answer >= 0 ? asked.answer : best.front();
  if (asked.otherAnswer >= 0) return {answer, asked.otherAnswer};
  Index other = study.b ? likeliestTokens(*study.b, 1).front() : best.back();
  if (other == answer) other = best.front() == answer ? best.back() : best.front();
  return {answer, other};
}

Result<PairStudy> fail(const char* which, bool two, const Error& error) {
  if (!two || error.message == "stopped") return error;
  return Error{fmt::format("Text {}: {}", which, error.message)};
}

}  // namespace

SharedText& comparedText(Setup& setup) {
  const auto& opened = setup.subject.opened;
  const bool given = opened && opened->sources && !opened->model->source();
  return given ? setup.input.contextText : setup.input.text;
}

Setup otherText(Setup setup, const SharedText& other, const std::vector<Index>& decoderIds) {
  comparedText(setup) = other;
  setup.subject.written.clear();
  const auto& opened = setup.subject.opened;
  if (opened && opened->model && opened->model->source()) setup.subject.decoderIds = decoderIds;
  return setup;
}

PairQuestion pairQuestion(const Scene& scene) {
  const CompareSetup& compare = scene.compare;
  return {modelQuestion(scene.setup), compare.other, compare.answer, compare.otherAnswer, compare.alignment};
}

std::vector<Index> likeliestTokens(const RecordedText& text, std::size_t most) {
  return largest(text.run->logits.row(0), most);
}

double answerDifference(const Eigen::Ref<const Eigen::RowVectorXf>& logits,
                        const attention::Answers& answers) {
  const double logit = double{logits[answers.id]};
  return answers.other ? logit - double{logits[*answers.other]} : logit;
}

Result<PairStudy> studyPair(const PairQuestion& question, Resources& resources, std::stop_token stop) {
  PairStudy study;
  study.question = question;
  const Setup& setup = question.text.setup;
  study.opened = setup.subject.opened;
  const bool two = !question.other.empty();
  if (!study.opened || !study.opened->model) return Error{"This needs a model to compute with. Open one."};
  if (!study.model().predictsTokens()) return Error{study.model().whyNoPredictions()};
  for (const Index id : {question.answer, question.otherAnswer})
    if (id >= study.opened->config().vocabulary)
      return Error{fmt::format("answer {} is not one of this model's tokens, 0 to {}", id,
                               study.opened->config().vocabulary - 1)};
  auto a = readText(setup, resources, stop);
  if (!a) return fail("A", two, a.error());
  study.a = *std::move(a);
  std::uint64_t bytes = bytesOf(study.a, *study.opened);
  if (two) {
    auto b = readText(otherText(setup, question.other, study.a.text.ids), resources, stop);
    if (!b) return fail("B", two, b.error());
    study.b = *std::move(b);
    bytes += bytesOf(*study.b, *study.opened);
  }
  study.memory = resources.memory.reserve(bytes, stop);
  if (stop.stop_requested()) return Error{"stopped"};
  if (!study.memory)
    return overBudget(fmt::format("Recording every piece of {} would need", two ? "both texts" : "the text"),
                      bytes, resources.memory, "Use a shorter text.");
  if (const auto done = record(study.a, *study.opened, stop); !done) return fail("A", two, done.error());
  if (study.b) {
    if (const auto done = record(*study.b, *study.opened, stop); !done) return fail("B", two, done.error());
    // The user ties keys, so with cross heads ties concern the encoder's tokens.
    const bool cross = study.opened->config().cross();
    auto both = attention::alignTokens(study.a.text.ids, study.b->text.ids,
                                       cross ? std::vector<attention::TokenTie>() : question.ties);
    study.bOfA = std::make_shared<const std::vector<Index>>(std::move(both.otherOfText));
    study.aOfB = std::make_shared<const std::vector<Index>>(std::move(both.textOfOther));
    if (cross) {
      auto source = attention::alignTokens(study.a.text.sourceIds, study.b->text.sourceIds, question.ties);
      study.sourceBofA = std::make_shared<const std::vector<Index>>(std::move(source.otherOfText));
      study.sourceAofB = std::make_shared<const std::vector<Index>>(std::move(source.textOfOther));
    }
  }
  study.answers = answersOf(study);
  study.a.difference = answerDifference(study.a.run->logits.row(0), study.answers);
  if (study.b) study.b->difference = answerDifference(study.b->run->logits.row(0), study.answers);
  return study;
}

Index runsPerPass(const RecordedText& text) {
  return std::clamp<Index>(kRowsPerPass / std::max<Index>(text.tokens(), 1), 1, 64);
}

Result<Matrix> patchedLogits(const OpenModel& opened, const RecordedText& text,
                             std::vector<std::vector<attention::Patch>> runs, const std::stop_token& stop) {
  PassRequest request = text.request;
  request.runs = std::move(runs);
  request.own = text.run;
  request.weights = false;
  request.layers = std::vector<Index>();
  attention::ModelSession session(opened.model);
  auto pass = session.append(text.text.ids, request, stop);
  if (!pass) return pass.error();
  return std::move(pass->logits);
}

using attention::Writer;

Result<LensMap> mapLens(const LensQuestion& question, std::stop_token stop) {
  const attention::Model& model = question.pair->model();
  const RecordedText& text = question.text();
  const attention::Answers& answers = question.pair->answers;
  const Index stops = model.config().layerCount() + 1, tokens = text.tokens();
  LensMap map;
  map.top.resize(stops, tokens);
  map.probability = map.answer = map.difference = Matrix(stops, tokens);
  for (Index at = 0; at < stops; ++at) {
    const auto done =
        forLogits(model, *recordedStream(*text.run, at), stop, [&](Index first, const Matrix& logits) {
          for (Index i = 0; i < logits.rows(); ++i) {
            const auto row = logits.row(i).array();
            Index top = 0;
            const float most = row.maxCoeff(&top);
            const float total = (row - most).exp().sum();
            map.top(at, first + i) = top;
            map.probability(at, first + i) = 1 / total;
            map.answer(at, first + i) = std::exp(row[answers.id] - most) / total;
            map.difference(at, first + i) = static_cast<float>(answerDifference(logits.row(i), answers));
          }
        });
    if (!done) return done.error();
  }
  return map;
}

Result<AttributionStudy> studyAttribution(const AttributionQuestion& question, std::stop_token stop) {
  const PairStudy& pair = *question.pair;
  const auto of = [&](const RecordedText& text) {
    return attention::attributeLogit(pair.model(), *text.run, text.tokens() - 1, pair.answers, stop);
  };
  AttributionStudy study;
  auto a = of(pair.a);
  if (!a) return a.error();
  study.a = *std::move(a);
  if (!pair.b) return study;
  auto b = of(*pair.b);
  if (!b) return b.error();
  study.b = *std::move(b);
  return study;
}

std::string writerText(const attention::Contribution& part) {
  std::string ofGroup(attention::groupName(part.group));
  if (!ofGroup.empty()) ofGroup += ' ';
  switch (part.by) {
    case Writer::embedding:
      return "embedding";
    case Writer::head:
    case Writer::otherHead:
      return fmt::format("{}head {}.{}", ofGroup, part.layer, part.head);
    case Writer::attentionBias:
      return fmt::format("{}attention bias {}", ofGroup, part.layer);
    case Writer::mlp:
      return fmt::format("MLP {}", part.layer);
    case Writer::others:
      return fmt::format("recurrence {}", part.layer);
    case Writer::normBias:
      return part.layer < 0 ? "final norm's bias" : fmt::format("norm bias {}", part.layer);
    case Writer::headBias:
      break;
  }
  return "vocabulary bias";
}

}  // namespace headscope::app
