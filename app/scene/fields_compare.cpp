#include "app/scene/enum_names.h"
#include "app/scene/fields.h"

namespace headscope::app {

namespace {

template <auto Member>
constexpr Access kCompare = access<&Scene::compare, Member>();

constexpr Elsewhere kOnModelPage{"the page of the model"};
constexpr Range kId{-1, 100000000};

constexpr Field kCompareRows[] = {
    {"compare.text", kCompare<&CompareSetup::other>, Anything{"text"}, Elsewhere{"a text box"},
     "A second text, B; empty for none."},
    {"compare.recorded", kCompare<&CompareSetup::recorded>,
     Anything{"a path, with `#group` if the file has several"}, kOnModelPage,
     "A second file of recorded attention, B, relative to the scene; empty for none."},
    {"compare.texts", kCompare<&CompareSetup::texts>, Anything{"a path, or `examples`"}, kOnModelPage,
     "A file of texts to measure every head on, relative to the scene; empty for none."},
    {"compare.answer", kCompare<&CompareSetup::answer>, kId, kOnModelPage,
     "Id of the token whose logit counts for A; -1: A's likeliest next token."},
    {"compare.other_answer", kCompare<&CompareSetup::otherAnswer>, kId, kOnModelPage,
     "Id of the token whose logit is subtracted; -1: B's likeliest next token, or A's second."},
    {"compare.alignment", kCompare<&CompareSetup::alignment>,
     Anything{"a list of `{\"a\": i, \"b\": j}`, tokens of A and B from 0; -1: the other has no partner"},
     kOnModelPage, "Aligned tokens, in addition to equal ones."},
    {"compare.into_a", kCompare<&CompareSetup::intoA>, kYesOrNo, kOnModelPage,
     "Put pieces of B into A instead of pieces of A into B."},
    {"compare.patches", kCompare<&CompareSetup::patches>,
     Anything{
         "a list of `{\"piece\": …, \"layer\": l, \"head\": h, \"token\": t}`; pieces `stream`, `queries`, "
         "`keys`, `values`, `pattern`, `head` and `mlp`; head and token may be -1, all of them"},
     kOnModelPage, "Pieces that are patched together."},
    {"compare.from_layer", kCompare<&CompareSetup::fromLayer>, Range{-1, 1023, "layers"}, kOnModelPage,
     "Layer of the head whose paths into Q, K and V of later heads are patched; -1: whole Q, K and V are."},
    {"compare.from_head", kCompare<&CompareSetup::fromHead>, Range{-1, 65535}, kOnModelPage, "That head."}};

}  // namespace

std::span<const Field> compareFields() {
  return kCompareRows;
}

}  // namespace headscope::app
