"""Gathers the pages of the documentation site: gather.py FOLDER.

FOLDER/docs gets Markdown, and FOLDER/mkdocs.yml says in which order.
"""
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

WORK = Path(sys.argv[1])
DOCS = WORK / "docs"
SOURCE = "https://github.com/lethe-ml/lethe/blob/main/"
PAGES = {"README.md": "index.md", "MANUAL.md": "manual.md", "docs/findings.md": "findings.md",
         "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "docs/scale.md": "scale.md",
         "docs/state_dicts.md": "state_dicts.md"}
GROUPS = {"start": "Start", "ruler": "RULER", "sde": "SDE", "fishing": "Fishing for Privacy", "blindu": "BlindU", "audit": "Audit"}
FENCE = re.compile(r"(^```.*?^```[^\n]*$|`[^`\n]+`)", re.M | re.S)


def mathml(text):
    """Formulas as MathML, which a browser draws by itself; code is left alone."""
    def block(m):
        body, tag = re.subn(r"\\tag\{(\w+)\}", "", m.group(1)), re.search(r"\\tag\{(\w+)\}", m.group(1))
        number = f'<span class="tag">({tag.group(1)})</span>' if tag else ""
        return f'\n\n<div class="formula">{convert(body[0].strip(), display="block")}{number}</div>\n\n'

    def prose(part):
        part = re.sub(r"\$\$(.+?)\$\$", block, part, flags=re.S)
        return re.sub(r"(?<![\\$\w])\$([^$\n]+?)\$(?![\w$])", lambda m: convert(m.group(1)), part)

    return "".join(p if FENCE.fullmatch(p) else prose(p) for p in FENCE.split(text))


def links(text, here):
    """Links of a page to files of the repository lead to pages, or to the source."""
    def to(m):
        target, _, anchor = m.group(2).partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return m.group(0)
        path = os.path.normpath(os.path.join(os.path.dirname(here), target))
        page = PAGES.get(path) or (path[:-6] + ".md" if path.endswith(".ipynb") else path)
        if (Path(path) / "index").parent.is_dir() and path.startswith(("figures/", "notebooks")):
            page = path + "/index.md"
        elif not path.startswith(("figures/", "notebooks/")) and path not in PAGES:
            return f"{m.group(1)}({SOURCE}{path})"
        start = os.path.dirname(PAGES.get(here, here))
        return f"{m.group(1)}({os.path.relpath(page, start or '.')}{'#' + anchor if anchor else ''})"

    parts = FENCE.split(text)
    return "".join(p if p.startswith("```") else re.sub(r"(!?\[[^\]]*\])\(([^)\s]+)\)", to, p) for p in parts)


def write(page, text):
    path = DOCS / page
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def notebook(path):
    nb = nbformat.read(path, as_version=4)
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            cell.source = mathml(cell.source).replace("<details>", '<details markdown="1">')
    stem = path.stem
    body, extra = MarkdownExporter().from_notebook_node(nb, {"output_files_dir": stem, "unique_key": stem})
    page = path.with_suffix(".md")
    for name, data in extra["outputs"].items():
        file = DOCS / page.parent / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    write(page, links(body, str(path)))
    return {re.search(r"^# (.+)$", body, re.M).group(1): str(page)}


def notebooks():
    nav, index = [], ["# Notebooks", "", "As they were executed and committed. `lethe lab` opens them with their sliders."]
    for group, title in GROUPS.items():
        pages = [notebook(p) for p in sorted(Path("notebooks", group).glob("*.ipynb"))]
        nav.append({title: pages})
        index += ["", f"## {title}", ""]
        index += [f"- [{name}]({os.path.relpath(page, 'notebooks')})" for p in pages for name, page in p.items()]
    write("notebooks/index.md", "\n".join(index) + "\n")
    return [{"All notebooks": "notebooks/index.md"}] + nav


def figures():
    nav = []
    for folder in sorted(p for p in Path("figures").rglob("*") if p.is_dir()):
        title = ", ".join(GROUPS.get(name, name) for name in folder.parts[1:])
        index = [f"# Tables and figures: {title}", "", "Committed results. Each says at which scale, from which data and with which engine it was made, and how to make it again.", ""]
        pages = [{"Overview": str(folder / "index.md")}]
        for table in sorted(folder.glob("*.md"), key=natural):
            text = table.read_text(encoding="utf-8")
            name = re.search(r"\*\*(.+?)\*\*|^#+ (.+)$", text, re.M)
            name = next(g for g in name.groups() if g) if name else table.stem
            name = name.replace("\\", "").rstrip(".")
            write(str(table), f"# {name}\n\n" + links(text.replace(f"**{name}**", "", 1), str(table)))
            index.append(f"- [{name}]({table.name})")
            pages.append({name.split(". ")[0]: str(table)})
        for picture in sorted(folder.glob("*.png"), key=natural):
            shutil.copy(picture, DOCS / folder)
            words = picture.with_suffix(".txt")
            alt = words.read_text(encoding="utf-8").split("\n", 1)[0] if words.exists() else picture.stem
            index += ["", f"## {alt}", "", f"![{alt}]({picture.name})"]
        write(str(folder / "index.md"), "\n".join(index) + "\n")
        nav.append({title: pages})
    return nav


def natural(path):
    return [int(s) if s.isdigit() else s for s in re.split(r"(\d+)", path.stem)]


def packages():
    listed = subprocess.run(["go", "list", "-json=ImportPath,Doc,Dir,Name", "./lib/...", "./datasets/..."], check=True, capture_output=True, text=True).stdout
    decoder, at, nav = json.JSONDecoder(), 0, []
    while at < len(listed.rstrip()):
        p, at = decoder.raw_decode(listed, at)
        at += len(listed[at:]) - len(listed[at:].lstrip())
        name = p["ImportPath"].split("/lethe/", 1)[1]
        if "/internal" in name or p["Name"] == "main":
            continue
        text = subprocess.run(["go", "doc", "-all", "./" + name], check=True, capture_output=True, text=True).stdout
        write(f"library/{name}.md", f"# {name}\n\n{p.get('Doc', '')}\n\n```go\n{text}```\n")
        nav.append({name: f"library/{name}.md"})
    return nav


def main():
    DOCS.mkdir(parents=True)
    for source, page in PAGES.items():
        text = Path(source).read_text(encoding="utf-8")
        write(page, links(text, source))
    nav = [{"Lethe": "index.md"}, {"Manual": "manual.md"}, {"Notebooks": notebooks()}, {"Findings": "findings.md"},
           {"Tables and figures": figures()}, {"Library": packages()}, {"Past one machine": "scale.md"}, {"State dicts of PyTorch": "state_dicts.md"},
           {"Contributing": "contributing.md"}, {"Changes": "changelog.md"}]
    shutil.copy("figures/lab.png", DOCS / "figures")
    shutil.copy(Path(__file__).parent / "site.css", DOCS)
    config = json.loads((Path(__file__).parent / "mkdocs.json").read_text())
    config |= {"docs_dir": str(DOCS), "nav": nav}
    (WORK / "mkdocs.yml").write_text(json.dumps(config))  # JSON is YAML


main()
