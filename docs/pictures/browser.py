"""Pictures of documents, taken by Chromium."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from pictures.png import compact

WIDTH = 1120

_FRAME = """<!doctype html><meta charset="utf-8"><style>
*{{box-sizing:border-box}}
body{{margin:0;padding:22px 24px;width:1120px;background:#fff;color:#1f2328;
font:14px/1.45 system-ui,"Helvetica Neue",Arial,sans-serif}}
h1{{font-size:21px;margin:0}} h2{{font-size:15px;margin:0 0 8px}} p{{margin:0 0 10px}}
.sub{{color:#59636e;font-size:15px;margin:2px 0 16px}}
.columns{{display:flex;gap:26px}} .panel{{flex:1;min-width:0}}
.frame{{border:1px solid #d1d9e0;border-radius:6px;overflow:hidden;flex:none}}
iframe{{border:0;transform-origin:0 0}}
.soft{{color:#59636e}} .small{{font-size:12.5px}} .num{{font-variant-numeric:tabular-nums}}
.bar{{display:inline-block;position:relative;height:10px;background:#eaeef2;border-radius:2px;
vertical-align:middle}}
.bar i{{position:absolute;left:0;top:0;bottom:0;border-radius:2px}}
.bar b{{position:absolute;top:-3px;bottom:-3px;width:2px;background:#1f2328}}
.key{{display:inline-block;border:2px solid;border-radius:3px;width:14px;height:14px;
vertical-align:-2px;margin:0 5px 0 14px}}
.card{{border:1px solid #d1d9e0;border-left-width:5px;border-radius:5px;padding:8px 12px;
margin-bottom:10px}}
table{{border-collapse:collapse;width:100%}} td,th{{padding:2px 6px 2px 0;text-align:left}}
th{{color:#59636e;font-weight:500;font-size:12.5px}} td.r,th.r{{text-align:right}}
code{{font:12.5px ui-monospace,"DejaVu Sans Mono",monospace}}
</style><h1>{title}</h1><div class="sub">{caption}</div><div class="columns">{content}</div>"""


def find_browser() -> str | None:
    """The path of Chromium, None without one."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def framed(title: str, caption: str, content: str) -> str:
    """A picture's document: a heading, a line of explanation or legend, and columns."""
    return _FRAME.format(title=title, caption=caption, content=content)


def photograph(browser: str, document: str, height: int, target: Path) -> None:
    """Write a picture of a document, `WIDTH` by `height` pixels."""
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "page.html")
        source.write_text(document, encoding="utf-8")
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [f"--user-data-dir={folder}/profile", f"--screenshot={target}"]
        command += [f"--window-size={WIDTH},{height}", source.as_uri()]
        subprocess.run(command, check=True, capture_output=True)
    target.write_bytes(compact(target.read_bytes()))
