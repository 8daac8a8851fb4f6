#include "app/compute/cost/cost_catalogue.h"

#include <fmt/core.h>

#include <cmath>

#include "attention/formats/json_tree.h"
#include "attention/formats/merged_file.h"
#include "attention/formats/quote.h"
#include "attention/models/config/model_catalogue.h"

namespace headscope::app {

namespace {

using attention::Error;
using attention::Index;
using attention::Machine;
using attention::ModelShape;
using attention::Result;
using Json = nlohmann::ordered_json;

struct FlagField {
  const char* name;
  bool ModelShape::*member;
};
constexpr FlagField kFlags[] = {
    {"gated", &ModelShape::gated}, {"tied", &ModelShape::tied}, {"decodes", &ModelShape::decodes}};

Result<ModelShape> readShape(const Json& json) {
  ModelShape shape;
  shape.source = "your models.json";
  for (const auto& [key, value] : json.items()) {
    const auto sizes = attention::shapeSizes();
    const auto size =
        std::find_if(sizes.begin(), sizes.end(),
                     [&, &key = key](const attention::ShapeSize& field) { return key == field.name; });
    const auto flag = std::find_if(std::begin(kFlags), std::end(kFlags),
                                   [&, &key = key](const FlagField& field) { return key == field.name; });
    if (size != sizes.end()) {
      if (!value.is_number_integer()) return Error{key + " is not a whole number"};
      shape.*size->member = value.get<Index>();
    } else if (flag != std::end(kFlags)) {
      if (!value.is_boolean()) return Error{key + " is neither true nor false"};
      shape.*flag->member = value.get<bool>();
    } else if (key == "name" || key == "source") {
      if (!value.is_string()) return Error{key + " is not a text"};
      (key == "name" ? shape.name : shape.source) = value.get<std::string>();
    } else {
      return Error{"there is no field " + attention::quotedText(key) + ", expected " + shapeFieldNames()};
    }
  }
  if (shape.name.empty()) return Error{"name is missing, expected a string"};
  if (!json.contains("kv_heads")) shape.kvHeads = shape.heads;
  if (const auto status = attention::validate(shape); !status) return status.error();
  return shape;
}

Result<Machine> readMachine(const Json& json) {
  Machine machine;
  machine.source = fmt::format("your {}", kMachinesFile);
  double bandwidth = 0, flops = 0, fp8 = 0, int8 = 0, fp4 = 0, link = 0;
  const std::pair<const char*, double*> numbers[] = {{"memory_gb", &machine.memoryGb},
                                                     {"bandwidth_gb", &bandwidth},
                                                     {"tflops", &flops},
                                                     {"tflops_fp8", &fp8},
                                                     {"tops_int8", &int8},
                                                     {"tflops_fp4", &fp4},
                                                     {"link_gb", &link},
                                                     {"usable_share", &machine.usableShare}};
  for (const auto& [key, value] : json.items()) {
    if (key == "name" && value.is_string()) {
      machine.name = value.get<std::string>();
      continue;
    }
    double* to = nullptr;
    for (const auto& [name, number] : numbers)
      if (key == name) to = number;
    if (!to)
      return Error{"there is no field " + attention::quotedText(key) +
                   ", expected name, memory_gb, bandwidth_gb, tflops, tflops_fp8, tops_int8, tflops_fp4, "
                   "link_gb or usable_share"};
    *to = value.is_number() ? value.get<double>() : 0;
  }
  if (machine.name.empty()) return Error{"name is missing, expected a string"};
  for (const auto& [name, number] : numbers) {
    const bool may =
        !json.contains(name) && number != &machine.memoryGb && number != &bandwidth && number != &flops;
    if (!may && (!std::isfinite(*number) || *number <= 0 || *number > 1e9))
      return Error{fmt::format("{} is missing or not a number above 0", name)};
  }
  if (machine.usableShare > 1)
    return Error{fmt::format("usable_share is {}, expected at most 1", machine.usableShare)};
  machine.bandwidth = bandwidth * 1e9;
  machine.flops = flops * 1e12;
  machine.fp8 = fp8 * 1e12;
  machine.int8 = int8 * 1e12;
  machine.fp4 = fp4 * 1e12;
  machine.link = link * 1e9;
  return machine;
}

/// Returns the text of a file, or an empty list if it doesn't exist.
Result<std::string> readText(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::string("[]");
  const auto bytes = attention::readFile(path, 1 << 20);
  if (!bytes) return bytes.error();
  return std::string(bytes->begin(), bytes->end());
}

Result<Json> readList(std::string_view text, const std::string& file) {
  auto json = attention::parseJsonTree<Json>(text, file);
  if (json && !json->is_array()) return Error{file + " is not a JSON list, expected [{\"name\": …}, …]"};
  return json;
}

/// Reads a list of entries. Each invalid entry becomes a separate problem.
template <typename Entry, typename Read>
void addFrom(const Result<std::string>& text, const std::string& file, Read read, std::vector<Entry>& entries,
             std::vector<std::string>& problems) {
  const auto list = text ? readList(*text, file) : text.error();
  if (!list) return problems.push_back(list.error().message);
  const Json& json = *list;
  for (std::size_t i = 0; i < json.size(); ++i) {
    Result<Entry> entry = json[i].is_object() ? read(json[i]) : Result<Entry>(Error{"is not an object"});
    if (!entry) {
      problems.push_back(fmt::format("{}, entry {}: {}", file, i + 1, entry.error().message));
      continue;
    }
    const auto same = std::find_if(entries.begin(), entries.end(),
                                   [&](const Entry& each) { return each.name == entry->name; });
    if (same != entries.end())
      *same = *std::move(entry);
    else
      entries.push_back(*std::move(entry));
  }
}

}  // namespace

CostCatalogue readCatalogue(const Result<std::string>& models, const Result<std::string>& machines) {
  CostCatalogue catalogue{attention::modelShapes(), attention::machines(), {}};
  addFrom(models, kModelsFile, readShape, catalogue.shapes, catalogue.problems);
  addFrom(machines, kMachinesFile, readMachine, catalogue.machines, catalogue.problems);
  std::stable_sort(catalogue.machines.begin(), catalogue.machines.end(),
                   [](const Machine& a, const Machine& b) { return a.memoryGb < b.memoryGb; });
  return catalogue;
}

CostCatalogue loadCatalogue(const std::filesystem::path& folder) {
  if (folder.empty()) return readCatalogue({"[]"}, {"[]"});
  return readCatalogue(readText(folder / kModelsFile), readText(folder / kMachinesFile));
}

std::string shapeJson(const ModelShape& shape) {
  Json json;
  json["name"] = shape.name;
  for (const attention::ShapeSize& field : attention::shapeSizes())
    if (shape.*field.member != 0) json[field.name] = shape.*field.member;
  for (const FlagField& field : kFlags) json[field.name] = shape.*field.member;
  json["source"] = shape.source;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string shapeFieldNames() {
  std::string names = "name";
  for (const attention::ShapeSize& field : attention::shapeSizes()) names += std::string(", ") + field.name;
  for (const FlagField& field : kFlags) names += std::string(", ") + field.name;
  return names + " or source";
}

}  // namespace headscope::app
