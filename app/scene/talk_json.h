#pragma once

#include "app/scene/json_reader.h"
#include "app/scene/scene.h"

namespace headscope::app {

// The talk in a scene file: "talk": [{"name": …, "notes": …, "page": …, "scene": {…}}, …]. "scene" has the
// fields in which the view differs from the opening scene, by path.

/// Reads the talk if the object has one. Notes errors with their place: "talk[2].scene.…". Opens nothing that
/// a view names.
void readTalk(ObjectReader& root, Scene& scene);
/// The list; empty if there is no talk.
Json talkJson(const Scene& scene);

}  // namespace headscope::app
