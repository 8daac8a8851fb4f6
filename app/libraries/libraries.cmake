# The libraries for systems without Debian's, compiled from its source packages, which app/web/build and
# app/windows/build have unpacked. They have the same target names as those of find_package and pkg_check_modules.
set(HEADSCOPE_LIBRARY_SOURCES "" CACHE PATH "The folder that the libraries were unpacked into")
set(from ${HEADSCOPE_LIBRARY_SOURCES})
set(made ${CMAKE_BINARY_DIR}/libraries)
enable_language(C)

# headscope_library(NAME [SOURCES ...] [INCLUDE ...] [DEFINE ...] [OWN ...] [OWN_INCLUDE ...]): OWN and OWN_INCLUDE
# apply only to the library's own sources.
function(headscope_library name)
  cmake_parse_arguments(L "" "" "SOURCES;INCLUDE;DEFINE;OWN;OWN_INCLUDE" ${ARGN})
  add_library(headscope_library_${name} INTERFACE)
  if(L_SOURCES)
    add_library(headscope_library_${name}_objects STATIC ${L_SOURCES})
    set_target_properties(headscope_library_${name}_objects PROPERTIES UNITY_BUILD OFF)
    target_compile_options(headscope_library_${name}_objects PRIVATE -O2 -w)
    target_compile_definitions(headscope_library_${name}_objects PRIVATE ${L_DEFINE} ${L_OWN})
    target_include_directories(headscope_library_${name}_objects PRIVATE ${L_OWN_INCLUDE} ${L_INCLUDE})
    target_link_libraries(headscope_library_${name} INTERFACE headscope_library_${name}_objects)
  endif()
  target_include_directories(headscope_library_${name} SYSTEM INTERFACE ${L_INCLUDE})
  target_compile_definitions(headscope_library_${name} INTERFACE ${L_DEFINE})
endfunction()

# headscope_library_needs(NAME OTHER...): its sources use other libraries, which linkers that read each archive once must
# find after it.
function(headscope_library_needs name)
  foreach(other ${ARGN})
    target_link_libraries(headscope_library_${name} INTERFACE headscope_library_${other})
    target_link_libraries(headscope_library_${name}_objects INTERFACE $<LINK_ONLY:headscope_library_${other}>)
  endforeach()
endfunction()

file(GLOB sources ${from}/zlib/*.c)
list(FILTER sources EXCLUDE REGEX "/gz[a-z]+\\.c$")
headscope_library(z SOURCES ${sources} INCLUDE ${from}/zlib)

set(sources base/ftsystem.c base/ftinit.c base/ftdebug.c base/ftbase.c base/ftbbox.c base/ftglyph.c base/ftbitmap.c
  base/ftsynth.c base/ftstroke.c base/ftmm.c autofit/autofit.c cff/cff.c psaux/psaux.c pshinter/pshinter.c
  psnames/psnames.c smooth/smooth.c sfnt/sfnt.c truetype/truetype.c gzip/ftgzip.c)
list(TRANSFORM sources PREPEND ${from}/freetype/src/)
file(CONFIGURE OUTPUT ${made}/freetype/modules.h CONTENT "FT_USE_MODULE( FT_Module_Class, autofit_module_class )
FT_USE_MODULE( FT_Driver_ClassRec, tt_driver_class )
FT_USE_MODULE( FT_Driver_ClassRec, cff_driver_class )
FT_USE_MODULE( FT_Module_Class, psaux_module_class )
FT_USE_MODULE( FT_Module_Class, psnames_module_class )
FT_USE_MODULE( FT_Module_Class, pshinter_module_class )
FT_USE_MODULE( FT_Module_Class, sfnt_module_class )
FT_USE_MODULE( FT_Renderer_Class, ft_smooth_renderer_class )
")
headscope_library(freetype SOURCES ${sources} INCLUDE ${from}/freetype/include OWN_INCLUDE ${made}/freetype ${from}/zlib
  OWN FT2_BUILD_LIBRARY FT_CONFIG_OPTION_SYSTEM_ZLIB FT_CONFIG_MODULES_H=<modules.h>)
headscope_library_needs(freetype z)
add_library(Freetype::Freetype ALIAS headscope_library_freetype)

headscope_library(harfbuzz SOURCES ${from}/harfbuzz/src/harfbuzz.cc INCLUDE ${from}/harfbuzz/src OWN ${harfbuzz_settings})
add_library(PkgConfig::harfbuzz ALIAS headscope_library_harfbuzz)

file(GLOB sources ${from}/fribidi/lib/fribidi*.c)
file(CONFIGURE OUTPUT ${made}/fribidi/config.h CONTENT "#define HAVE_STDLIB_H 1\n#define HAVE_STRING_H 1\n#define HAVE_STRINGIZE 1\n")
file(CONFIGURE OUTPUT ${made}/fribidi/fribidi-config.h CONTENT "#pragma once
#define FRIBIDI \"fribidi\"
#define FRIBIDI_NAME \"GNU FriBidi\"
#define FRIBIDI_VERSION \"1.0.8\"
#define FRIBIDI_MAJOR_VERSION 1
#define FRIBIDI_MINOR_VERSION 0
#define FRIBIDI_MICRO_VERSION 8
#define FRIBIDI_INTERFACE_VERSION 4
#define FRIBIDI_INTERFACE_VERSION_STRING \"4\"
#define FRIBIDI_BUGREPORT \"\"
#define FRIBIDI_SIZEOF_INT 4
")
headscope_library(fribidi SOURCES ${sources} INCLUDE ${from}/fribidi/lib ${made}/fribidi OWN HAVE_CONFIG_H FRIBIDI_BUILD
  DEFINE FRIBIDI_LIB_STATIC DONT_HAVE_FRIBIDI_UNICODE_VERSION=0)
add_library(PkgConfig::fribidi ALIAS headscope_library_fribidi)

set(pixman ${from}/pixman/pixman)
file(GLOB sources ${pixman}/pixman*.c)
list(FILTER sources EXCLUDE REGEX "-(arm-neon|arm-simd|mips-dspr2|mmx|sse2|ssse3|vmx|region)\\.c$")
headscope_library(pixman SOURCES ${sources} INCLUDE ${pixman} OWN PACKAGE=pixman TLS=__thread)

# Cairo with pictures in memory, PDF and FreeType's fonts.
set(cairo ${from}/cairo/src)
file(CONFIGURE OUTPUT ${made}/cairo/cairo-features.h CONTENT "#pragma once
#define CAIRO_FEATURES_H
#define CAIRO_HAS_FT_FONT 1
#define CAIRO_HAS_IMAGE_SURFACE 1
#define CAIRO_HAS_PDF_SURFACE 1
#define CAIRO_HAS_RECORDING_SURFACE 1
#define CAIRO_HAS_USER_FONT 1
")
file(GLOB sources ${cairo}/cairo*.c)
list(FILTER sources EXCLUDE REGEX
  "/cairo-(beos|boilerplate|cogl|directfb|drm|egl|gl|glx|os2|png|ps|qt|quartz|script|skia|svg|tee|vg|win32|wgl|xcb|xlib|xml|path-fill)[-.]")
# WebAssembly calls a function only with as many arguments as it has, and Cairo fills curves with one more.
file(READ ${cairo}/cairo-path-fill.c text)
string(REPLACE "(cairo_spline_add_point_func_t)_cairo_filler_line_to" "curve_point" text "${text}")
file(CONFIGURE OUTPUT ${made}/cairo/cairo-path-fill.c CONTENT "#include \"cairoint.h\"
static cairo_status_t _cairo_filler_line_to (void *to, const cairo_point_t *point);
static cairo_status_t curve_point (void *to, const cairo_point_t *point, const cairo_slope_t *unused) {
  return _cairo_filler_line_to (to, point);
}
${text}" @ONLY)
headscope_library(cairo SOURCES ${sources} ${made}/cairo/cairo-path-fill.c INCLUDE ${cairo} ${made}/cairo
  OWN HAVE_STDINT_H HAVE_UINT64_T HAVE_UNISTD_H HAVE_GMTIME_R HAVE_LOCALTIME_R HAVE_CXX11_ATOMIC_PRIMITIVES SIZEOF_INT=4 SIZEOF_LONG=4
    SIZEOF_LONG_LONG=8 SIZEOF_VOID_P=${CMAKE_SIZEOF_VOID_P} HAVE_FT_LOAD_SFNT_TABLE CAIRO_HAS_PTHREAD CAIRO_HAS_REAL_PTHREAD
  OWN_INCLUDE ${pixman} ${from}/freetype/include ${from}/zlib)
headscope_library_needs(cairo freetype pixman)
add_library(PkgConfig::cairo ALIAS headscope_library_cairo)

headscope_library(md4c SOURCES ${from}/md4c/src/md4c.c INCLUDE ${from}/md4c/src OWN MD4C_USE_UTF8)
add_library(PkgConfig::md4c ALIAS headscope_library_md4c)

headscope_library(utf8proc SOURCES ${from}/utf8proc/utf8proc.c INCLUDE ${from}/utf8proc DEFINE UTF8PROC_STATIC)
add_library(PkgConfig::utf8proc ALIAS headscope_library_utf8proc)

# libpng's own configuration as it is shipped.
set(png ${from}/libpng1.6)
configure_file(${png}/scripts/pnglibconf.h.prebuilt ${made}/png/pnglibconf.h COPYONLY)
file(GLOB sources ${png}/png*.c)
list(FILTER sources EXCLUDE REGEX "pngtest")
headscope_library(png SOURCES ${sources} INCLUDE ${png} ${made}/png OWN_INCLUDE ${from}/zlib)
headscope_library_needs(png z)
add_library(PNG::PNG ALIAS headscope_library_png)

set(jpeg ${from}/libjpeg-turbo)
file(CONFIGURE OUTPUT ${made}/jpeg/jconfig.h CONTENT "#pragma once
#define JPEG_LIB_VERSION 62
#define LIBJPEG_TURBO_VERSION 2.1.5
#define LIBJPEG_TURBO_VERSION_NUMBER 2001005
#define D_ARITH_CODING_SUPPORTED 1
#define MEM_SRCDST_SUPPORTED 1
#define BITS_IN_JSAMPLE 8
")
file(CONFIGURE OUTPUT ${made}/jpeg/jconfigint.h CONTENT "#pragma once
#define BUILD \"\"
#undef inline
#define INLINE inline
#define THREAD_LOCAL __thread
#define PACKAGE_NAME \"libjpeg-turbo\"
#define VERSION \"2.1.5\"
#define SIZEOF_SIZE_T ${CMAKE_SIZEOF_VOID_P}
#define HAVE_BUILTIN_CTZL
#define FALLTHROUGH __attribute__((fallthrough));
")
configure_file(${jpeg}/jversion.h.in ${made}/jpeg/jversion.h)
set(sources jaricom jcomapi jdapimin jdapistd jdarith jdatasrc jdcoefct jdcolor jddctmgr jdhuff jdicc jdinput jdmainct
  jdmarker jdmaster jdmerge jdphuff jdpostct jdsample jerror jidctflt jidctfst jidctint jidctred jmemmgr jmemnobs
  jquant1 jquant2 jsimd_none jutils)
list(TRANSFORM sources PREPEND ${jpeg}/)
list(TRANSFORM sources APPEND .c)
headscope_library(jpeg SOURCES ${sources} INCLUDE ${jpeg} ${made}/jpeg)
add_library(JPEG::JPEG ALIAS headscope_library_jpeg)

set(pcre2 ${from}/pcre2/src)
configure_file(${pcre2}/pcre2.h.generic ${made}/pcre2/pcre2.h COPYONLY)
configure_file(${pcre2}/config.h.generic ${made}/pcre2/config.h COPYONLY)
configure_file(${pcre2}/pcre2_chartables.c.dist ${made}/pcre2/pcre2_chartables.c COPYONLY)
set(sources auto_possess compile config context convert dfa_match error extuni find_bracket jit_compile maketables
  match match_data newline ord2utf pattern_info script_run serialize string_utils study substitute substring tables ucd
  valid_utf xclass)
list(TRANSFORM sources PREPEND ${pcre2}/pcre2_)
list(TRANSFORM sources APPEND .c)
headscope_library(pcre2 SOURCES ${sources} ${made}/pcre2/pcre2_chartables.c INCLUDE ${made}/pcre2 OWN_INCLUDE ${pcre2}
  OWN HAVE_CONFIG_H SUPPORT_UNICODE SUPPORT_PCRE2_8 DEFINE PCRE2_CODE_UNIT_WIDTH=8 PCRE2_STATIC)
add_library(PkgConfig::pcre2 ALIAS headscope_library_pcre2)

# Settings that libzip's own build would take minutes to detect, and the error texts that it generates from its header.
set(zip ${from}/libzip/lib)
file(CONFIGURE OUTPUT ${made}/libzip/config.h CONTENT "#pragma once
#include \"zipconf.h\"
${zip_settings}
#define HAVE_FILENO
#define HAVE_FSEEKO
#define HAVE_FTELLO
#define HAVE_STDBOOL_H
#define HAVE_STRCASECMP
#define HAVE_STRDUP
#define HAVE_STRINGS_H
#define HAVE_STRTOLL
#define HAVE_STRTOULL
#define HAVE_UNISTD_H
#define SIZEOF_OFF_T 8
#define SIZEOF_SIZE_T ${CMAKE_SIZEOF_VOID_P}
")
set(libzip_VERSION 1.7.3)
set(libzip_VERSION_MAJOR 1)
set(libzip_VERSION_MINOR 7)
set(libzip_VERSION_PATCH 3)
set(ZIP_STATIC 1)
set(ZIP_NULLABLE_DEFINES "#define _Nullable\n#define _Nonnull")
set(LIBZIP_TYPES_INCLUDE "#include <inttypes.h>")
foreach(bits 8 16 32 64)
  set(ZIP_INT${bits}_T int${bits}_t)
  set(ZIP_UINT${bits}_T uint${bits}_t)
endforeach()
configure_file(${from}/libzip/cmake-zipconf.h.in ${made}/libzip/zipconf.h)
file(STRINGS ${zip}/zip.h errors REGEX "^#define ZIP_ER_[A-Z_]+ [0-9]+ +/\\* [NSZ] ")
list(TRANSFORM errors REPLACE "^.*/\\* ([NSZ]) (.*) \\*/.*$" "\\1\\2")
list(TRANSFORM errors REPLACE "^.(.*)$" "\"\\1\"," OUTPUT_VARIABLE texts)
list(TRANSFORM errors REPLACE "^(.).*$" "\\1," OUTPUT_VARIABLE kinds)
list(JOIN texts "\n" texts)
list(JOIN kinds " " kinds)
file(CONFIGURE OUTPUT ${made}/libzip/zip_err_str.c CONTENT "#include \"zipint.h\"
const char* const _zip_err_str[] = {${texts}};
const int _zip_nerr_str = sizeof(_zip_err_str) / sizeof(_zip_err_str[0]);
#define N ZIP_ET_NONE
#define S ZIP_ET_SYS
#define Z ZIP_ET_ZLIB
const int _zip_err_type[] = {${kinds}};
")
file(GLOB sources ${zip}/zip_*.c)
list(FILTER sources EXCLUDE REGEX "_uwp|crypto_|winzip|bzip2|xz|source_file_win32|${zip_left_out}")
headscope_library(zip SOURCES ${sources} ${made}/libzip/zip_err_str.c INCLUDE ${zip} ${made}/libzip OWN_INCLUDE ${from}/zlib
  OWN HAVE_CONFIG_H)
headscope_library_needs(zip z)
add_library(PkgConfig::zip ALIAS headscope_library_zip)
add_library(ZLIB::ZLIB ALIAS headscope_library_z)

set(hwy ${from}/highway/hwy)
headscope_library(hwy SOURCES ${hwy}/targets.cc ${hwy}/aligned_allocator.cc ${hwy}/per_target.cc INCLUDE ${from}/highway)
add_library(PkgConfig::hwy ALIAS headscope_library_hwy)

headscope_library(fmt SOURCES ${from}/fmtlib/src/format.cc ${from}/fmtlib/src/os.cc INCLUDE ${from}/fmtlib/include)
add_library(fmt::fmt ALIAS headscope_library_fmt)

headscope_library(eigen INCLUDE ${from}/eigen3 DEFINE ${eigen_settings})
add_library(Eigen3::Eigen ALIAS headscope_library_eigen)
headscope_library(json INCLUDE ${from}/nlohmann-json3/single_include)
add_library(nlohmann_json::nlohmann_json ALIAS headscope_library_json)
set(HEADSCOPE_IMGUI_SOURCE ${from}/imgui)
