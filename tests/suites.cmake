# Runs after a test program is built, with -D program=, label= and list=, and writes CTest's list of its suites. A suite
# runs in one process, since starting one costs more than most tests. The suites that show pages at every size (Sizes/…)
# take long, so each of their tests gets a separate process.
execute_process(COMMAND ${program} --gtest_list_tests OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE ";" "\\;" lines "${lines}")
string(REPLACE "\n" ";" lines "${lines}")

set(tests)
foreach(line IN LISTS lines)
  string(REGEX REPLACE " +#.*$" "" name "${line}")
  if(name MATCHES "^([^ ]+)\\.$")
    set(suite "${CMAKE_MATCH_1}")
    if(NOT suite MATCHES "^Sizes/")
      list(APPEND tests "${suite}.*")
    endif()
  elseif(name MATCHES "^  " AND suite MATCHES "^Sizes/")
    string(STRIP "${name}" name)
    list(APPEND tests "${suite}.${name}")
  endif()
endforeach()

set(text)
foreach(test IN LISTS tests)
  string(REGEX REPLACE "\\.\\*$" "" name "${test}")
  string(APPEND text "add_test([=[${name}]=] [=[${program}]=] --gtest_brief=1 [=[--gtest_filter=${test}]=])\n"
                     "set_tests_properties([=[${name}]=] PROPERTIES LABELS ${label} TIMEOUT 300)\n")
endforeach()
file(WRITE ${list} "${text}")
