# What Debian 12 ships, found once here and linked by name elsewhere.
find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(yaml_cpp REQUIRED IMPORTED_TARGET yaml-cpp)
pkg_check_modules(nettle REQUIRED IMPORTED_TARGET nettle)

find_path(FAIRLEAD_ASIO_INCLUDE asio.hpp REQUIRED)
add_library(fairlead_asio INTERFACE)
target_include_directories(fairlead_asio SYSTEM INTERFACE $<BUILD_INTERFACE:${FAIRLEAD_ASIO_INCLUDE}>)
target_compile_definitions(fairlead_asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED)
target_link_libraries(fairlead_asio INTERFACE Threads::Threads)
if(FAIRLEAD_SANITIZE MATCHES thread)
  # GCC warns that ThreadSanitizer does not know Asio's fences; Asio's locks, which it knows, order the same.
  target_compile_options(fairlead_asio INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
endif()

if(FAIRLEAD_BUILD_ZOOKEEPER)
  find_path(FAIRLEAD_ZOOKEEPER_INCLUDE zookeeper/zookeeper.h REQUIRED)
  find_library(FAIRLEAD_ZOOKEEPER_LIBRARY zookeeper_mt REQUIRED)
endif()

if(FAIRLEAD_BUILD_REDIS)
  pkg_check_modules(hiredis REQUIRED IMPORTED_TARGET hiredis)
endif()
