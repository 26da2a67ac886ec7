"""Gathers the pages of the documentation site: gather.py FOLDER.

FOLDER/docs gets Markdown and pictures, and FOLDER/mkdocs.yml says in which order
the pages stand. The pages come from README.md and its like, docs/**, notebooks/**,
figures/**, and from the Go packages, whose pages lib/internal/apidoc writes.
"""
import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
from latex2mathml.converter import convert
from nbconvert import MarkdownExporter

HERE = Path(__file__).parent
WORK = Path(sys.argv[1])
DOCS = WORK / "docs"
CONFIG = json.loads((HERE / "mkdocs.json").read_text())
# Where the repository's files can be read. Without an address, pages have no links to them.
SOURCE = CONFIG["repo_url"].rstrip("/") + "/blob/main/" if CONFIG.get("repo_url") else ""
# The texts at the top of the repository, and the pages that they become.
ROOT_TEXTS = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md",
              "SECURITY.md": "security.md"}
# The pages that are about the project and not about its use.
PROJECT = ["contributing.md", "development.md", "changelog.md", "history.md", "security.md"]
# The titles of folders of notebooks and figures. Other folders are named after themselves.
TITLES = {"ruler": "RULER", "sde": "SDE", "fishing": "Fishing for Privacy", "blindu": "BlindU", "tofu": "TOFU"}
# The notebooks' folders in the order to read them. Others follow.
FIRST = ["start", "ruler", "sde", "fishing", "blindu"]
PICTURES = (".png", ".svg", ".jpg")
BLOCK = re.compile(r"(^```.*?^```[^\n]*$)", re.M | re.S)
CODE = re.compile(r"(^```.*?^```[^\n]*$|`[^`\n]+`)", re.M | re.S)


def natural(path):
    """The key that sorts table9 before table10."""
    return [int(s) if s.isdigit() else s for s in re.split(r"(\d+)", Path(path).stem)]


def title_of(text, fallback):
    heading = re.search(r"^# (.+)$", BLOCK.sub("", text), re.M)
    return heading.group(1).strip() if heading else fallback


def folder_title(name):
    return TITLES.get(name, name.replace("-", " ").replace("_", " ").capitalize())


def texts():
    """The repository's texts by the page that each becomes: the path of README.md is index.md's."""
    found = {source: page for source, page in ROOT_TEXTS.items() if Path(source).exists()}
    for path in sorted(Path("docs").rglob("*.md")):
        page = path.relative_to("docs")
        if page.name == "README.md":
            page = page.with_name("index.md")
        found[str(path)] = str(page)
    return found


TEXTS = texts()


def page_of(path):
    """The page or picture of the site that shows a file or folder of the repository, or None."""
    p = Path(path)
    if path in TEXTS:
        return TEXTS[path]
    if p.is_dir():
        return folder_page(path)
    if path.startswith("notebooks/") and p.suffix == ".ipynb":
        return str(p.with_suffix(".md"))
    if path.startswith("figures/") and p.suffix in (".md", ".txt"):
        return str(p.with_suffix(".md"))
    if p.suffix in PICTURES and path.startswith(("figures/", "docs/")):
        return path.removeprefix("docs/")
    return path if (DOCS / path).is_file() else None  # a notebook's picture


def folder_page(path):
    first = path.split("/")[0]
    if first == "figures":
        return path + "/index.md"
    if first == "notebooks":
        return "notebooks/index.md"
    for name in ("README.md", "index.md"):
        if f"{path}/{name}" in TEXTS:
            return TEXTS[f"{path}/{name}"]
    return f"library/{path}.md" if (DOCS / "library" / (path + ".md")).exists() else None


def link(target, source, page):
    """Where a link of the file source, which becomes the page, has to go. None: nowhere."""
    target, _, anchor = target.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(source), target))
    anchor = "#" + anchor if anchor else ""
    to = page_of(path)
    if to:
        return os.path.relpath(to, os.path.dirname(page) or ".") + anchor
    return SOURCE + path + anchor if SOURCE else None


def links(text, source, page):
    """Links to files of the repository lead to their pages, or to the source."""
    def replace(m):
        shown, target = m.groups()
        if target.startswith(("#", "mailto:")) or "://" in target:
            return m.group(0)
        to = link(target, source, page)
        return f"{shown}({to})" if to else shown[1:-1]

    # A link, or a picture inside a link's words.
    pattern = re.compile(r"(!?\[(?:[^\[\]]|!?\[[^\]]*\](?:\([^)]*\))?)*\])\(([^)\s]+)\)")
    inner = re.compile(r"(!\[[^\]]*\])\(([^)\s]+)\)(?=\]\()")
    return "".join(p if p.startswith("```") else pattern.sub(replace, inner.sub(replace, p)) for p in BLOCK.split(text))


def mathml(text):
    """Formulas as MathML, which a browser draws by itself; code is left alone."""
    def block(m):
        body, tag = re.subn(r"\\tag\{(\w+)\}", "", m.group(1)), re.search(r"\\tag\{(\w+)\}", m.group(1))
        number = f'<span class="tag">({tag.group(1)})</span>' if tag else ""
        return f'\n\n<div class="formula">{convert(body[0].strip(), display="block")}{number}</div>\n\n'

    def prose(part):
        part = re.sub(r"\$\$(.+?)\$\$", block, part, flags=re.S)
        return re.sub(r"(?<![\\$\w])\$([^$\n]+?)\$(?![\w$])", lambda m: convert(m.group(1)), part)

    return "".join(p if CODE.fullmatch(p) else prose(p) for p in CODE.split(text))


def write(page, text):
    path = DOCS / page
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def copy(source, page):
    path = DOCS / page
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, path)


def cards(items):
    """A grid of links with small pictures. Each item: page, title, words, picture (HTML)."""
    out = ['<div class="cards">']
    for page, title, words, picture in items:
        address = html.escape(re.sub(r"\.md$", ".html", page))
        words = f"<span>{html.escape(words)}</span>" if words else ""
        out.append(f'<a class="card" href="{address}"><span class="picture">{picture}</span><strong>{html.escape(title)}</strong>{words}</a>')
    return "\n".join([*out, "</div>", ""])


def thumbnail(picture):
    return f'<img src="{html.escape(picture)}" alt="" loading="lazy">'


# Notebooks


# The media types that a page prefers to plain text, the best first.
SHOWN = ["text/html", "text/markdown", "image/png"]


def html_output(text):
    return nbformat.v4.new_output("display_data", {"text/html": text})


def mark_outputs(cell, kept):
    """Marks the outputs of a cell whose sliders move among stored states, so that their script
    finds them. The script itself is kept aside: it is no Markdown. A placeholder stands for it."""
    marked = []
    for output in cell.outputs:
        stored = output.get("data", {}).get("text/html", "")
        if '<div id="lethe-states-' in stored:
            kept.append(f'<div data-lethe-output="controls">\n{stored}\n</div>')
            marked.append(html_output(f"LETHE-KEPT-{len(kept) - 1}-"))
        elif output.output_type == "display_data":
            kind = next(k for k in [*SHOWN, "text/plain"] if k in output.data or k == "text/plain")
            marked += [html_output(f'<div data-lethe-output="{kind}" markdown="1">'), output, html_output("</div>")]
        else:
            marked.append(output)
    cell.outputs = marked


def notebook(path):
    """Writes a notebook's page. Returns its page, title, question and first picture."""
    nb = nbformat.read(path, as_version=4)
    kept = []  # HTML that is put into the page as it is
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            cell.source = mathml(cell.source).replace("<details>", '<details markdown="1">')
        elif any('<div id="lethe-states-' in o.get("data", {}).get("text/html", "") for o in cell.get("outputs", [])):
            mark_outputs(cell, kept)
    stem = path.stem
    body, extra = MarkdownExporter().from_notebook_node(nb, {"output_files_dir": stem, "unique_key": stem})
    page = path.with_suffix(".md")
    for name, data in extra["outputs"].items():
        file = DOCS / page.parent / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    text = links(body, str(path), str(page))
    write(page, re.sub(r"LETHE-KEPT-(\d+)-", lambda m: kept[int(m.group(1))], text))
    question = re.search(r"^# .+\n+\*\*(.+?)\*\*", body)
    pictures = re.findall(r"!\[[^\]]*\]\((%s/[^)\s]+)\)" % re.escape(stem), body)
    return str(page), title_of(body, stem), question.group(1) if question else "", f"{page.parent}/{pictures[0]}" if pictures else None


def notebook_folders():
    folders = {str(p.parent.name) for p in Path("notebooks").glob("*/*.ipynb")}
    return [f for f in FIRST if f in folders] + sorted(folders - set(FIRST))


def notebooks():
    nav = ["notebooks/index.md"]
    index = ["# Notebooks", "", "As they were executed and committed. Sliders move among the states that are stored with a notebook; in `lethe lab` they take every value.", ""]
    for folder in notebook_folders():
        made = [notebook(p) for p in sorted(Path("notebooks", folder).glob("*.ipynb"))]
        nav.append({folder_title(folder): [{title: page} for page, title, _, _ in made]})
        index += [f"## {folder_title(folder)}", ""]
        shown = [(page, title, words, thumbnail(os.path.relpath(picture, "notebooks")) if picture else "") for page, title, words, picture in made]
        index.append(cards([(os.path.relpath(page, "notebooks"), *rest) for page, *rest in shown]))
    write("notebooks/index.md", "\n".join(index) + "\n")
    return nav


# Tables and figures


def short(name):
    """RULER Fig. 5. The null of M2: ... is RULER Fig. 5 in the navigation."""
    name = re.sub(r"^[A-Z]\w+[.,] (?=[A-Z])", "", name)
    numbered = re.match(r"(.*?\b(?:Tables?|Figs?\.?|Figures?|Proposition) ?\d\w*)", name)
    return numbered.group(1) if numbered else name.split(". ")[0]


def table_preview(text):
    """The first cells of a table, as a small picture of it."""
    text = re.sub(r"\*|\\(?=[\W_])", "", text)
    rows = [r.strip().strip("|").split("|")[:5] for r in re.findall(r"^\|.+\|[ \t]*$", text, re.M)[:9]]
    rows = [r for r in rows if not re.fullmatch(r"[ :\-]+", "".join(r))]
    cells = "".join("<tr>" + "".join(f"<td>{html.escape(c.strip()[:18])}</td>" for c in r) + "</tr>" for r in rows)
    return f'<table class="preview" aria-hidden="true">{cells}</table>' if rows else ""


def figure_name(stem):
    """The name of a table or a figure: its title line."""
    table, words = stem.with_suffix(".md"), stem.with_suffix(".txt")
    if table.exists():
        text = table.read_text(encoding="utf-8")
        found = re.search(r"\*\*(.+?)\*\*|^#+ (.+)$", text, re.M)
        name = next(g for g in found.groups() if g) if found else stem.name
    else:
        name = words.read_text(encoding="utf-8").split("\n", 1)[0] if words.exists() else stem.name
    return name.replace("\\", "").strip().rstrip(".")


def figure(stem):
    """Writes the page of a table or a figure. Returns its page, name and small picture."""
    page, name = f"{stem}.md", figure_name(stem)
    picture, table, words = (stem.with_suffix(s) for s in (".png", ".md", ".txt"))
    parts, preview = [f"# {name}"], ""
    if picture.exists():
        copy(picture, picture)
        parts.append(f"![{name}]({picture.name})")
        preview = picture.name
    if table.exists():
        text = table.read_text(encoding="utf-8")
        parts.append(links(re.sub(r"\*\*.+?\*\*|^#+ .+$", "", text, count=1, flags=re.M).strip(), str(table), page))
        small = thumbnail(preview) if preview else table_preview(text)
    else:
        small = thumbnail(preview)
    if words.exists():
        parts.append("The same in text:\n\n```text\n" + words.read_text(encoding="utf-8").rstrip() + "\n```")
    numbers = [f for f in sorted(stem.parent.glob(stem.name + ".*")) if f.suffix in (".json", ".csv")]
    if SOURCE and numbers:
        parts.append("Every number: " + ", ".join(f"[{f.name}]({SOURCE}{f})" for f in numbers))
    write(page, "\n\n".join(parts) + "\n")
    return page, name, small


def figures():
    nav, overview = ["figures/index.md"], ["# Tables and figures", "", PROVENANCE, ""]
    for folder in [p for p in sorted(Path("figures").rglob("*")) if p.is_dir()]:
        stems = sorted({f.with_suffix("") for f in folder.iterdir() if f.suffix in (".md", ".png")}, key=natural)
        if not stems:
            continue
        made = [figure(s) for s in stems]
        title = ", ".join(folder_title(name) for name in folder.parts[1:])
        write(f"{folder}/index.md", f"# {title}: tables and figures\n\n{PROVENANCE}\n\n" + cards([(os.path.relpath(page, folder), name, "", small) for page, name, small in made]))
        inner = re.compile(r'(<img src=")')
        where = os.path.relpath(folder, "figures")
        shown = [(os.path.relpath(page, "figures"), name, "", inner.sub(rf"\g<1>{where}/", small)) for page, name, small in made]
        overview += [f"## {title}", "", cards(shown)]
        nav.append({title: [f"{folder}/index.md"] + [{short(name): page} for page, name, _ in made]})
    write("figures/index.md", "\n".join(overview) + "\n")
    for picture in Path("figures").glob("*.png"):
        copy(picture, picture)
    return nav


PROVENANCE = "Committed results. Each says at which scale, from which data and with which engine it was made, and how to make it again."


# Library


def library():
    """Writes the pages of the Go packages. A package with packages below it is a section."""
    command = ["go", "run", "./lib/internal/apidoc", "-out", str(DOCS / "library")]
    subprocess.run(command + (["-source", SOURCE] if SOURCE else []), check=True)
    listed = DOCS / "library" / "pages.json"
    pages = json.loads(listed.read_text())
    listed.unlink()
    return ["library/index.md"] + package_tree([(p["title"], "library/" + p["file"]) for p in pages])


def package_tree(pages):
    nav = []
    while pages:
        (title, page), *pages = pages
        below = [p for p in pages if p[0].startswith(title + "/")]
        pages = [p for p in pages if p not in below]
        nav.append({title: [page] + package_tree(below)} if below else {title: page})
    return nav


# Texts


def text_pages():
    """Writes the repository's texts. Returns their titles by page."""
    titles = {}
    for source, page in TEXTS.items():
        text = Path(source).read_text(encoding="utf-8")
        titles[page] = title_of(text, folder_title(Path(page).stem))
        own = "---\nhide: [navigation]\n---\n" if page == "index.md" else ""
        write(page, own + links(text, source, page))
    for picture in Path("docs").rglob("*"):
        if picture.suffix in PICTURES:
            copy(picture, picture.relative_to("docs"))
    return titles


def in_order(folder, pages):
    """The pages of a folder as its index links them; those that it does not link follow."""
    index = f"{folder}/index.md" if folder else "index.md"
    text = (DOCS / index).read_text(encoding="utf-8") if (DOCS / index).exists() else ""
    linked = [os.path.normpath(os.path.join(folder, t)) for t in re.findall(r"\]\(([^)#\s]+\.md)", text)]
    return sorted(pages, key=lambda p: (p != index, linked.index(p) if p in linked else len(linked), natural(p)))


def section(folder, titles):
    """The navigation of a folder of docs/: its pages, then the folders below it."""
    here = in_order(folder, [p for p in titles if os.path.dirname(p) == folder])
    below = sorted({p[len(folder) + 1:].split("/")[0] for p in titles if p.startswith(folder + "/") and "/" in p[len(folder) + 1:]})
    pages = [p if p.endswith("/index.md") else {titles[p]: p} for p in here]
    return pages + [{folder_title(f): section(f"{folder}/{f}", titles)} for f in below]


def text_nav(titles):
    """The parts of the navigation that come from texts: the guide, the reference and the project."""
    own = ["index.md", "findings.md", *PROJECT]
    folders = sorted({p.split("/")[0] for p in titles if "/" in p})
    guide = section("guide", titles) if "guide" in folders else []
    alone = [p for p in titles if "/" not in p and p not in own]
    reference = [{titles[p]: p} for p in in_order("", alone)] + [{folder_title(f): section(f, titles)} for f in folders if f != "guide"]
    project = [{titles[p]: p} for p in PROJECT if p in titles]
    return guide, reference, project


def main():
    DOCS.mkdir(parents=True)
    packages = library()  # first: texts link to its pages
    titles = text_pages()
    guide, reference, project = text_nav(titles)
    nav = [{"Lethe": "index.md"}, {"Guide": guide}, {"Notebooks": notebooks()}, {"Findings": "findings.md"}, {"Tables and figures": figures()},
           {"Library": packages}, {"Reference": reference}, {"Project": project}]
    shutil.copy(HERE / "site.css", DOCS)
    config = CONFIG | {"docs_dir": str(DOCS), "nav": [n for n in nav if list(n.values())[0]]}
    (WORK / "mkdocs.yml").write_text(json.dumps(config))  # JSON is YAML


main()
