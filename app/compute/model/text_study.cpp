#include "app/compute/model/text_study.h"

#include <fmt/core.h>

#include "app/compute/heads/head_studies.h"
#include "app/compute/model/layer_summary.h"
#include "app/compute/model/passes.h"
#include "attention/formats/json_tree.h"

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
void observe(const PairStudy& pair, const Matrix& copying, StudiedHeads& out, const std::stop_token& stop) {
  const attention::ModelConfig& config = pair.opened->config();
  const Index layers = config.layerCount(), heads = config.heads;
  attention::HeadText text(pair.a.text.tokens, pair.keyTokens(pair.a), false, 0,
                           pair.opened->isCrossAttention);
  text.compareIds(pair.a.text.ids, pair.keyIds(pair.a));
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
        if (profile.scores[i].rows > 0)
          out.detectors[i](layer, head) = profile.scores[i].raw;
        else if (all[i]->ofMaps && copying.size() > 0)
          out.detectors[i](layer, head) = copying(layer, head);
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
  return logSumExp(logits) - double{logits[id]};
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

Status measure(const Setup& setup, const TextMeasures& measures, const Matrix& copying, Resources& resources,
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
  if (measures.detectors) observe(*pair, copying, out, stop);
  if (measures.loss)
    if (const Status status = ablate(*pair, out, stop); !status) return status;
  if (measures.attribution)
    if (const Status status = attribute(*pair, out, stop); !status) return status;
  if (!measures.patch || !pair->b) return attention::success();
  const PatchGridQuestion patches{{pair, false}, measures.piece};
  const auto grid = computePatchGrid(
      patches, [] { return Index{0}; }, [](const PatchGrid&) {}, stop);
  if (!grid) return grid.error();
  out.patchPerHead = !patches.columnsAreTokens() && patches.columns() == pair->opened->config().heads;
  out.patch = grid->recovered;
  return attention::success();
}

}  // namespace

Result<std::optional<StudiedText>> parseStudiedLine(std::string_view bytes, Index line,
                                                    const std::string& name) {
  if (line == 1) {
    const auto plain = attention::utf8Text(bytes);
    if (!plain) return Error{name + " " + plain.error().message};
    bytes = *plain;
  }
  if (bytes.ends_with('\r')) bytes.remove_suffix(1);
  if (bytes.find_first_not_of(" \t") == std::string_view::npos) return std::optional<StudiedText>();
  StudiedText text;
  if (bytes.starts_with('{')) {
    auto read = fromJson(std::string(bytes), fmt::format("{}, line {}", name, line));
    if (!read) return read.error();
    text = *std::move(read);
  } else {
    text.text = bytes;
  }
  text.line = line;
  return std::optional(std::move(text));
}

Result<std::vector<StudiedText>> parseStudiedTexts(std::string_view bytes, const std::string& name) {
  std::vector<StudiedText> texts;
  for (Index line = 1; !bytes.empty(); ++line) {
    const std::size_t end = bytes.find('\n');
    auto text = parseStudiedLine(bytes.substr(0, end), line, name);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    if (!text) return text.error();
    if (*text) texts.push_back(**std::move(text));
  }
  if (texts.empty()) return Error{name + " has no text, expected one per line"};
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

Matrix copyingOfHeads(const std::shared_ptr<const OpenModel>& opened, const std::stop_token& stop) {
  const attention::ModelConfig& config = opened->config();
  Matrix all(config.layerCount(), config.heads);
  for (Index cell = 0; cell < all.size(); ++cell) {
    const auto copying = headCopying({opened, cell / config.heads, cell % config.heads}, stop);
    if (!copying) return {};
    all.data()[cell] = static_cast<float>(*copying);
  }
  return all;
}

StudiedHeads studyText(const Setup& setup, const StudiedText& text, const TextMeasures& measures,
                       Resources& resources, std::stop_token stop, const Matrix& copying) {
  StudiedHeads out;
  out.asked = text;
  if (const Status status = measure(setup, measures, copying, resources, stop, out); !status)
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

TextSummary::Sums& TextSummary::sumsOf(const std::string& name) {
  const auto found = std::ranges::find_if(all_, [&](const Sums& sums) { return sums.column.name == name; });
  if (found != all_.end()) return *found;
  Sums& made = all_.emplace_back();
  HeadColumn& column = made.column;
  column.name = column.title = name;
  for (const attention::Detector* detector : attention::allDetectors())
    if (detector->name == name) column.title = detector->title;
  for (const auto& [other, title] : {std::pair("loss", "loss without it"), {"patch", "patching effect"}})
    if (name == other) column.title = title;
  column.mean = column.spread = Matrix::Zero(layers_, heads_);
  column.most = Places::Constant(layers_, heads_, -1);
  column.texts = Places::Zero(layers_, heads_);
  made.most = Matrix::Constant(layers_, heads_, kMissing);
  return made;
}

void TextSummary::add(Index at, const StudiedHeads& text) {
  for (const auto& [name, values] : columnsOf(text)) {
    if (values == &text.patch && !text.patchPerHead) continue;
    Sums& sums = sumsOf(name);
    HeadColumn& column = sums.column;
    for (Index cell = 0; cell < values->size(); ++cell) {
      const float value = values->data()[cell];
      if (!std::isfinite(value)) continue;
      // Welford 1962: updates the mean and the sum of squared deviations.
      const Index count = ++column.texts.data()[cell];
      float& mean = column.mean.data()[cell];
      const float before = value - mean;
      mean += before / static_cast<float>(count);
      column.spread.data()[cell] += before * (value - mean);
      if (float& most = sums.most.data()[cell]; !(value <= most)) {
        most = value;
        column.most.data()[cell] = at;
      }
    }
  }
}

std::vector<HeadColumn> TextSummary::columns() const {
  std::vector<HeadColumn> columns;
  for (const Sums& sums : all_) {
    HeadColumn& column = columns.emplace_back(sums.column);
    for (Index cell = 0; cell < column.mean.size(); ++cell) {
      const Index count = column.texts.data()[cell];
      column.spread.data()[cell] =
          count > 0 ? std::sqrt(column.spread.data()[cell] / static_cast<float>(count)) : kMissing;
      if (count == 0) column.mean.data()[cell] = kMissing;
    }
  }
  return columns;
}

std::vector<HeadColumn> summariseTexts(const std::vector<StudiedHeads>& texts, Index layers, Index heads) {
  TextSummary summary(layers, heads);
  for (Index i = 0; i < std::ssize(texts); ++i) summary.add(i, texts[asSize(i)]);
  return summary.columns();
}

}  // namespace headscope::app
