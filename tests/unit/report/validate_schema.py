#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""validate_schema.py SCHEMA REPORT...

Checks JSON reports against the schema, that everything they refer to exists, and that the check itself works: that
the schema is one, and that each report is refused once any field that the schema requires is missing or of another type.
"""

import copy
import json
import sys

import jsonschema


def dangling(report):
    """References to what is not there, and figures that do not fit each other."""
    actors = len(report["actors"])
    edges = {(edge["from"], edge["to"]) for edge in report["edges"]}
    for index, actor in enumerate(report["actors"]):
        if actor["id"] != index:
            yield f"actors[{index}].id is {actor['id']}"
        states = sum(actor[state] for state in ("running_s", "runnable_s", "blocked_s", "unknown_s"))
        if abs(states - actor["lifetime_s"]) > 4e-9:
            yield f"actors[{index}]: the states sum to {states}, the lifetime is {actor['lifetime_s']}"
        if "tids" in actor and len(actor["tids"]) != actor["members"]:
            yield f"actors[{index}]: {actor['members']} members, {len(actor['tids'])} tids"
    if len(edges) != len(report["edges"]):
        yield "two edges with the same ends"
    if any(end >= actors for edge in edges for end in edge):
        yield "an edge to an actor that is not there"
    for knot in report["knots"]:
        if any(actor >= actors for actor in knot["actors"]):
            yield "a knot of actors that are not there"
        if any((edge["from"], edge["to"]) not in edges for edge in knot["edges"]):
            yield "a knot of edges that are not there"
        if any(edge[end] not in knot["actors"] for edge in knot["edges"] for end in ("from", "to")):
            yield "a knot with an edge that leaves it"
    for name in ("sinks", "disks", "open_waits"):
        if any(entry["actor"] >= actors for entry in report[name]):
            yield f"{name}: an actor that is not there"
    if any((wait["from"], wait["to"]) not in edges for wait in report["elsewhere"]):
        yield "elsewhere: an edge that is not there"
    screen = report["screen"]
    shown = {
        "answers": [entry["answer"] for entry in screen["answers"]], "knots": [entry["knot"] for entry in screen["knots"]],
        "edges": [edge for entry in screen["knots"] for edge in entry["edges"]],
        "disks": [entry["disk"] for entry in screen["disks"]], "nics": screen["nics"]}
    shown["knots"] += screen["background_knots"]
    for name, indices in shown.items():
        if any(index >= len(report[name]) for index in indices):
            yield f"screen: {name} that are not there"
    if any(entry["explains"] is not None and entry["explains"] >= len(screen["answers"]) for entry in screen["knots"]):
        yield "screen: a knot that explains an answer that is not there"
    for index, progress in enumerate(report["progress"]):
        if progress["id"] != index:
            yield f"progress[{index}].id is {progress['id']}"
        if any(actor >= actors for actor in progress["actors"]):
            yield f"progress[{index}]: an actor that is not there"
    for index, answer in enumerate(report["answers"]):
        if answer["progress"] >= len(report["progress"]):
            yield f"answers[{index}]: a progress that is not there"
        if any((answer[end] or 0) >= actors for end in ("actor", "device")):
            yield f"answers[{index}]: an actor that is not there"
        service = answer["service"] or {"actors": []}
        if any(actor >= actors for actor in service["actors"]):
            yield f"answers[{index}]: a service's actor that is not there"
        # A lock is in the knot of those that have it, and these are no part of its answer.
        if answer["knot"] is not None and answer["what"] != "lock" and not {answer["actor"], answer["device"], *service["actors"]} & set(report["knots"][answer["knot"]]["actors"]):
            yield f"answers[{index}]: is not in its knot"
        if answer["low"] is not None and not answer["low"] <= answer["gain"] <= answer["high"]:
            yield f"answers[{index}]: the gain is out of its range"
    if report["loss"]["total"] != sum(n for name, n in report["loss"].items() if name != "total"):
        yield "loss.total is not the sum of the counters"


def resolve(schema, part):
    while "$ref" in part:
        name = part["$ref"].removeprefix("#/$defs/")
        part = schema["$defs"][name]
    return part


def required_fields(schema, part, value, path):
    """Paths of all fields of `value` that the schema requires."""
    part = resolve(schema, part)
    if isinstance(value, dict):
        required = part.get("required", [])
        if "then" in part and jsonschema.Draft202012Validator(part["if"]).is_valid(value):
            required = required + part["then"]["required"]
        for name in required:
            yield path + [name]
        for name, below in value.items():
            if name in part.get("properties", {}):
                yield from required_fields(schema, part["properties"][name], below, path + [name])
    elif isinstance(value, list) and "items" in part:
        for index, below in enumerate(value):
            yield from required_fields(schema, part["items"], below, path + [index])


def main():
    schema_name, *report_names = sys.argv[1:]
    with open(schema_name, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failed = not report_names
    seen = set()
    for name in report_names:
        with open(name, encoding="utf-8") as file:
            report = json.load(file)
        for error in validator.iter_errors(report):
            print(f"{name}: {error.json_path}: {error.message}")
            failed = True
        for complaint in dangling(report):
            print(f"{name}: {complaint}")
            failed = True
        for path in required_fields(schema, schema, report, []):
            # Once per field of the schema is enough.
            kind = tuple("[]" if isinstance(step, int) else step for step in path)
            if kind in seen:
                continue
            seen.add(kind)
            for broken in ("missing", "of a wrong type"):
                copied = copy.deepcopy(report)
                parent = copied
                for step in path[:-1]:
                    parent = parent[step]
                if broken == "missing":
                    del parent[path[-1]]
                else:
                    # No field is an array of arrays.
                    parent[path[-1]] = [[]]
                if validator.is_valid(copied):
                    print(f"{name}: accepted although {'.'.join(map(str, kind))} is {broken}")
                    failed = True
    print(f"{len(report_names)} reports, {len(seen)} required fields tried")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
