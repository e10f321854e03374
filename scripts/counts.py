#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts that docs/features.md and CHANGELOG.md name are those of the pages that are made from the
programs themselves."""
import re
import sys

from source import text_of

SAYING = ("docs/features.md", "CHANGELOG.md")


def made(page, pattern):
    found = re.search(pattern, text_of(page), re.S)
    if not found:
        sys.exit(f"counts: {page} does not say {pattern!r}")
    return found.groups()


def counts():
    """What is counted: the numbers, and the sentence in which they are said."""
    calls, symbols, built = made("docs/driver-calls.md", r"\((\d+) calls, (\d+) symbols.*?(\d+) calls do what")
    agree, own, opened, rules = made("docs/conformance.md",
                                     r"\*\*(\d+) agree, (\d+) softcuda only, (\d+) open\*\* of (\d+) rules")
    yield (built, calls), r"(\d+) of (?:its )?(\d+) calls"
    yield (symbols,), r"all (\d+) symbols"
    yield made("docs/ptx.md", r"(\d+) forms of instructions"), r"([\d,]+)\*{0,2} forms of (?:PTX )?instructions"
    yield (rules, agree), r"(\d+) rules.{0,50},\s+each with a test that fails[^.]*?agrees\s+with (\d+)"
    yield made("docs/doctor-rules.md", r"\n(\d+) rules, \d+ reported"), r"\[(\d+) rules\]|\*\[(\d+) rules\]"
    yield (str(len(re.findall(r"^### ", text_of("docs/explain.md"), re.M))),), r"\[(\d+) entries\]"


def main():
    wrong = 0
    for numbers, sentence in counts():
        for page in SAYING:
            found = re.search(sentence, text_of(page), re.S)
            said = found and tuple(word.replace(",", "") for word in found.groups() if word)
            if said != numbers:
                print(f"{page}: /{sentence}/ says {said}, the made pages {numbers}")
                wrong += 1
    print(f"counts: {wrong} faults")
    return wrong > 0


sys.exit(main())
