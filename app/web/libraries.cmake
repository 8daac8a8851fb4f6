# The browser build's settings of the libraries, and what only it needs.
option(HEADSCOPE_WEB_THREADS "With threads, for a server that sends the headers they need" OFF)
set(web_flags -fwasm-exceptions -sSUPPORT_LONGJMP=wasm -msimd128)
if(HEADSCOPE_WEB_THREADS)
  list(APPEND web_flags -pthread)
else()
  set(harfbuzz_settings HB_NO_MT)
endif()
add_compile_options(${web_flags})
add_link_options(${web_flags})
set(zip_settings "#define HAVE_EXPLICIT_BZERO\n#define HAVE_LOCALTIME_R")
set(zip_left_out random_win32)
# Tensor sizes in a file may exceed the 32 bits of a pointer.
set(eigen_settings "EIGEN_DEFAULT_DENSE_INDEX_TYPE=long long")
include(app/libraries/libraries.cmake)
# Desktop-only sources, which app/platform/web and app/web replace.
set(HEADSCOPE_LEFT_OUT "/(files|checkpoint|kernels|text|platform|render)/windows/|/render/posix/|/platform/posix/(child_program|clipboard_limit|film_program|font_lookup|process|sent_files|spawn)\\.cpp|/app/platform/(window|desktop|outside_files|frame_sink)\\.cpp|/render/(headless|quiet_gl)\\.cpp|/app/session/(headless|lecturer)\\.cpp")

# Eigen vectorises with SSE intrinsics, which Emscripten translates for files that request them. Eigen's
# assembly is a workaround for old GCC versions, one of which clang claims to be.
set(packets ${HEADSCOPE_LIBRARY_SOURCES}/eigen3/Eigen/src/Core/arch/SSE/PacketMath.h)
file(READ ${packets} text)
string(REPLACE "#if EIGEN_COMP_GNUC && EIGEN_COMP_GNUC < 63" "#if 0" text "${text}")
file(CONFIGURE OUTPUT ${packets} CONTENT "${text}" @ONLY)
add_compile_definitions(IMGUI_IMPL_OPENGL_ES3)

# Standard library features that Emscripten lacks; found before its own headers.
add_library(web_standard INTERFACE)
target_include_directories(web_standard SYSTEM BEFORE INTERFACE ${CMAKE_SOURCE_DIR}/app/platform/web/std)

# Libraries that the browser provides or doesn't need.
foreach(name PkgConfig::epoxy PkgConfig::egl PkgConfig::glfw Threads::Threads)
  add_library(${name} INTERFACE IMPORTED GLOBAL)
endforeach()
