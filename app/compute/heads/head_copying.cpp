#include "app/compute/heads/head_copying.h"

#include "attention/heads/spectrum.h"
#include "attention/models/checkpoint/weight_slices.h"

namespace headscope::app {

attention::Result<double> headCopying(const CopyingQuestion& question, std::stop_token stop) {
  const attention::Model& model = *question.opened->model;
  const attention::ModelConfig& config = model.config();
  if (const attention::Status status = config.checkHeadMaps(); !status) return status.error();
  if (config.cross())
    return attention::Error{
        "Cross heads read the encoder's stream and write to the decoder's: nothing is copied."};
  const auto& weights = model.weights().layers[static_cast<std::size_t>(question.layer)];
  const Index size = config.headDim, kv = question.head * config.kvHeads / config.heads;
  const attention::Matrix v = attention::weightRows(weights.v, kv * size, size).transpose();
  attention::Matrix o = attention::weightColumns(weights.o, question.head * size, size);
  if (weights.attentionScale.size() > 0) o.array().colwise() *= weights.attentionScale.array();
  if (const attention::Status status = model.checkpoint().intact(); !status) return status.error();
  if (stop.stop_requested()) return attention::Error{"stopped"};
  return attention::copyingScore(v, o);
}

}  // namespace headscope::app
