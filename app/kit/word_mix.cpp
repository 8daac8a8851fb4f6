#include "app/kit/word_mix.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/scene/text/number_text.h"

namespace headscope::app {

namespace {

using attention::Error;
using attention::Result;

constexpr double kLargestFactor = 1e6;

/// Reads a mixture from left to right.
class MixReader {
 public:
  MixReader(std::string_view text, std::span<const std::string> names, Index self)
      : text_(text), names_(names), self_(self) {}

  Result<std::vector<MixTerm>> read() {
    std::vector<MixTerm> terms;
    skipSpace();
    if (text_.empty()) return Error{"Type a sum of words, such as 0.5·" + example() + "."};
    minus_ = take("-") || take("−");
    while (!text_.empty() || terms.empty() || signed_) {
      Result<MixTerm> term = readTerm();
      if (!term) return term.error();
      terms.push_back(*term);
      if (const auto sign = readSign(); !sign) return sign.error();
    }
    return terms;
  }

 private:
  std::string example() const {
    return names_.empty() ? "word" : names_[static_cast<std::size_t>(std::max<Index>(self_, 0))];
  }
  void skipSpace() {
    while (take(" ") || take("\t")) {
    }
  }
  bool take(std::string_view what) {
    if (!text_.starts_with(what)) return false;
    text_.remove_prefix(what.size());
    return true;
  }
  /// Whether a word may end here.
  static bool ends(std::string_view rest) {
    return rest.empty() || rest.front() == ' ' || rest.front() == '+' || rest.front() == '-' ||
           rest.starts_with("−");
  }

  /// The longest name at the start of the text, as it is written, or else in another case.
  std::optional<Index> takeName() {
    Index found = -1;
    std::size_t length = 0;
    const auto tryName = [&](Index i, bool anyCase) {
      const std::string& name = names_[static_cast<std::size_t>(i)];
      if (name.empty() || name.size() <= length || name.size() > text_.size()) return;
      const std::string_view here = text_.substr(0, name.size());
      const bool same = anyCase ? std::equal(name.begin(), name.end(), here.begin(),
                                             [](char a, char b) { return lower(a) == lower(b); })
                                : here == name;
      if (!same || !ends(text_.substr(name.size()))) return;
      found = i;
      length = name.size();
    };
    for (const bool anyCase : {false, true}) {
      if (found >= 0) break;
      if (self_ >= 0 && self_ < std::ssize(names_)) tryName(self_, anyCase);
      for (Index i = 0; i < std::ssize(names_); ++i) tryName(i, anyCase);
    }
    if (found < 0) return std::nullopt;
    text_.remove_prefix(length);
    return found;
  }
  static char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }

  Result<MixTerm> readTerm() {
    skipSpace();
    const double sign = std::exchange(minus_, false) ? -1 : 1;
    MixTerm term{sign, 0};
    signed_ = false;
    const std::string_view whole = text_;
    const std::size_t digits = std::min(text_.find_first_not_of("0123456789.,"), text_.size());
    const std::string_view number = text_.substr(0, digits);
    bool timed = false;
    if (const auto factor = number.empty() ? std::nullopt : typedNumber(number)) {
      text_.remove_prefix(digits);
      skipSpace();
      timed = take("·") || take("*") || take("×");
      skipSpace();
      // A word may be a number, too: "2" alone is the word, "2·2" twice the word.
      if (timed || !ends(text_)) {
        if (*factor > kLargestFactor) return Error{fmt::format("The number {} is too large.", number)};
        term.factor *= *factor;
      } else {
        text_ = whole;
      }
    }
    const std::string_view named = text_;
    auto word = takeName();
    if (!word && !timed) {  // a word may begin with digits
      text_ = whole;
      word = takeName();
      if (word) term.factor = sign;
    }
    if (word) {
      term.word = *word;
      return term;
    }
    const std::string missing(named.substr(0, named.find(' ')));
    if (!missing.empty() && (timed || missing != number))
      return Error{fmt::format("“{}” is not a word of this text.", missing)};
    return Error{number.empty() ? "A word is missing at the end."
                                : fmt::format("A word is missing after {}.", number)};
  }

  /// The sign before the next term, if there is one.
  attention::Status readSign() {
    skipSpace();
    if (text_.empty()) return attention::success();
    const bool plus = take("+");
    minus_ = !plus && (take("-") || take("−"));
    if (!plus && !minus_) return Error{fmt::format("Put + between words: “{}”.", std::string(text_))};
    signed_ = true;
    return attention::success();
  }

  std::string_view text_;
  std::span<const std::string> names_;
  Index self_;
  bool signed_ = false, minus_ = false;  ///< a term has to follow; with a minus
};

/// Rounded to hundredths, as factors are shown.
double hundredths(double value) {
  return std::round(value * 100) / 100;
}

}  // namespace

Result<std::vector<MixTerm>> parseMix(std::string_view text, std::span<const std::string> names, Index self) {
  return MixReader(text, names, self).read();
}

std::string mixText(std::span<const MixTerm> terms, std::span<const std::string> names) {
  std::string text;
  for (const MixTerm& term : terms) {
    const bool first = text.empty();
    text += first ? (term.factor < 0 ? "−" : "") : term.factor < 0 ? " − " : " + ";
    text += fixedText(std::abs(term.factor), 2) + "·" + names[static_cast<std::size_t>(term.word)];
  }
  return text;
}

Eigen::RowVectorXf mixOf(std::span<const MixTerm> terms, const EditedWord& edited) {
  Eigen::RowVectorXf sum = Eigen::RowVectorXf::Zero(edited.values.cols());
  for (const MixTerm& term : terms) {
    attention::require(term.word >= 0 && term.word < edited.values.rows(), "a mixture of no such word");
    const auto factor = static_cast<float>(term.factor);
    if (term.word == edited.word)
      sum += factor * edited.before;
    else
      sum += factor * edited.values.row(term.word);
  }
  return sum;
}

std::vector<MixTerm> findMix(const EditedWord& edited) {
  const Eigen::RowVectorXf now = edited.values.row(edited.word), &before = edited.before;
  if (now.size() != before.size()) return {};
  const double near = 1e-5 * std::max(1.0, static_cast<double>(now.squaredNorm()));
  const auto made = [&](const std::vector<MixTerm>& terms) {
    return static_cast<double>((mixOf(terms, edited) - now).squaredNorm()) <= near;
  };
  const double bb = before.squaredNorm(), bn = before.dot(now);
  if (bb > 0)
    if (const std::vector<MixTerm> own{{hundredths(bn / bb), edited.word}}; made(own)) return own;
  for (Index other = 0; other < edited.values.rows(); ++other) {
    if (other == edited.word) continue;
    // The least squares solution of a·before + b·other = now.
    const auto row = edited.values.row(other);
    const double oo = row.squaredNorm(), bo = before.dot(row), on = row.dot(now);
    const double whole = bb * oo - bo * bo;
    if (!(whole > 1e-6 * bb * oo)) continue;
    const double a = hundredths((bn * oo - on * bo) / whole), b = hundredths((on * bb - bn * bo) / whole);
    std::vector<MixTerm> terms;
    if (a != 0) terms.push_back({a, edited.word});
    if (b != 0) terms.push_back({b, other});
    if (!terms.empty() && made(terms)) return terms;
  }
  return {};
}

MapMove moveOnMap(const attention::Plane& plane, const attention::Matrix& points, const EditedWord& edited,
                  const Eigen::RowVectorXf& start, Eigen::RowVector2f to, float reach) {
  const auto placeOf = [&](const Eigen::RowVectorXf& vector) {
    const attention::Matrix row = vector;
    return Eigen::RowVector2f(attention::onPlane(plane, row));
  };
  const Eigen::RowVector2f from = placeOf(edited.before);
  const float away = (to - from).norm();
  MapMove move;
  float best = INFINITY;
  for (Index other = 0; other < std::min(points.rows(), edited.values.rows()); ++other) {
    if (other == edited.word) continue;
    const Eigen::RowVector2f there = points.row(other), line = there - from;
    if (line.norm() <= reach) continue;  // too close for a line between them
    const float share = (to - from).dot(line) / line.squaredNorm();
    if (share <= 0 || share > 1 + reach / line.norm()) continue;
    const float off = (to - from - std::min(share, 1.0f) * line).norm();
    // Close to where the word was, all lines are near: there they catch less.
    const float toWord = (to - there).norm();
    if (toWord < reach / 3) return {edited.values.row(other), other, 1};
    const bool atWord = toWord < reach;
    if (off >= best || off > (atWord ? reach : std::min(reach, 0.2f * away))) continue;
    best = off;
    move.caught = other;
    move.share = static_cast<float>(hundredths(std::min(share, 1.0f)));
  }
  if (move.caught >= 0 && move.share > 0) {
    move.vector = (1 - move.share) * edited.before + move.share * edited.values.row(move.caught);
    return move;
  }
  move.caught = -1;
  move.share = 0;
  const Eigen::RowVector2f by = to - placeOf(start);
  move.vector = start + by[0] * plane.first;
  if (plane.first != plane.second) move.vector += by[1] * plane.second;
  return move;
}

std::vector<NearWord> nearestWords(const attention::Matrix& values, Index word, std::size_t most) {
  std::vector<NearWord> words;
  const auto own = values.row(word);
  for (Index other = 0; other < values.rows(); ++other) {
    const auto row = values.row(other);
    const float lengths = own.norm() * row.norm();
    if (other != word && lengths > 0 && std::isfinite(lengths))
      words.push_back({other, own.dot(row) / lengths});
  }
  std::stable_sort(words.begin(), words.end(),
                   [](const NearWord& a, const NearWord& b) { return a.cosine > b.cosine; });
  std::vector<NearWord> kept;
  for (const NearWord& each : words) {
    if (kept.size() == most) break;
    const bool again = std::any_of(kept.begin(), kept.end(), [&](const NearWord& one) {
      return values.row(one.word) == values.row(each.word);
    });
    if (!again) kept.push_back(each);
  }
  return kept;
}

}  // namespace headscope::app
