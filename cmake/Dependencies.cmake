# Third-party libraries, all from Debian packages; docs/dependencies.md says why each.
# Header-only ones are SYSTEM so that their warnings are not ours.
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_path(SPECTRA_INCLUDE_DIR Spectra/SymEigsSolver.h REQUIRED)
find_path(LEMON_INCLUDE_DIR lemon/network_simplex.h REQUIRED)
find_path(BOOST_INCLUDE_DIR boost/random/normal_distribution.hpp REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)
# libzip's own CMake package demands its command-line tools; the library is enough.
find_path(LIBZIP_INCLUDE_DIR zip.h REQUIRED)
find_library(LIBZIP_LIBRARY zip REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
