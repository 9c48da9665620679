# Cross compilation for arm64 with Debian's compiler. OFFWAIT_ARM64_SYSROOT is a directory with Debian's arm64 packages of
# the libraries that offwait links (tests/matrix/README.md).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES OFFWAIT_ARM64_SYSROOT)

set(CMAKE_FIND_ROOT_PATH ${OFFWAIT_ARM64_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
# Header-only libraries are the same for every architecture, so the installed ones are used.
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
include_directories(SYSTEM ${OFFWAIT_ARM64_SYSROOT}/usr/include ${OFFWAIT_ARM64_SYSROOT}/usr/include/aarch64-linux-gnu)
set(ENV{PKG_CONFIG_LIBDIR} ${OFFWAIT_ARM64_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${OFFWAIT_ARM64_SYSROOT})
