#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables of pages, made of runs of ci/peers.sh that were kept.

    peers_page.py [--check] [--records FOLDER] [PAGE...]
    peers_page.py --keep FILE RESULTS

The first form writes into each page (default: docs/performance-cpu*.md), between the lines
`<!-- peers: PART -->` and `<!-- end -->`, what the records in FOLDER say (default: *.json of
docs/performance). With --check it only compares. PART is

    machines   what each record was measured on
    targets    a line a target, a column a record and number of threads
    types      the same of our bf16 and int8 beside our fp32 and others

and names of records and of types of ours behind it, as in `<!-- peers: targets fp32 zen4 -->`, choose
among them. A page that has such parts has no other table, so that none is of a run that is lost. The
second form keeps in FILE what is needed of a folder of results (its table.json); `peers.sh --keep
FILE` calls it. A record's name is its file's.

Exit status: 0; 1 if --check finds a page that is not what the records say; 2 for bad input.
"""
import glob
import json
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
KEPT = ("schema_version", "about", "targets", "data_types")
SIZES = "sizes"  # every size's times: not of the pages, and not in records of before 2026-11-30
MARKED = re.compile(r"(<!-- peers: ([^\n]*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
DTYPES = ("fp32", "bf16", "int8")
NONE_KEPT = "No run has been kept yet."


class BadInput(Exception):
    """What is wrong and what to do, in a line."""


def threads_text(device):
    threads = device.removeprefix("cpu-").removesuffix("t")
    return f"{threads} thread{'' if threads == '1' else 's'}"


def target_cell(row):
    if row["reached"] is None:
        return "-"
    missed = "" if row["reached"] else ", missed"
    return f"{row['mean_text']} ({row['worst_text'].rstrip('×% ')}){missed}"


def type_cell(row):
    return f"{row['mean']:.2f}× ({row['worst']:.2f})"


def sizes_text(rows):
    """How many sizes the rows are of; several numbers where records differ."""
    return ", ".join(dict.fromkeys(str(row["sizes"]) for row in rows if row["sizes"])) or "-"


def table_lines(records, member, names, head, cell):
    """A line for each value of `names`: how many sizes there are, and in a column for each record and
    device: mean (worst)."""
    columns, lines = [], {}
    for record_name, record in records:
        for row in record[member]:
            column = (record_name, row["device"])
            if column not in columns:
                columns.append(column)
            lines.setdefault(tuple(row[name] for name in names), {})[column] = row
    titles = [", ".join(filter(None, (name, threads_text(device)))) for name, device in columns]
    yield "| " + " | ".join((*head, "sizes", *titles)) + " |"
    yield "|" + "---|" * (len(head) + 1 + len(titles))
    for key, rows in lines.items():
        cells = (cell(rows[c]) if c in rows else "-" for c in columns)
        yield "| " + " | ".join((*key, sizes_text(rows.values()), *cells)) + " |"


def target_lines(records):
    names = ("what", "against", "target")
    return table_lines(records, "targets", names, names, target_cell)


def type_lines(records):
    return table_lines(records, "data_types", ("dtype", "what", "against"),
                       ("dtype of ours", "what", "against"), type_cell)


def machine_lines(records):
    for name, record in records:
        machine, *notes = record["about"]
        yield f"- **{name}**: {machine}"
        yield from (f"  - {note}" for note in notes)


PARTS = {"machines": machine_lines, "targets": target_lines, "types": type_lines}


def read_record(path):
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    if record.get("schema_version") != 1 or any(member not in record for member in KEPT):
        raise BadInput(f"{path} is not of this form: make it anew by peers.sh")
    return record


def read_records(folder):
    paths = sorted(glob.glob(os.path.join(folder, "*.json")))
    return {os.path.basename(path).removesuffix(".json"): read_record(path) for path in paths}


def of_dtypes(record, dtypes):
    """The record with rows of these types of ours alone; with all of them where none is named."""
    return record if not dtypes else {
        **record, **{member: [row for row in record[member] if row["dtype"] in dtypes]
                     for member in ("targets", "data_types")}}


def part_text(asked, records):
    part, *words = asked.split()
    dtypes = [word for word in words if word in DTYPES]
    names = [word for word in words if word not in DTYPES]
    if part not in PARTS:
        raise BadInput(f"no part {part}; there are: {' '.join(PARTS)}")
    for name in names:
        if name not in records:
            raise BadInput(f"no record {name}; there are: {' '.join(records) or 'none'}")
    chosen = [(name, of_dtypes(records[name], dtypes)) for name in names or records]
    lines = PARTS[part](chosen) if chosen else [NONE_KEPT]
    return "\n" + "".join(line + "\n" for line in lines) + "\n"


def refuse_table_by_hand(text):
    by_hand = re.search(r"^\|.*", MARKED.sub("", text), re.MULTILINE)
    if by_hand and MARKED.search(text):
        raise BadInput(f"a table by hand beside parts that are made of records: {by_hand[0]}")


def filled(text, records):
    """The page's text with what its marked parts should have."""
    if text.count("<!-- peers: ") != len(MARKED.findall(text)):
        raise BadInput("a line <!-- peers: PART --> without its <!-- end -->")
    refuse_table_by_hand(text)
    return MARKED.sub(lambda m: m[1] + part_text(m[2], records) + m[4], text)


def bring_up_to_date(page, records, check):
    """Whether the page was as it should be."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    try:
        wanted = filled(text, records)
    except BadInput as error:
        raise BadInput(f"{page}: {error}") from error
    if wanted != text and not check:
        with open(page, "w", encoding="utf-8") as file:
            file.write(wanted)
    return wanted == text


def row_text(row):
    """A row of a table, or a line of words; of numbers four places are kept."""
    def shortened(value):
        if isinstance(value, dict):
            return {name: shortened(member) for name, member in value.items()}
        return round(value, 4) if isinstance(value, float) else value

    return json.dumps(shortened(row), ensure_ascii=False)


def record_text(record):
    """JSON with a line a row, so that a difference between two versions can be read."""
    def member_text(value):
        if not isinstance(value, list):
            return json.dumps(value)
        return "[" + ",".join("\n  " + row_text(row) for row in value) + "\n ]"

    members = (f" {json.dumps(name)}: {member_text(value)}" for name, value in record.items())
    return "{\n" + ",\n".join(members) + "\n}\n"


def keep(path, folder):
    table = read_record(os.path.join(folder, "table.json"))
    if table["not_right"]:
        raise BadInput(f"not kept, as results were not right: {', '.join(table['not_right'])}")
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(record_text({member: table[member] for member in (*KEPT, SIZES)}))


def take_option(arguments, name):
    """The value behind the option, which is taken out; None where it is not there."""
    if name not in arguments[:-1]:
        return None
    at = arguments.index(name)
    value = arguments[at + 1]
    del arguments[at:at + 2]
    return value


def run(arguments):
    kept, check = take_option(arguments, "--keep"), "--check" in arguments
    folder = take_option(arguments, "--records") or os.path.join(ROOT, "docs", "performance")
    pages = [argument for argument in arguments if argument != "--check"]
    if any(page.startswith("-") for page in pages) or (kept and len(pages) != 1):
        print(__doc__)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    if kept:
        keep(kept, pages[0])
        return 0
    records, late = read_records(folder), []
    for page in pages or sorted(glob.glob(os.path.join(ROOT, "docs", "performance-cpu*.md"))):
        if not bring_up_to_date(page, records, check):
            late.append(os.path.relpath(page))
    for page in late:
        print(f"{page}: not what the records say; run ci/peers_page.py" if check else
              f"{page}: written")
    return 1 if late and check else 0


def main():
    try:
        return run(sys.argv[1:])
    except (BadInput, OSError, ValueError) as error:
        print(f"peers_page.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
