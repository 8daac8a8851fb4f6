#pragma once

#include "app/scene/field.h"
#include "app/scene/json_reader.h"

namespace headscope::app {

// Fields of a mask. Reading leaves a value alone where its key is missing, and notes what is wrong with it.

/// Layers as the text form of expressions.
Json valueJson(const SharedLayers& layers);
void readValue(ObjectReader& in, const char* key, SharedLayers& layers);
/// Paintings as lists of rows of runs.
Json valueJson(const Paintings& paintings);
void readValue(ObjectReader& in, const char* key, Paintings& paintings);
/// Marks as an object for each line.
Json valueJson(const SharedMarks& marks);
void readValue(ObjectReader& in, const char* key, SharedMarks& marks);

/// The mask of a version 1 scene, which knew causal, padding, one window and sinks.
void readFirstMask(ObjectReader& in, MaskSetup& mask);

}  // namespace headscope::app
