#!/usr/bin/env python3
"""No Rust file imports, directly or through others of its crate, a file that imports it. A file imports what its code
names, also if a third file re-exports that; to declare and re-export is no import, and unit tests may name anything. It
does not follow globs, so it does not see what the system's tests share through their prelude."""

import re
import subprocess
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

NO_CODE = re.compile(r"""//[^\n]*|r#".*?"#|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'|\(in [\w:]+\)""", re.S)
TESTS = re.compile(r"^#\[cfg\(test\)\]\n(?:pub\S* )?mod \w+(?:;| \{.*)", re.M | re.S)
MOD = re.compile(r"^(?:pub\S* )?mod (\w+);", re.M)
USE = re.compile(r"^(pub\S* )?(?: +(?:pub\S* )?)?use ([^;]+);", re.M)


def read(file, name, folder, texts):
    texts[name] = TESTS.sub("", NO_CODE.sub("", file.read_text()))
    for child in MOD.findall(texts[name]):
        for path in filter(Path.exists, (folder / f"{child}.rs", folder / child / "mod.rs")):
            read(path, (*name, child), folder / child, texts)
    return texts


def leaves(tree):
    while group := re.search(r"([\w:]*)\{([^{}]*)\}", tree):
        tree = tree.replace(group[0], ",".join(group[1] + leaf.strip() for leaf in group[2].split(",") if leaf.strip()))
    return [leaf.replace("::self", "").removeprefix("self::") for leaf in tree.split(",")]


def imports(texts):
    exports, named = {}, {name: [] for name in texts}
    for name, text in texts.items():
        body = MOD.sub("", USE.sub("", text))
        inline = [("", path) for path in re.findall(r"(?<![\w:])\w+(?:::\w+)+", body)]
        for public, leaf in inline + [(public, leaf) for public, tree in USE.findall(text) for leaf in leaves(tree)]:
            words, alias = leaf.partition(" as ")[0].split("::"), re.split("::| as ", leaf)[-1]
            above = len(name) - words.count("super") if words[0] != "crate" else 0
            whole = (*name[:above], *(word for word in words if word not in ("crate", "super")))
            is_of_this_crate = words[0] in ("crate", "super") or whole[: above + 1] in texts
            if is_of_this_crate and public:
                exports[*name, alias] = whole
            if is_of_this_crate and (not public or re.search(rf"(?<![.:\w]){re.escape(alias)}\b", body)):
                named[name].append(whole)

    def owner(path):
        end = next(end for end in range(len(path), -1, -1) if path[:end] in texts or path[:end] in exports)
        return path[:end] if path[:end] in texts else owner((*exports[path[:end]], *path[end:]))

    return {name: {owner(path) for path in paths} - {name} for name, paths in named.items()}


TREE = Path(__file__).parent.parent
circles = []
for root in subprocess.check_output(["git", "ls-files", "*/lib.rs", "*/main.rs"], cwd=TREE, text=True).split():
    try:
        TopologicalSorter(imports(read(TREE / root, (), (TREE / root).parent, {}))).prepare()
    except CycleError as circle:
        circles.append(f"{root}: " + " -> ".join("::".join(name) or "the root" for name in reversed(circle.args[1])))
raise SystemExit("\n".join(["error: these files import each other:", *circles]) if circles else 0)
