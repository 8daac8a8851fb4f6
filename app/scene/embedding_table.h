#pragma once

#include <string>
#include <string_view>

#include "app/scene/scene.h"

namespace headscope::app {

/// Makes `table` the scene's embeddings and keeps the text. Changes what conflicts with a table: drops the
/// second text, replaces planted heads, which read parts that other tables don't have, and adapts the sizes.
void takeTable(Scene& scene, attention::Table table);

/// The same for a table made from the scene's own embeddings, as wide as the model. Keeps planted heads,
/// since its columns are the parts they read.
void takeOwnTable(Scene& scene, attention::Table table);

/// Takes an edited version of the scene's table: like takeOwnTable() if the embeddings are that table and
/// keep their width, else like takeTable().
void editTable(Scene& scene, attention::Table table);

/// Parses what a spreadsheet copied. Returns an Error, a sentence, if it isn't a table, if its rows differ in
/// length, or if it is too large for a scene.
attention::Result<attention::Table> pastedTable(std::string_view text);

// Edits of a table's tokens. They throw std::invalid_argument if a row doesn't exist.

void swapTokens(attention::Table& table, Index a, Index b);
/// Inserts the copy after row `at`.
void duplicateToken(attention::Table& table, Index at);
void removeToken(attention::Table& table, Index at);
/// Inserts a token called `name`, the mean of all others, before row `at` or at the end.
void insertToken(attention::Table& table, Index at, const std::string& name);

}  // namespace headscope::app
