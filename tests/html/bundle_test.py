#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The bundle that is checked in is what esbuild makes of the sources, to the byte; and these put no text into the page
in any way that a browser may take for tags or code. Needs node and npm."""

import re
import subprocess
import sys

import node

ASSETS = node.ROOT / "src" / "html" / "assets"
BUNDLE = node.ROOT / "src" / "html" / "bundle"
FORBIDDEN = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|\bfetch\(|XMLHttpRequest"
                       r"|WebSocket|importScripts|srcdoc|javascript:")


def main():
    faults = []
    for source in sorted((ASSETS / "src").iterdir()):
        for number, line in enumerate(source.read_text("utf-8").splitlines(), 1):
            if FORBIDDEN.search(line):
                faults.append(f"{source.name}:{number}: {line.strip()}")
    node.require("node", "npm")
    directory = node.packages(ASSETS, "bundle")
    subprocess.run(["node", "build.mjs", "out"], cwd=directory, check=True)
    for name in ("app.js", "app.css"):
        if (directory / "out" / name).read_bytes() != (BUNDLE / name).read_bytes():
            faults.append(f"src/html/bundle/{name} is not what its sources give: run npm run build in src/html/assets")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
