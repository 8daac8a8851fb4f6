#include "attention/masks/patterns/definition.h"

namespace headscope::attention {

constinit const Pattern patterns::full{
    .info = {.kind = PatternKind::full,
             .name = "full",
             .title = "Full",
             .help = "Every query sees every key.",
             .formula = "true",
             .users = "BERT, ViT, every encoder",
             .example = "full",
             .comparesPositions = false},
    .visible = [](const Number&, const Number&) { return always(); },
    .row = [](const Rule&, const RowPlace& at, KeyRuns& out) { appendRun(out, 0, at.keys); },
    .byDistance = true,
};

}  // namespace headscope::attention
