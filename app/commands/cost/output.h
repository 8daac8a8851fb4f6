#pragma once

#include <string>
#include <vector>

#include "app/compute/cost/cost_catalogue.h"
#include "attention/cache/model_cost.h"

namespace headscope::app {

/// Everything `headscope cost` says of one request.
struct CostReport {
  attention::ModelShape shape;
  attention::CostRequest request;
  attention::CacheCost cost;
  attention::ShapeParameters parameters;
  attention::PrefillWork prefill;
  attention::DecodeWork decode;
  std::vector<std::string> warnings;
};

/// The shape splits over the request's GPUs.
CostReport costReport(const attention::ModelShape& shape, const attention::CostRequest& request);

std::string costTable(const CostReport& report);
std::string costJson(const CostReport& report);
std::string listTable(const CostCatalogue& catalogue);
std::string listJson(const CostCatalogue& catalogue);

}  // namespace headscope::app
