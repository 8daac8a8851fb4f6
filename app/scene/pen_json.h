#pragma once

#include "app/scene/json_reader.h"
#include "app/scene/pen.h"

namespace headscope::app {

/// Strokes as a list of objects whose points are one list: x, y, x, y, ….
Json valueJson(const SharedStrokes& strokes);
/// The same read back from field `key`, which may be absent; what is wrong with it is noted in the reader.
void readValue(ObjectReader& reader, const char* key, SharedStrokes& strokes);

}  // namespace headscope::app
