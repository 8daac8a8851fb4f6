#pragma once

#include "app/scene/json_reader.h"
#include "app/scene/scene.h"

namespace headscope::app {

// The talk of a scene's file: "talk": [{"name": …, "notes": …, "page": …, "scene": {…}}, …], where the last
// are the fields in which the view is other than the opening scene, by their paths.

/// Reads it where the object has one. What is wrong is noted with its place: "talk[2].scene.…". Nothing that
/// a view names is opened.
void readTalk(ObjectReader& root, Scene& scene);
/// The list; empty where there is no talk.
Json talkJson(const Scene& scene);

}  // namespace headscope::app
