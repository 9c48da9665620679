#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that #includes respect the rooms, that no two headers define types of one name, and that functions of
libraries are named in one room.

    tests/rooms.py [ROOT]

The offwait_room() lines of src/CMakeLists.txt say which room may include which, so the linker and this
check follow one list. Two types of one name in one namespace are undefined
behaviour that no linker reports: the program may call the functions of either. What names of functions mean is known
in src/code alone: two lists in two rooms disagree sooner or later. Prints one line for each violation and exits with 1
if there is any.
"""

import re
import sys
from pathlib import Path

ROOM = re.compile(r"^\s*offwait_room\(\s*(\w+)([^)]*)\)", re.MULTILINE)
INCLUDE = re.compile(r"^\s*#\s*include\b\s*(.*)$")
NAME = re.compile(r'^(?:"([^"]+)"|<([^>]+)>)')
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{")
TYPE = re.compile(r"^(?:struct|class|enum class|enum) (\w+)\b(?! *<)[^;]*$")
SOURCES = {".c", ".cpp", ".h"}
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# Words and texts are not names of functions: those have an underscore, a scope, a dot, or capitals inside.
NAME_OF_CODE = re.compile(r"(?=.{5})[\w:.~<>()$-]*(?:\w_\w|::|\w\.\w|[a-z][A-Z])[\w:.~<>()$-]*$")
# What begins so is of a library, whether src/code knows it or not.
OF_A_LIBRARY = re.compile(
    r"(?:std|core|tokio|absl|parking_lot|boost|folly)::\w|(?:java|jdk|runtime|sync)\.\w"
    r"|_*(?:pthread_|lll_|futex_wait|futex_wake|sem_wait|cnd_|mtx_|PyEval_|VM_|ObjectMonitor|libc\.|libjvm\.|libpthread|libstdc\+\+)"
)
# Other rooms may have these names, for these reasons.
ALLOWED_NAMES = {
    ("capture", "unix_stream_sendmsg"): "the kernel's types are asked for it, to attach a program there",
    ("capture", "perf_event_task_sched_in"): "the kernel's types are asked for it, to attach a program there",
}
# The system headers that the kernel/user contract may include; on the kernel side vmlinux.h replaces them.
CONTRACT_SYSTEM_HEADERS = {"stddef.h", "stdint.h", "linux/types.h"}


def rooms_of(cmake_text):
    """The rooms in their order, each with the set of rooms that it may include."""
    text = re.sub(r"#.*", "", cmake_text)
    rooms = {}
    for name, rest in ROOM.findall(text):
        depends = set()
        keyword = None
        for word in rest.split():
            if word in ("DEPENDS", "LIBRARIES"):
                keyword = word
            elif keyword == "DEPENDS":
                depends.add(word)
        rooms[name] = depends
    return rooms


def includes_of(path):
    """(line number, header, quoted) of each #include. The header is None if a macro names it."""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        include = INCLUDE.match(line)
        if include:
            name = NAME.match(include.group(1))
            if name:
                yield number, name.group(1) or name.group(2), name.group(1) is not None
            else:
                yield number, None, False


def fault_in_room(room, allowed, rooms, header, quoted):
    """What is wrong with this include in a file of src/, or None."""
    first, _, rest = header.partition("/")
    if header.startswith("bpf/") or header.endswith(".skel.h"):
        return None if room == "capture" else "only src/capture may include libbpf and the skeleton"
    if first == "offwait":
        return None if quoted else f'the contract is included as "{header}"'
    if not quoted:
        return f'a room\'s header is included as "{header}"' if first in rooms else None
    if first not in rooms or not rest or ".." in header:
        return 'a quoted include is "room/file.h"'
    if first not in allowed:
        return f"{room} does not depend on {first} in src/CMakeLists.txt"
    return None


def fault_in_contract(header, quoted):
    if quoted and header.startswith("offwait/") or not quoted and header in CONTRACT_SYSTEM_HEADERS:
        return None
    return "the kernel/user contract includes plain C types and itself only"


def fault_in_bpf(header, quoted):
    if not quoted:
        return None if header.startswith("bpf/") else "BPF programs include no system header but <bpf/...>"
    if header.startswith("offwait/") or "/" not in header:
        return None
    return 'BPF programs include "vmlinux.h", their own headers and "offwait/..."'


def fault_in_example(root, path, rooms, header, quoted):
    first = header.partition("/")[0]
    if quoted and not (path.parent / header).resolve().is_relative_to(root / "examples"):
        return "an example includes its own headers only"
    if not quoted and first in rooms | {"offwait"} and (root / "src" / header).exists():
        return "an example includes its own headers only"
    return None


def strings_of(path):
    """(line number, text) of each string in a source file; not those in comments and includes."""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if not INCLUDE.match(line):
            for text in STRING.findall(re.sub(r"(^|\s)//.*", "", line)):
                yield number, text


def bare(name):
    """A name or a pattern without what differs between spellings."""
    return name.strip("*").lstrip("_").removesuffix("::")


def names_outside_of_code(root):
    known = {bare(text): path.relative_to(root)
             for path in sorted((root / "src/code").glob("*.cpp"))
             for _, text in strings_of(path) if NAME_OF_CODE.match(bare(text))}
    for path in sorted((root / "src").rglob("*")):
        room = path.relative_to(root / "src").parts[0]
        if path.suffix not in SOURCES or not path.is_file() or room == "code":
            continue
        for line, text in strings_of(path):
            name = bare(text)
            if (room, name) not in ALLOWED_NAMES and (name in known or OF_A_LIBRARY.match(text)):
                yield f'{path.relative_to(root)}:{line}: "{text}" names a function or a library: src/code knows what it means'


def types_of(path):
    """(line number, qualified name) of each type that a header defines in a namespace."""
    namespace = ""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if found := NAMESPACE.match(line):
            namespace = found.group(1)
        elif found := TYPE.match(line):
            yield number, f"{namespace}::{found.group(1)}"


def types_defined_twice(root):
    known = {}
    for path in sorted((root / "src").rglob("*.h")):
        for line, name in types_of(path):
            if name in known:
                yield f"{path.relative_to(root)}:{line}: {name} is defined in {known[name]} as well"
            known.setdefault(name, path.relative_to(root))


def violations(root):
    root = Path(root).resolve()
    rooms = rooms_of((root / "src/CMakeLists.txt").read_text())
    if not rooms:
        yield "src/CMakeLists.txt: no offwait_room() found"
    known = set()
    for room, depends in rooms.items():
        for other in sorted(depends - known):
            yield f"src/CMakeLists.txt: {room} depends on {other}, which is no room declared above it"
        known.add(room)

    for top in ("src", "include", "bpf", "examples"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SOURCES or not path.is_file():
                continue
            place = path.relative_to(root)
            room = place.parts[1] if len(place.parts) > 2 else None
            if top == "src" and room is None:
                room, allowed = "main", {"base", "cli"}
            elif top == "src" and room in rooms:
                allowed = rooms[room] | {room}
            elif top == "src":
                yield f"{place}: {room} is no room of src/CMakeLists.txt"
                continue
            for line, header, quoted in includes_of(path):
                if header is None:
                    fault = "an include names its file"
                elif top == "src":
                    fault = fault_in_room(room, allowed, rooms, header, quoted)
                elif top == "include":
                    fault = fault_in_contract(header, quoted)
                elif top == "bpf":
                    fault = fault_in_bpf(header, quoted)
                else:
                    fault = fault_in_example(root, path, set(rooms), header, quoted)
                if fault:
                    yield f"{place}:{line}: {header or 'computed include'}: {fault}"
    yield from types_defined_twice(root)
    yield from names_outside_of_code(root)


def main():
    found = list(violations(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent))
    for violation in found:
        print(violation)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
