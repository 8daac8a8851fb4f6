#include "app/scene/model_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace headscope::app {

bool growModelDim(ModelSetup& model, const Suits& suits) {
  if (!suits || suits(model)) return false;
  const Index even = model.position == PositionKind::rope ? 2 : 1,
              unit = model.linked ? model.heads * even : 1;
  ModelSetup grown = model;
  do {
    grown.modelDim += unit;
    if (grown.modelDim > kMaxModelDim) return false;
    if (grown.linked) grown.headDim = grown.modelDim / grown.heads;
  } while (!suits(grown));
  model = grown;
  return true;
}

std::vector<Index> divisors(Index n) {
  std::vector<Index> result;
  for (Index d = 1; d <= n; ++d)
    if (n % d == 0) result.push_back(d);
  return result;
}

AttentionKind kindOf(const ModelSetup& model) {
  if (model.kvHeads == model.heads) return AttentionKind::mha;
  return model.kvHeads == 1 ? AttentionKind::mqa : AttentionKind::gqa;
}

Index kvHeadsFor(AttentionKind kind, Index heads) {
  if (kind == AttentionKind::mha) return heads;
  if (kind == AttentionKind::mqa) return 1;
  const double wanted = std::sqrt(static_cast<double>(heads));
  Index best = 1;
  for (Index d : divisors(heads))
    if (d != 1 && d != heads && (best == 1 || std::abs(d - wanted) < std::abs(best - wanted))) best = d;
  return best;
}

namespace {

/// The number of kv heads for `heads` query heads, as near as possible to the chosen `wanted`.
Index kvHeadsNear(AttentionKind kind, Index wanted, Index heads) {
  if (kind != AttentionKind::gqa) return kvHeadsFor(kind, heads);
  Index best = 1;
  for (Index d : divisors(heads))
    if (std::abs(d - wanted) < std::abs(best - wanted)) best = d;
  return best;
}

/// The legal number of heads nearest to `wanted`; 0 if there is none.
Index headsNear(const ModelSetup& model, Index wanted) {
  const bool even = model.position == PositionKind::rope;
  Index best = 0;
  for (Index heads = 1; heads <= kMaxHeads; ++heads) {
    const Index headDim = model.modelDim / heads;
    const bool fits = model.modelDim % heads == 0 && headDim <= kMaxHeadDim && !(even && headDim % 2 != 0);
    if (fits && (best == 0 || std::abs(heads - wanted) < std::abs(best - wanted))) best = heads;
  }
  return best;
}

}  // namespace

void fitModelTo(ModelSetup& model) {
  if (!model.linked) return;
  const Index heads = headsNear(model, model.heads);
  if (heads == 0) {
    model.linked = false;
    return;
  }
  if (heads != model.heads) model.kvHeads = kvHeadsNear(kindOf(model), model.kvHeads, heads);
  model.heads = heads;
  model.headDim = model.modelDim / heads;
}

void ChosenHeads::follow(const ModelSetup& model) {
  if (model.heads == leftHeads_ && model.kvHeads == leftKvHeads_ && model.modelDim == leftModelDim_) return;
  kind_ = kindOf(model);
  heads_ = model.heads;
  kvHeads_ = model.kvHeads;
}

/// Sets kvHeads by the user's choice, then remembers how the model was left.
bool ChosenHeads::settle(ModelSetup& model, const Suits& suits) {
  if (model.heads != heads_ || model.heads % kvHeads_ != 0 || kind_ != AttentionKind::gqa)
    model.kvHeads = kvHeadsNear(kind_, kvHeads_, model.heads);
  else
    model.kvHeads = kvHeads_;
  bool suited = !suits || suits(model);
  if (!suited && kind_ == AttentionKind::gqa) {
    std::vector<Index> others = divisors(model.heads);
    std::stable_sort(others.begin(), others.end(),
                     [&](Index a, Index b) { return std::abs(a - kvHeads_) < std::abs(b - kvHeads_); });
    for (std::size_t i = 0; i < others.size() && !suited; ++i) {
      model.kvHeads = others[i];
      suited = suits(model);
    }
  }
  leftHeads_ = model.heads;
  leftKvHeads_ = model.kvHeads;
  leftModelDim_ = model.modelDim;
  return suited;
}

bool ChosenHeads::setHeads(ModelSetup& model, Index heads, const Suits& suits) {
  follow(model);
  model.heads = heads_ = heads;
  if (model.linked) model.headDim = model.modelDim / heads;
  return settle(model, suits);
}

bool ChosenHeads::setModelDim(ModelSetup& model, Index modelDim, const Suits& suits) {
  follow(model);
  model.modelDim = modelDim;
  model.heads = heads_;
  model.kvHeads = kvHeads_;
  fitModelTo(model);
  return settle(model, suits);
}

Index ChosenHeads::heads(const ModelSetup& model) {
  follow(model);
  return heads_;
}

}  // namespace headscope::app
