# One folder of the source tree is one library target, fairlead::<name>.
#
#   fairlead_folder(<name> SOURCES a.cc ... HEADERS a.h ... [DEPS fairlead folders] [PUBLIC libs] [PRIVATE libs])
#
# Headers are listed because they are what install copies and what the header self-check compiles alone.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# The link makes "fairlead/url/url.h" mean the same in the tree and after installation.
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/include")
if(NOT EXISTS "${PROJECT_BINARY_DIR}/include/fairlead")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/include/fairlead" SYMBOLIC)
endif()

add_library(fairlead_options INTERFACE)
target_compile_features(fairlead_options INTERFACE cxx_std_20)
target_compile_options(fairlead_options INTERFACE -Wall -Wextra -Wnon-virtual-dtor
                       $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>)
if(FAIRLEAD_WERROR)
  target_compile_options(fairlead_options INTERFACE -Werror)
endif()
if(FAIRLEAD_SANITIZE)
  target_compile_options(fairlead_options INTERFACE -fsanitize=${FAIRLEAD_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(fairlead_options INTERFACE -fsanitize=${FAIRLEAD_SANITIZE})
endif()

if(FAIRLEAD_FUZZ)
  target_compile_options(fairlead_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(FAIRLEAD_CCACHE ccache)
if(FAIRLEAD_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${FAIRLEAD_CCACHE}")
endif()

function(fairlead_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;HEADERS;DEPS;PUBLIC;PRIVATE")
  set(target fairlead_${name})
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(fairlead::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  list(TRANSFORM ARG_DEPS PREPEND fairlead::)
  target_link_libraries(${target} PUBLIC ${ARG_DEPS} ${ARG_PUBLIC}
                                  PRIVATE $<BUILD_INTERFACE:fairlead_options> ${ARG_PRIVATE})
  target_compile_features(${target} PUBLIC cxx_std_20)
  install(TARGETS ${target} EXPORT fairleadTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  foreach(header IN LISTS ARG_HEADERS)
    get_filename_component(sub "${header}" DIRECTORY)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fairlead/${folder}/${sub})
    set_property(GLOBAL APPEND PROPERTY FAIRLEAD_HEADERS "${folder}/${header}")
  endforeach()
endfunction()
