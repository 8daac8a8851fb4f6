#pragma once

#include "app/scene/field.h"
#include "app/scene/json_reader.h"

namespace headscope::app {

/// Reads the member `key` into a field of the scene. Leaves the field alone if the member is missing; notes
/// errors in the reader.
void readField(ObjectReader& reader, const char* key, const Field& field, Scene& scene);
Json fieldJson(const Field& field, const Scene& scene);

/// Drops the names of a table if all are empty: painted biases have none, but a file may give empty ones.
void dropEmptyNames(SharedTable& table);

}  // namespace headscope::app
