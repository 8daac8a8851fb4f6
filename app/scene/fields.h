#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "app/scene/field.h"

namespace headscope::app {

/// All fields of the document, in the order of its JSON, with the fields of an object together. Files,
/// validation, controls, the manual's table and the tests' random scenes use this list. A new field needs a
/// member of the scene and a row here.
const std::vector<Field>& allFields();

/// Returns the row of a path. Throws std::invalid_argument if there is none.
const Field& fieldAt(std::string_view path);

/// Field names in older files, and the current names.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kFormerPaths{
    {{"cursor.cache_room", "cursor.cache_view"},
     {"cursor.studio.room", "cursor.studio.view"},
     {"cursor.lab.room", "cursor.lab.view"}}};

/// Formats the manual's table of fields as Markdown.
std::string fieldsMarkdown();

// The rows, by area.
std::span<const Field> setupFields();
std::span<const Field> maskFields();
std::span<const Field> compareFields();
std::span<const Field> costFields();
std::span<const Field> viewFields();

}  // namespace headscope::app
