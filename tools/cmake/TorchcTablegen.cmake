# torchc_tablegen(OUTPUT FLAG) writes one file of gen/torchc-gen with our generator; all files together are the target
# torchc_gen, which whatever includes them depends on.
set(TORCHC_OPS_TD ${CMAKE_SOURCE_DIR}/dialects/ops/Ops.td)
file(GLOB TORCHC_OP_FILES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/dialects/ops/*.td)
function(torchc_tablegen output)
  add_custom_command(OUTPUT ${TORCHC_GEN_DIR}/${output}
    COMMAND torchc-tblgen ${ARGN} -I ${CMAKE_SOURCE_DIR}/dialects/ops -I ${LLVM_MAIN_INCLUDE_DIR}
            ${TORCHC_OPS_TD} --write-if-changed -o ${TORCHC_GEN_DIR}/${output}
    DEPENDS torchc-tblgen ${TORCHC_OP_FILES} COMMENT "op table -> ${output}" VERBATIM)
  set_property(GLOBAL APPEND PROPERTY TORCHC_GENERATED ${TORCHC_GEN_DIR}/${output})
endfunction()
