#pragma once

#include "app/scene/field.h"
#include "app/scene/json_reader.h"

namespace headscope::app {

// Fields of a mask. Reading leaves a value alone if its key is missing, and notes errors in the reader.

/// Layers as a mask expression.
Json valueJson(const SharedLayers& layers);
void readValue(ObjectReader& in, const char* key, SharedLayers& layers);
/// Paintings as lists of rows of runs.
Json valueJson(const Paintings& paintings);
void readValue(ObjectReader& in, const char* key, Paintings& paintings);
/// Marks as one object per line.
Json valueJson(const SharedMarks& marks);
void readValue(ObjectReader& in, const char* key, SharedMarks& marks);

/// Reads the mask of a version 1 scene, which had only causal, padding, one window and sinks.
void readFirstMask(ObjectReader& in, MaskSetup& mask);

}  // namespace headscope::app
