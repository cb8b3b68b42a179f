"""How shells are completed: a script for each that asks webarc, and the answers in the form that each one wants.

A line of an answer is `word TEXT`, `part TEXT` (it goes on, so no blank follows), `file` or `dir` (the shell completes
those itself). In zsh and fish a tab and a description may follow. What an archive holds was written by others: each
shell gets it as a text that it quotes, and never as something that it evaluates.
"""

from __future__ import annotations

import os
from contextlib import redirect_stderr, suppress
from io import StringIO
from pathlib import Path
from typing import ClassVar

from click.shell_completion import CompletionItem, ShellComplete, add_completion_class

from webarc.cli.typed_line import TypedLine

_BASH = """\
%(complete_func)s() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            word\\ *) COMPREPLY+=("${line#word }") ;;
            part\\ *) compopt -o nospace; COMPREPLY+=("${line#part }") ;;
            file) compopt -o default ;;
            dir) compopt -o dirnames ;;
        esac
    done < <(%(complete_var)s=bash_complete _WEBARC_LINE="${COMP_LINE:0:COMP_POINT}" \\
        _WEBARC_BREAKS="$COMP_WORDBREAKS" "$1" 2>/dev/null)
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""
_ZSH = """\
#compdef %(prog_name)s
_%(prog_name)s() {
    local line files
    local -a words_found words_shown parts_found parts_shown
    while IFS= read -r line; do
        case $line in
            word\\ *) words_found+=("${${line#word }%%%%$'\\t'*}"); words_shown+=("${${line#word }/$'\\t'/  -- }") ;;
            part\\ *) parts_found+=("${${line#part }%%%%$'\\t'*}"); parts_shown+=("${${line#part }/$'\\t'/  -- }") ;;
            file) files=-f ;;
            dir) files=-/ ;;
        esac
    done < <(%(complete_var)s=zsh_complete _WEBARC_LINE="${(j: :)words[1,CURRENT]}" $words[1] 2>/dev/null)
    [[ $words[CURRENT] == --*=* ]] && compset -P '*='
    (( $#words_found )) && compadd -l -V words -d words_shown -- "${words_found[@]}"
    (( $#parts_found )) && compadd -l -V parts -d parts_shown -S '' -- "${parts_found[@]}"
    [[ -n $files ]] && _path_files $files
    return 0
}
if [[ $funcstack[1] == _%(prog_name)s ]]; then
    _%(prog_name)s "$@"
else
    compdef _%(prog_name)s %(prog_name)s
fi
"""
_FISH = """\
function %(complete_func)s
    set -l asked (commandline -cp | string collect)
    for line in (env %(complete_var)s=fish_complete _WEBARC_LINE="$asked" %(prog_name)s 2>/dev/null)
        switch $line
            case 'word *' 'part *'
                string sub -s 6 -- $line
            case file
                __fish_complete_path (commandline -ct)
            case dir
                __fish_complete_directories (commandline -ct) ''
        end
    end
end
complete -c %(prog_name)s -f -a '(%(complete_func)s)'
"""


class Shell(ShellComplete):
    """What the shells have in common."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self._line = TypedLine(os.environ.get("_WEBARC_LINE", ""))

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the last one, and that."""
        return self._line.words[1:], self._line.last

    def complete(self) -> str:
        """All lines of the answer; whatever goes wrong, a shell that completes is told nothing."""
        with suppress(Exception), redirect_stderr(StringIO()):
            lines = [self.format_completion(item) for item in self._settled(self._found())]
            return "\n".join(dict.fromkeys(line for line in lines if line))
        return ""

    def _found(self) -> list[CompletionItem]:
        """What can be typed next; behind a redirection a file, but for texts that are given there."""
        if self._line.redirection:
            return [] if self._line.redirection.startswith("<<") else [CompletionItem(self._line.last, type="file")]
        return self.get_completions(*self.get_completion_args())

    def format_completion(self, item: CompletionItem) -> str:
        """One line."""
        if item.type in ("file", "dir"):
            return item.type
        shown = f"\t{' '.join(item.help.split())}" if item.help else ""
        return f"{'part' if item.partial else 'word'} {self._option()}{item.value}{shown}"

    def _settled(self, items: list[CompletionItem]) -> list[CompletionItem]:
        return items

    def _option(self) -> str:
        """`--archive=` where the value is typed behind that."""
        name, mark, _ = self._line.last.partition("=")
        return f"{name}=" if mark and name.startswith("--") else ""


@add_completion_class
class Bash(Shell):
    """bash 4.4 or newer."""

    name: ClassVar[str] = "bash"
    source_template: ClassVar[str] = _BASH

    def format_completion(self, item: CompletionItem) -> str:
        """One line, quoted as the word is that is typed."""
        if item.type in ("file", "dir"):
            return item.type
        text = self._line.continued(f"{self._option()}{item.value}", os.environ.get("_WEBARC_BREAKS", ""))
        return "" if text is None else f"{'part' if item.partial else 'word'} {text}"

    def _settled(self, items: list[CompletionItem]) -> list[CompletionItem]:
        """readline completes files only where nothing else is offered, so beside others they are offered by us."""
        return _with_files(items) if len({item.type for item in items}) > 1 else items


@add_completion_class
class Zsh(Shell):
    """zsh, which completes what stands behind `--archive=` by itself."""

    name: ClassVar[str] = "zsh"
    source_template: ClassVar[str] = _ZSH

    def _option(self) -> str:
        return ""


@add_completion_class
class Fish(Shell):
    """fish."""

    name: ClassVar[str] = "fish"
    source_template: ClassVar[str] = _FISH

    def _settled(self, items: list[CompletionItem]) -> list[CompletionItem]:
        """Behind `--archive=` fish completes no files."""
        return _with_files(items) if self._option() else items


def _with_files(items: list[CompletionItem]) -> list[CompletionItem]:
    """The same, with the files and folders themselves instead of the wish for them."""
    found = []
    for item in items:
        found += _files(item.value, item.type == "dir") if item.type in ("file", "dir") else [item]
    return found


def _files(start: str, only_folders: bool) -> list[CompletionItem]:
    folder, slash, begun = start.rpartition("/")
    found = []
    with suppress(OSError), os.scandir(Path(f"{folder}{slash}" or ".").expanduser()) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            visible = begun.startswith(".") or not entry.name.startswith(".")
            if entry.name.startswith(begun) and visible and (entry.is_dir() or not only_folders):
                ending = "/" if entry.is_dir() else ""
                found.append(CompletionItem(f"{folder}{slash}{entry.name}{ending}", partial=bool(ending)))
    return found
