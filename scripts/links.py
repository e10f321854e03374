#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every relative link of the pages in the repository leads to a file that git knows, and its #part to a
heading of it; and the README has no more than 600 words outside code blocks and tables."""
import re
import sys

from source import ROOT, tracked

MOST_WORDS = 600
FENCE = re.compile(r"^( {0,3})(```|~~~).*?^\1\2", re.S | re.M)


def slug(heading):
    """The #part that GitHub gives a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", lambda m: m[1] or "", heading)
    return re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")


def parts(text):
    seen, out = {}, set(re.findall(r'(?:id|name)="([^"]+)"', text))
    for heading in re.findall(r"^#+ +(.*)$", FENCE.sub("", text), re.M):
        key = slug(heading)
        out.add(key + (f"-{seen[key]}" if key in seen else ""))
        seen[key] = seen.get(key, 0) + 1
    return out


def words(text):
    """Of what is read: no code blocks, fenced or indented, no tables, no addresses of links."""
    text = re.sub(r"^( {4}.*|\|.*|!\[.*)$", "", FENCE.sub("", text), flags=re.M)
    return len(re.findall(r"\w[\w'./+-]*", re.sub(r"\]\([^)]*\)", "]", text)))


def main():
    files = set(tracked(ending=""))
    faults, count = [], 0
    for page in sorted(name for name in files if name.endswith(".md")):
        for link in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", (ROOT / page).read_text())):
            if "://" in link or link.startswith("mailto:"):
                continue
            count += 1
            path, _, part = link.partition("#")
            target = (ROOT / page).parent.joinpath(path).resolve() if path else ROOT / page
            if not target.exists() or not (target.is_dir() or str(target.relative_to(ROOT)) in files):
                faults.append(f"{page}: {link} is not in the repository")
            elif part and target.suffix == ".md" and part not in parts(target.read_text()):
                faults.append(f"{page}: {link}: there is no such heading")
    read = words((ROOT / "README.md").read_text())
    if read > MOST_WORDS:
        faults.append(f"README.md has {read} words, {MOST_WORDS} are allowed")
    print("\n".join(faults + [f"links: {count} links, {len(faults)} faults; README.md has {read} words"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
