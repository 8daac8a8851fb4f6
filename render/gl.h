#pragma once

// The one place that includes OpenGL; everything else in render/ goes through this header.
#include <epoxy/gl.h>
