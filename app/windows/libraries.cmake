# The Windows build's settings of the libraries, and those that only it needs.
add_compile_definitions(_FILE_OFFSET_BITS=64 NOMINMAX WIN32_LEAN_AND_MEAN UNICODE _UNICODE _WIN32_WINNT=0x0A00
  __USE_MINGW_ANSI_STDIO=1 _POSIX_THREAD_SAFE_FUNCTIONS=200112L _USE_MATH_DEFINES)
# GCC doesn't align the stack to 32 bytes on Windows (bug 54412), so aligned AVX moves crash. Debian's GCC is patched;
# others aren't.
add_compile_options(-Wa,-muse-unaligned-vector-move)
add_link_options(-static)
set(zip_left_out random_unix)
include(app/libraries/libraries.cmake)
target_compile_definitions(headscope_library_cairo_objects PUBLIC CAIRO_WIN32_STATIC_BUILD)
set(HEADSCOPE_LEFT_OUT "/(files|checkpoint|kernels|text|platform|render)/posix/|/app/platform/web/")

foreach(part EXAMPLES TESTS DOCS)
  set(GLFW_BUILD_${part} OFF CACHE BOOL "" FORCE)
endforeach()
set(GLFW_INSTALL OFF CACHE BOOL "" FORCE)
add_subdirectory(${from}/glfw3 ${made}/glfw3 EXCLUDE_FROM_ALL)
set_target_properties(glfw PROPERTIES UNITY_BUILD OFF)
target_compile_options(glfw PRIVATE -w)
add_library(PkgConfig::glfw ALIAS glfw)

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(epoxy ${made}/epoxy)
file(MAKE_DIRECTORY ${epoxy}/include/epoxy ${epoxy}/src)
foreach(kind gl wgl)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${from}/libepoxy/src/gen_dispatch.py --source --header
    --srcdir=${epoxy}/src --includedir=${epoxy}/include/epoxy ${from}/libepoxy/registry/${kind}.xml COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(CONFIGURE OUTPUT ${epoxy}/src/config.h CONTENT "#define ENABLE_EGL 0\n#define ENABLE_GLX 0\n#define EPOXY_PUBLIC extern\n")
headscope_library(epoxy SOURCES ${from}/libepoxy/src/dispatch_common.c ${from}/libepoxy/src/dispatch_wgl.c
  ${epoxy}/src/gl_generated_dispatch.c ${epoxy}/src/wgl_generated_dispatch.c
  INCLUDE ${from}/libepoxy/include ${epoxy}/include OWN_INCLUDE ${from}/libepoxy/src ${epoxy}/src
  DEFINE EPOXY_PUBLIC=extern)
target_link_libraries(headscope_library_epoxy INTERFACE opengl32 gdi32)
add_library(PkgConfig::epoxy ALIAS headscope_library_epoxy)

headscope_library(cli11 INCLUDE ${from}/cli11/include)
add_library(CLI11::CLI11 ALIAS headscope_library_cli11)
find_package(Threads REQUIRED)
