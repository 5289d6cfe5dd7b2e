# PAYOFF_SANITIZE is a comma-separated list for -fsanitize=, set by the sanitizer presets.
set(PAYOFF_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined")
add_library(payoff_sanitizers INTERFACE)
if(PAYOFF_SANITIZE)
  target_compile_options(payoff_sanitizers INTERFACE
    -fsanitize=${PAYOFF_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(payoff_sanitizers INTERFACE -fsanitize=${PAYOFF_SANITIZE})
endif()
