#pragma once

#include "app/scene/scene.h"

namespace headscope::app {

// Heads, kv heads, head size and model dim have to fit each other. Setting one adjusts the others.

enum class AttentionKind { mha, gqa, mqa };
AttentionKind kindOf(const ModelSetup& model);
/// The kvHeads for `kind`; for GQA the divisor nearest to √heads that is neither 1 nor heads, or 1 if none.
Index kvHeadsFor(AttentionKind kind, Index heads);

/// An additional condition that the model has to meet.
using Suits = std::function<bool(const ModelSetup&)>;

/// Increases modelDim until the model meets `suits`, by whole heads if the head size is linked. Returns
/// whether it changed anything; it doesn't if the model already meets `suits` or no size does.
bool growModelDim(ModelSetup& model, const Suits& suits);

/// Divisors of `n`, ascending.
std::vector<Index> divisors(Index n);

/// Call after modelDim was set from outside. Makes heads and head size legal, changing as little as possible.
void fitModelTo(ModelSetup& model);

/// The numbers of kv heads that the model can have: divisors of its heads that meet `suits`, ascending, and
/// its own number.
std::vector<Index> kvHeadCounts(const ModelSetup& model, const Suits& suits);

/// The heads that the user chose, remembered while sliders change them, so that dragging back restores them:
/// GQA with 2 kv heads dragged down to one head and up again is GQA with 2 kv heads.
class ChosenHeads {
 public:
  /// Sets heads. kvHeads follow the chosen kind; for GQA, they become the divisor nearest to the chosen one.
  /// If that doesn't meet `suits`, a modelDim linked to the head size grows until it does; fewer heads take
  /// that back. If no size does, kvHeads become the nearest divisor that meets `suits`. Returns whether the
  /// result meets `suits`.
  bool setHeads(ModelSetup& model, Index heads, const Suits& suits = {});
  /// The numbers of heads that setHeads() can give to the model, ascending; its own number if there is none.
  std::vector<Index> headCounts(const ModelSetup& model, const Suits& suits) const;
  /// Sets modelDim. If it is linked to the head size, heads become the divisor nearest to the chosen number;
  /// then kvHeads follow as above.
  bool setModelDim(ModelSetup& model, Index modelDim, const Suits& suits = {});
  /// The number of heads the user chose last.
  Index heads(const ModelSetup& model);
  /// The modelDim the user chose last, from which it may have grown.
  Index modelDim(const ModelSetup& model);
  bool operator==(const ChosenHeads&) const = default;

 private:
  /// Starts over if something else changed the model: undo, a file, another control.
  void follow(const ModelSetup& model);
  bool settle(ModelSetup& model, const Suits& suits, bool mayGrow);

  AttentionKind kind_ = AttentionKind::mha;
  Index heads_ = 0, kvHeads_ = 0, modelDim_ = 0;
  Index leftHeads_ = 0, leftKvHeads_ = 0, leftModelDim_ = 0;  ///< the model as this class left it
};

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
