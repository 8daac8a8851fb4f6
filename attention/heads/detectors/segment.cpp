#include <algorithm>

#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {
namespace {

/// If a narrower behaviour has this share of the segment's weight, it labels the head.
constexpr float kMostOfSegment = 2.0f / 3;

/// Computes the weight on targets by runs, since a segment may be the whole text.
DetectorScore inSegment(const ObservedHead& head) {
  double weight = 0, baseline = 0;
  Index rows = 0;
  for (Index row = 0; row < head.rows(); ++row) {
    const KeyRun run = head.text().segmentOf(row);
    const Index end = std::min(run.end, head.visibleEnd(row));
    Index seen = 0;
    if (head.visible(row) == head.visibleEnd(row))
      seen = std::max<Index>(end - run.begin, 0);
    else
      for (Index key = run.begin; key < end; ++key) seen += head.sees(row, key);
    if (seen == 0) continue;
    weight += static_cast<double>(head.weights().row(row).segment(run.begin, end - run.begin).sum());
    baseline += static_cast<double>(seen) / static_cast<double>(head.visible(row));
    ++rows;
  }
  if (rows == 0) return {};
  const auto count = static_cast<double>(rows);
  return {static_cast<float>(weight / count), static_cast<float>(baseline / count), rows};
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

}  // namespace headscope::attention::detectors
