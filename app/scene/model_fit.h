#pragma once

#include <functional>

#include "app/scene/scene.h"

namespace headscope::app {

// Heads, kv heads, head size and model dim have to fit each other. When one is set, the others give way.

enum class AttentionKind { mha, gqa, mqa };
AttentionKind kindOf(const ModelSetup& model);
/// kvHeads for `kind`; for GQA the divisor nearest to √heads that is neither 1 nor heads, if there is one.
Index kvHeadsFor(AttentionKind kind, Index heads);

/// Whether something else that the model has to suit can be done with it.
using Suits = std::function<bool(const ModelSetup&)>;

/// Makes modelDim so large that the model `suits`, whole heads of it where the head size is linked; whether
/// it had to. Leaves the model as it is where no size does.
bool growModelDim(ModelSetup& model, const Suits& suits);

/// Divisors of `n`, ascending.
std::vector<Index> divisors(Index n);

/// After modelDim was set from outside: keeps heads and head size legal, changing as little as possible.
void fitModelTo(ModelSetup& model);

/// What the person chose of the heads, kept while sliders push it aside, so that dragging back brings it
/// back: GQA with 2 kv heads dragged down to one head and up again is GQA with 2 kv heads.
class ChosenHeads {
 public:
  /// kvHeads become the number that the chosen kind asks for, of GQA the divisor nearest to the chosen one
  /// that `suits`. Returns whether what came out does.
  bool setHeads(ModelSetup& model, Index heads, const Suits& suits = {});
  /// Where modelDim and the head size are linked, heads become the number nearest to the chosen one that
  /// divides it; then kvHeads as above.
  bool setModelDim(ModelSetup& model, Index modelDim, const Suits& suits = {});
  /// The number of heads the person chose last.
  Index heads(const ModelSetup& model);
  bool operator==(const ChosenHeads&) const = default;

 private:
  /// Starts anew where the model was changed by somebody else: undo, a file, another control.
  void follow(const ModelSetup& model);
  bool settle(ModelSetup& model, const Suits& suits);

  AttentionKind kind_ = AttentionKind::mha;
  Index heads_ = 0, kvHeads_ = 0;
  Index leftHeads_ = 0, leftKvHeads_ = 0, leftModelDim_ = 0;  ///< as the model was left
};

}  // namespace headscope::app
