#include <unordered_map>

#include "attention/core/score_terms.h"
#include "attention/heads/detectors/detector.h"
#include "attention/heads/head_steps.h"

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

namespace headscope::attention::detectors {

namespace {

/// Labels describe where a head looks, not what it writes.
constexpr auto kNeverLabels = [](const HeadProfile&) { return false; };

}  // namespace

extern const Detector sameToken{
    .name = "same_token",
    .title = "same token",
    .shortName = "same",
    .help =
        "The mean weight on earlier occurrences of the same token: mean of Σ A[i][j] over j < i with "
        "t_j = t_i, over the rows that see one.",
    .planted = PlantedHead{Behaviour::sameToken},
    .targets = [](const HeadText& text, Index row, std::vector<Index>& keys) {
      const std::span<const Index> like = text.keysLike(row);
      // In cross-attention, a token counts at any position.
      const auto end =
          text.crossAttention() ? like.end() : std::ranges::lower_bound(like, text.positionOf(row));
      keys.insert(keys.end(), like.begin(), end);
    }};

extern const Detector copying{
    .name = "copying",
    .title = "copying",
    .shortName = "copies",
    .help =
        "Whether the head raises the tokens it reads: Σ Re λ / Σ |λ| over the eigenvalues of "
        "W_E·W_V·W_O·W_U, whatever A[i][j]; 1 copies, −1 suppresses (Elhage et al. 2021).",
    .planted = std::nullopt,
    // Needs the whole model: copyingScores().
    .ofMaps = [](const HeadMaps&) { return DetectorScore{}; },
    .mayLabel = kNeverLabels};

extern const Detector voEigenvalues{
    .name = "vo_eigenvalues",
    .title = "W_VO eigenvalues",
    .shortName = "W_VO",
    .help =
        "Whether the head writes along what it reads: Σ Re λ / Σ |λ| over the eigenvalues of W_V·W_O, "
        "whatever A[i][j], without the vocabulary; 1 along it, −1 against it.",
    .planted = std::nullopt,
    .ofMaps =
        [](const HeadMaps& maps) {
          return DetectorScore{static_cast<float>(copyingScore(maps.v, maps.o)), 0, 1};
        },
    .mayLabel = kNeverLabels};

extern const Detector induction{
    .name = "induction",
    .title = "induction",
    .shortName = "ind",
    .help =
        "The mean weight on what followed the same token before: mean of Σ A[i][j] over 1 ≤ j ≤ i with "
        "t_{j−1} = t_i, over the rows that see one (Olsson et al. 2022).",
    .planted = std::nullopt,  // needs two layers
    .targets =
        [](const HeadText& text, Index row, std::vector<Index>& keys) {
          if (text.crossAttention()) return;
          for (const Index like : text.keysLike(row))
            if (like < text.positionOf(row)) keys.push_back(like + 1);
        },
    // Induction says that two layers work together, which one row can't show: a head with one sharp peak per
    // row puts it on this key by chance as often as on any other.
    .fewestRows = 2};

namespace {

/// If a narrower behaviour has this share of the segment's weight, it labels the head.
constexpr float kMostOfSegment = 2.0f / 3;

/// Computes the weight on targets by runs, since a segment may be the whole text.
DetectorScore inSegment(const ObservedHead& head) {
  RowMeans means;
  for (Index row = 0; row < head.rows(); ++row) {
    const KeyRun run = head.text().segmentOf(row);
    const Index end = std::min(run.end, head.visibleEnd(row));
    Index seen = 0;
    if (head.visible(row) == head.visibleEnd(row))
      seen = std::max<Index>(end - run.begin, 0);
    else
      for (Index key = run.begin; key < end; ++key) seen += head.sees(row, key);
    if (seen == 0) continue;
    means.raw += static_cast<double>(head.weights().row(row).segment(run.begin, end - run.begin).sum());
    means.baseline += static_cast<double>(seen) / static_cast<double>(head.visible(row));
    ++means.rows;
  }
  return means.score();
}

}  // namespace

extern const Detector segment{.name = "segment",
                              .title = "own segment",
                              .shortName = "segment",
                              .help =
                                  "The mean weight inside the query's own sentence or marked document: mean "
                                  "of Σ A[i][j] over the keys j "
                                  "of its segment, over the rows that see one.",
                              .planted = std::nullopt,
                              .targets =
                                  [](const HeadText& text, Index row, std::vector<Index>& keys) {
                                    const KeyRun run = text.segmentOf(row);
                                    for (Index key = run.begin; key < run.end; ++key) keys.push_back(key);
                                  },
                              .measure = inSegment,
                              .mayLabel =
                                  [](const HeadProfile& profile) {
                                    const float narrower =
                                        std::max({profile["local_band"].raw, profile["offset"].raw,
                                                  profile["separator"].raw, profile["same_token"].raw});
                                    return narrower < kMostOfSegment * profile["segment"].raw;
                                  },
                              .compactName = [](Index) { return std::string("segm."); }};

extern const Detector separator{.name = "separator",
                                .title = "separator",
                                .shortName = "sep",
                                .help =
                                    "The mean weight on punctuation: mean of Σ A[i][j] over the keys j that "
                                    "are separators, over the rows "
                                    "that see one.",
                                .planted = PlantedHead{Behaviour::separator},
                                .targets = [](const HeadText& text, Index, std::vector<Index>& keys) {
                                  keys.insert(keys.end(), text.separators().begin(), text.separators().end());
                                }};

}  // namespace headscope::attention::detectors
