#pragma once

#include <string>
#include <string_view>

#include "attention/models/config_reader.h"

namespace headscope::attention {

/// What is said of a type that no family has, in the field model_type or architectures: which family is
/// nearest, by its name or by the fields of its config.json, and how its attention is seen all the same. An
/// empty `type`: the file names none.
std::string unknownFamily(const ConfigReader& json, std::string_view type, std::string_view field);

/// How attention of a model that isn't computed here is shown: recorded where it is.
inline constexpr std::string_view kRecordInstead =
    "Its attention can be recorded in Python and shown: see headscope python.";

}  // namespace headscope::attention
