#include "app/compute/layer/model_fault.h"

#include <fmt/core.h>

#include "attention/formats/quote.h"

namespace headscope::app {

std::string modelFault(const OpenModel& opened, std::span<const attention::Index> ids,
                       attention::PassParts parts, const std::stop_token& stop) {
  const attention::Model& model = *opened.model;
  // Table rows that this text doesn't use can't be the cause.
  parts.embedding = parts.embedding && !model.embed(ids, 0).allFinite();
  auto fault = attention::findTensorFault(model, parts, stop);
  // A head without its own tensor shares the embedding table.
  if (!fault && parts.head) fault = attention::findTensorFault(model, {.embedding = true}, stop);
  if (!fault)
    return opened.name + ": its values exceed 3.4·10³⁸, the fp32 maximum, though its weights are finite.";
  const std::string where = fault->layer >= 0 ? fmt::format("from layer {} on", fault->layer)
                            : parts.embedding ? "from the embedding on"
                                              : "in its predictions";
  return fmt::format("{}: tensor {} is {} at {}, so not all numbers {} are finite.", opened.name,
                     attention::quotedText(fault->tensor), fault->value, fault->at, where);
}

}  // namespace headscope::app
