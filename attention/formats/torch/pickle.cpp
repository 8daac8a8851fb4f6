#include "attention/formats/torch/pickle.h"

#include <fmt/core.h>

#include <algorithm>

#include "attention/formats/quote.h"

namespace headscope::attention {
namespace {

/// Dictionaries, by the beginning of a class's name. An object's fields are data, its methods aren't run.
constexpr std::string_view kDictionaries[] = {"collections.OrderedDict", "transformers."};
/// What is read without its arguments. A storage without a type is of a tensor that says its own.
constexpr std::string_view kIgnored[] = {"torch.storage.UntypedStorage",
                                         "torch.device",
                                         "torch.serialization._get_layout",
                                         "numpy.ndarray",
                                         "_codecs.encode",
                                         "numpy.dtype"};
/// NumPy's arrays of objects; their items follow.
constexpr std::string_view kArrays[] = {"numpy.core.multiarray._reconstruct",
                                        "numpy._core.multiarray._reconstruct"};
constexpr std::string_view kTensor = "torch._utils._rebuild_tensor",
                           kParameter = "torch._utils._rebuild_parameter", kSize = "torch.Size";
/// A pickle may repeat what it remembers, so that a few bytes stand for a lot: values and their uses, the
/// characters of names and keys, which are copied, and a tensor's axes are limited.
constexpr std::size_t kMostPickled = std::size_t{1} << 20, kLongestName = 256, kMostAxes = 64;
struct TypeNames {
  DType dtype;
  std::string_view storage, name;  ///< as in torch.FloatStorage and torch.float32
};
constexpr TypeNames kTypes[] = {{DType::F32, "Float", "float32"},
                                {DType::F16, "Half", "float16"},
                                {DType::BF16, "BFloat16", "bfloat16"},
                                {DType::F64, "Double", "float64"},
                                {DType::I64, "Long", "int64"},
                                {DType::I32, "Int", "int32"},
                                {DType::I16, "Short", "int16"},
                                {DType::I8, "Char", "int8"},
                                {DType::U8, "Byte", "uint8"},
                                {DType::Bool, "Bool", "bool"},
                                {DType::U16, "UInt16", "uint16"},
                                {DType::U32, "UInt32", "uint32"},
                                {DType::U64, "UInt64", "uint64"},
                                {DType::F8_E4M3, "Float8_e4m3fn", "float8_e4m3fn"},
                                {DType::F8_E5M2, "Float8_e5m2", "float8_e5m2"},
                                {DType::F8_E4M3FNUZ, "Float8_e4m3fnuz", "float8_e4m3fnuz"},
                                {DType::F8_E5M2FNUZ, "Float8_e5m2fnuz", "float8_e5m2fnuz"}};

template <typename Names>
bool beginsAny(std::string_view name, const Names& begins) {
  return std::ranges::any_of(begins, [&](std::string_view begin) { return name.starts_with(begin); });
}

/// The type that "torch.FloatStorage" or "torch.float32" stands for.
std::optional<DType> numberType(std::string_view name) {
  constexpr std::string_view kModule = "torch.", kCuda = "cuda.", kStorage = "Storage";
  if (!name.starts_with(kModule)) return std::nullopt;
  name.remove_prefix(kModule.size());
  if (name.starts_with(kCuda)) name.remove_prefix(kCuda.size());  // before 1.6
  const std::string_view kind =
      name.ends_with(kStorage) ? name.substr(0, name.size() - kStorage.size()) : std::string_view();
  for (const TypeNames& row : kTypes)
    if (name == row.name || kind == row.storage) return row.dtype;
  return std::nullopt;
}

bool isKnown(std::string_view name) {
  return beginsAny(name, kDictionaries) || beginsAny(name, kArrays) ||
         std::ranges::find(kIgnored, name) != std::end(kIgnored) || name == kTensor ||
         name == std::string(kTensor) + "_v2" || name == std::string(kTensor) + "_v3" || name == kParameter ||
         name == kSize || numberType(name).has_value();
}

/// The sizes in a list; nothing if something else is in it.
std::optional<std::vector<std::uint64_t>> sizesIn(const PickleValue& list) {
  std::vector<std::uint64_t> sizes;
  if (list.kind != PickleValue::Kind::list || list.items.size() > kMostAxes) return std::nullopt;
  for (const PickleValue* item : list.items) {
    if (item->kind != PickleValue::Kind::number || item->number < 0) return std::nullopt;
    sizes.push_back(static_cast<std::uint64_t>(item->number));
  }
  return sizes;
}

}  // namespace

Result<const PickleValue*> PickleReader::next() {
  constexpr std::uint8_t kStop = '.';
  stack_.clear();
  marks_.clear();
  remembered_.clear();
  while (!error_) {
    const auto instruction = static_cast<std::uint8_t>(number(1));
    if (instruction == kStop && !error_) {
      const PickleValue* const value = pop();
      if (!error_) return value;
    } else if (!error_) {
      step(instruction);
      if (std::max(values_.size(), items_) > kMostPickled)
        fail(fmt::format("holds more than {} values", kMostPickled));
    }
  }
  return *error_;
}

PickleValue* PickleReader::fail(const std::string& what) {
  if (!error_) error_ = Error{what};
  return make(Kind::none);
}

std::uint64_t PickleReader::number(std::size_t bytes) {
  std::uint64_t value = 0;
  if (bytes > bytes_.size() - at_) return fail("its pickle ends early"), 0;
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), std::min<std::size_t>(bytes, 8),
              reinterpret_cast<std::uint8_t*>(&value));
  at_ += bytes;
  return value;
}

std::string PickleReader::text(std::size_t length) {
  if (length > bytes_.size() - at_) return fail("its pickle ends early"), "";
  at_ += length;
  return {reinterpret_cast<const char*>(bytes_.data()) + at_ - length, length};
}

std::string PickleReader::line() {
  const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(at_);
  const auto end = std::find(begin, bytes_.end(), std::uint8_t{'\n'});
  if (end == bytes_.end()) return fail("its pickle ends early"), "";
  std::string line = text(static_cast<std::size_t>(end - begin));
  ++at_;
  return line;
}

PickleValue* PickleReader::make(Kind kind) {
  values_.emplace_back().kind = kind;
  return &values_.back();
}

PickleValue* PickleReader::pop() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) return fail("its pickle is damaged");
  PickleValue* const value = stack_.back();
  stack_.pop_back();
  return value;
}

std::vector<PickleValue*> PickleReader::marked() {
  if (marks_.empty()) return fail("its pickle is damaged"), std::vector<PickleValue*>();
  const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleValue*> items(from, stack_.end());
  stack_.erase(from, stack_.end());
  marks_.pop_back();
  return items;
}

void PickleReader::pushList(std::vector<PickleValue*> items) {
  PickleValue* const list = make(Kind::list);
  list->items = std::move(items);
  push(list);
}

void PickleReader::pushNumber(std::int64_t number) {
  PickleValue* const value = make(Kind::number);
  value->number = number;
  push(value);
}

void PickleReader::pushText(std::string text) {
  PickleValue* const value = make(Kind::text);
  value->text = std::move(text);
  push(value);
}

void PickleReader::pushName(const std::string& name) {
  if (name.size() > kLongestName || !isKnown(name))
    fail(fmt::format(
        "names {}, expected only tensors, numbers, texts, lists and dictionaries: save these alone",
        quotedText(name)));
  PickleValue* const value = make(Kind::name);
  value->text = name;
  push(value);
}

void PickleReader::remember(std::uint64_t as) {
  if (stack_.empty())
    fail("its pickle is damaged");
  else
    remembered_[as] = stack_.back();
}

void PickleReader::recall(std::uint64_t as) {
  const auto found = remembered_.find(as);
  push(found == remembered_.end() ? fail("its pickle is damaged") : found->second);
}

void PickleReader::add(std::vector<PickleValue*> items, Kind to) {
  if (stack_.empty() || stack_.back()->kind != to || (to == Kind::dictionary && items.size() % 2 != 0))
    return fail("its pickle is damaged"), void();
  items_ += items.size();
  stack_.back()->items.insert(stack_.back()->items.end(), items.begin(), items.end());
}

/// A persistent id: ("storage", type, key, device, numbers).
void PickleReader::storage() {
  const PickleValue* const id = pop();
  const auto is = [&](std::size_t item, Kind kind) {
    return id->items.size() > item && id->items[item]->kind == kind;
  };
  PickleValue* const storage = make(Kind::storage);
  if (!is(0, Kind::text) || id->items[0]->text != "storage" || !is(1, Kind::name) || !is(2, Kind::text) ||
      id->items[2]->text.size() > kLongestName)
    fail("its pickle refers to something that isn't a storage of numbers");
  else
    storage->tensor.storage = id->items[2]->text, storage->tensor.type = numberType(id->items[1]->text);
  push(storage);
}

/// The arguments are (storage, first, shape, strides, …); if `typed`, the seventh is the numbers' type.
PickleValue* PickleReader::tensor(const PickleValue& arguments, bool typed) {
  const auto& items = arguments.items;
  PickleValue* const made = make(Kind::tensor);
  if (items.size() < (typed ? 7U : 4U) || items[0]->kind != Kind::storage || items[1]->kind != Kind::number ||
      items[1]->number < 0)
    return fail("has a damaged tensor");
  const auto shape = sizesIn(*items[2]), strides = sizesIn(*items[3]);
  if (!shape || !strides || shape->size() != strides->size()) return fail("has a damaged tensor");
  made->tensor = {items[0]->tensor.storage, items[0]->tensor.type,
                  static_cast<std::uint64_t>(items[1]->number), *shape, *strides};
  if (!typed) return made;
  made->tensor.type = numberType(items[6]->text);
  return made;
}

void PickleReader::call() {
  const PickleValue *const arguments = pop(), *const called = pop();
  const std::string& name = called->text;
  if (called->kind != Kind::name || arguments->kind != Kind::list)
    return fail("its pickle is damaged"), void();
  if (beginsAny(name, kDictionaries)) return push(make(Kind::dictionary));
  if (beginsAny(name, kArrays)) return push(make(Kind::list));
  if (name.starts_with(kTensor)) return push(tensor(*arguments, name.ends_with("_v3")));
  if (name != kParameter && name != kSize) return push(make(Kind::none));
  if (arguments->items.empty()) return fail("its pickle is damaged"), void();
  push(arguments->items[0]);  // which both stand for
}

/// An object's fields, or an array's (version, shape, type, order, items). What other values' states say
/// doesn't concern their numbers.
void PickleReader::build() {
  const PickleValue* const state = pop();
  if (stack_.empty()) return;
  PickleValue* const of = stack_.back();
  if (state->kind == Kind::dictionary && of->kind == Kind::dictionary) add(state->items, Kind::dictionary);
  if (of->kind != Kind::list) return;
  if (state->items.size() != 5 || state->items[4]->kind != Kind::list)
    fail("holds a NumPy array, expected tensors: save torch.from_numpy(array)");
  else
    add(state->items[4]->items, Kind::list);
}

std::vector<PickleValue*> PickleReader::popSome(std::size_t count) {
  std::vector<PickleValue*> items(count);
  for (std::size_t i = count; i-- > 0;) items[i] = pop();
  return items;
}

void PickleReader::step(std::uint8_t instruction) {
  struct Row {
    std::string_view instructions;
    void (*run)(PickleReader& r);
  };
  // LONG1 (8A) may be longer than 8 bytes only for a format's mark. No size is a BINFLOAT (G).
  static constexpr Row kRows[] = {
      {"\x80", [](PickleReader& r) { r.number(1); }},
      {"\x95", [](PickleReader& r) { r.number(8); }},
      {"(", [](PickleReader& r) { r.marks_.push_back(r.stack_.size()); }},
      {"0", [](PickleReader& r) { r.pop(); }},
      {"N", [](PickleReader& r) { r.push(r.make(Kind::none)); }},
      {"\x88", [](PickleReader& r) { r.pushNumber(1); }},
      {"\x89", [](PickleReader& r) { r.pushNumber(0); }},
      {"K", [](PickleReader& r) { r.pushNumber(static_cast<std::int64_t>(r.number(1))); }},
      {"M", [](PickleReader& r) { r.pushNumber(static_cast<std::int64_t>(r.number(2))); }},
      {"J", [](PickleReader& r) { r.pushNumber(static_cast<std::int32_t>(r.number(4))); }},
      {"\x8A",
       [](PickleReader& r) {
         const std::size_t bytes = r.number(1),
                           unused = bytes == 0 ? 0 : 64 - 8 * std::min<std::size_t>(bytes, 8);
         r.pushNumber(static_cast<std::int64_t>(r.number(bytes) << unused) >> unused);
       }},
      {"G", [](PickleReader& r) { r.number(8), r.push(r.make(Kind::none)); }},
      {"XTB", [](PickleReader& r) { r.pushText(r.text(r.number(4))); }},
      {"UC\x8C", [](PickleReader& r) { r.pushText(r.text(r.number(1))); }},
      {"\x8D", [](PickleReader& r) { r.pushText(r.text(r.number(8))); }},
      {"c",
       [](PickleReader& r) {
         const std::string module = r.line();
         r.pushName(module + "." + r.line());
       }},
      {"\x93",
       [](PickleReader& r) {
         const auto names = r.popSome(2);
         r.pushName(names[0]->text + "." + names[1]->text);
       }},
      {"])\x8F", [](PickleReader& r) { r.push(r.make(Kind::list)); }},
      {"}", [](PickleReader& r) { r.push(r.make(Kind::dictionary)); }},
      {"tl", [](PickleReader& r) { r.pushList(r.marked()); }},
      {"\x85", [](PickleReader& r) { r.pushList(r.popSome(1)); }},
      {"\x86", [](PickleReader& r) { r.pushList(r.popSome(2)); }},
      {"\x87", [](PickleReader& r) { r.pushList(r.popSome(3)); }},
      {"q", [](PickleReader& r) { r.remember(r.number(1)); }},
      {"r", [](PickleReader& r) { r.remember(r.number(4)); }},
      {"\x94", [](PickleReader& r) { r.remember(r.remembered_.size()); }},
      {"h", [](PickleReader& r) { r.recall(r.number(1)); }},
      {"j", [](PickleReader& r) { r.recall(r.number(4)); }},
      {"a", [](PickleReader& r) { r.add(r.popSome(1), Kind::list); }},
      {"e\x90", [](PickleReader& r) { r.add(r.marked(), Kind::list); }},
      {"s", [](PickleReader& r) { r.add(r.popSome(2), Kind::dictionary); }},
      {"u", [](PickleReader& r) { r.add(r.marked(), Kind::dictionary); }},
      {"Q", [](PickleReader& r) { r.storage(); }},
      {"R\x81", [](PickleReader& r) { r.call(); }},
      {"b", [](PickleReader& r) { r.build(); }},
  };
  for (const Row& row : kRows)
    if (row.instructions.find(static_cast<char>(instruction)) != std::string_view::npos)
      return row.run(*this);
  fail(
      fmt::format("has the pickle instruction 0x{:02X}, expected only those of tensors, numbers, texts, "
                  "lists and dictionaries",
                  instruction));
}

}  // namespace headscope::attention
