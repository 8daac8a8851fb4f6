#include "attention/models/block.h"

#include "attention/core/decompositions.h"

namespace headscope::attention {

namespace {
/// The rows of one run in one head of [heads, runs · n, …].
MutableMatrixView rowsOf(Stack& heads, Index head, Index run, Index n) {
  return {heads.data() + (head * heads.rows() + run * n) * heads.cols(), n, heads.cols()};
}

/// The rows of one run in all heads.
Stack partOf(const Stack& heads, Index run, Index n) {
  Stack part = Stack::uninitialized(heads.count(), n, heads.cols());
  for (Index head = 0; head < heads.count(); ++head) part[head] = heads[head].middleRows(run * n, n);
  return part;
}

/// The rows multiplied by the factors, if there are any.
Matrix scaled(Matrix rows, const Vector& factors) {
  if (factors.size() > 0) rows.array().rowwise() *= factors.transpose().array();
  return rows;
}

void putPart(Stack& heads, const Stack& part, Index run, Index runs) {
  if (part.empty()) return;
  if (heads.empty()) heads = Stack::uninitialized(part.count(), runs * part.rows(), part.cols());
  for (Index head = 0; head < heads.count(); ++head)
    heads[head].middleRows(run * part.rows(), part.rows()) = part[head];
}

/// The weights of the requested heads; moves them if all are requested.
Stack chosenHeads(Stack weights, const std::optional<std::vector<Index>>& heads) {
  if (!heads || weights.empty()) return weights;
  Stack some = Stack::uninitialized(std::ssize(*heads), weights.rows(), weights.cols());
  for (Index i = 0; i < some.count(); ++i) some[i] = weights[(*heads)[asSize(i)]];
  return some;
}

std::vector<MatrixView> viewsOf(const Stack& heads) {
  std::vector<MatrixView> views;
  for (Index head = 0; head < heads.count(); ++head) views.push_back(heads[head]);
  return views;
}

}  // namespace

SourceHeads sourceHeads(const ModelConfig& config, const LayerWeights& weights, const Matrix& memory,
                        const std::stop_token& stop) {
  SourceHeads heads{Stack::uninitialized(config.kvHeads, memory.rows(), config.headDim),
                    Stack::uninitialized(config.kvHeads, memory.rows(), config.headDim)};
  std::vector<LinearMap> maps;
  const AttentionWeights& cross = config.cross() ? weights : *weights.other;
  cross.k.mapsInto(heads.k, maps);
  cross.v.mapsInto(heads.v, maps);
  applyMaps(memory, maps, stop);
  return heads;
}

void Block::run(Matrix& x, std::span<KvCache> caches) const {
  const LayerWeights& w = weights;
  applyPatches(runs, layer, Piece::stream, rows, x);
  const bool keepsStream = !states.empty() && !states[0].empty() && wanted && wanted->hidden;
  recur(x, w.before, 0);
  if (keepsStream) kept.entered = x;
  const auto attended = [&] {
    applyPatches(runs, layer, Piece::middle, rows, x);
    if (wanted && wanted->between) kept.between = x;
  };
  switch (config.order) {
    case BlockOrder::before:
      if (config.reads())
        attendBoth(x, caches);
      else if (w.beside)
        x += recurred(x) + scaled(attend(norm(x, w.attentionNorm), caches), w.attentionScale);
      else
        x += scaled(config.residualScale * attend(norm(x, w.attentionNorm), caches), w.attentionScale);
      attended();
      if (feeds()) x += added(scaled(config.residualScale * mlp(norm(x, w.mlpNorm)), w.mlpScale));
      break;
    case BlockOrder::parallel: {
      const Matrix mlpInput = norm(x, w.mlpNorm);
      x += attend(norm(x, w.attentionNorm), caches);
      attended();
      x += added(mlp(mlpInput));
      break;
    }
    case BlockOrder::after:
      if (config.reads())
        attendBoth(x, caches);
      else
        x = norm(x + attend(x, caches), w.attentionNorm);
      attended();
      x = norm(x + added(mlp(x)), w.mlpNorm);
      break;
    case BlockOrder::normed:
      x = norm(x, w.attentionNorm);
      x = config.factors.besideAttention * x + scaled(attend(x, caches), w.attentionScale);
      attended();
      x = norm(x, w.mlpNorm);
      x = config.factors.besideMlp * x + added(scaled(mlp(x), w.mlpScale));
      break;
    case BlockOrder::around:
      x += config.residualScale * norm(attend(norm(x, w.attentionNorm), caches), w.afterAttentionNorm);
      attended();
      x += added(config.residualScale * norm(mlp(norm(x, w.mlpNorm)), w.afterMlpNorm));
      break;
  }
  if (keepsStream) kept.left = x;
  recur(x, w.after, w.before.size());
  if (wanted && wanted->hidden) kept.hidden = x;
}

void Block::attendBoth(Matrix& x, std::span<KvCache> caches) const {
  for (const bool cross : {false, true}) {
    const bool shown = cross == config.cross();
    const NormWeights& norms = (shown ? weights : *weights.other).attentionNorm;
    if (config.order == BlockOrder::after)
      x = norm(x + attend(x, caches, shown), norms);
    else
      x += attend(norm(x, norms), caches, shown);
  }
}

void Block::patchHeads(Stack& heads, Piece piece) const {
  const Index n = rows.count;
  for (std::size_t run = 0; run < runs.size(); ++run)
    for (Index head = 0; head < heads.count(); ++head)
      applyPatches(runs[run], layer, piece, head, rows, rowsOf(heads, head, static_cast<Index>(run), n));
}

Matrix Block::added(Matrix y) const {
  applyPatches(runs, layer, Piece::mlp, rows, y);
  if (wanted && wanted->mlp) kept.mlpAdded = y;
  return y;
}

bool Block::project(const AttentionWeights& w, const Matrix& x, Stack& q, Stack& k, Stack& v) const {
  if (weights.latent) return projectLatent(x, q, k, v);
  std::vector<LinearMap> maps;
  w.q.mapsInto(q, maps);
  if (k.rows() > 0) {
    w.k.mapsInto(k, maps);
    w.v.mapsInto(v, maps);
  }
  return applyMaps(x, maps, stop);
}

bool Block::projectLatent(const Matrix& x, Stack& q, Stack& k, Stack& v) const {
  const LatentWeights& w = *weights.latent;
  const Latent& sizes = config.latent;
  const Matrix both = w.down.apply(x, stop);
  const bool throughLatent = !w.queryDown.pieces.empty();
  Matrix source = throughLatent ? w.queryDown.apply(x, stop) : Matrix();
  if (stop.stop_requested()) return false;
  if (throughLatent) source = normRows(source, w.queryNorm, NormKind::rms, sizes.epsilon);
  const Matrix latent = normRows(both.leftCols(sizes.rank), w.norm, NormKind::rms, sizes.epsilon);

  std::vector<LinearMap> queryMaps;
  weights.q.mapsInto(q, queryMaps);
  if (!applyMaps(throughLatent ? source : x, queryMaps, stop) || !fromLatent(latent, k, v)) return false;
  for (Index head = 0; head < config.heads; ++head)
    k[head].rightCols(sizes.ropeDim) = both.rightCols(sizes.ropeDim);
  return true;
}

/// Computes each head's values and the unrotated part of its keys from the latent.
bool Block::fromLatent(const Matrix& latent, Stack& k, Stack& v) const {
  const LatentWeights& w = *weights.latent;
  const Index plain = config.headDim - config.latent.ropeDim, values = config.latent.valueDim;
  std::vector<LinearMap> maps;
  if (!w.up.pieces.empty()) {
    Stack both = Stack::uninitialized(config.heads, latent.rows(), plain + values);
    w.up.mapsInto(both, maps);
    if (!applyMaps(latent, maps, stop)) return false;
    for (Index head = 0; head < config.heads; ++head) {
      k[head].leftCols(plain) = both[head].leftCols(plain);
      v[head] = both[head].rightCols(values);
    }
    return true;
  }
  // Blocks of numbers along the outputs have to be unpacked before they are multiplied.
  Linear rows;
  MappedLinear keyUp = w.keyUp;
  if (!kernels::isPlain(keyUp.pieces[0].type)) {
    rows.weight = weightRows(w.keyUp, 0, w.keyUp.out);
    keyUp = MappedLinear::of(rows);
  }
  Stack keys = Stack::uninitialized(config.heads, latent.rows(), plain);
  keyUp.mapsInto(keys, maps);
  w.valueUp.mapsInto(v, maps);
  if (!applyMaps(latent, maps, stop)) return false;
  for (Index head = 0; head < config.heads; ++head) k[head].leftCols(plain) = keys[head];
  return true;
}

Matrix Block::attend(const Matrix& x, std::span<KvCache> caches, bool shown) const {
  if (shown && wanted && wanted->input) kept.input = x;
  const AttentionWeights& w = shown ? weights : *weights.other;
  const LayerAttention& how = shown ? attention : *other;
  const bool cross = shown == config.cross();
  const Index n = x.rows(), keys = cross ? 0 : n;  // cross heads' keys already exist
  Stack q = Stack::uninitialized(config.heads, n, config.headDim);
  Stack k = Stack::uninitialized(config.kvHeads, keys, config.headDim);
  Stack v = Stack::uninitialized(config.kvHeads, keys, config.valueDim());
  Matrix y = Matrix::Zero(n, config.modelDim);
  if (!project(w, x, q, k, v)) return y;
  if (shown) prepare(q, k, v);
  const std::vector<SourceHeads> sources = shown ? patchedSources() : std::vector<SourceHeads>();
  AttentionResult result = cross ? attendSource(how, std::move(q), sources)
                                 : attendRuns(how, std::move(q), std::move(k), std::move(v), caches);
  if (stop.stop_requested()) return y;
  if (shown) {
    patchPatterns(result, caches, sources);
    gateHeads(x, result.headOutput);
    patchHeads(result.headOutput, Piece::head);
  }
  std::vector<LinearMap> maps;
  w.o.mapsInto(y, maps);
  applyMaps(result.headOutput, maps, stop);
  if (shown)
    keep(std::move(result), sources);
  else if (wanted && wanted->projections)
    kept.otherOutput = std::move(result.headOutput);
  return y;
}

/// What happens to the inspected attention's queries, keys and values before its heads read them.
void Block::prepare(Stack& q, Stack& k, Stack& v) const {
  if (!config.rotatedFirst) normQueriesAndKeys(q, k);
  if (config.clip)
    for (Stack* const each : {&q, &k, &v}) limit(*each, *config.clip);
  if (rotation) {
    const Matrix turns = rotation->replicate(std::ssize(runs), 1);
    rotateHeads(q, turns, rotated->interleaved, rotated->first);
    rotateHeads(k, turns, rotated->interleaved, rotated->first);
  }
  if (config.rotatedFirst) normQueriesAndKeys(q, k);
  growQueries(q);
  patchHeads(q, Piece::queries);
  if (config.cross()) return;
  patchHeads(k, Piece::keys);
  patchHeads(v, Piece::values);
}

void Block::gateHeads(const Matrix& x, Stack& heads) const {
  if (!config.gatedHeads) return;
  Stack gates = Stack::uninitialized(heads.count(), heads.rows(), heads.cols());
  std::vector<LinearMap> maps;
  weights.gate.mapsInto(gates, maps);
  if (!applyMaps(x, maps, stop)) return;
  const auto array = [](Stack& of) { return Eigen::Map<Eigen::ArrayXf>(of.data(), of.size()); };
  array(gates) = 1 / (1 + (-array(gates)).exp());
  array(heads) *= array(gates);
  if (wanted && wanted->projections) kept.gates = std::move(gates);
}

void Block::keep(AttentionResult&& result, std::span<const SourceHeads> patched) const {
  if (!wanted) return;
  if (wanted->weights) kept.weights = chosenHeads(std::move(result.weights), wanted->heads);
  if (!wanted->projections) return;
  kept.q = std::move(result.q);
  kept.k = std::move(result.k);
  kept.v = std::move(result.v);
  kept.headOutput = std::move(result.headOutput);
  if (!config.cross()) return;
  if (patched.empty()) {
    kept.k = source->k;
    kept.v = source->v;
  }
  for (std::size_t run = 0; run < patched.size(); ++run) {
    putPart(kept.k, patched[run].k, static_cast<Index>(run), std::ssize(patched));
    putPart(kept.v, patched[run].v, static_cast<Index>(run), std::ssize(patched));
  }
}

Keep Block::keepOf(std::size_t run) const {
  // Replaced patterns are needed to recompute the heads' outputs.
  const bool patterns = std::ranges::any_of(
      runs[run], [&](const Patch& patch) { return patch.layer == layer && patch.piece == Piece::pattern; });
  return patterns || (wanted && wanted->weights) ? Keep::weights : Keep::output;
}

std::vector<SourceHeads> Block::patchedSources() const {
  std::vector<SourceHeads> sources;
  const bool any =
      config.cross() && std::ranges::any_of(runs, [&](const std::vector<Patch>& patches) {
        return std::ranges::any_of(patches, [&](const Patch& patch) {
          return patch.layer == layer && (patch.piece == Piece::keys || patch.piece == Piece::values);
        });
      });
  for (std::size_t run = 0; any && run < runs.size(); ++run) {
    SourceHeads& heads = sources.emplace_back(*source);
    const Index m = heads.k.rows();
    for (Index head = 0; head < heads.k.count(); ++head) {
      applyPatches(runs[run], layer, Piece::keys, head, {0, m, m}, heads.k[head]);
      applyPatches(runs[run], layer, Piece::values, head, {0, m, m}, heads.v[head]);
    }
  }
  return sources;
}

template <class Attend>
AttentionResult Block::eachRun(Stack q, const Attend& attend) const {
  const auto count = std::ssize(runs);
  if (count == 1) return attend(std::move(q), 0);
  AttentionResult result;
  for (Index run = 0; run < count && !stop.stop_requested(); ++run) {
    const AttentionResult one = attend(partOf(q, run, rows.count), run);
    if (stop.stop_requested()) break;
    putPart(result.headOutput, one.headOutput, run, count);
    putPart(result.weights, one.weights, run, count);
  }
  result.q = std::move(q);
  return result;
}

AttentionResult Block::attendSource(const LayerAttention& how, Stack q,
                                    std::span<const SourceHeads> patched) const {
  return eachRun(std::move(q), [&](Stack queries, Index run) {
    const SourceHeads& read = sourceOf(patched, asSize(run));
    const std::vector<MatrixView> keys = viewsOf(read.k), values = viewsOf(read.v);
    AttentionResult one;
    one.q = std::move(queries);
    attendHeads(how.config, how.mask, keys, values, one, stop, keepOf(asSize(run)));
    return one;
  });
}

AttentionResult Block::attendRuns(const LayerAttention& how, Stack q, Stack k, Stack v,
                                  std::span<KvCache> caches) const {
  const bool several = runs.size() > 1;
  AttentionResult result = eachRun(std::move(q), [&](Stack queries, Index run) {
    const auto append = [&](const Stack& keys, const Stack& values) {
      return caches[asSize(run)].appendHeads(how.config, std::move(queries), keys, values, how.mask, stop,
                                             keepOf(asSize(run)));
    };
    return several ? append(partOf(k, run, rows.count), partOf(v, run, rows.count)) : append(k, v);
  });
  result.k = std::move(k);
  result.v = std::move(v);
  return result;
}

void Block::patchPatterns(AttentionResult& result, std::span<const KvCache> caches,
                          std::span<const SourceHeads> patched) const {
  for (std::size_t run = 0; run < runs.size(); ++run)
    for (Index head = 0; head < config.heads; ++head) {
      if (!anyPatch(runs[run], layer, Piece::pattern, head)) continue;
      const auto at = static_cast<Index>(run);
      const MutableMatrixView pattern = rowsOf(result.weights, head, at, rows.count);
      applyPatches(runs[run], layer, Piece::pattern, head, rows, pattern);
      const Index kv = attention.config.kvHeadOf(head);
      rowsOf(result.headOutput, head, at, rows.count) =
          product(pattern, config.cross() ? Matrix(sourceOf(patched, run).v[kv]) : caches[run].values(kv),
                  stop)
              .leftCols(config.valueDim());
    }
}

void Block::growQueries(Stack& q) const {
  if (config.queryGrowth.rate == 0 || (config.queryGrowth.unrotated && rotation)) return;
  for (Index row = 0; row < q.rows(); ++row) {
    const float factor = config.queryGrowth.at(rows.first + row % rows.count);
    if (factor != 1)
      for (Index head = 0; head < q.count(); ++head) q[head].row(row) *= factor;
  }
}

void Block::normQueriesAndKeys(Stack& q, Stack& k) const {
  if (config.qkNorm == QkNorm::none || weights.qNorm.weight.size() == 0) return;
  if (config.qkNorm != QkNorm::whole) {
    normHeads(q, weights.qNorm, config.norm, config.epsilon);
    normHeads(k, weights.kNorm, config.norm, config.epsilon);
    return;
  }
  for (const auto& [heads, norms] : {std::pair(&q, &weights.qNorm), std::pair(&k, &weights.kNorm)}) {
    Matrix rows(heads->rows(), heads->count() * heads->cols());
    for (Index h = 0; h < heads->count(); ++h)
      rows.middleCols(h * heads->cols(), heads->cols()) = (*heads)[h];
    rows = norm(rows, *norms);
    for (Index h = 0; h < heads->count(); ++h)
      (*heads)[h] = rows.middleCols(h * heads->cols(), heads->cols());
  }
}

Matrix Block::mlp(const Matrix& x) const {
  if (!weights.mixture) return mlpOf(weights.mlp, x, config, stop);
  Routing chosen = routingOf(*weights.mixture, config.mixture, x, stop);
  Matrix y = mixtureOf(*weights.mixture, config, chosen, x, stop);
  if (wanted) kept.routing = std::move(chosen);
  return y;
}

Matrix Block::norm(const Matrix& x, const NormWeights& weights) const {
  return normRows(x, weights, config.norm, config.epsilon);
}

}  // namespace headscope::attention
