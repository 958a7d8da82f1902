"""Writes mutants into Rust source, each behind a switch: `::mutant::on(17)` chooses between it and the original."""

import re

import tree_sitter
import tree_sitter_rust

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
# Around what a mutant put in, so that an error of the compiler can be traced to the mutant.
ADDED = re.compile(rb"/\*(\d+)<\*/.*?/\*>\1\*/", re.DOTALL)
SWITCH = re.compile(rb"::mutant::on\((\d+)\)")


class Unswitchable(Exception):
    """There is no expression to choose, as in a chain with `let`."""


def weave(source, mutants):
    """The source with these mutants, given as cargo-mutants lists them, by number. Also returns the numbers left out."""
    root = PARSER.parse(source).root_node
    lines = source.split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def offset(position):
        line = lines[position["line"] - 1].decode()
        return starts[position["line"] - 1] + len(line[: position["column"] - 1].encode())

    # By the range that they replace: text put in front of an empty range, or the alternatives to an expression.
    edits, left_out = {}, []
    for number, mutant in mutants.items():
        start, end = (offset(mutant["span"][side]) for side in ("start", "end"))
        try:
            place, edit = _edit(source, root, number, mutant, start, end)
            edits.setdefault(place, []).append(edit)
        except Unswitchable:
            left_out.append(number)
    return _render(source, 0, len(source), sorted(edits.items(), key=_outermost_first)), left_out


def _outermost_first(item):
    (start, end), _ = item
    # What is put in at a place comes before the expression that begins there.
    return start, start != end, -end


def _edit(source, root, number, mutant, start, end):
    """The range to replace, and its replacement as a pair of the switch's number and the alternative."""
    text, node = mutant["replacement"].encode(), root.descendant_for_byte_range(start, end)
    match mutant["genre"]:
        case "FnValue":
            return (start, start), (number, b"return %s;" % text)
        case "BinaryOperator":
            whole = _parent(node, "binary_expression", "compound_assignment_expr")
            return _range(whole), (number, source[whole.start_byte : start] + text + source[end : whole.end_byte])
        case "UnaryOperator":
            whole = _parent(node, "unary_expression")
            return _range(whole), (number, source[end : whole.end_byte])
        case "StructField":
            whole = _ancestor(node, "struct_expression")
            return _range(whole), (number, source[whole.start_byte : start] + source[end : whole.end_byte])
        case "MatchArmGuard":
            return (start, end), (number, text)
        case "MatchArm":
            arm = _ancestor(node, "match_arm")
            pattern = arm.child_by_field_name("pattern")
            # A guard would have been replaced instead.
            return (pattern.end_byte, pattern.end_byte), (number, None)
    raise Unswitchable


def _range(node):
    return node.start_byte, node.end_byte


def _parent(node, *kinds):
    if node.parent is None or node.parent.type not in kinds:
        raise Unswitchable
    return node.parent


def _ancestor(node, kind):
    while node is not None and node.type != kind:
        node = node.parent
    if node is None:
        raise Unswitchable
    return node


def _render(source, start, end, edits):
    """The source between two offsets with these edits, which lie there."""
    out, at = [], start
    while edits:
        ((first, last), alternatives), *edits = edits
        out.append(source[at:first])
        at = last
        if first == last:
            for number, text in alternatives:
                if text is None:
                    out.append(b" if /*%d<*/!::mutant::on(%d)/*>%d*/" % (number, number, number))
                else:
                    out.append(b"if ::mutant::on(%d) {/*%d<*/ %s /*>%d*/}\n" % (number, number, text, number))
            continue
        inner = [edit for edit in edits if edit[0][1] <= last]
        edits = edits[len(inner) :]
        out.append(b"(")
        for number, text in alternatives:
            out.append(b"if ::mutant::on(%d) {/*%d<*/ %s /*>%d*/} else " % (number, number, text, number))
        out.append(b"{ %s })" % _render(source, first, last, inner))
    out.append(source[at:end])
    return b"".join(out)


def blamed(source, spans):
    """The mutants in woven source that an error with these spans, as the compiler's JSON gives them, is about."""
    added = [(int(m[1]), m.start(), m.end()) for m in ADDED.finditer(source)]
    for primary in (True, False):
        hit = set()
        for span in spans:
            if span["is_primary"] is primary:
                hit |= {n for n, start, end in added if start <= span["byte_start"] and span["byte_end"] <= end}
        if hit:
            return hit
    # None of them: whatever is switched in the lines of the error, or else in its function.
    primary = next((span for span in spans if span["is_primary"]), None)
    if primary is None:
        return set()
    first, last = primary["byte_start"], primary["byte_end"]
    lines = source.rfind(b"\n", 0, first) + 1, source.find(b"\n", last)
    node = PARSER.parse(source).root_node.descendant_for_byte_range(first, last)
    while node is not None and node.type != "function_item":
        node = node.parent
    for start, end in [lines, _range(node)] if node else [lines]:
        if hit := {int(m[1]) for m in SWITCH.finditer(source, start, end)}:
            return hit
    return set()
