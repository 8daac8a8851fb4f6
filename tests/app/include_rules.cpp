#include "tests/app/include_rules.h"

#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

namespace headscope::test {

namespace {

constexpr std::size_t kMostLines = 400, kMostOfFunction = 80;

bool isIn(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/';
}

bool isOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// The text without comments. Strings are kept, so that a // inside an address doesn't start a comment.
std::string withoutComments(std::string_view text) {
  std::string out;
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote) {
      if (c == '\\' && at + 1 < text.size()) out += text[at++];
      if (text[at] == quote || text[at] == '\n') quote = 0;
    } else if (c == '"') {
      quote = c;
    } else if (text.substr(at, 2) == "//") {
      while (at < text.size() && text[at] != '\n') ++at;
      if (at == text.size()) break;
    } else if (text.substr(at, 2) == "/*") {
      at = std::min(text.find("*/", at + 2), text.size() - 2) + 1;
      out += ' ';
      continue;
    }
    out += text[at];
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t\r");
  return from == std::string_view::npos ? "" : text.substr(from);
}

bool isImGui(std::string_view include) {
  return include.find("imgui") != std::string_view::npos || include.starts_with("imstb");
}
bool isGlfw(std::string_view include) {
  return include.starts_with("GLFW/");
}
bool isEgl(std::string_view include) {
  return include.starts_with("EGL/") || include == "epoxy/egl.h";
}
bool isGl(std::string_view include) {
  if (isEgl(include)) return false;
  for (std::string_view folder : {"epoxy", "GL", "GLES", "GLES2", "GLES3", "KHR", "glad"})
    if (isIn(include, folder)) return true;
  return isOneOf(include, {"render/gl.h", "render/gl_objects.h"});
}

/// The floors of app/, from the bottom up; a file includes only its own floor and those below.
constexpr std::array<std::string_view, 9> kFloors{"platform", "scene", "compute", "widgets", "kit",
                                                  "pages",    "shell", "session", "commands"};

/// The floor of a path in app/; platform and scene share one. Nullopt for code that only connects the
/// program's parts.
std::optional<int> floorOf(std::string_view path) {
  path.remove_prefix(std::string_view("app/").size());
  std::string_view name = path.substr(0, path.find('/'));
  if (path == "main.cpp" || name == "web" || name == "windows") name = "commands";
  const auto at = std::find(kFloors.begin(), kFloors.end(), name);
  if (at == kFloors.end()) return std::nullopt;
  return at == kFloors.begin() ? 1 : static_cast<int>(at - kFloors.begin());
}

/// The page that a path belongs to, such as "heads"; "" for shared code of pages.
std::string_view pageOf(std::string_view path) {
  constexpr std::string_view kPages = "app/pages/";
  if (!path.starts_with(kPages)) return "";
  path.remove_prefix(kPages.size());
  const std::size_t end = path.find('/');
  const std::string_view folder = end == std::string_view::npos ? "" : path.substr(0, end);
  return folder == "common" ? "" : folder;
}

/// Whether a file in a page's folder uses the page's namespace.
bool keepsPageNamespace(std::string_view path, const std::string& text) {
  static const std::regex kNamespace(R"((^|\n)namespace (headscope[\w:]*) \{)");
  const std::string page(pageOf(path));
  std::smatch opened;
  return page.empty() || !std::regex_search(text, opened, kNamespace) ||
         opened[2] == "headscope::app::" + page + "_page";
}

/// The folder of attention/ that a path is in, such as "core".
std::string folderOf(std::string_view path) {
  path.remove_prefix(std::string_view("attention/").size());
  return std::string(path.substr(0, path.find('/')));
}

std::string replaced(std::string text, const char* pattern, const char* with) {
  for (const std::regex expression(pattern);;) {
    std::string next = std::regex_replace(text, expression, with);
    if (next == text) return text;
    text = std::move(next);
  }
}

/// Declarations of variables that keep their value from one call to the next: thread_local, and static that
/// is neither constexpr nor const. In a static function's declaration, a parenthesis comes first.
std::vector<std::string> stateIn(std::string code) {
  code = replaced(std::move(code), R"("(\\.|[^"\\\n])*")", "''");
  code = replaced(std::move(code), "<[^<>;{}]*>", "");  // template arguments, whose const isn't the
                                                        // variable's
  std::vector<std::string> found;
  const std::regex declaration(R"(\b(thread_local|static)\b([^;{}=(]*)([;{=(]))");
  for (std::sregex_iterator at(code.begin(), code.end(), declaration), end; at != end; ++at) {
    std::string words = (*at)[2];
    if (const std::size_t star = words.rfind('*'); star != std::string::npos) words.erase(0, star);
    const bool fixed = std::string((*at)[2]).find("constexpr") != std::string::npos ||
                       std::regex_search(words, std::regex(R"(\bconst\b)"));
    if ((*at)[1] == "thread_local" || ((*at)[3] != "(" && !fixed)) found.push_back(at->str());
  }
  return found;
}

/// The functions that are longer than allowed, by their first lines. In formatted code, a function ends with
/// a "}" at the margin and begins with the last line at the margin before it.
std::vector<std::string> longFunctions(const std::string& text) {
  std::vector<std::string> found;
  std::string first;
  std::size_t length = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line); ++length) {
    if (line == "}" && length + 1 > kMostOfFunction)
      found.push_back(std::to_string(length + 1) + " lines: " + first);
    if (line.empty() || line[0] == ' ' || line[0] == '#') continue;
    first = line;
    length = 0;
  }
  return found;
}

/// Whether the file formats fractions itself, which ignores the decimal mark in the settings.
bool writesFractions(std::string_view path, const std::string& text) {
  // Commands and files always use a decimal point.
  if (isIn(path, "app/commands") || !isIn(path, "app") ||
      isOneOf(path, {"app/scene/text/number_text.cpp", "app/compute/figures/svg.cpp",
                     "app/compute/figures/picture_file.cpp", "app/compute/cost/cost_catalogue.cpp",
                     "app/platform/preferences.cpp"}))
    return false;
  const std::regex format(R"(\{\d*:[^{}"]*(\{\})?[efg]\})");
  for (std::sregex_iterator at(text.begin(), text.end(), format), end; at != end; ++at)
    if (at->str().find(".0f") == std::string::npos) return true;
  return false;
}

class Checker {
 public:
  explicit Checker(const Sources& sources) : sources_(sources) {
    for (const auto& [path, text] : sources_) includes_[path] = includesOf(text);
  }

  std::vector<std::string> check() {
    for (const auto& [path, text] : sources_) {
      const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
      if (lines > kMostLines)
        report(path, "has " + std::to_string(lines) + " lines, at most 400 are allowed");
      for (const std::string& function : longFunctions(text))
        report(path, "has a function of " + function + ", at most 80 are allowed");
      const bool compat = path == "app/platform/imgui_compat.h";
      if (!compat && withoutComments(text).find("IMGUI_VERSION_NUM") != std::string::npos)
        report(path, "tests IMGUI_VERSION_NUM, which only app/platform/imgui_compat.h may");
      if (isIn(path, "app") && !isIn(path, "app/platform") &&
          withoutComments(text).find("ImDrawList&") != std::string::npos)
        report(path, "draws on Dear ImGui's own list, expected a Canvas, which draws at places alone");
      if (isIn(path, "app") && !isIn(path, "app/platform") &&
          withoutComments(text).find("ImGui::InvisibleButton") != std::string::npos)
        report(path, "has Dear ImGui's own invisible button, which ends the program at a size of 0");
      if (writesFractions(path, text))
        report(path,
               "writes a fraction itself, expected fixedText or others of app/scene/text/number_text.h");
      if (!keepsPageNamespace(path, text))
        report(path, "is not in the namespace " + std::string(pageOf(path)) + "_page");
      if (isIn(path, "app") && !floorOf(path)) report(path, "is on no floor of app/");
      if (isIn(path, "app"))
        for (const std::string& state : stateIn(withoutComments(text)))
          report(path, "keeps state that nobody owns: " + state);
      for (const std::string& include : includes_.at(path)) checkInclude(path, include);
      if (isIn(path, "app/pages") || isIn(path, "app/shell") || isIn(path, "app/widgets") ||
          isIn(path, "app/kit"))
        checkReach(path);
    }
    checkCircles();
    return found_;
  }

 private:
  void report(const std::string& path, const std::string& what) { found_.push_back(path + ": " + what); }
  void refuse(const std::string& path, const std::string& include, const std::string& why) {
    report(path, "includes " + include + "; " + why);
  }

  void checkInclude(const std::string& path, const std::string& include) {
    const bool attention = isIn(path, "attention"), render = isIn(path, "render");
    if (include.starts_with(".")) refuse(path, include, "paths start at the root");
    if (attention && (isIn(include, "app") || isIn(include, "render")))
      refuse(path, include, "attention knows neither");
    if (render && (isIn(include, "app") || isIn(include, "attention")))
      refuse(path, include, "render knows neither");
    if ((attention || render) && (isImGui(include) || isGlfw(include)))
      refuse(path, include, "that belongs to app");
    if (isIn(include, "tests")) refuse(path, include, "the program knows no tests");
    if (!render && isEgl(include)) refuse(path, include, "EGL stays in render");
    if (attention && isGl(include)) refuse(path, include, "attention knows no screen");
    const bool library = isGl(include) && !isIn(include, "render");
    if (library && path != "render/gl.h") refuse(path, include, "only render/gl.h does");
    // Two headers may expose JSON: one only to readers and writers of scenes, the other only to sources.
    const bool mayShow = path == "app/scene/json_text.h" || path == "attention/formats/json_tree.h";
    if (isIn(include, "nlohmann") && !path.ends_with(".cpp") && !mayShow)
      refuse(path, include, "JSON stays out of headers");
    if (include == "attention/formats/json_tree.h" && !path.ends_with(".cpp"))
      refuse(path, include, "JSON stays out of headers");
    if (isIn(include, "fmt") && !path.ends_with(".cpp"))
      refuse(path, include, "formatting stays out of headers");
    const bool showsJson = include.starts_with("app/scene/json_");
    if (showsJson && path.find("_json.") == std::string::npos && !path.starts_with("app/scene/json_"))
      refuse(path, include, "JSON stays inside the scene's readers");
    if (attention && isIn(include, "attention")) checkFolders(path, include);
    if (isIn(path, "app") && isIn(include, "app")) checkFloors(path, include);
  }

  void checkFloors(const std::string& path, const std::string& include) {
    const auto from = floorOf(path), to = floorOf(include);
    if (!from) return;
    if (to && *to > *from) refuse(path, include, "that is a floor above");
    const std::string_view page = pageOf(path), other = pageOf(include);
    const bool table = path == "app/pages/pages.cpp";
    if (!other.empty() && other != page && *from == *to && !table)
      refuse(path, include, "a page includes no other page");
  }

  void checkFolders(const std::string& path, const std::string& include) {
    const std::string from = folderOf(path), to = folderOf(include);
    if (from == to) return;
    if (from == "core" && to != "kernels") refuse(path, include, "core includes nothing above it");
    if (from != "core" && to == "kernels") refuse(path, include, "only core includes kernels");
    folders_[from].insert(to);
  }

  /// Follows the includes of a panel through the program's own files.
  void checkReach(const std::string& path) {
    std::set<std::string> seen{path};
    std::vector<std::string> open{path};
    while (!open.empty()) {
      const std::string file = open.back();
      open.pop_back();
      for (const std::string& include : includes_.at(file)) {
        if (isGl(include) || isEgl(include) || isGlfw(include)) {
          refuse(path, include,
                 "panels and widgets reach no GL header" + (file == path ? "" : " (through " + file + ")"));
        } else if (sources_.contains(include) && seen.insert(include).second) {
          open.push_back(include);
        }
      }
    }
  }

  void checkCircles() {
    for (const auto& [folder, others] : folders_) {
      std::set<std::string> seen;
      std::vector<std::string> open(others.begin(), others.end());
      while (!open.empty()) {
        const std::string next = open.back();
        open.pop_back();
        if (!seen.insert(next).second) continue;
        for (const std::string& further : folders_[next]) open.push_back(further);
      }
      // kernels includes core, and only core includes kernels.
      if (seen.contains(folder) && folder != "core" && folder != "kernels")
        report("attention/" + folder, "includes itself in a circle of folders");
    }
  }

  const Sources& sources_;
  std::map<std::string, std::vector<std::string>> includes_;
  std::map<std::string, std::set<std::string>> folders_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> includesOf(std::string_view text) {
  std::vector<std::string> includes;
  const std::string code = withoutComments(text);
  for (std::size_t at = 0; at < code.size();) {
    const std::size_t end = std::min(code.find('\n', at), code.size());
    std::string_view line = trimmed(std::string_view(code).substr(at, end - at));
    at = end + 1;
    if (!line.starts_with('#')) continue;
    line = trimmed(line.substr(1));
    if (!line.starts_with("include")) continue;
    line = trimmed(line.substr(7));
    if (line.empty() || (line[0] != '"' && line[0] != '<')) continue;
    const std::size_t close = line.find(line[0] == '"' ? '"' : '>', 1);
    if (close != std::string_view::npos) includes.emplace_back(line.substr(1, close - 1));
  }
  return includes;
}

std::vector<std::string> breaches(const Sources& sources) {
  return Checker(sources).check();
}

}  // namespace headscope::test
