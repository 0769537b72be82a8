# The Python that extension modules are built for: the development environment's when tools/dev/setup has made
# it, else the system's. Included per folder, as imported targets belong to the folder that found them.
include_guard(DIRECTORY)
set(TORCHC_PYTHON_DIR ${CMAKE_BINARY_DIR}/python/torchc)
if(NOT DEFINED Python_EXECUTABLE AND EXISTS ${CMAKE_SOURCE_DIR}/build/venv/bin/python)
  set(Python_EXECUTABLE ${CMAKE_SOURCE_DIR}/build/venv/bin/python)
endif()
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)

# torchc_python_module(TARGET SOURCES... ) builds an extension module of the package (`import torchc.TARGET`).
function(torchc_python_module name)
  Python_add_library(${name} MODULE WITH_SOABI ${ARGN})
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${TORCHC_PYTHON_DIR})
endfunction()
