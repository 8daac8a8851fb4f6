#pragma once

#include <string>
#include <string_view>

#include "app/scene/scene.h"

namespace headscope::app {

/// The scene's embeddings are `table` from now on, and what doesn't go with any table gives way: a second
/// text, planted heads, whose parts a table from elsewhere doesn't have, and sizes. The text stays.
void takeTable(Scene& scene, attention::Table table);

/// The same with a table that was made from the scene's own embeddings: planted heads stay, since its columns
/// are the parts that they read. As wide as the model.
void takeOwnTable(Scene& scene, attention::Table table);

/// `table` is what an edit made of the scene's table: as takeOwnTable where the embeddings are that table and
/// keep their width, else as takeTable.
void editTable(Scene& scene, attention::Table table);

/// What a spreadsheet copied, as a table that a scene can have. Errors: what isn't a table, rows of different
/// length, and sizes beyond the limits, each in a sentence.
attention::Result<attention::Table> pastedTable(std::string_view text);

// What can be done with the tokens of a table. Throw std::invalid_argument for rows that aren't there.

void swapTokens(attention::Table& table, Index a, Index b);
/// The copy stands behind it.
void duplicateToken(attention::Table& table, Index at);
void removeToken(attention::Table& table, Index at);
/// A token called `name` before row `at`, or behind the last: the mean of all the others.
void insertToken(attention::Table& table, Index at, const std::string& name);

}  // namespace headscope::app
