#include "attention/heads/detectors/head_text.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "attention/core/result.h"
#include "attention/core/score_rows.h"

namespace headscope::attention {

namespace {

std::vector<std::string> identitiesOf(std::span<const Token> tokens, bool ignoreCase) {
  std::vector<std::string> identities;
  for (const Token& token : tokens) identities.push_back(tokenIdentity(token, ignoreCase));
  return identities;
}

}  // namespace

HeadText::HeadText(std::span<const Token> queries, std::span<const Token> keys, bool ignoreCase,
                   Index firstPosition, bool crossAttention)
    : keys_(std::ssize(keys)), firstPosition_(firstPosition), crossAttention_(crossAttention) {
  require(firstPosition >= 0, "the first query comes before the first key");
  group(identitiesOf(queries, ignoreCase), identitiesOf(keys, ignoreCase));
  for (Index j = 0; j < keys_; ++j)
    if (keys[static_cast<std::size_t>(j)].separator) separators_.push_back(j);
  divide(structureOf(crossAttention ? queries : keys, keys, {}));
}

template <typename Identity>
void HeadText::group(const std::vector<Identity>& queries, const std::vector<Identity>& keys) {
  std::unordered_map<Identity, std::size_t> known;
  groups_.assign(1, {});
  groupOf_.clear();
  for (std::size_t j = 0; j < keys.size(); ++j) {
    const auto [group, isNew] = known.try_emplace(keys[j], groups_.size());
    if (isNew) groups_.emplace_back();
    groups_[group->second].push_back(static_cast<Index>(j));
  }
  for (const Identity& query : queries) {
    const auto group = known.find(query);
    groupOf_.push_back(group == known.end() ? 0 : group->second);
  }
}

void HeadText::compareIds(std::span<const Index> queries, std::span<const Index> keys) {
  require(std::ssize(queries) == this->queries() && std::ssize(keys) == keys_,
          "the numbers of ids and tokens differ");
  const auto none = [](Index id) { return id < 0; };
  if (std::ranges::any_of(queries, none) || std::ranges::any_of(keys, none)) return;
  group<Index>({queries.begin(), queries.end()}, {keys.begin(), keys.end()});
}

void HeadText::divide(const TextStructure& structure) {
  if (crossAttention_) {
    starts_ = structure.querySegments;
    segments_ = structure.keySegments;
  } else {
    starts_ = structure.documentStarts;
    segments_.clear();
    for (std::size_t i = 0; i < starts_.size(); ++i)
      segments_.push_back({starts_[i], i + 1 < starts_.size() ? starts_[i + 1] : keys_});
  }
  if (starts_.empty()) starts_ = {0};
  if (segments_.empty()) segments_ = {{0, keys_}};
}

KeyRun HeadText::segmentOf(Index row) const {
  const auto behind = std::ranges::upper_bound(starts_, crossAttention_ ? row : positionOf(row));
  const auto part = static_cast<std::size_t>(std::max<std::ptrdiff_t>(behind - starts_.begin() - 1, 0));
  return segments_[std::min(part, segments_.size() - 1)];  // further parts use the last segment
}

ObservedHead::ObservedHead(const MatrixView& weights, const MatrixView& scores, const HeadText& text)
    : weights_(weights), scores_(scores), text_(text) {
  const std::string shape = shapeText(weights.rows(), weights.cols());
  require(scores.rows() == weights.rows() && scores.cols() == weights.cols(),
          "observed head: scores are " + shapeText(scores.rows(), scores.cols()) + ", weights " + shape);
  require(text.queries() == weights.rows() && text.keys() == weights.cols(),
          "observed head: a text of " + shapeText(text.queries(), text.keys()) + " for weights " + shape);
  visible_.reserve(static_cast<std::size_t>(rows()));
  visibleEnds_.reserve(static_cast<std::size_t>(rows()));
  for (Index row = 0; row < rows(); ++row) {
    const SeenKeys seen = seenKeys(scores.row(row).data(), asSize(cols()));
    visible_.push_back(static_cast<Index>(seen.count));
    visibleEnds_.push_back(static_cast<Index>(seen.end));
  }
}

bool ObservedHead::sees(Index row, Index key) const {
  return scores_(row, key) > kMinusInfinity;
}

}  // namespace headscope::attention
