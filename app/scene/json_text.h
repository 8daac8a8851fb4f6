#pragma once

#include <nlohmann/json.hpp>

#include "app/scene/fields.h"
#include "app/scene/models/open_model.h"
#include "app/scene/scene.h"
#include "app/scene/talk.h"
#include "attention/formats/quote.h"

namespace headscope::app {

// Include this only in .cpp files that read or write scenes, so that json stays private to them.

using Json = nlohmann::ordered_json;

/// Limits of a scene file, in addition to texts of kMaxTextBytes: nesting levels, names in one object, and
/// entries in one list.
inline constexpr std::size_t kMaxJsonDepth = 16, kMaxJsonNames = 256, kMaxJsonEntries = 16'384;

/// Returns success if `text` is JSON within these limits, without duplicate names in an object. Reads it
/// once, keeps nothing, and returns an Error at the first problem or once `stop` is requested. If the text
/// isn't JSON, stores the offset in bytes in `brokenAt`. `depth` differs for scenes inside another document.
attention::Status checkJson(std::string_view text, const std::stop_token& stop = {},
                            std::optional<std::size_t>* brokenAt = nullptr,
                            std::size_t depth = kMaxJsonDepth);

/// A value of a JSON document, read in place: as a tree, a document takes many times the memory of its text.
class JsonText {
 public:
  struct Member;

  /// `text` has passed checkJson() and outlives this.
  explicit JsonText(std::string_view text);

  bool isObject() const { return text_.front() == '{'; }
  bool isList() const { return text_.front() == '['; }
  /// In the order of the text. For a list or an object, respectively.
  std::vector<JsonText> entries() const;
  std::vector<Member> members() const;

  /// A text, number, true, false or null; for a list or object, an empty one.
  Json scalar() const;
  /// The number if it is written without fraction and exponent and fits.
  std::optional<std::int64_t> wholeNumber() const;
  std::optional<double> number() const;

  /// The value's place in the text that it was made from.
  std::string_view text() const { return text_; }

  /// For messages: the value in ASCII, shortened if it is long.
  std::string shown() const;

 private:
  std::string_view text_;
};

struct JsonText::Member {
  std::string name;
  JsonText value;
};

/// The first error in a document.
struct JsonFault {
  std::string message;
  std::string_view at;  ///< the value read last before the error, a view into the document's text
  bool empty() const { return message.empty(); }
};

/// Reads one JSON object field by field, and remembers the first error.
class ObjectReader {
 public:
  /// `of` says in messages what the object is a part of: "a scene".
  ObjectReader(const JsonText& json, std::string path, JsonFault& fault, const char* of = "a scene")
      : path_(std::move(path)), of_(of), fault_(fault) {
    if (fault_.empty()) fault_.at = json.text();
    if (!json.isObject())
      note((path_.empty() ? "the file" : path_) + " is not an object");
    else
      for (JsonText::Member& member : json.members()) members_.push_back({std::move(member), false});
  }

  bool has(std::string_view key) const {
    return std::ranges::any_of(members_, [&](const Field& field) { return field.member.name == key; });
  }
  void read(const char* key, std::string& to) {
    if (const auto value = scalar(key, "text", [](const Json& j) { return j.is_string(); })) to = *value;
  }
  void read(const char* key, bool& to) {
    if (const auto value = scalar(key, "true or false", [](const Json& j) { return j.is_boolean(); }))
      to = *value;
  }
  void read(const char* key, float& to) {
    double value = to;
    read(key, value);
    to = static_cast<float>(value);
  }
  void read(const char* key, double& to) {
    if (const auto value = scalar(key, "a number", [](const Json& j) { return j.is_number(); })) to = *value;
  }
  template <typename Integer>
  requires std::is_integral_v<Integer>
  void read(const char* key, Integer& to) {
    // Ranges are doubles, which hold all whole numbers exactly up to this.
    constexpr std::int64_t kMax = std::int64_t{1} << 53;
    const auto whole = [](const Json& j) {
      if (std::is_unsigned_v<Integer> || j.is_number_unsigned())
        return j.is_number_unsigned() && (std::is_unsigned_v<Integer> || j.get<std::uint64_t>() <= kMax);
      return j.is_number_integer() && j.get<std::int64_t>() >= -kMax;
    };
    if (const auto value =
            scalar(key, std::is_unsigned_v<Integer> ? "a whole number from 0" : "a whole number", whole))
      to = value->template get<Integer>();
  }
  /// Reads one of `names`, as its index.
  void read(const char* key, std::span<const std::string_view> names, int& to) {
    const auto value = scalar(key, "text", [](const Json& j) { return j.is_string(); });
    if (!value) return;
    const std::string word = *value;
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end())
      return note(at(key) + " is " + attention::quotedText(word) + ", expected " +
                  alternatives({names.begin(), names.end()}));
    to = static_cast<int>(found - names.begin());
  }
  /// The same as a value of an enum, in the order of its values.
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void read(const char* key, std::span<const std::string_view> names, Enum& to) {
    auto name = static_cast<int>(to);
    read(key, names, name);
    to = static_cast<Enum>(name);
  }
  template <typename Visit>
  void object(const char* key, Visit visit) {
    const JsonText* value = find(key);
    if (!value) return;
    if (!value->isObject()) return noteUnexpected(key, *value, "an object");
    ObjectReader inner(*value, at(key), fault_, of_);
    visit(inner);
    inner.finish();
  }
  std::optional<std::vector<JsonText>> list(const char* key) {
    const JsonText* value = find(key);
    if (!value) return std::nullopt;
    if (value->isList()) return value->entries();
    noteUnexpected(key, *value, "a list");
    return std::nullopt;
  }
  /// A list of `least` to `most` entries; empty if it is missing or wrong.
  std::vector<JsonText> list(const char* key, std::size_t least, std::size_t most) {
    auto found = list(key);
    const std::size_t count = found ? found->size() : 0;
    if (!found && least > 0) note(at(key) + " is missing");
    if (!found || (count >= least && count <= most))
      return std::move(found).value_or(std::vector<JsonText>());
    note(at(key) + " has " + std::to_string(count) + " entries, expected " + std::to_string(least) + " to " +
         std::to_string(most));
    return {};
  }
  /// The same for a list of objects: `visit` reads each, until there is an error.
  template <typename Visit>
  void objects(const char* key, std::size_t least, std::size_t most, Visit visit) {
    const std::vector<JsonText> all = list(key, least, most);
    for (std::size_t i = 0; i < all.size() && fault_.empty(); ++i) {
      ObjectReader inner(all[i], at(key, i), fault_, of_);
      visit(inner);
      inner.finish();
    }
  }
  std::string at(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  std::string at(const std::string& key, std::size_t entry) const {
    return at(key) + "[" + std::to_string(entry) + "]";
  }
  void note(const std::string& message) {
    if (fault_.empty()) fault_.message = message;
  }
  JsonFault& fault() { return fault_; }

  /// The value of a member, as it is in the text.
  std::optional<JsonText> value(const char* key) {
    const JsonText* found = find(key);
    return found ? std::optional(*found) : std::nullopt;
  }
  /// The names of all members, in the order of the text.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Field& field : members_) all.push_back(field.member.name);
    return all;
  }

  /// Call last. A field that was never read is misspelt or from another version, so it is an error.
  void finish() {
    for (const Field& field : members_) {
      if (field.asked) continue;
      if (fault_.empty()) fault_.at = field.member.value.text();
      note(attention::quotedText(at(field.member.name)) + " is not a field of " + of_);
    }
  }

 private:
  struct Field {
    JsonText::Member member;
    bool asked;
  };

  const JsonText* find(const char* key) {
    for (Field& field : members_)
      if (field.member.name == key) {
        field.asked = true;
        if (fault_.empty()) fault_.at = field.member.value.text();
        return &field.member.value;
      }
    return nullptr;
  }
  void noteUnexpected(const char* key, const JsonText& value, const std::string& expected) {
    note(at(key) + " is " + value.shown() + ", expected " + expected);
  }
  template <typename Fits>
  std::optional<Json> scalar(const char* key, const std::string& expected, Fits fits) {
    const JsonText* found = find(key);
    if (!found) return std::nullopt;
    Json value = found->scalar();
    if (fits(value)) return value;
    noteUnexpected(key, *found, expected);
    return std::nullopt;
  }

  std::string path_;
  const char* of_;
  JsonFault& fault_;
  std::vector<Field> members_;
};

/// Reads the member `key` into a field of the scene. Leaves the field alone if the member is missing; notes
/// errors in the reader.
void readField(ObjectReader& reader, const char* key, const Field& field, Scene& scene);
/// Shows Flow and Cache's precision view in place of Lab's tabs Pipeline (the default) and Precision, which
/// older files name. Call when the page is known.
void replaceFormerTab(Cursor& cursor);
Json fieldJson(const Field& field, const Scene& scene);

/// Drops the names of a table if all are empty: painted biases have none, but a file may give empty ones.
void dropEmptyNames(SharedTable& table);

/// Strokes as a list of objects, each with its points in one list: x, y, x, y, ….
Json valueJson(const SharedStrokes& strokes);
/// Reads them back from field `key`, which may be absent. Notes errors in the reader.
void readValue(ObjectReader& reader, const char* key, SharedStrokes& strokes);

// Fields of a mask. Reading leaves a value alone if its key is missing, and notes errors in the reader.

/// Layers as a mask expression.
Json valueJson(const SharedLayers& layers);
void readValue(ObjectReader& in, const char* key, SharedLayers& layers);
/// Paintings as lists of rows of runs.
Json valueJson(const Paintings& paintings);
void readValue(ObjectReader& in, const char* key, Paintings& paintings);
/// Marks as one object per line.
Json valueJson(const SharedMarks& marks);
void readValue(ObjectReader& in, const char* key, SharedMarks& marks);

/// Reads the mask of a version 1 scene, which had only causal, padding, one window and sinks.
void readFirstMask(ObjectReader& in, MaskSetup& mask);

/// A table as a list of rows, each with a name and its values.
Json valueJson(const SharedTable& table);
/// Reads it back from field `key`, which may be absent. Notes errors in the reader.
void readValue(ObjectReader& reader, const char* key, SharedTable& table);

// Changes of a scene: an object whose names are field paths.

/// Opened models by name, so that the scenes of one file share them.
using OpenModels = std::map<std::string, std::shared_ptr<const OpenModel>>;

/// The scene in which `model` is opened before anything else changes: the scene itself if it has that model
/// already, else without what the former layer was made of.
Scene sceneWithModel(const Scene& scene, const std::string& model);

/// Applies the members of `patch` to the scene without opening anything they name; adds their paths to
/// `changed`. File names are relative to `folder`. Notes errors with the path of the field.
void readPatchFields(ObjectReader& patch, const std::filesystem::path& folder, Scene& scene,
                     std::vector<std::string>& changed);

/// Like readPatchFields(), but also opens the model that the patch names, and validates the scene.
void readPatch(ObjectReader& patch, const std::filesystem::path& folder, OpenModels& models,
               const std::stop_token& stop, Scene& scene, std::vector<std::string>& changed);

/// The fields in which `now` differs from `before`, by path, except the page, the talk's view and the
/// lesson's step. Files in or below `folder` are named relative to it; all in full if it is empty.
Json patchJson(const Scene& before, const Scene& now, const std::filesystem::path& folder);

}  // namespace headscope::app
