"""Checks a built site: check.py FOLDER. Pages are there, load nothing from elsewhere, and can be searched."""
import re
import sys
from pathlib import Path

site = Path(sys.argv[1])
wanted = ["index.html", "manual.html", "findings.html", "scale.html", "figures/audit/lenses.html", "library/lib/audit.html",
          "notebooks/start/00-forgetting-in-five-minutes.html", "search/search_index.json"]
wanted += [str(p.with_suffix(".html")) for p in [*Path("notebooks").glob("*/*.ipynb"), *Path("figures").rglob("*.md")]]
problems = [f"{w} is missing" for w in wanted if not (site / w).exists()]
loads = re.compile(r"""(?:<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc|<link\b(?![^>]*rel="(?:canonical|edit)")[^>]*\bhref)=["'](?:https?:)?//[^"']+""")
for page in site.rglob("*.html"):
    text = page.read_text(encoding="utf-8")
    problems += [f"{page.relative_to(site)} loads {m.group(0)}" for m in loads.finditer(text)]
    if "$$" in re.sub(r"<(pre|code)\b.*?</\1>", "", text, flags=re.S):
        problems.append(f"{page.relative_to(site)} shows a formula's source")
index = (site / "search/search_index.json")
if index.exists() and "backdoor" not in index.read_text(encoding="utf-8"):
    problems.append("the search does not know a backdoor")
for p in problems:
    print(p, file=sys.stderr)
print(f"{len(list(site.rglob('*.html')))} pages, {sum(f.stat().st_size for f in site.rglob('*') if f.is_file()) >> 20} MB")
sys.exit(bool(problems))
