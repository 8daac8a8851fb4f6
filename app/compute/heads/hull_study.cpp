#include "app/compute/heads/hull_study.h"

#include <algorithm>

#include "attention/core/extremes.h"
#include "attention/heads/convex_hull.h"

namespace headscope::app {

using attention::Matrix;

HullStudy studyHull(const HullQuestion& question) {
  HullStudy study;
  study.question = question;
  const SequenceSnapshot& sequence = question.layer->sequence();
  const attention::AttentionResult& result = sequence.attention;
  const Index head = question.head, query = question.query;
  const attention::MatrixView values = result.v[question.layer->config().kvHeadOf(head)];
  study.plane = attention::principalPlane(values.topRows(sequence.keyLength));
  study.values = attention::onPlane(study.plane, values);
  study.outputs = attention::onPlane(study.plane, result.headOutput[head]);
  study.weights = result.weights[head].row(query).transpose();
  Matrix seen(values.rows(), 2);
  std::vector<Index> rows;
  for (Index key = 0; key < values.rows(); ++key) {
    study.visible.push_back(attention::visible(sequence.mask, head, query, key));
    if (!study.visible.back()) continue;
    seen.row(std::ssize(rows)) = study.values.row(key);
    rows.push_back(key);
  }
  seen.conservativeResize(std::ssize(rows), Eigen::NoChange);
  const std::vector<Index> corners = attention::convexHull(seen);
  for (const Index corner : corners) study.corners.push_back(rows[static_cast<std::size_t>(corner)]);
  study.mixes = !rows.empty() && question.layer->config().dropout.probability == 0;
  if (!rows.empty())
    study.outside =
        attention::distanceOutside(seen, corners, study.outputs(query, 0), study.outputs(query, 1));
  study.size = std::max(attention::largestFinite(study.values), attention::largestFinite(study.outputs));
  return study;
}

}  // namespace headscope::app
