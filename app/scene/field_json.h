#pragma once

#include "app/scene/field.h"
#include "app/scene/json_reader.h"

namespace headscope::app {

/// Reads the member `key` into a field of the scene; leaves it alone where there is none, and notes what is
/// wrong with it.
void readField(ObjectReader& reader, const char* key, const Field& field, Scene& scene);
Json fieldJson(const Field& field, const Scene& scene);

/// Biases as they are painted have no names; a file may give them empty ones.
void dropEmptyNames(SharedTable& table);

}  // namespace headscope::app
