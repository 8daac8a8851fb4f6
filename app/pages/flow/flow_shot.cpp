#include <fmt/core.h>

#include "app/pages/flow/flow_page.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::flow_page {

namespace {

Index farthest(const Eigen::Ref<const Eigen::RowVectorXf>& row) {
  Index at = 0;
  if (row.size() > 0) row.cwiseAbs().maxCoeff(&at);
  return at;
}

std::span<const float> spanOf(const Eigen::RowVectorXf& row) {
  return {row.data(), static_cast<std::size_t>(row.size())};
}

}  // namespace

FlowPictures flowPictures(const std::shared_ptr<const HeadParts>& head, Resources& resources,
                          std::stop_token) {
  const LayerParts& layer = *head->question.layer;
  const SequenceSnapshot& sequence = layer.sequence();
  const attention::AttentionResult& result = sequence.attention;
  const Index at = head->question.head, kv = layer.config().kvHeadOf(at);
  FlowPictures film;
  film.head = head;
  film.steps = attention::headSteps(layer.config(), sequence.mask, result, at);
  auto numbers = static_cast<std::uint64_t>(film.steps.dots.size() + film.steps.biased.size());
  const auto drawn = [&](Stage stage, const Eigen::Ref<const attention::Matrix>& values) {
    StagePicture picture = stagePicture(stage, values);
    numbers += static_cast<std::uint64_t>(picture.values.size());
    return picture;
  };
  const auto draw = [&](Stage stage, const Eigen::Ref<const attention::Matrix>& values) {
    film.stages[static_cast<std::size_t>(stage)] = drawn(stage, values);
  };
  draw(Stage::x, layer.x);
  draw(Stage::q, attention::mergeHeads(result.q));
  draw(Stage::k, attention::mergeHeads(result.k));
  draw(Stage::v, attention::mergeHeads(result.v));
  draw(Stage::dots, film.steps.dots);
  draw(Stage::biased, film.steps.biased);
  draw(Stage::scores, result.scores[at]);
  draw(Stage::weights, sequence.probabilities()[at]);
  draw(Stage::headOutput, result.headOutput[at]);
  draw(Stage::concat, attention::mergeHeads(result.headOutput));
  draw(Stage::output, result.output);
  film.q = drawn(Stage::q, result.q[at]);
  film.k = drawn(Stage::k, result.k[kv]);
  film.v = drawn(Stage::v, result.v[kv]);
  film.keys = film.k;
  film.keys.values.transposeInPlace();
  film.wq = drawn(Stage::q, head->q.weight.transpose());
  film.wk = drawn(Stage::k, head->k.weight.transpose());
  film.wv = drawn(Stage::v, head->v.weight.transpose());
  film.wo = drawn(Stage::output, head->wo.transpose());
  film.memory = resources.memory.count(numbers * sizeof(float));
  return film;
}

double Shot::score(Step step, Index i, Index j) const {
  if (step <= Step::dot) return static_cast<double>(film.steps.dots(i, j));
  if (step == Step::scale) return static_cast<double>(film.steps.dots(i, j) * film.steps.factor);
  if (step == Step::bias) return static_cast<double>(film.steps.unmasked(i, j));
  return static_cast<double>(sequence.attention.scores.at(cell.head, i, j));
}

Shot shotOf(const Scene& scene, const State& page) {
  const FlowPictures& film = *page.film;
  const HeadParts& head = *film.head;
  const LayerParts& layer = *head.question.layer;
  const SequenceSnapshot& sequence = layer.sequence();
  const auto inside = [](Index at, const auto& tokens) {
    return std::clamp<Index>(at, 0, std::ssize(tokens) - 1);
  };
  const Cell cell{head.question.head, inside(scene.cursor.cell.query, sequence.queries),
                  inside(scene.cursor.cell.key, sequence.keys)};
  std::vector<Step> steps = stepsOf(layer.config(), sequence.mask);
  const FlowCursor at = within(steps, scene.cursor.flow);
  return {film,
          head,
          layer,
          sequence,
          layer.config(),
          scene.look,
          cell,
          farthest(sequence.attention.output.row(cell.query)),
          std::move(steps),
          at};
}

std::vector<attention::TermKind> biasKinds(const Shot& shot) {
  std::vector<attention::TermKind> kinds;
  for (const attention::ScoreTerm& term : attention::scoreTerms()) {
    const bool acts = term.adds() || term.kind == attention::TermKind::cap;
    if (acts && term.applies(shot.config, shot.sequence.mask) && (kinds.empty() || kinds.back() != term.kind))
      kinds.push_back(term.kind);
  }
  return kinds;
}

std::string biasText(const Shot& shot, const std::string& scores) {
  std::string text = scores;
  for (const attention::TermKind kind : biasKinds(shot))
    text = kind == attention::TermKind::cap ? "cap(" + text + ")" : text + " + bias";
  return text;
}

ValueRange scoreRange(const Shot& shot, Step step) {
  if (step >= Step::softmax) return {0, 1};
  const bool biased = shot.biased() && step >= Step::bias;
  const StagePicture& picture = shot.film.picture(biased ? Stage::biased : Stage::dots);
  // The products' scale stays until the division.
  const bool products =
      step == Step::dot || (step == Step::scale && shot.at.stage == step && shot.at.t < 0.6);
  const float factor = products || biased ? 1 : shot.film.steps.factor;
  return {picture.low * factor, picture.high * factor};
}

Index GrowingSum::products(std::size_t count) const {
  Index all = 0;
  for (std::size_t i = 0; i < count; ++i) all += terms[i].count;
  return all;
}

double GrowingSum::sum() const {
  double sum = 0;
  for (std::size_t i = 0; i < done; ++i) sum += terms[i].product;
  return sum;
}

GrowingSum growingSum(const Eigen::Ref<const Eigen::RowVectorXf>& a,
                      const Eigen::Ref<const Eigen::RowVectorXf>& b, std::size_t most, double share) {
  const Eigen::RowVectorXf left = a, right = b;
  const auto all = static_cast<std::size_t>(left.size());
  const attention::WorkedSum worked =
      attention::workedSum(spanOf(left), spanOf(right), all <= most ? all : most - 1);
  GrowingSum sum;
  for (const attention::SumTerm& term : worked.terms)
    sum.terms.push_back({term.at, std::to_string(term.at), static_cast<double>(term.a),
                         static_cast<double>(term.b), term.product});
  if (worked.omitted > 0 && !worked.nothingOmitted) {
    sum.terms.push_back(
        {-1, fmt::format("{} more", worked.omitted), 0, 0, worked.rest, static_cast<Index>(worked.omitted)});
  }
  if (worked.omitted > 0 && worked.nothingOmitted)
    sum.note = fmt::format("{} of {} products are 0", worked.omitted, all);
  const double place = share * static_cast<double>(sum.terms.size());
  sum.done = std::min(sum.terms.size(), static_cast<std::size_t>(place));
  sum.falling = sum.done < sum.terms.size() ? place - static_cast<double>(sum.done) : 0;
  return sum;
}

namespace {

using Row = Eigen::RowVectorXf;

GrowingSum dotSum(const Shot& shot, const Theme& theme, std::size_t most) {
  const attention::AttentionResult& result = shot.sequence.attention;
  GrowingSum sum =
      growingSum(result.q[shot.cell.head].row(shot.cell.query), result.k[shot.kvHead()].row(shot.cell.key),
                 most, passed(shot.into(Step::dot), 0.38, 0.72));
  sum.a = withIndex("q", shot.cell.query), sum.b = withIndex("k", shot.cell.key), sum.product = "q · k";
  sum.formula = fmt::format("s_{{{},{}}} = Σ {}[c] · {}[c]", shot.cell.query, shot.cell.key, sum.a, sum.b);
  sum.aColor = theme.query, sum.bColor = theme.key;
  return sum;
}

/// One number of the selected token's query: its dimension with the largest share of the score.
GrowingSum projectSum(const Shot& shot, const Theme& theme, std::size_t most) {
  const Row q = shot.sequence.attention.q[shot.cell.head].row(shot.cell.query);
  const Index dim = farthest(q);
  GrowingSum sum = growingSum(shot.layer.x.row(shot.cell.query), shot.head.q.weight.row(dim), most,
                              passed(shot.into(Step::project), 0.2, 0.4));
  if (const auto bias = static_cast<double>(shot.head.q.bias[dim]); bias != 0) {
    sum.terms.push_back({-1, "bias", 0, 0, bias});
    if (shot.into(Step::project) >= 0.4) sum.done = sum.terms.size();
  }
  sum.a = withIndex("x", shot.cell.query), sum.b = "W_Q", sum.product = "x · W";
  sum.formula =
      fmt::format("{}[{}] = Σ {}[c] · W_Q[c, {}]", withIndex("q", shot.cell.query), dim, sum.a, dim);
  sum.aColor = theme.text, sum.bColor = theme.query;
  double whole = 0;
  for (const GrowingSum::Term& term : sum.terms) whole += term.product;
  if (std::abs(whole - static_cast<double>(q[dim])) > 1e-3 * (1 + std::abs(whole)))
    sum.note =
        fmt::format("{} turns this into {}", shot.config.ropeTheta ? "RoPE" : "The model's norm or rotation",
                    cellText(static_cast<double>(q[dim])));
  return sum;
}

GrowingSum mixSum(const Shot& shot, const Theme& theme, std::size_t most) {
  const attention::AttentionResult& result = shot.sequence.attention;
  const Index dim = farthest(result.headOutput[shot.cell.head].row(shot.cell.query));
  const Row weights = result.weights[shot.cell.head].row(shot.cell.query);
  const Row values = result.v[shot.kvHead()].col(dim).transpose();
  GrowingSum sum = growingSum(weights, values, most, passed(shot.into(Step::mix), 0.22, 0.72));
  for (GrowingSum::Term& term : sum.terms)
    if (term.at >= 0) term.label = shot.key(term.at);
  // Dropped weights are 0, and the others larger: other numbers than those in S.
  const bool drops = shot.config.dropout.probability > 0;
  const char* const letter = drops ? "a" : "w";
  sum.formula = fmt::format("{}[{}] = Σ {}_{{{},j}} · v_j[{}]", withIndex("o", shot.cell.query), dim, letter,
                            shot.cell.query, dim);
  sum.a = drops ? "a" : "weight", sum.b = fmt::format("v[{}]", dim),
  sum.product = letter + std::string(" · v");
  if (drops) sum.note = "a is the weight after dropout";
  sum.aColor = theme.query, sum.bColor = theme.value;
  return sum;
}

/// Each head's share of one number that the layer writes.
GrowingSum outputSum(const Shot& shot, std::size_t most) {
  const attention::AttentionResult& result = shot.sequence.attention;
  const Index first = shot.head.question.firstColumn, rows = shot.head.outputRows.rows();
  const Index row = shot.column - first;
  if (row < 0 || row >= rows) return {};  // its rows of W_O are on their way
  Row shares(shot.config.heads);
  for (Index h = 0; h < shot.config.heads; ++h)
    shares[h] = result.headOutput[h]
                    .row(shot.cell.query)
                    .dot(shot.head.outputRows.row(row).segment(h * shot.config.headDim, shot.config.headDim));
  GrowingSum sum =
      growingSum(shares, Row::Ones(shares.size()), most, passed(shot.into(Step::output), 0.2, 0.72));
  for (GrowingSum::Term& term : sum.terms)
    if (term.at >= 0) term.label = "head " + term.label;
  if (const auto bias = static_cast<double>(shot.head.outputBias[row]); bias != 0) {
    sum.terms.push_back({-1, "bias", 0, 0, bias});
    if (shot.into(Step::output) >= 0.72) sum.done = sum.terms.size();
  }
  sum.formula = fmt::format("{}[{}] = Σ concat · W_O[c, {}]", withIndex("y", shot.cell.query), shot.column,
                            shot.column);
  sum.product = "each head's share";
  double whole = 0;
  for (const GrowingSum::Term& term : sum.terms) whole += term.product;
  const auto written = static_cast<double>(result.output(shot.cell.query, shot.column));
  if (std::abs(whole - written) > 1e-3 * (1 + std::abs(whole)))
    sum.note = "The layer writes " + cellText(written) + ": heads are switched off";
  return sum;
}

}  // namespace

double Shot::headsMoved() const {
  return passed(into(Step::concat), 0.05, 0.95) * static_cast<double>(config.heads);
}

SoftmaxSum Shot::softmax(Step step) const {
  const auto sink = static_cast<double>(config.sinkOf(cell.head).value_or(-INFINITY));
  SoftmaxSum sum{-1, sink, 0};
  for (Index j = 0; j < m(); ++j)
    if (visible(cell.query, j) &&
        (sum.key < 0 || score(step, cell.query, j) > score(step, cell.query, sum.key)))
      sum.key = j;
  if (sum.key >= 0) sum.largest = std::max(sink, score(step, cell.query, sum.key));
  if (sum.largest == -INFINITY) return sum;
  sum.whole = std::exp(sink - sum.largest);
  for (Index j = 0; j < m(); ++j)
    if (visible(cell.query, j)) sum.whole += std::exp(score(step, cell.query, j) - sum.largest);
  return sum;
}

GrowingSum sumOf(const Shot& shot, const Theme& theme, std::size_t most) {
  switch (shot.at.stage) {
    case Step::project:
      return projectSum(shot, theme, most);
    case Step::mix:
      return mixSum(shot, theme, most);
    case Step::output:
      return outputSum(shot, most);
    default:
      return dotSum(shot, theme, most);
  }
}

}  // namespace headscope::app::flow_page
