#include "tests/app/missing_includes.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "tests/app/unit_graph.h"

namespace headscope::test {
namespace {

/// The words and operators of a source, without comments, strings and preprocessor lines.
std::vector<std::string> tokensOf(const std::string& text) {
  std::vector<std::string> tokens;
  const auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (text.compare(at, 2, "//") == 0 || (c == '#' && (at == 0 || text[at - 1] == '\n'))) {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.compare(at, 3, "R\"(") == 0) {
      at = std::min(text.find(")\"", at), text.size() - 2) + 2;
    } else if (c == '"' || (c == '\'' && (at == 0 || !isWord(text[at - 1])))) {
      for (++at; at < text.size() && text[at] != c && text[at] != '\n'; ++at) at += text[at] == '\\';
      ++at;
    } else if (isWord(c)) {
      const std::size_t from = at;
      while (at < text.size() && isWord(text[at])) ++at;
      tokens.push_back(text.substr(from, at - from));
    } else {
      const std::size_t length = text.compare(at, 2, "->") == 0 || text.compare(at, 2, "::") == 0 ? 2 : 1;
      if (!std::isspace(static_cast<unsigned char>(c))) tokens.push_back(text.substr(at, length));
      at += length;
    }
  }
  return tokens;
}

bool hasSeveralWords(const std::string& name) {
  for (std::size_t at = 1; at < name.size(); ++at)
    if (std::isupper(static_cast<unsigned char>(name[at])) &&
        std::islower(static_cast<unsigned char>(name[at - 1])))
      return true;
  return false;
}

/// The names that a header declares in a namespace: types, and functions and constants on unindented lines.
std::set<std::string> declaredFor(const std::string& text) {
  std::set<std::string> names;
  for (const DefinedType& type : typesOf(text)) names.insert(type.name.substr(type.name.rfind(':') + 1));
  for (std::size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    const std::size_t open = line.find_first_of("({=");
    if (line.empty() || !std::isalpha(static_cast<unsigned char>(line[0])) || open == std::string::npos)
      continue;
    const std::vector<std::string> before = tokensOf(line.substr(0, open));
    if (before.size() > 1) names.insert(before.back());
  }
  return names;
}

/// Whether the word at `at` may be declared there: it follows a type or a declarator such as * or &.
bool mayDeclare(const std::vector<std::string>& tokens, std::size_t at) {
  static const std::set<std::string> kNoTypes{"return", "case", "new", "else", "throw", "co_return", "not"};
  if (at == 0) return false;
  const std::string& before = tokens[at - 1];
  const bool isFollowed = at + 1 < tokens.size();
  if (before == ",") return isFollowed && (tokens[at + 1] == "=" || tokens[at + 1] == ";");
  if (before == "&" || before == "*" || before == ">" || before == "]") return true;
  return (std::isalpha(static_cast<unsigned char>(before[0])) || before[0] == '_') &&
         !kNoTypes.contains(before);
}

struct Words {
  std::set<std::string> used, declared;
};

Words wordsOf(const std::string& text) {
  static const std::set<std::string> kNamespaces{"headscope", "attention", "app", "test"};
  Words words;
  const std::vector<std::string> tokens = tokensOf(text);
  bool inEnum = false;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at] == "enum") inEnum = true;
    if (tokens[at] == "}" || tokens[at] == ";") inEnum = false;
    if (tokens[at].starts_with("TEST")) at += 4;  // ( Suite , Name
    if (at >= tokens.size() || !hasSeveralWords(tokens[at])) continue;
    const std::string before = at > 0 ? tokens[at - 1] : "", scope = at > 1 ? tokens[at - 2] : "";
    if (inEnum || mayDeclare(tokens, at)) words.declared.insert(tokens[at]);
    if (before == "." || before == "->" ||
        (before == "::" && !kNamespaces.contains(scope) && !scope.ends_with("_page")))
      continue;
    const bool isCalled = at + 1 < tokens.size() && tokens[at + 1] == "(";
    const bool isConstant = tokens[at][0] == 'k' && std::isupper(static_cast<unsigned char>(tokens[at][1]));
    if (isCalled || isConstant || std::isupper(static_cast<unsigned char>(tokens[at][0])))
      words.used.insert(tokens[at]);
  }
  return words;
}

class Reader {
 public:
  explicit Reader(const Sources& sources) {
    for (const auto& [path, text] : sources) {
      words_[path] = wordsOf(text);
      includes_[path] = includesOf(text);
      if (!path.ends_with(".h")) continue;
      for (const std::string& name : declaredFor(text))
        if (hasSeveralWords(name)) homes_[name].insert(path);
    }
  }

  std::vector<std::string> missing() const {
    std::vector<std::string> found;
    for (const auto& [path, words] : words_) {
      std::set<std::string> reached;
      reach(path, reached);
      const bool isTest = path.starts_with("tests/");
      for (const std::string& name : words.used)
        if (const std::string home = homeOf(name);
            !home.empty() && home.starts_with("tests/") <= isTest && !isKnown(name, home, reached))
          found.push_back(path + ": uses " + name + " of " + home + ", which it doesn't include");
    }
    return found;
  }

 private:
  std::string homeOf(const std::string& name) const {
    const auto home = homes_.find(name);
    return home == homes_.end() || home->second.size() != 1 ? "" : *home->second.begin();
  }

  void reach(const std::string& path, std::set<std::string>& reached) const {
    const auto includes = includes_.find(path);
    if (includes == includes_.end() || !reached.insert(path).second) return;
    for (const std::string& include : includes->second) reach(include, reached);
  }

  bool isKnown(const std::string& name, const std::string& home, const std::set<std::string>& reached) const {
    return reached.contains(home) ||
           std::any_of(reached.begin(), reached.end(),
                       [&](const std::string& path) { return words_.at(path).declared.contains(name); });
  }

  std::map<std::string, Words> words_;
  std::map<std::string, std::vector<std::string>> includes_;
  std::map<std::string, std::set<std::string>> homes_;
};

}  // namespace

std::vector<std::string> missingIncludes(const Sources& sources) {
  return Reader(sources).missing();
}

}  // namespace headscope::test
