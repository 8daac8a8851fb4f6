#include "app/compute/model/lens_map.h"

#include <fmt/core.h>

#include <algorithm>

namespace headscope::app {

using attention::Error;
using attention::Matrix;
using attention::Result;
using attention::Writer;

Result<LensMap> mapLens(const LensQuestion& question, std::stop_token stop) {
  const attention::Model& model = question.pair->model();
  const RecordedText& text = question.text();
  const attention::Answers& answers = question.pair->answers;
  const Index stops = model.config().layerCount() + 1, tokens = text.tokens();
  LensMap map;
  map.top.resize(stops, tokens);
  map.probability = map.answer = map.difference = Matrix(stops, tokens);
  // In parts, because the logits of all rows would be the largest matrix by far for a large vocabulary.
  const Index part = std::max<Index>(1, (Index{4} << 20) / model.config().vocabulary);
  for (Index at = 0; at < stops; ++at)
    for (Index first = 0; first < tokens; first += part) {
      const Index count = std::min(part, tokens - first);
      const Matrix logits = model.logits(recordedStream(*text.run, at)->middleRows(first, count), stop);
      if (stop.stop_requested()) return Error{"stopped"};
      for (Index i = 0; i < count; ++i) {
        const auto row = logits.row(i).array();
        Index top = 0;
        const float most = row.maxCoeff(&top);
        const float total = (row - most).exp().sum();
        map.top(at, first + i) = top;
        map.probability(at, first + i) = 1 / total;
        map.answer(at, first + i) = std::exp(row[answers.id] - most) / total;
        map.difference(at, first + i) = static_cast<float>(answerDifference(logits.row(i), answers));
      }
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
    case Writer::normBias:
      return part.layer < 0 ? "final norm's bias" : fmt::format("norm bias {}", part.layer);
    case Writer::headBias:
      break;
  }
  return "vocabulary bias";
}

}  // namespace headscope::app
