"""Write scripts that complete the command line in shells, from its parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SHELLS = ("bash", "zsh", "fish")


class _Option(NamedTuple):
    """An option of a command, with its choices; ``file`` says that its value is a file's name."""

    command: str
    name: str
    about: str
    takes_value: bool
    choices: tuple[str, ...]
    file: bool


def completion(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script for a shell.

    >>> parser = argparse.ArgumentParser(prog="prog")
    >>> add = parser.add_subparsers().add_parser("run", add_help=False).add_argument
    >>> _ = add("--mode", choices=["fast", "slow"], help="how")
    >>> print(completion(parser, "fish").splitlines()[-1])
    complete -c prog -n '__fish_seen_subcommand_from run' -l mode -d 'how' -xa 'fast slow'
    """
    commands = _commands(parser)
    options = [option for name in commands for option in _options(name, commands[name])]
    if shell == "fish":
        return _fish(parser.prog, list(commands), options)
    # zsh runs the functions of bash.
    first = "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n"
    return first * (shell == "zsh") + _bash(parser.prog, list(commands), options)


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (found,) = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    return dict(found.choices)


def _options(command: str, parser: argparse.ArgumentParser) -> Iterator[_Option]:
    for action in parser._actions:
        names = [name for name in action.option_strings if name.startswith("--")]
        if names:
            choices = tuple(map(str, action.choices or ()))
            about = (action.help or "").replace("%%", "%")
            is_file = action.type is Path
            yield _Option(command, names[0], about, action.nargs != 0, choices, is_file)


def _bash(program: str, commands: list[str], options: list[_Option]) -> str:
    function = "_" + program.replace("-", "_")
    values = [
        f'        "{o.command} {o.name}") words="{" ".join(o.choices)}" files={o.file:d} ;;'
        for o in options
        if o.takes_value
    ]
    names = [
        f'            {name}) words="{" ".join(o.name for o in options if o.command == name)}" ;;'
        for name in commands
    ]
    return f"""\
{function}() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" words="" files=0
    case "${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD-1]}}" in
{chr(10).join(values)}
        *) case "${{COMP_WORDS[1]}}" in
{chr(10).join(names)}
            esac
            if [ "$COMP_CWORD" -eq 1 ]; then words="{" ".join(commands)}"; else files=1; fi ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    if [ "$files" = 1 ]; then COMPREPLY+=($(compgen -f -- "$word")); fi
}}
complete -o filenames -F {function} {program}"""


def _fish(program: str, commands: list[str], options: list[_Option]) -> str:
    lines = [f"complete -c {program} -n __fish_use_subcommand -fa '{' '.join(commands)}'"]
    for option in options:
        line = f"complete -c {program} -n '__fish_seen_subcommand_from {option.command}'"
        line += f" -l {option.name[2:]} -d '{option.about.replace(chr(39), '’')}'"
        if option.choices:
            line += f" -xa '{' '.join(option.choices)}'"
        elif option.takes_value:
            line += " -rF" if option.file else " -x"
        lines.append(line)
    return "\n".join(lines)
