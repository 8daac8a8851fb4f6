#include "app/compute/model/text_study.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "app/compute/model/layer_summary.h"
#include "attention/formats/json_tree.h"
#include "attention/formats/quote.h"
#include "attention/heads/detectors.h"

namespace headscope::app {

using attention::asSize;
using attention::Error;
using attention::Matrix;
using attention::Result;
using attention::Status;

namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
using Places = Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Result<StudiedText> fromJson(const std::string& line, const std::string& where) {
  const auto tree = attention::parseJsonTree(line, where);
  if (!tree) return tree.error();
  StudiedText text;
  if (!tree->is_object()) return Error{where + ": expected an object with \"text\""};
  for (const auto& [name, value] : tree->items()) {
    std::string* const to = name == "text"           ? &text.text
                            : name == "other"        ? &text.other
                            : name == "answer"       ? &text.answer
                            : name == "other_answer" ? &text.otherAnswer
                                                     : nullptr;
    if (!to)
      return Error{fmt::format("{}: {} is not one of text, other, answer and other_answer", where,
                               attention::quotedText(name))};
    if (!value.is_string())
      return Error{fmt::format("{}: {} is not a text", where, attention::quotedText(name))};
    *to = value.get<std::string>();
  }
  if (text.text.empty()) return Error{where + ": \"text\" is missing or empty"};
  return text;
}

/// Fills in the detectors and strongest weights of all heads.
void observe(const PairStudy& pair, StudiedHeads& out, const std::stop_token& stop) {
  const attention::ModelConfig& config = pair.opened->config();
  const Index layers = config.layerCount(), heads = config.heads;
  const attention::HeadText text(pair.a.text.tokens, pair.a.text.tokens, false);
  const auto all = attention::allDetectors();
  out.detectors.assign(all.size(), Matrix::Constant(layers, heads, kMissing));
  out.strongest = Matrix::Constant(layers, heads, kMissing);
  out.query = out.key = Places::Constant(layers, heads, -1);
  for (Index layer = 0; layer < layers && !stop.stop_requested(); ++layer) {
    const attention::LayerResult& made = *pair.a.run->layers[asSize(layer)];
    const MarkedMask mask(made.mask.formula);
    for (Index head = 0; head < heads; ++head) {
      const attention::MatrixView weights = made.weights[head];
      const Matrix& marks = mask.of(head);
      const auto profile =
          attention::profileHead({weights, {marks.data(), marks.rows(), marks.cols()}, text});
      for (std::size_t i = 0; i < all.size(); ++i)
        if (profile.scores[i].rows > 0) out.detectors[i](layer, head) = profile.scores[i].raw;
      // Key 0 is left out: heads with nothing to attend to look there.
      for (Index query = 0; query < weights.rows(); ++query)
        for (Index key = 1; key < std::min(query, weights.cols()); ++key)
          if (!(weights(query, key) <= out.strongest(layer, head))) {
            out.strongest(layer, head) = weights(query, key);
            out.query(layer, head) = query, out.key(layer, head) = key;
          }
    }
  }
}

double lossOf(const Eigen::Ref<const Eigen::RowVectorXf>& logits, Index id) {
  const double most = double{logits.maxCoeff()};
  return most + std::log((logits.cast<double>().array() - most).exp().sum()) - double{logits[id]};
}

/// Fills in the rise of the answer's loss without each head.
Status ablate(const PairStudy& pair, StudiedHeads& out, const std::stop_token& stop) {
  const attention::ModelConfig& config = pair.opened->config();
  const double own = lossOf(pair.a.run->logits.row(0), pair.answers.id);
  out.loss = Matrix::Constant(config.layerCount(), config.heads, kMissing);
  const Index together = runsPerPass(pair.a);
  for (Index layer = 0; layer < config.layerCount(); ++layer)
    for (Index first = 0; first < config.heads; first += together) {
      std::vector<std::vector<attention::Patch>> runs;
      for (Index head = first; head < std::min(first + together, config.heads); ++head)
        runs.push_back({{.layer = layer, .head = head}});
      const auto logits = patchedLogits(*pair.opened, pair.a, std::move(runs), stop);
      if (!logits) return logits.error();
      for (Index i = 0; i < logits->rows(); ++i)
        out.loss(layer, first + i) = static_cast<float>(lossOf(logits->row(i), pair.answers.id) - own);
    }
  return attention::success();
}

Status attribute(const PairStudy& pair, StudiedHeads& out, const std::stop_token& stop) {
  const auto found =
      attention::attributeLogit(pair.model(), *pair.a.run, pair.a.tokens() - 1, pair.answers, stop);
  if (!found) return found.error();
  out.attribution = Matrix::Zero(pair.opened->config().layerCount(), pair.opened->config().heads);
  for (const attention::Contribution& part : found->parts)
    if (part.by == attention::Writer::head)
      out.attribution(part.layer, part.head) = static_cast<float>(part.value);
  return attention::success();
}

Status measure(const Setup& setup, const TextMeasures& measures, Resources& resources,
               const std::stop_token& stop, StudiedHeads& out) {
  Setup own = setup;
  comparedText(own) = out.asked.text;
  PairQuestion question{modelQuestion(own), out.asked.other};
  for (const auto& [typed, id] : {std::pair(&out.asked.answer, &question.answer),
                                  std::pair(&out.asked.otherAnswer, &question.otherAnswer)}) {
    if (typed->empty()) continue;
    const auto found = answerId(*setup.subject.opened, *typed);
    if (!found) return found.error();
    *id = *found;
  }
  auto studied = studyPair(question, resources, stop);
  if (!studied) return studied.error();
  const auto pair = std::make_shared<const PairStudy>(*std::move(studied));
  const auto& tokenizer = *pair->opened->tokenizer;
  const auto word = [&](Index id) {
    return tokenizer.decode(std::vector{static_cast<attention::TokenId>(id)});
  };
  out.answers = pair->answers;
  out.answer = word(pair->answers.id).ok() ? *word(pair->answers.id) : "";
  out.otherAnswer = word(*pair->answers.other).ok() ? *word(*pair->answers.other) : "";
  out.difference = pair->a.difference;
  if (pair->b) out.otherDifference = pair->b->difference;
  for (const attention::Token& token : pair->a.text.tokens) out.tokens.push_back(token.text);
  if (measures.detectors) observe(*pair, out, stop);
  if (measures.loss)
    if (const Status status = ablate(*pair, out, stop); !status) return status;
  if (measures.attribution)
    if (const Status status = attribute(*pair, out, stop); !status) return status;
  if (!measures.patch || !pair->b) return attention::success();
  const auto grid = computePatchGrid(
      {{pair, false}, measures.piece}, [] { return Index{0}; }, [](const PatchGrid&) {}, stop);
  if (!grid) return grid.error();
  out.patch = grid->recovered;
  return attention::success();
}

}  // namespace

Result<std::vector<StudiedText>> parseStudiedTexts(std::string_view bytes, const std::string& name) {
  std::vector<StudiedText> texts;
  Index line = 0;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    std::string one(bytes.substr(0, end));
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    ++line;
    if (one.ends_with('\r')) one.pop_back();
    if (one.find_first_not_of(" \t") == std::string::npos) continue;
    StudiedText text;
    if (one.starts_with('{')) {
      auto read = fromJson(one, fmt::format("{}, line {}", name, line));
      if (!read) return read.error();
      text = *std::move(read);
    } else {
      text.text = std::move(one);
    }
    text.line = line;
    texts.push_back(std::move(text));
  }
  if (texts.empty()) return Error{name + " has no text, expected one a line"};
  return texts;
}

Result<Index> answerId(const OpenModel& opened, const std::string& answer) {
  if (!opened.tokenizer) return Error{"the model has no tokenizer"};
  std::size_t count = 0;
  const std::string spaced = answer.starts_with(' ') ? answer : " " + answer;
  for (const std::string& typed : {spaced, answer}) {
    const auto encoded = opened.tokenizer->encode(typed, attention::SpecialTokens::leaveOut);
    if (!encoded) return encoded.error();
    if (encoded->ids.size() == 1) return static_cast<Index>(encoded->ids.front());
    count = std::max(count, encoded->ids.size());
  }
  return Error{fmt::format("the answer {} is {} tokens of this model, expected one",
                           attention::quotedText(answer), count)};
}

StudiedHeads studyText(const Setup& setup, const StudiedText& text, const TextMeasures& measures,
                       Resources& resources, std::stop_token stop) {
  StudiedHeads out;
  out.asked = text;
  if (const Status status = measure(setup, measures, resources, stop, out); !status)
    out.problem = status.error().message;
  return out;
}

std::vector<std::pair<std::string, const Matrix*>> columnsOf(const StudiedHeads& text) {
  std::vector<std::pair<std::string, const Matrix*>> columns;
  const auto all = attention::allDetectors();
  for (std::size_t i = 0; i < text.detectors.size(); ++i)
    columns.emplace_back(std::string(all[i]->name), &text.detectors[i]);
  for (const auto& [name, matrix] :
       {std::pair("loss", &text.loss), {"attribution", &text.attribution}, {"patch", &text.patch}})
    if (matrix->size() > 0) columns.emplace_back(name, matrix);
  return columns;
}

std::vector<HeadColumn> summariseTexts(const std::vector<StudiedHeads>& texts, Index layers, Index heads) {
  std::vector<HeadColumn> columns;
  const auto columnAt = [&](const std::string& name) -> HeadColumn& {
    const auto found = std::ranges::find(columns, name, &HeadColumn::name);
    if (found != columns.end()) return *found;
    HeadColumn& made = columns.emplace_back();
    made.name = made.title = name;
    for (const attention::Detector* detector : attention::allDetectors())
      if (detector->name == name) made.title = detector->title;
    for (const auto& [other, title] : {std::pair("loss", "loss without it"), {"patch", "patching effect"}})
      if (name == other) made.title = title;
    made.mean = made.spread = Matrix::Zero(layers, heads);
    made.most = Places::Constant(layers, heads, -1);
    made.texts = Places::Zero(layers, heads);
    return made;
  };
  // One pass over all texts.
  for (Index i = 0; i < std::ssize(texts); ++i)
    for (const auto& [name, values] : columnsOf(texts[asSize(i)])) {
      if (values->rows() != layers || values->cols() != heads)
        continue;  // columns aren't heads: kv heads, or tokens, which differ between texts
      HeadColumn& column = columnAt(name);
      for (Index cell = 0; cell < values->size(); ++cell) {
        const float value = values->data()[cell];
        if (!std::isfinite(value)) continue;
        // Welford 1962: updates the mean and the sum of squared deviations.
        const Index count = ++column.texts.data()[cell];
        float& mean = column.mean.data()[cell];
        const float before = value - mean;
        mean += before / static_cast<float>(count);
        column.spread.data()[cell] += before * (value - mean);
        Index& most = column.most.data()[cell];
        if (most < 0) {
          most = i;
          continue;
        }
        for (const auto& [other, known] : columnsOf(texts[asSize(most)]))
          if (other == name && known->data()[cell] < value) {
            most = i;
            break;
          }
      }
    }
  for (HeadColumn& column : columns)
    for (Index cell = 0; cell < column.mean.size(); ++cell) {
      const Index count = column.texts.data()[cell];
      column.spread.data()[cell] =
          count > 0 ? std::sqrt(column.spread.data()[cell] / static_cast<float>(count)) : kMissing;
      if (count == 0) column.mean.data()[cell] = kMissing;
    }
  return columns;
}

}  // namespace headscope::app
