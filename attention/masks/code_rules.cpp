#include "attention/masks/code_rules.h"

namespace headscope::attention {
namespace {

using Bond = CodeText::Bond;

std::string inside(const CodeText& code, Bond around) {
  return code.bond == Bond::atom || code.bond == around ? code.text : "(" + code.text + ")";
}

CodeText compare(const std::string& a, const char* sign, const std::string& b) {
  return {a + " " + sign + " " + b, Bond::compare};
}
CodeText compare(const std::string& a, const char* sign, Index b) {
  return compare(a, sign, std::to_string(b));
}
std::string divided(const std::string& position, Index size) {
  return position + " // " + std::to_string(size);
}
/// "i - 8", or "i" for nothing.
std::string minus(const std::string& position, Index value) {
  return value == 0 ? position : position + " - " + std::to_string(value);
}

}  // namespace

CodeText codeBoth(const CodeText& a, const CodeText& b) {
  return {inside(a, Bond::all) + " & " + inside(b, Bond::all), Bond::all};
}
CodeText codeEither(const CodeText& a, const CodeText& b) {
  return {inside(a, Bond::any) + " | " + inside(b, Bond::any), Bond::any};
}
CodeText codeNot(const CodeText& a) {
  return {"~" + inside(a, Bond::atom), Bond::atom};
}

CodeText RuleCode::write(const Rule& rule, const CodePlace& place) {
  switch (rule.kind) {
    case PatternKind::documents:
    case PatternKind::painted:
    case PatternKind::file:
      require(false, "documents, paintings and files are no formula over positions");
      return {};
    case PatternKind::chunked:
    case PatternKind::fixed:
    case PatternKind::blockDiagonal:
    case PatternKind::blockCausal:
    case PatternKind::blockDiffusion:
    case PatternKind::bigBird:
      return writeBlocks(rule, place);
    case PatternKind::globals:
    case PatternKind::longformer:
    case PatternKind::packed:
    case PatternKind::sharedPrefix:
    case PatternKind::image:
    case PatternKind::intervals:
    case PatternKind::tree:
    case PatternKind::neighborhood:
    case PatternKind::neighborhoodZ:
      return writeText(rule, place);
    default:
      return writeLocal(rule, place);
  }
}

CodeText RuleCode::writeLocal(const Rule& rule, const CodePlace& place) const {
  const auto &i = place.i, &j = place.j;
  const std::string distance = i + " - " + j, apart = "abs(" + distance + ")";
  const Index first = rule.counts[0], second = rule.counts[1];
  const CodeText causal = compare(j, "<=", i);
  const auto every = [&](Index step) {
    return compare("(" + distance + ") % " + std::to_string(step), "==", 0);
  };
  switch (rule.kind) {
    case PatternKind::full:
      return compare(j, ">=", 0);
    case PatternKind::causal:
      return causal;
    case PatternKind::causalTopLeft:
      return compare(j, "<=", minus(i, sizes_.cacheLength));
    case PatternKind::padding:
    case PatternKind::sinks:
      return compare(j, "<", first);
    case PatternKind::window:
      return codeBoth(causal, compare(distance, "<", first));
    case PatternKind::windowBack:
      return codeBoth(causal, compare(distance, "<=", first));
    case PatternKind::windowBoth:
      return compare(apart, "<", first);
    case PatternKind::dilated:
      return codeBoth(compare(apart, "<=", first), every(second));
    case PatternKind::streaming:
      return codeBoth(causal, codeEither(compare(j, "<", first), compare(distance, "<", second)));
    case PatternKind::strided:
      return codeBoth(causal, codeEither(compare(distance, "<", first), every(first)));
    case PatternKind::prefixLm:
      return codeEither(compare(j, "<", first), causal);
    default:
      require(false, "a pattern without code");
      return {};
  }
}

CodeText RuleCode::writeBlocks(const Rule& rule, const CodePlace& place) {
  const auto &i = place.i, &j = place.j;
  const Index size = rule.counts[0];
  const CodeText causal = compare(j, "<=", i), same = compare(divided(i, size), "==", divided(j, size));
  switch (rule.kind) {
    case PatternKind::chunked:
      return codeBoth(same, causal);
    case PatternKind::fixed:
      return codeBoth(
          causal, codeEither(same, compare(j + " % " + std::to_string(size), ">=", size - rule.counts[1])));
    case PatternKind::blockDiagonal:
      return same;
    case PatternKind::blockCausal:
      return compare(divided(j, size), "<=", divided(i, size));
    case PatternKind::blockDiffusion:
      return blockDiffusion(rule, place);
    default:
      return bigBird(rule, place);
  }
}

CodeText RuleCode::blockDiffusion(const Rule& rule, const CodePlace& place) const {
  const auto &i = place.i, &j = place.j;
  const Index size = rule.counts[0], half = rule.counts[1];
  const auto clean = [&](const std::string& position) {
    return divided("(" + minus(position, half) + ")", size);
  };
  const CodeText noisedRow = compare(i, "<", half), cleanRow = compare(i, ">=", half),
                 noisedKey = compare(j, "<", half), cleanKey = compare(j, ">=", half);
  const CodeText own = codeBoth(noisedKey, compare(divided(i, size), "==", divided(j, size))),
                 before = codeBoth(cleanKey, compare(clean(j), "<", divided(i, size))),
                 upTo = codeBoth(cleanKey, compare(clean(j), "<=", clean(i)));
  return codeEither(codeBoth(noisedRow, codeEither(own, before)), codeBoth(cleanRow, upTo));
}

CodeText RuleCode::bigBird(const Rule& rule, const CodePlace& place) {
  const std::string I = divided(place.i, rule.counts[0]), J = divided(place.j, rule.counts[0]);
  const Index window = rule.counts[1], global = rule.counts[2], random = rule.counts[3];
  CodeText code = compare("abs(" + I + " - " + J + ")", "<=", window);
  if (global > 0) code = codeEither(codeEither(code, compare(I, "<", global)), compare(J, "<", global));
  const std::string table = random == 0 ? "" : randomTable(rule, place);
  if (table.empty()) return code;
  const std::string document = place.document.empty() ? "" : place.document + ", ";
  return codeEither(code, {table + "[" + document + I + ", " + J + "]", CodeText::Bond::atom});
}

}  // namespace headscope::attention
