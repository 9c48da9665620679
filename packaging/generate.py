#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Man pages and completions for bash, zsh and fish, of what offwait's own --help says.

    generate.py OUT OFFWAIT [ARGUMENT]...    writes OUT/man/*.1 and OUT/completions/*; OFFWAIT is the program, with
                                             the emulator before it where it needs one

The prose of the man pages is in man/, one file for each subcommand; a line @SYNOPSIS@, @OPTIONS@ or @COMMANDS@ there is
replaced."""
import dataclasses
import pathlib
import re
import subprocess
import sys

PROSE = pathlib.Path(__file__).resolve().parent / "man"
INDENT = 30  # where CLI11 begins descriptions
ENTRY = re.compile(
    r"(?P<names>[^\s,]+(?:,[^\s,]+)*)(?: (?P<value>(?!REQUIRED|\.\.\.|Needs:|Excludes:|Env:)\S+))?(?P<many> \.\.\.)?(?: REQUIRED)?"
    r"(?: Needs:(?P<needs>(?: -\S+)+))?(?: Excludes:(?P<excludes>(?: -\S+)+))?")


@dataclasses.dataclass
class Entry:
    """An option, positional argument or subcommand."""
    names: list[str]
    value: str = ""  # what it takes, as PID or wait|weight; empty: nothing
    many: bool = False
    needs: list[str] = dataclasses.field(default_factory=list)
    excludes: list[str] = dataclasses.field(default_factory=list)
    description: str = ""

    def brief(self):
        return re.split(r"[:;] | \(", self.description)[0]


@dataclasses.dataclass
class Command:
    """offwait itself, with an empty name, or a subcommand."""
    name: str
    usage: str = ""
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
    for number, line in enumerate(lines):
        if line.startswith(" " * INDENT):
            entries[-1].description = " ".join([entries[-1].description, line.strip()]).strip()
            continue
        wraps = number + 1 < len(lines) and lines[number + 1].startswith(" " * INDENT)
        name, description = (line, "") if wraps else (line[:INDENT], line[INDENT:])
        found = ENTRY.fullmatch(name.strip())
        if not found:
            sys.exit(f"generate.py: not understood in the output of --help: {line}")
        entries.append(Entry(found["names"].split(","), found["value"] or "", bool(found["many"]), (found["needs"] or "").split(),
                             (found["excludes"] or "").split(), description.strip()))
    return entries


def parse_help(name, text):
    command = Command(name, re.search(r"^Usage: (.*)$", text, re.MULTILINE)[1])
    for title, body in re.findall(r"^(\w[\w ]*):\n((?:  .*\n)+)", text, re.MULTILINE):
        if title == "Examples":
            continue
        entries = parse_entries(body.splitlines())
        if title == "Positionals":
            command.positionals = entries
        elif title == "Subcommands":
            command.subcommands = entries
        else:
            command.groups[title] = entries
    return command


# Man pages

def roff(text):
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text[:1] in (".", "'") else text


def placeholder(word):
    """PID is to be replaced by something, off-cpu is literal."""
    return "|".join(rf"\fB{roff(part)}\fR" if re.fullmatch(r"[a-z-]+", part) else rf"\fI{roff(part)}\fR" for part in word.split("|"))


def man_entry(entry):
    names = ", ".join(rf"\fB{roff(name)}\fR" if name.startswith("-") else placeholder(name) for name in entry.names)
    value = f" {placeholder(entry.value)}" if entry.value and entry.names[0].startswith("-") else ""
    text = [roff(entry.description)]
    if entry.needs:
        text.append(f"(Only with {roff(', '.join(entry.needs))}.)")
    if entry.excludes:
        text.append(f"(Not with {roff(', '.join(entry.excludes))}.)")
    return [".TP", names + value, *text]


def man_synopsis(command):
    words = [rf"\fI{roff(word)}\fR" if word.strip("[].") == word.strip("[].").upper() else rf"\fB{roff(word)}\fR"
             for word in command.usage.split()]
    return [" ".join(words)]


def man_options(command):
    lines = []
    for positional in command.positionals:
        lines += man_entry(positional)
    for title, options in command.groups.items():
        if len(command.groups) > 1:
            lines.append(f".SS {title}")
        for option in options:
            lines += man_entry(option)
    return lines


def man_commands(command):
    lines = []
    for subcommand in command.subcommands:
        lines += [".TP", rf"\fBoffwait {subcommand.names[0]}\fR", roff(subcommand.description) + ";",
                  rf"see \fBoffwait\-{subcommand.names[0]}\fR(1)"]
    return lines


def man_page(command):
    prose = PROSE / f"{command.page}.1"
    if not prose.exists():
        sys.exit(f"generate.py: {prose} is missing: offwait has a subcommand '{command.name}', and each has a man page")
    sections = {"@SYNOPSIS@": man_synopsis, "@OPTIONS@": man_options, "@COMMANDS@": man_commands}
    lines = []
    for line in prose.read_text("utf-8").splitlines():
        lines += sections[line](command) if line in sections else [line]
    return "\n".join(lines) + "\n"


# Completions

def completed_as(value):
    """How the value of an option is completed: files, pids, command, the words themselves, or not at all."""
    if re.fullmatch(r"[a-z-]+(\|[a-z-]+)+", value):
        return value.split("|")
    for kind, pattern in {"files": "FILE|PATH|DEVICE", "pids": "PID|TID", "command": "COMMAND"}.items():
        if re.match(pattern, value):
            return kind
    return None


def positional_kind(command):
    return next((completed_as(positional.names[0]) for positional in command.positionals), None)


def shell_quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


BASH_ACTIONS = {"files": "_filedir", "pids": "_pids", "command": "_command_offset $index"}


def bash_cases(command):
    """What is completed after each option that takes a value."""
    after = {}
    for option in filter(lambda option: option.value, command.options):
        kind = completed_as(option.value)
        action = f"COMPREPLY=($(compgen -W '{' '.join(kind)}' -- \"$cur\"))" if isinstance(kind, list) else BASH_ACTIONS.get(kind, "")
        after.setdefault(action, []).extend(f"{command.name},{name}" for name in option.names)
    return [f"        {'|'.join(names)}) {f'{action}; ' if action else ''}return ;;" for action, names in after.items()]


def bash(commands):
    lines = ["# Completion of offwait(1) for bash, made from the output of offwait --help.", "_offwait()", "{",
             "    local cur prev words cword split command='' index options=''",
             "    _init_completion -s || return",
             "    for ((index = 1; index < cword; index++)); do",
             "        case ${words[index]} in",
             f"            {'|'.join(command.name for command in commands if command.name)}) command=${{words[index]}}; break ;;",
             "            --) _command_offset $((index + 1)); return ;;",
             "        esac",
             "    done",
             "    case $command,$prev in", *(case for command in commands for case in bash_cases(command)), "    esac",
             "    $split && return",
             "    case $command,$cur in"]
    for command in commands:
        names = " ".join(name for option in command.options for name in option.names)
        lines.append(f"        {command.name},-*) options='{names}' ;;")
        if command.subcommands:
            lines.append(f"        {command.name},*) options='{' '.join(subcommand.names[0] for subcommand in command.subcommands)}' ;;")
        elif action := BASH_ACTIONS.get(positional_kind(command)):
            lines.append(f"        {command.name},*) {action}; return ;;")
    lines += ["    esac", "    COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))", "} &&", "    complete -F _offwait offwait"]
    return "\n".join(lines) + "\n"


ZSH_ACTIONS = {"files": "_files", "pids": "_pids", "command": "_command_names -e"}


def zsh_action(kind):
    return f"({' '.join(kind)})" if isinstance(kind, list) else ZSH_ACTIONS.get(kind, " ")


def zsh_specs(command):
    def text(words, special):
        return re.sub(rf"([{re.escape(special)}])", r"\\\1", words)
    specs = []
    for option in command.options:
        value = f":{text(option.value, ':')}:{zsh_action(completed_as(option.value))}" if option.value else ""
        for name in option.names:
            others = [other for other in option.names if other != name] + option.excludes
            repeated = "*" if option.many else f"({' '.join([name, *others])})"
            form = ("=" if name.startswith("--") else "+") if value else ""
            specs.append(shell_quote(f"{repeated}{name}{form}[{text(option.brief(), '[]')}]{value}"))
    return specs


def zsh(commands):
    lines = ["#compdef offwait", "# Completion of offwait(1) for zsh, made from the output of offwait --help.",
             "local context state state_descr line curcontext=$curcontext ret=1", "typeset -A opt_args"]
    top, *subcommands = commands
    lines += ["_arguments -C -s -S \\", *(f"  {spec} \\" for spec in zsh_specs(top)), "  '1: :->command' '*:: :->arguments' && ret=0",
              "case $state in", "  command)",
              "    (( words[(i)--] < CURRENT )) && { _command_names -e; return }", "    local -a commands=("]
    lines += [f"      {shell_quote(subcommand.names[0] + ':' + subcommand.brief())}" for subcommand in top.subcommands]
    lines += ["    )", "    _describe -t commands 'offwait command' commands && ret=0 ;;", "  arguments)", "    case $words[1] in"]
    for command in subcommands:
        specs = zsh_specs(command)
        for positional in command.positionals:
            specs.append(shell_quote(f":{positional.names[0]}:{zsh_action(positional_kind(command))}"))
        lines += [f"      {command.name})", "        _arguments -s -S \\", " \\\n".join(f"          {spec}" for spec in specs) + " && ret=0 ;;"]
    lines += ["      *) _normal && ret=0 ;;", "    esac ;;", "esac", "return ret"]
    return "\n".join(lines) + "\n"


FISH_WORDS = "(commandline -opc)"  # before the one that is completed
FISH_ACTIONS = {"files": "-r -F", "pids": "-x -a '(__fish_complete_pids)'", "command": "-x -a '(__fish_complete_command)'"}


def fish(commands):
    lines = ["# Completion of offwait(1) for fish, made from the output of offwait --help.", "complete -c offwait -f",
             f"complete -c offwait -n 'contains -- -- {FISH_WORDS}' -F -a '(__fish_complete_command)'"]
    for command in commands:
        place = f"__fish_seen_subcommand_from {command.name}" if command.name else "__fish_use_subcommand"
        when = f"-n '{place}; and not contains -- -- {FISH_WORDS}'"
        for subcommand in command.subcommands:
            lines.append(f"complete -c offwait {when} -a {subcommand.names[0]} -d {fish_quote(subcommand.brief())}")
        if positional_kind(command) == "files":
            lines.append(f"complete -c offwait {when} -F")
        for option in command.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            kind = completed_as(option.value)
            action = f" -x -a '{' '.join(kind)}'" if isinstance(kind, list) else f" {FISH_ACTIONS.get(kind, '-x')}" if option.value else ""
            lines.append(f"complete -c offwait {when} {names}{action} -d {fish_quote(option.brief())}")
    return "\n".join(lines) + "\n"


def fish_quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def main(out, program):
    def help_of(*subcommand):
        return subprocess.run([*program, *subcommand, "--help"], stdout=subprocess.PIPE, check=True, text=True, encoding="utf-8").stdout
    top = parse_help("", help_of())
    commands = [top, *(parse_help(entry.names[0], help_of(entry.names[0])) for entry in top.subcommands)]
    files = {f"man/{command.page}.1": man_page(command) for command in commands}
    files |= {"completions/offwait": bash(commands), "completions/_offwait": zsh(commands), "completions/offwait.fish": fish(commands)}
    for name, text in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
