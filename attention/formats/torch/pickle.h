#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/formats/dtype.h"

namespace headscope::attention {

/// A tensor as a pickle describes it: numbers of a storage, which lies outside of the pickle.
struct PickledTensor {
  std::string storage;        ///< its key
  std::optional<DType> type;  ///< of its numbers; nothing for a storage without one
  std::uint64_t first = 0;
  Shape shape;
  std::vector<std::uint64_t> strides;  ///< in numbers, one for each axis
};

/// A value of a pickle. Objects of transformers' output and cache classes are dictionaries of their fields.
struct PickleValue {
  enum class Kind { none, number, text, list, dictionary, name, storage, tensor };
  Kind kind = Kind::none;
  std::int64_t number = 0;
  std::string text;                   ///< also of a name ("torch.FloatStorage")
  std::vector<PickleValue*> items{};  ///< of a list; keys and values of a dictionary in turn
  PickledTensor tensor{};             ///< also a storage's key and type
};

/// Reads Python's pickles (https://github.com/python/cpython/blob/main/Lib/pickletools.py) as data: tensors,
/// numbers, texts, lists and dictionaries. Nothing is imported or called: of the functions and classes that
/// a pickle can name, only those are known that make these types, as of torch.load's weights_only.
class PickleReader {
 public:
  /// The bytes must stay.
  explicit PickleReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  /// Reads the pickle that begins here. The value belongs to the reader. Returns an Error, without a file's
  /// name, for a damaged pickle, and for an instruction, function or class that isn't known, which it names.
  Result<const PickleValue*> next();
  /// Where the pickle that was read ends.
  std::size_t at() const { return at_; }

 private:
  using Kind = PickleValue::Kind;
  void step(std::uint8_t instruction);
  PickleValue* fail(const std::string& what);
  std::uint64_t number(std::size_t bytes);
  std::string text(std::size_t length);
  std::string line();
  PickleValue* make(Kind kind);
  void push(PickleValue* value) { stack_.push_back(value); }
  PickleValue* pop();
  std::vector<PickleValue*> popSome(std::size_t count);
  /// The values after the last mark, which is removed with them.
  std::vector<PickleValue*> marked();
  void pushList(std::vector<PickleValue*> items);
  void pushNumber(std::int64_t number);
  void pushText(std::string text);
  void pushName(const std::string& name);
  void remember(std::uint64_t as);
  void recall(std::uint64_t as);
  void add(std::vector<PickleValue*> items, Kind to);
  void storage();
  void call();
  void build();
  PickleValue* tensor(const PickleValue& arguments, bool typed);

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  std::deque<PickleValue> values_;  ///< a pickle may refer to a value from itself, so all live as long
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, PickleValue*> remembered_;
  std::size_t items_ = 0;  ///< put into lists and dictionaries
  std::optional<Error> error_;
};

}  // namespace headscope::attention
