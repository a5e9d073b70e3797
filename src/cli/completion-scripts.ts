// What a shell runs to complete `sir`: each asks `sir __complete`, which answers a candidate a line with a tab before its
// meaning, or `:files` where the shell's own file names are wanted.

const BASH = `# sir: completion for bash. In ~/.bashrc: source <(sir completion bash)
_sir() {
  local line=\${COMP_LINE:0:COMP_POINT} word base answer each
  word=\${line##*[[:space:]]}
  # bash breaks words at : and =, and replaces only what stands behind the last of them.
  base=\${word%"\${word##*[:=]}"}
  answer=$(sir __complete --line "$line" 2>/dev/null) || return
  COMPREPLY=()
  if [[ $answer == :files ]]; then
    compopt -o filenames
    while IFS= read -r each; do COMPREPLY+=("$each"); done < <(compgen -f -- "\${word#"$base"}")
    return
  fi
  while IFS=$'\\t' read -r each _; do
    [[ -n $each ]] && COMPREPLY+=("\${each#"$base"}")
  done <<< "$answer"
  # A key wants its value right behind it.
  [[ \${COMPREPLY[0]} == *= ]] && compopt -o nospace
  return 0
}
complete -o nosort -F _sir sir
`;

const ZSH = `#compdef sir
# sir: completion for zsh. In ~/.zshrc, after compinit: source <(sir completion zsh)
_sir() {
  local line
  local -a lines candidates
  lines=("\${(@f)$(sir __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "\${lines[1]}" == ":files" ]]; then
    _files
    return
  fi
  for line in "\${lines[@]}"; do
    [[ -n "$line" ]] && candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  local -a ending
  [[ "\${candidates[1]}" == *=:* ]] && ending=(-S '')
  (( \${#candidates} )) && _describe -V 'sir' candidates "\${ending[@]}"
}
(( \${+functions[compdef]} )) && compdef _sir sir
`;

const FISH = `# sir: completion for fish. Once: sir completion fish > ~/.config/fish/completions/sir.fish
function __sir_complete
    set -l words (commandline -opc)[2..-1]
    set -l answer (sir __complete -- $words (commandline -ct) 2>/dev/null)
    if test "$answer[1]" = ":files"
        __fish_complete_path (commandline -ct)
    else if set -q answer[1]
        printf '%s\\n' $answer
    end
end
complete -c sir -f -k -a '(__sir_complete)'
`;

const POWERSHELL = `# sir: completion for PowerShell 7; read against its documentation, not yet run in one. In $PROFILE: sir completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName sir -ScriptBlock {
  param($word, $ast, $position)
  # The position counts from the start of everything that was typed, the command may come later.
  $typed = $position - $ast.Extent.StartOffset
  $line = $ast.Extent.Text.PadRight($typed).Substring(0, $typed)
  sir __complete --line $line 2>$null | Where-Object { $_ -ne ':files' -and $_ -ne '' } | ForEach-Object {
    $value, $meaning = $_ -split "\`t", 2
    if (-not $meaning) { $meaning = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $meaning)
  }
}
`;

export const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL } as const;
