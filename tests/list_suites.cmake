# Writes what ctest runs of a test program: a test for each suite, FOLDER.Suite. A process for each single test would be a
# quarter of the time of all unit tests.
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" lines "${lines}")
set(tests "")
foreach(line IN LISTS lines)
  if(line MATCHES "^([^ ]+)[.]( +#.*)?$")  # tests of the suite are indented
    set(name "[=[${FOLDER}.${CMAKE_MATCH_1}]=]")
    string(APPEND tests "add_test(${name} \"${PROGRAM}\" \"--gtest_filter=${CMAKE_MATCH_1}.*\")\n"
                        "set_tests_properties(${name} PROPERTIES LABELS ${LABEL} TIMEOUT ${TIMEOUT})\n")
  endif()
endforeach()
file(WRITE ${OUTPUT} "${tests}")
