#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "app/scene/field.h"

namespace headscope::app {

/// Every field of the document, in the order of its JSON, the fields of one object after each other. Reading
/// and writing files, validation, the controls, the manual's table and the tests' random scenes walk this
/// list; a new field is a member of the scene and a row here.
const std::vector<Field>& allFields();

/// The row of a path; std::invalid_argument where there is none.
const Field& fieldAt(std::string_view path);

/// What older files call a field, and what it is called now.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kFormerPaths{
    {{"cursor.cache_room", "cursor.cache_view"},
     {"cursor.studio.room", "cursor.studio.view"},
     {"cursor.lab.room", "cursor.lab.view"}}};

/// The manual's table of the fields, in Markdown.
std::string fieldsMarkdown();

// The rows, by area.
std::span<const Field> setupFields();
std::span<const Field> maskFields();
std::span<const Field> compareFields();
std::span<const Field> costFields();
std::span<const Field> viewFields();

}  // namespace headscope::app
