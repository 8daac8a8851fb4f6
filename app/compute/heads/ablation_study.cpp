#include "app/compute/heads/ablation_study.h"

#include "app/compute/layer/head_switches.h"
#include "app/compute/layer/output_map.h"

namespace headscope::app {

AblationStudy studyAblation(const std::shared_ptr<const LayerParts>& layer, std::stop_token stop) {
  AblationStudy study;
  study.question = layer;
  const SequenceSnapshot& sequence = layer->sequence();
  const attention::Stack& heads = sequence.attention.headOutput;
  const OutputMap map = outputMapOf(*layer);
  study.whole = map.apply(heads, stop);
  if (stop.stop_requested()) return study;
  study.shares =
      attention::headShares({heads, map.columns, map.bias, study.whole, sequence.queryLength}, stop);
  const Setup& setup = layer->question.snapshot->setup;
  for (Index head = 0; head < heads.count(); ++head)
    if (switchedOff(setup.subject, shownLayer(setup), head)) study.off.push_back(head);
  study.together = study.off.empty() ? attention::Vector::Zero(heads.rows())
                                     : attention::rowChanges(study.whole, sequence.attention.output);
  return study;
}

}  // namespace headscope::app
