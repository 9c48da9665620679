#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes man pages, and completions for bash, zsh and fish, from the output of offwait --help.

    generate.py OUT OFFWAIT [ARGUMENT]...    writes OUT/man/*.1 and OUT/completions/*; OFFWAIT is the program, with
                                             the emulator before it where it needs one

The prose of the man pages is in man/, one file for each subcommand, with lines @SYNOPSIS@, @OPTIONS@ and @COMMANDS@ to be
replaced."""
import dataclasses
import pathlib
import re
import subprocess
import sys

PROSE = pathlib.Path(__file__).resolve().parent / "man"
INDENT = 30  # where descriptions begin (src/cli/help.cpp)
ENTRY = re.compile(r"""
    (?P<names> [^\s,]+ (?:,[^\s,]+)* )
    (?:\ (?P<value> (?!\.\.\.) \S+ ))?
    (?P<many> \ \.\.\. )?
    """, re.VERBOSE)


@dataclasses.dataclass
class Entry:
    """An option, positional argument or subcommand."""
    names: list[str]
    value: str = ""  # its value, such as PID or wait|weight; empty if it takes none
    many: bool = False
    description: str = ""

    def brief(self):
        return re.split(r"[:;] | \(", self.description)[0]


@dataclasses.dataclass
class Command:
    """offwait itself, with an empty name, or a subcommand."""
    name: str
    usage: list[str] = dataclasses.field(default_factory=list)
    groups: dict[str, list[Entry]] = dataclasses.field(default_factory=dict)
    positionals: list[Entry] = dataclasses.field(default_factory=list)
    subcommands: list[Entry] = dataclasses.field(default_factory=list)

    @property
    def options(self):
        return [option for group in self.groups.values() for option in group]

    @property
    def page(self):
        return "-".join(filter(None, ["offwait", self.name]))


def parse_entries(lines):
    entries = []
    for line in lines:
        if line.startswith(" " * INDENT):
            entries[-1].description = " ".join([entries[-1].description, line.strip()]).strip()
            continue
        # The description of a long name begins on the next line.
        has_room = line[INDENT - 2:INDENT] == "  "
        name, description = (line[:INDENT], line[INDENT:]) if has_room else (line, "")
        found = ENTRY.fullmatch(name.strip())
        if not found:
            sys.exit(f"generate.py: not understood in the output of --help: {line}")
        parts = found.groupdict(default="")
        entries.append(Entry(parts["names"].split(","), parts["value"], bool(parts["many"]), description.strip()))
    return entries


def parse_help(name, text):
    command = Command(name, re.search(r"^Usage: (.*\n(?: +\S.*\n)*)", text, re.MULTILINE)[1].splitlines())
    for title, body in re.findall(r"^(\w[\w ]*):\n((?:  .*\n)+)", text, re.MULTILINE):
        if title == "Examples":
            continue
        entries = parse_entries(body.splitlines())
        if title == "Arguments":
            command.positionals = entries
        elif title == "Commands":
            command.subcommands = entries
        else:
            command.groups[title] = entries
    return command


def fill(template, **parts):
    """The template with its @NAME@ replaced: a line @NAME@ by the lines of that part, the word @NAME@ in a line by its text."""
    lines = []
    for line in template.splitlines():
        whole = re.fullmatch("@([A-Z]+)@", line)
        if whole:
            lines += parts[whole[1]]
        else:
            lines.append(re.sub("@([A-Z]+)@", lambda word: parts[word[1]], line))
    return "\n".join(lines) + "\n"


# Man pages

def roff(text):
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text[:1] in (".", "'") else text


def bold(text):
    return rf"\fB{roff(text)}\fR"


def italic(text):
    return rf"\fI{roff(text)}\fR"


def placeholder(value):
    """A value as a man page shows it: placeholders such as PID in italics, literal words such as off-cpu in bold."""
    return "|".join(bold(word) if re.fullmatch("[a-z-]+", word) else italic(word) for word in value.split("|"))


def man_entry(entry):
    is_option = entry.names[0].startswith("-")
    heading = ", ".join(map(bold if is_option else placeholder, entry.names))
    if is_option and entry.value:
        heading += " " + placeholder(entry.value)
    return [".TP", heading, roff(entry.description)]


def man_synopsis(command):
    lines = []
    for usage in command.usage:
        lines += [".br", " ".join(bold(word) if word == word.lower() else italic(word) for word in usage.split())]
    return lines[1:]


def man_options(command):
    lines = [line for positional in command.positionals for line in man_entry(positional)]
    for title, options in command.groups.items():
        if len(command.groups) > 1:
            lines.append(f".SS {title}")
        lines += [line for option in options for line in man_entry(option)]
    return lines


def man_commands(command):
    lines = []
    for subcommand in command.subcommands:
        name = subcommand.names[0]
        lines += [".TP", bold(f"offwait {name}"), roff(subcommand.description) + ";", f"see {bold(f'offwait-{name}')}(1)"]
    return lines


def man_page(command):
    prose = PROSE / f"{command.page}.1"
    if not prose.exists():
        sys.exit(f"generate.py: {prose} is missing: offwait has a subcommand '{command.name}', and each has a man page")
    return fill(prose.read_text("utf-8"), SYNOPSIS=man_synopsis(command), OPTIONS=man_options(command),
                COMMANDS=man_commands(command))


# Completions. The words after `--` are a command with its arguments, and are completed as such.

def completed_as(value):
    """The kind of an argument with this name: "files", "processes", "pids", a list of the words that it can be, or None if unknown."""
    if re.fullmatch(r"[a-z-]+(\|[a-z-]+)+", value):
        return value.split("|")
    for kind, pattern in {"files": "FILE|PATH|DEVICE", "processes": r"PID\|NAME", "pids": "TID"}.items():
        if re.match(pattern, value):
            return kind
    return None


def positional_kind(command):
    return next((completed_as(positional.names[0]) for positional in command.positionals), None)


def action(kind, known, words):
    """How the shell completes this kind: an entry of `known`, or words() of its words."""
    return words(" ".join(kind)) if isinstance(kind, list) else known.get(kind)


def quote(text):
    """The text quoted for bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


BASH = r"""# Completion of offwait(1) for bash, made from the output of offwait --help.

# Completes a program and its arguments, which begin at the word with this number. Words of the shell itself
# are left out, because offwait executes files.
_offwait_program()
{
    local name
    if ((cword > $1)); then
        _command_offset "$1"
    elif [[ $cur == */* ]]; then
        _filedir
    else
        local -A only_in_shell=()
        for name in $(compgen -A keyword -A builtin -A function -A alias -- "$cur"); do
            type -P -- "$name" >/dev/null || only_in_shell[$name]=1
        done
        for name in $(compgen -c -- "$cur" | sort -u); do
            [[ ${only_in_shell[$name]+set} ]] || COMPREPLY+=("$name")
        done
    fi
}
# Completes processes, by their numbers or by their names.
_offwait_processes()
{
    case $cur in
        [!0-9]*) _pnames ;;
        *) _pids ;;
    esac
}
_offwait()
{
    local cur prev words cword split command='' index options=''
    _init_completion -s || return
    for ((index = 1; index < cword; index++)); do
        case ${words[index]} in
            @SUBCOMMANDS@) command=${command:-${words[index]}} ;;
            --) _offwait_program $((index + 1)); return ;;
        esac
    done
    case $command,$prev in
@VALUES@
    esac
    $split && return
    case $command,$cur in
@WORDS@
    esac
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
} &&
    complete -F _offwait offwait
"""
BASH_ACTIONS = {"files": "_filedir", "processes": "_offwait_processes", "pids": "_pids"}


def bash_values(command):
    """The cases that complete the value of each option that takes one."""
    after = {}
    for option in filter(lambda option: option.value, command.options):
        what = action(completed_as(option.value), BASH_ACTIONS, lambda words: f"COMPREPLY=($(compgen -W '{words}' -- \"$cur\"))")
        after.setdefault(what, []).extend(f"{command.name},{name}" for name in option.names)
    return [f"        {'|'.join(names)}) {f'{what}; ' if what else ''}return ;;" for what, names in after.items()]


def bash_words(command):
    options = " ".join(name for option in command.options for name in option.names)
    lines = [f"        {command.name},-*) options='{options}' ;;"]
    if command.subcommands:
        subcommands = " ".join(subcommand.names[0] for subcommand in command.subcommands)
        lines.append(f"        {command.name},*) options='{subcommands}' ;;")
    elif what := BASH_ACTIONS.get(positional_kind(command)):
        lines.append(f"        {command.name},*) {what}; return ;;")
    return lines


def bash(commands):
    return fill(BASH, SUBCOMMANDS="|".join(command.name for command in commands if command.name),
                VALUES=[line for command in commands for line in bash_values(command)],
                WORDS=[line for command in commands for line in bash_words(command)])


ZSH = r"""#compdef offwait
# Completion of offwait(1) for zsh, made from the output of offwait --help.
local context state state_descr line curcontext=$curcontext ret=1
typeset -A opt_args
integer dashes=$words[(i)--]
if (( dashes < CURRENT )); then
  shift $dashes words
  (( CURRENT -= dashes ))
  if (( CURRENT == 1 )); then
    _command_names -e  # offwait executes files, and none of the shell's own words
  else
    _normal
  fi
  return
fi
_arguments -C -s -S \
@OPTIONS@
  '1: :->command' '*:: :->arguments' && ret=0
case $state in
  command)
    local -a commands=(
@SUBCOMMANDS@
    )
    _describe -t commands 'offwait command' commands && ret=0 ;;
  arguments)
    case $words[1] in
@ARGUMENTS@
    esac ;;
esac
return ret
"""
ZSH_ACTIONS = {"files": "_files", "processes": "_pids", "pids": "_pids"}


def zsh_escape(text, special):
    return re.sub(f"([{re.escape(special)}])", r"\\\1", text)


def zsh_action(kind):
    return action(kind, ZSH_ACTIONS, lambda words: f"({words})") or " "


def zsh_specs(command):
    for option in command.options:
        value = f":{zsh_escape(option.value, ':')}:{zsh_action(completed_as(option.value))}" if option.value else ""
        for name in option.names:
            once = "*" if option.many else f"({' '.join(option.names)})"
            form = ("=" if name.startswith("--") else "+") if value else ""
            yield quote(f"{once}{name}{form}[{zsh_escape(option.brief(), '[]')}]{value}")
    for positional in command.positionals:
        yield quote(f":{positional.names[0]}:{zsh_action(completed_as(positional.names[0]))}")


def zsh_arguments(command):
    specs = [f"          {spec} \\" for spec in zsh_specs(command)]
    return [f"      {command.name}) _arguments -s -S \\", *specs, "          && ret=0 ;;"]


def zsh(commands):
    top, *others = commands
    return fill(ZSH, OPTIONS=[f"  {spec} \\" for spec in zsh_specs(top)],
                SUBCOMMANDS=[f"      {quote(f'{entry.names[0]}:{entry.brief()}')}" for entry in top.subcommands],
                ARGUMENTS=[line for command in others for line in zsh_arguments(command)])


FISH = r"""# Completion of offwait(1) for fish, made from the output of offwait --help.
function __offwait_runs
    contains -- -- (commandline -opc)
end
complete -c offwait -f
complete -c offwait -n __offwait_runs -F -a '(__fish_complete_command)'
@RULES@
"""
FISH_ACTIONS = {"files": "-r -F", "processes": "-x -a '(__fish_complete_pids)'", "pids": "-x -a '(__fish_complete_pids)'"}


def fish_quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_rules(command):
    place = f"__fish_seen_subcommand_from {command.name}" if command.name else "__fish_use_subcommand"
    start = f"complete -c offwait -n 'not __offwait_runs; and {place}'"
    for subcommand in command.subcommands:
        yield f"{start} -a {subcommand.names[0]} -d {fish_quote(subcommand.brief())}"
    if positional_kind(command) == "files":
        yield f"{start} -F"
    for option in command.options:
        words = [start, *(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)]
        if option.value:
            words.append(action(completed_as(option.value), FISH_ACTIONS, lambda words: f"-x -a '{words}'") or "-x")
        yield " ".join([*words, "-d", fish_quote(option.brief())])


def fish(commands):
    return fill(FISH, RULES=[rule for command in commands for rule in fish_rules(command)])


def main(out, program):
    def help_of(*subcommand):
        return subprocess.run([*program, *subcommand, "--help"], stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout
    top = parse_help("", help_of())
    commands = [top, *(parse_help(entry.names[0], help_of(entry.names[0])) for entry in top.subcommands)]
    files = {f"man/{command.page}.1": man_page(command) for command in commands}
    completions = {"offwait": bash, "_offwait": zsh, "offwait.fish": fish}
    files |= {f"completions/{name}": shell(commands) for name, shell in completions.items()}
    for name, text in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
