#include "attention/models/config/model_catalogue.h"

#include <cctype>

#include "attention/formats/json_tree.h"
#include "attention/text/ascii.h"

namespace headscope::attention {

namespace {

std::vector<ModelShape> readAll() {
  std::vector<ModelShape> shapes;
  for (const CatalogueModel& model : catalogueModels()) {
    auto shape = readModelShape(model.config, model.name);
    if (!shape) throw std::logic_error(shape.error().message);
    shape->source = model.source;
    shapes.push_back(*std::move(shape));
  }
  return shapes;
}

/// Whether a word doesn't affect the size: suffixes, dates, numbers of active parameters.
bool saysNoSize(const std::string& word) {
  static constexpr std::string_view kWords[] = {"instruct", "it",      "chat", "base", "hf",  "pt",
                                                "thinking", "preview", "meta", "c4ai", "ai21"};
  const auto digits =
      std::count_if(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  const auto length = std::ssize(word);
  const bool date = length == 4 && digits == 4;
  const bool active = length >= 3 && word.front() == 'a' && word.back() == 'b' && digits >= 1 &&
                      digits + std::count(word.begin(), word.end(), '.') == length - 2;
  return date || active || std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

/// The letters that a plain name begins with: "llama" for "Llama-3.3-70B".
std::string familyOf(std::string_view plain) {
  return std::string(plain.substr(0, std::find_if(plain.begin(), plain.end(), [](unsigned char c) {
                                       return std::isdigit(c) != 0;
                                     }) - plain.begin()));
}

}  // namespace

const std::vector<CatalogueModel>& catalogueModels() {
  static const std::vector<CatalogueModel> kAll = [] {
    std::vector<CatalogueModel> all;
    for (const auto& row : nlohmann::json::parse(catalogueText("models")))
      all.push_back({row["name"], row["billions"], row["source"], row["config"].dump()});
    return all;
  }();
  return kAll;
}

std::string plainModelName(std::string_view name) {
  if (const auto slash = name.rfind('/'); slash != name.npos) name.remove_prefix(slash + 1);
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '.')
      words.back() += lowerCase(c);
    else if (!words.back().empty())
      words.emplace_back();
  }
  std::string plain;
  for (const std::string& word : words)
    if (!saysNoSize(word)) plain += word;
  return plain;
}

const std::vector<ModelShape>& modelShapes() {
  static const std::vector<ModelShape> kShapes = readAll();
  return kShapes;
}

const ModelShape* findModel(const std::vector<ModelShape>& shapes, std::string_view name) {
  if (const ModelShape* exact = findShape(shapes, name)) return exact;
  const std::string wanted = plainModelName(name);
  if (wanted.empty()) return nullptr;
  const ModelShape* begun = nullptr;
  int many = 0;
  for (const ModelShape& shape : shapes) {
    const std::string plain = plainModelName(shape.name);
    if (plain == wanted) return &shape;
    if (!plain.starts_with(wanted)) continue;
    begun = &shape;
    ++many;
  }
  return many == 1 ? begun : nullptr;
}

std::string nearestModel(const std::vector<ModelShape>& shapes, std::string_view name) {
  const std::string wanted = plainModelName(name), family = familyOf(wanted);
  std::vector<std::string> plain;
  std::vector<const ModelShape*> same, all;
  for (const ModelShape& shape : shapes) {
    all.push_back(&shape);
    if (familyOf(plainModelName(shape.name)) == family) same.push_back(&shape);
  }
  std::vector<const ModelShape*>& among = same.empty() ? all : same;
  std::vector<std::string_view> names;
  for (const ModelShape* shape : among) plain.push_back(plainModelName(shape->name));
  names.assign(plain.begin(), plain.end());
  const std::string found = suggestion(wanted, names);
  for (std::size_t i = 0; i < plain.size(); ++i)
    if (found == "; did you mean " + plain[i] + "?") return "; did you mean " + among[i]->name + "?";
  if (same.empty()) return {};
  std::string list;
  for (std::size_t i = 0; i < same.size() && i < 4; ++i) list += (i > 0 ? ", " : "") + same[i]->name;
  return "; models of the same family: " + list;
}

}  // namespace headscope::attention
