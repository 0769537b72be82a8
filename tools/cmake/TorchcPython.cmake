# The Python that extension modules are built for: the development environment's when tools/dev/setup has made
# it, else the system's. pybind11 comes from that Python when installed there (pinned), else from the system.
include_guard(GLOBAL)
set(TORCHC_PYTHON_DIR ${CMAKE_BINARY_DIR}/python/torchc)
if(NOT DEFINED Python_EXECUTABLE AND EXISTS ${CMAKE_SOURCE_DIR}/build/venv/bin/python)
  set(Python_EXECUTABLE ${CMAKE_SOURCE_DIR}/build/venv/bin/python)
endif()
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m pybind11 --cmakedir
  OUTPUT_VARIABLE pybind11_dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
if(result EQUAL 0)
  set(pybind11_DIR ${pybind11_dir} CACHE PATH "pybind11 of the chosen Python" FORCE)
endif()
set(PYBIND11_FINDPYTHON ON)
find_package(pybind11 CONFIG REQUIRED)

# torchc_python_module(TARGET SOURCES... ) builds an extension module of the package (`import torchc.TARGET`).
function(torchc_python_module name)
  pybind11_add_module(${name} MODULE NO_EXTRAS ${ARGN})
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${TORCHC_PYTHON_DIR})
endfunction()
