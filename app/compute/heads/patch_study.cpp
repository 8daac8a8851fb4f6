#include "app/compute/heads/patch_study.h"

#include <fmt/core.h>

#include "app/compute/layer/head_switches.h"
#include "app/compute/layer/output_map.h"
#include "app/scene/text/number_text.h"
#include "attention/heads/head_shares.h"

namespace headscope::app {

using attention::Error;
using attention::Matrix;
using attention::Result;

Result<std::shared_ptr<const PatchStudy>> studyPatch(const PatchQuestion& question, Resources& resources,
                                                     std::stop_token stop) {
  const LayerParts& layer = *question.layer;
  const SequenceSnapshot& here = layer.sequence();
  const Index n = here.attention.weights.rows(), m = here.attention.weights.cols();
  Setup setup = layer.question.snapshot->setup;
  setup.input.text = question.text;
  setup.input.source = EmbeddingSource::text;
  setup.subject.written.clear();
  setup.mask.compare = false;
  TokenBatch batch = tokenizeBatch(setup);
  if (batch.error) return Error{"The other text: " + batch.error->message};
  if (batch.lines.empty()) return Error{"Type another text to take its pattern."};
  const Index queries = batch.lines.front().queryLength, keys = batch.lines.front().keyLength;
  if (batch.lines.size() > 1)
    return Error{fmt::format("The other text has {} lines, expected one.", batch.lines.size())};
  if (queries != here.queryLength || keys != here.keyLength)
    return Error{fmt::format("The other text has {}, expected {}, as in this text.", tokenCountText(queries),
                             countText(static_cast<std::uint64_t>(here.queryLength)))};
  auto study = std::make_shared<PatchStudy>();
  study->question = question;
  study->other = std::make_shared<const Snapshot>(computeSnapshot(setup, resources, stop));
  if (stop.stop_requested()) return Error{"stopped"};
  if (study->other->error) return Error{"The other text: " + study->other->error->message};
  // Padding of this text, absent from the other, keeps its own rows.
  study->weights = here.attention.weights[question.head];
  study->weights.topLeftCorner(queries, keys) = study->sequence().attention.weights[question.head];
  if (study->weights.rows() != n || study->weights.cols() != m) return Error{"The patterns' shapes differ."};
  const OutputMap map = outputMapOf(layer);
  const Index kv = layer.config().kvHeadOf(question.head);
  study->headOutput = study->weights * here.attention.v[kv];
  const attention::Matrix before = here.attention.headOutput[question.head];
  study->headChange = attention::rowChanges(before, study->headOutput);
  const Matrix added = (study->headOutput - before) * map.columns(question.head).transpose();
  study->output = here.attention.output;
  // A switched-off head contributes nothing to the output.
  if (!switchedOff(setup.subject, shownLayer(setup), question.head)) study->output += added;
  study->change = attention::rowChanges(here.attention.output, study->output);
  return std::shared_ptr<const PatchStudy>(std::move(study));
}

}  // namespace headscope::app
