#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the doctor's sentences and their Chinese together: src/doctor/language/zh.def, and those of the
report's page: src/report/page/words.js.

usage: chinese.py [--sort | --missing]

A sentence is a text that is in a call of WRITERS, in a file of PLACES; in a file of SPOKEN it is each
text of several words. Its format is its key. What
a variable holds is not seen here: tests/doctor/chinese.py finds it in what the doctor says. Fails if one has no row, if a row has no sentence, occurs twice
or at the wrong place (--sort mends that), or if its values differ: as many, of the same sort,
in the same order, or each with its place, as in %2$s; then one may be left out.
--missing writes rows to be filled in. The page says what is in a call of gph.say(), gph.plural() (in the
form of one) and gph.words(), and what page.html has between tags, in title and in aria-label.
"""
import html
import re
import sys

from source import ROOT, tracked

TABLE = "src/doctor/language/zh.def"
PLACES = ("src/doctor", "src/advice", "src/report", "tools/gph")
SPOKEN = re.compile(r"src/advice/(?!.*_json).*|src/report/tables.c|tools/gph/cmd_doctor.c")  # all that they write is for people
HELP = "tools/gph/main.c"  # has the help of all commands; of those with --lang it has Chinese
LENT = ("src/graph", "include/gph/graph.h", "include/gph/reason.h")  # what they call things are values of sentences
WRITERS = {"gphi_cause", "gphi_evidence", "gphi_evidence_call", "gphi_evidence_node", "gphi_fix", "gphi_say",
           "gphi_say_count", "gphi_say_into", "gphi_text_say", "gphi_language_of", "new_text", "gph_doctor_say", "doctor_say",
           "gphi_language_into"}
# What is asked, compared or for developers is not said to a user in a finding.
OTHERS = re.compile(r"str\w*|memcmp|gphi_fail|gphi_made|gphi_said_\w+|gphi_ignore|is_call|assert|GPHI_RULE\w*|sscanf|\w*_is|has|"
                    r"_Static_assert|static_assert|fprintf|gphi_json_\w+|gphi_trace_\w+")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\s+|\w+|.', re.S)
CONVERSION = re.compile(r"%(?:(\d+)\$)?([-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?)(hh|h|ll|l|z|j|t)?([diouxXeEfgGcspn%])")
MACROS = {"PRIu64": "lu", "PRIx64": "lx", "PRId64": "ld", "PRIu32": "u", "PRIx32": "x", "PRId32": "d"}
ROW = re.compile(r'ZH\(\s*((?:"(?:\\.|[^"\\])*"\s*)+),\s*((?:"(?:\\.|[^"\\])*"\s*)+)\)')


def joined(literals):
    return "".join(re.findall(r'"((?:\\.|[^"\\])*)"', literals))


def is_sentence(text):
    """Whether it has words that are to be translated: not a name, a path, a number."""
    plain = re.sub(r"0x$|0x(?=\W)", "", CONVERSION.sub("", re.sub(r"0x%", "%", text)))
    plain = re.sub(r"\\(?:033\[[\d;]*m|.)", " ", plain)
    words = re.findall(r"[A-Za-z][\w.:*/-]*", plain)
    return any(not re.search(r"[A-Z_/]|\w[.:]\w", word[1:]) and not re.fullmatch(r"cu[A-Z]\w*", word) for word in words)


def literals(name):
    """(line, text, calls that it is in) of each literal; neighbors are one."""
    line, calls, last, text, started = 1, [], "", None, 0
    for token in TOKEN.findall((ROOT / name).read_text()):
        if token.startswith('"'):
            if text is None:
                text, started = "", line
            text += token[1:-1]
        elif token in MACROS and text is not None:
            text += MACROS[token]
        elif token in MACROS:
            text, started = MACROS[token], line
        elif not token.isspace() and not token.startswith(("//", "/*")):
            if text is not None:
                yield started, text, list(calls)
                text = None
            if token == "(":
                calls.append(last)
            elif token == ")" and calls:
                calls.pop()
            last = token
        line += token.count("\n")


def help_lines():
    """The numbers of the lines that say the help of a command with --lang, but its summary."""
    lines, at, out = (ROOT / HELP).read_text().split("\n"), 0, set()
    for number, line in enumerate(lines + ["    {.name"], 1):
        if line.startswith(("    {.name", "#define")):
            block = [i for i in range(at, number) if ".summary" not in lines[i - 1]]
            if at and re.search(r'\{"lang"|DRIVER_OPTION \\|#define DRIVER', "\n".join(lines[at - 1:number - 1])):
                out.update(block)
            at = number
    return out


def sentences():
    """{key: (file, line)} of all that the doctor says, and the set of all literals."""
    found, every = {}, {text for name in tracked(*LENT) for _, text, _ in literals(name)}
    helped = help_lines()
    for name in tracked(*PLACES, ending=r"\.c$"):
        for line, text, calls in literals(name):
            every.add(text)
            named = [call for call in calls if re.fullmatch(r"[A-Za-z_]\w*", call)]
            if named and OTHERS.fullmatch(named[-1]):
                continue
            said = any(call in WRITERS for call in named) or " " in text.strip() and (
                SPOKEN.fullmatch(name) or name == HELP and line in helped)
            if said and is_sentence(text):
                found.setdefault(text, (name, line))
    return found, every


def values(text):
    """[(place or None, conversion)] of a format; %% counts for nothing."""
    return [(match[1], (match[2] + (match[3] or "") + match[4])) for match in CONVERSION.finditer(text)
            if match[4] != "%"]


def value_faults(english, chinese):
    want, have = values(english), values(chinese)
    if any("*" in sort or sort[-1] in "pn" for _, sort in want):
        yield "%* and %p cannot be translated: put it into words first (gphi_say)"
    if CONVERSION.sub("", chinese).count("%"):
        yield "a stray %"
    if any(place for place, _ in have):
        if not all(place for place, _ in have):
            yield "some values have a place (%1$s), others have not"
        for place, sort in have:
            if place and not (1 <= int(place) <= len(want) and sort[-1] == want[int(place) - 1][1][-1]):
                yield f"%{place}${sort} is not a value of the English"
    elif [sort for _, sort in have] != [sort for _, sort in want]:
        yield f"values {[sort for _, sort in have]}, in English {[sort for _, sort in want]}"


def read_rows():
    return [(joined(match[1]), joined(match[2])) for match in ROW.finditer((ROOT / TABLE).read_text())]


def by_bytes(row):
    """As strcmp() orders what the compiler makes of it."""
    plain = re.sub(r"\\(033|.)", lambda m: {"033": "\033", "n": "\n"}.get(m[1], m[1]), row[0])
    return plain.encode()


def write_rows(rows):
    head = (ROOT / TABLE).read_text().split("ZH(")[0].rstrip("\n") + "\n"
    text = "".join(f'ZH("{english}",\n   "{chinese}")\n' for english, chinese in sorted(rows, key=by_bytes))
    (ROOT / TABLE).write_text(head + text)


PAGE, PAGE_TABLE, MAKER = "src/report/page", "src/report/page/words.js", {"Graphophone", "doctor"}
QUOTED = r"'((?:[^'\\]|\\.)*)'"


def page_sentences():
    """{key: file} of all that the page says."""
    found = {}
    for name in tracked(PAGE, ending=r"\.js$"):
        text = "" if name == PAGE_TABLE else (ROOT / name).read_text()
        keys = re.findall(r"gph\.say\(" + QUOTED, text)
        keys += ["{0} " + word for word in re.findall(r"gph\.plural\([^'\n]*?, " + QUOTED, text)]
        keys += [word for words in re.findall(r"gph\.words\(\[([^\]]*)\]", text) for word in re.findall(QUOTED, words)]
        found.update((key, name) for key in keys if key != "{0} ")  # of gph.plural() itself
    page = re.sub(r"<noscript>.*?</noscript>", "", (ROOT / PAGE / "page.html").read_text(), flags=re.S)
    for text in re.findall(r">([^<]+)<", page) + re.findall(r'(?:title|aria-label)="([^"]*)"', page):
        text = html.unescape(text).strip()
        if re.search(r"[A-Za-z]", text) and text not in MAKER:
            found[text] = f"{PAGE}/page.html"
    return found


def page_faults():
    """What is wrong with the page's Chinese, and how many sentences it has."""
    rows = re.findall(QUOTED + r": " + QUOTED + ",\n", (ROOT / PAGE_TABLE).read_text())
    said, known, faults = page_sentences(), dict(rows), []
    for text, name in said.items():
        if text not in known:
            faults.append(f"{name}: no row of {PAGE_TABLE} begins with '{text}'")
    for english, chinese in rows:
        if english not in said:
            faults.append(f"{PAGE_TABLE}: nothing says '{english}' any more")
        if sorted(set(re.findall(r"\{\d\}", english))) != sorted(set(re.findall(r"\{\d\}", chinese))):
            faults.append(f"{PAGE_TABLE}: '{english}' and its Chinese have other values")
        if [row[0] for row in rows].count(english) > 1:
            faults.append(f"{PAGE_TABLE}: '{english}' occurs twice")
    return faults, len(said)


def main():
    rows, (said, every) = read_rows(), sentences()
    if sys.argv[1:] == ["--sort"]:
        return write_rows(rows)
    known = {english for english, _ in rows}
    missing = {text: at for text, at in said.items() if text not in known}
    if sys.argv[1:] == ["--missing"]:
        for text, (name, line) in missing.items():
            print(f'// {name}:{line}\nZH("{text}",\n   "")')
        for fault in page_faults()[0]:
            print("//", fault)
        return None
    faults = [f"{name}:{line}: no row of {TABLE} begins with ZH(\"{text}\"" for text, (name, line) in missing.items()]
    for number, (english, chinese) in enumerate(rows):
        if english not in every:
            faults.append(f"{TABLE}: nothing says \"{english}\" any more")
        if number and by_bytes(rows[number - 1]) >= by_bytes((english, "")):
            faults.append(f"{TABLE}: \"{english}\" occurs twice or out of order: scripts/chinese.py --sort")
        faults += [f"{TABLE}: \"{english}\": {fault}" for fault in value_faults(english, chinese)]
    of_page, page_count = page_faults()
    faults += of_page
    for fault in faults:
        print(fault)
    print(f"chinese: {len(rows)} sentences, {page_count} of the report's page, {len(missing)} without Chinese, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
