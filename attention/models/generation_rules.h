#pragma once

#include <optional>
#include <string>

#include "attention/models/config_reader.h"

namespace headscope::attention {

/// A sentence that names the rules in a `file` by which transformers' generate() would choose other tokens
/// than Headscope, which samples from the model's own predictions; nothing if there are none. How they are
/// sampled (temperature, top_k, top_p) is left out: that is chosen beside Generate. Fields as in
/// transformers' GenerationConfig; config.json has them too in older checkpoints.
std::optional<std::string> rulesNotApplied(const ConfigReader& json, const std::string& file);

}  // namespace headscope::attention
