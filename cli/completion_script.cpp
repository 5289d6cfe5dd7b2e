// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.hpp"

// What each shell runs when the tabulator is pressed: it hands its words to `payoff completion
// candidates`, and shows the lines that come back: a candidate, a tabulator and its help, or
// ":files".

namespace payoff {
namespace {

constexpr std::string_view bash_script =
    R"script(# Completion of payoff for bash: source <(payoff completion bash)
_payoff() {
  # Bash splits words at = and : as well; together again they are what payoff is given.
  local line=$COMP_LINE words=() i piece glued
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece=${COMP_WORDS[i]}
    glued=1
    if [[ $line == [[:blank:]]* ]]; then
      line=${line#"${line%%[![:blank:]]*}"}
      glued=0
    fi
    line=${line#"$piece"}
    if ((i > 0 && glued)); then
      words[${#words[@]} - 1]+=$piece
    else
      words+=("$piece")
    fi
  done
  # What bash replaces begins behind the last of these.
  local word=${words[${#words[@]} - 1]} keep='' candidate help
  if [[ $word == *[=:]* ]]; then
    keep=${word%"${word##*[=:]}"}
  fi
  COMPREPLY=()
  while IFS=$'\t' read -r candidate help; do
    if [[ $candidate == :files ]]; then
      while IFS= read -r candidate; do
        COMPREPLY+=("$candidate")
      done < <(compgen -f -- "${word#"$keep"}")
      compopt -o filenames 2>/dev/null
    else
      COMPREPLY+=("${candidate#"$keep"}")
      if [[ $candidate == *= ]]; then
        compopt -o nospace 2>/dev/null
      fi
    fi
  done < <("${words[0]}" completion candidates -- "${words[@]:1}" 2>/dev/null)
}
complete -F _payoff payoff
)script";

constexpr std::string_view zsh_script = R"script(#compdef payoff
# Completion of payoff for zsh: payoff completion zsh > a folder of $fpath, as _payoff
_payoff() {
  local -a whole goes_on
  local candidate help entry
  local -i files=0
  while IFS=$'\t' read -r candidate help; do
    entry="${candidate//:/\\:}${help:+:$help}"
    case $candidate in
      :files) files=1 ;;
      *=) goes_on+=("$entry") ;;
      *) whole+=("$entry") ;;
    esac
  done < <("$words[1]" completion candidates -- "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)
  (( ${#whole} )) && _describe -t words payoff whole
  (( ${#goes_on} )) && _describe -t keys payoff goes_on -S ''
  (( files )) && _files
}
if [[ $funcstack[1] == _payoff ]]; then
  _payoff "$@"
else
  compdef _payoff payoff
fi
)script";

constexpr std::string_view fish_script =
    R"script(# Completion of payoff for fish: payoff completion fish | source
function __payoff_lines
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    $words[1] completion candidates -- $words[2..-1] "$last" 2>/dev/null
end
function __payoff_files
    __payoff_lines | string match -q ':files'
end
complete -c payoff -f -a '(__payoff_lines | string match -v ":files")'
complete -c payoff -n __payoff_files -F
)script";

}  // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "bash") {
    return std::string(bash_script);
  }
  if (shell == "zsh") {
    return std::string(zsh_script);
  }
  return std::string(shell == "fish" ? fish_script : "");
}

}  // namespace payoff
