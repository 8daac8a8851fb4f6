#pragma once

#include "app/scene/json_reader.h"
#include "app/scene/pen.h"

namespace headscope::app {

/// Strokes as a list of objects, each with its points in one list: x, y, x, y, ….
Json valueJson(const SharedStrokes& strokes);
/// Reads them back from field `key`, which may be absent. Notes errors in the reader.
void readValue(ObjectReader& reader, const char* key, SharedStrokes& strokes);

}  // namespace headscope::app
