"""Checks a built site: check.py FOLDER.

Every page is there and loads nothing from elsewhere. Links lead to pages and
anchors that exist. Every exported name of every package has its anchor and is in
the search index. Every picture is on a page, and every notebook, table and figure
is linked from its index. In a browser, no page is wider than a phone, and the
search finds a name of every package.
"""
import json
import os
import re
import subprocess
import sys
from bisect import bisect_left
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.dont_write_bytecode = True
import browser  # noqa: E402, beside this file

PHONE = 390
LOADS = re.compile(r"""(?:<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc|<link\b(?![^>]*rel="(?:canonical|edit)")[^>]*\bhref)=["'](?:https?:)?//[^"']+""")


class Page(HTMLParser):
    """What a page's HTML has: ids, links and pictures; and its text outside of code."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.pictures = set(), set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if attrs.get("id"):
            self.ids.add(attrs["id"])
        if tag == "a" and attrs.get("name"):
            self.ids.add(attrs["name"])
        if tag == "a" and attrs.get("href"):
            self.links.add(attrs["href"])
        if tag == "img" and attrs.get("src"):
            self.pictures.append(attrs["src"])


def read_pages(site):
    return {str(p.relative_to(site)): p.read_text(encoding="utf-8") for p in sorted(site.rglob("*.html"))}


def wanted_pages():
    """The pages that the repository's files call for."""
    pages = ["index.html", "contributing.html", "changelog.html", "findings.html", "library/index.html", "notebooks/index.html", "figures/index.html"]
    for text in Path("docs").rglob("*.md"):
        page = text.relative_to("docs").with_suffix(".html")
        pages.append(str(page.with_name("index.html") if text.name == "README.md" else page))
    pages += [str(p.with_suffix(".html")) for p in shown_files()]
    return sorted(set(pages))


def shown_files():
    """Notebooks, tables and figures: what has a page of its own."""
    return [*Path("notebooks").glob("*/*.ipynb"), *Path("figures").glob("*/**/*.md"), *Path("figures").glob("*/**/*.png")]


def check_texts(texts):
    for page, text in texts.items():
        for m in LOADS.finditer(text):
            yield f"{page} loads {m.group(0)}"
        if "$$" in re.sub(r"<(pre|code)\b.*?</\1>", "", text, flags=re.S):
            yield f"{page} shows a formula's source"


def target(page, link):
    """The file and the anchor that a link of a page leads to, or None where it leads out of the site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or link.startswith("/"):
        return None
    path = os.path.normpath(os.path.join(os.path.dirname(page), unquote(parts.path))) if parts.path else page
    return path, unquote(parts.fragment)


def check_links(site, pages):
    for page, p in pages.items():
        if page == "404.html":
            continue
        for link in sorted(p.links):
            to = target(page, link)
            if to is None:
                continue
            path, anchor = to
            if (site / path).is_dir():
                path = os.path.normpath(path + "/index.html")
            if not (site / path).exists():
                yield f"{page}: the link {link} leads nowhere"
            elif anchor and path in pages and anchor not in pages[path].ids and anchor != "__skip":
                yield f"{page}: the link {link} has no such anchor"


def check_pictures(site, pages):
    shown = set()  # page and picture
    for page, p in pages.items():
        for src in p.pictures:
            to = target(page, src)
            if to and page != "404.html":
                shown.add((page, to[0]))
                if not (site / to[0]).exists():
                    yield f"{page}: the picture {src} is missing"
    for picture in Path("figures").glob("*/**/*.png"):
        page = str(picture.with_suffix(".html"))
        if (page, str(picture)) not in shown:
            yield f"{page} does not show {picture}"
    for notebook in Path("notebooks").glob("*/*.ipynb"):
        outputs = [o for c in json.loads(notebook.read_text())["cells"] for o in c.get("outputs", [])]
        drawn = sum("image/png" in o.get("data", {}) for o in outputs)
        page = str(notebook.with_suffix(".html"))
        has = len([p for p in pages[page].pictures if "/" in p or p.endswith(".png")]) if page in pages else 0
        if has < drawn:
            yield f"{page} shows {has} pictures of {drawn}"


def check_indexes(pages):
    """Each notebook, table and figure is linked from the index of its kind."""
    for kind in ("notebooks", "figures"):
        index = f"{kind}/index.html"
        linked = {t[0] for t in (target(index, link) for link in pages[index].links) if t}
        for page in sorted({str(file.with_suffix(".html")) for file in shown_files()}):
            if page.startswith(kind) and page not in linked:
                yield f"{index} has no link to {page}"


def exported_names():
    made = subprocess.run(["go", "run", "./lib/internal/apidoc", "-names"], check=True, capture_output=True, text=True)
    return {f"library/{package}.html": names for package, names in json.loads(made.stdout).items()}


def check_names(names, pages, index):
    """Every exported name has an anchor and stands in the search index of its page."""
    searched = {}
    for entry in index["docs"]:
        page = entry["location"].partition("#")[0]
        searched[page] = searched.get(page, "") + " " + entry["title"] + " " + entry["text"]
    for page, of_page in names.items():
        if page not in pages:
            yield f"{page} is missing"
            continue
        words = set(re.findall(r"\w+", searched.get(page, "")))
        for name in of_page:
            if name not in pages[page].ids:
                yield f"{page} has no anchor for {name}"
            if not words.issuperset(name.split(".")):
                yield f"the search index of {page} lacks {name}"


def queries(names, index):
    """A name of every package to search for: the one that the fewest pages have. A name that many have would drown."""
    pages_with = {}
    for entry in index["docs"]:
        for word in re.findall(r"\w+", (entry["title"] + " " + entry["text"]).lower()):
            pages_with.setdefault(word, set()).add(entry["location"].partition("#")[0])
    words = sorted(pages_with)

    def spread(name):
        """How many pages have a word that begins with the name, as the search completes the last word."""
        start, end = bisect_left(words, name.lower()), bisect_left(words, name.lower() + "\uffff")
        return len(set().union(*(pages_with[w] for w in words[start:end])))

    sample = {page: min((n for n in of_page if "." not in n), key=lambda n: (spread(n), -len(n)), default=None) for page, of_page in names.items()}
    return {page: name for page, name in sample.items() if name and spread(name) <= 5}


def check_in_browser(site, texts, names, index):
    result = browser.visit(site, sorted(set(texts) - {"404.html"}), PHONE, queries(names, index))
    for page, wide in result["wide"].items():
        yield f"{page} is {wide['width']} pixels wide on a phone of {PHONE}: {wide['widest']}"
    for page, name in result["notFound"].items():
        yield f"the search for {name} does not find {page}"
    print(f"{result['visited']} views at {PHONE} pixels and {result['searched']} searches in a browser")


def main():
    site = Path(sys.argv[1])
    texts = read_pages(site)
    pages = {page: Page(text) for page, text in texts.items()}
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    names = exported_names()
    problems = [f"{w} is missing" for w in wanted_pages() if w not in pages]
    problems += [*check_texts(texts), *check_links(site, pages), *check_pictures(site, pages), *check_indexes(pages), *check_names(names, pages, index)]
    problems += check_in_browser(site, texts, names, index)
    for p in problems:
        print(p, file=sys.stderr)
    size = sum(f.stat().st_size for f in site.rglob("*") if f.is_file()) >> 20
    print(f"{len(pages)} pages, {sum(map(len, names.values()))} exported names, {size} MB")
    sys.exit(bool(problems))


main()
