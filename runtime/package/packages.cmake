# CPack's side: name, description and dependencies of each package. Those on shared libraries are found by dpkg-shlibdeps.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_SOURCE_DIR}/build/package)
set(CPACK_PACKAGE_CONTACT "Fibocast maintainers <fibocast@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

# describe(PACKAGE SECTION BRIEF TEXT): one component, one package of the same name.
macro(describe package section brief text)
  list(APPEND CPACK_COMPONENTS_ALL ${package})
  string(TOUPPER ${package} component)
  set(CPACK_DEBIAN_${component}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${component}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${component}_DESCRIPTION "${brief}\n${text}")
endmacro()

set(CPACK_COMPONENTS_ALL)
describe(fibocast net "barriers and multicasts between the nodes of a cluster"
"A small daemon on every node of a cluster gives applications barriers,
multicasts and the other collective operations over plain UDP or TCP, along
trees that are optimal for the measured network. It answers within a deadline
and names who is missing.
.
This package has the daemon, as a service that listens on loopback only until
it is told otherwise, the command for shells, and the simulator.")
set(CPACK_DEBIAN_FIBOCAST_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_FIBOCAST_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/conffiles ${CMAKE_CURRENT_SOURCE_DIR}/postinst
    ${CMAKE_CURRENT_SOURCE_DIR}/prerm ${CMAKE_CURRENT_SOURCE_DIR}/postrm)

describe(libfibocast0 libs "barriers and multicasts of a cluster: library for C"
"The shared library by which applications in C, and in languages that call C,
take part in the collective operations of a cluster: through the daemon of
package fibocast, or as a node of their own.")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

describe(libfibocast-dev libdevel "barriers and multicasts of a cluster: development files"
"For applications of Fibocast in C++ and C: the headers, the C++ client as a
static library, the package for CMake (fibocast::client, fibocast::fibocast)
and fibocast.pc for pkg-config.")
# What the headers include and the static library is linked with.
set(CPACK_DEBIAN_LIBFIBOCAST-DEV_PACKAGE_DEPENDS
    "libfibocast0 (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}), libboost1.81-dev, libprotobuf-dev, libsodium-dev, \
libtomlplusplus-dev")
if("IPSec_MB" IN_LIST FIBOCAST_CIPHERS)
  string(APPEND CPACK_DEBIAN_LIBFIBOCAST-DEV_PACKAGE_DEPENDS ", libipsec-mb-dev")
endif()

describe(python3-fibocast python "barriers and multicasts of a cluster: Python client"
"Applications in Python take part in the collective operations of a cluster
through the daemon of package fibocast.")
set(CPACK_DEBIAN_PYTHON3-FIBOCAST_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON3-FIBOCAST_PACKAGE_DEPENDS "python3 (>= 3.11), python3-protobuf (>= 3.21)")
set(CPACK_DEBIAN_PYTHON3-FIBOCAST_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/python/postinst
    ${CMAKE_CURRENT_SOURCE_DIR}/python/prerm)

include(CPack)
