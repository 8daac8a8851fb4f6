#pragma once

#include "app/scene/json_reader.h"
#include "app/scene/scene.h"

namespace headscope::app {

/// A table as a list of rows, each with a name and its values.
Json valueJson(const SharedTable& table);
/// Reads it back from field `key`, which may be absent. Notes errors in the reader.
void readValue(ObjectReader& reader, const char* key, SharedTable& table);

}  // namespace headscope::app
