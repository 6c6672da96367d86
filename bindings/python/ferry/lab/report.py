"""A comparison as a folder: one page of HTML that needs nothing else, every table as CSV, every picture as a file, and all
numbers as JSON."""
from __future__ import annotations

import base64
import csv
import html
import json
import math
import pathlib
import string
from typing import Any, Iterable, Sequence

import matplotlib.pyplot as plt

from . import pictures
from .charts import Chart, charts
from .claims import CLAIMS, Facts, advice, judge
from .measure import METRICS, Comparison

Table = tuple[str, list[str], list[list[Any]]]  # caption, heads, rows: of text, numbers and intervals


# ---- tables ----


def _metric_table(facts: Facts, metric: str) -> Table:
    names = [cell["name"] for cell in facts.models[0]["cells"]]
    return METRICS[metric][0], ["model", *names], [[model["name"], *(cell[metric] for cell in model["cells"])]
                                                   for model in facts.models]


def _tables(facts: Facts) -> dict[str, Table]:
    tables = {metric: _metric_table(facts, metric) for metric in METRICS} if facts.models else {}
    if any("line_ms" in model for model in facts.models):
        speeds = ("tokens_per_s", "line_ms", "token_ms", "token_ratio")
        sizes = ("file_bytes", "table_bytes", "row_bytes", "cache_bytes", "thread_bytes")
        tables["speed"] = ("speed and memory of the models", ["model", *speeds, *sizes], [
            [model["name"], *(model[key] for key in speeds + sizes)] for model in facts.models])
    if facts.encodings:
        cases = facts.cost_cases
        tables["cost"] = ("time / without encoding, and bytes", [
            "encoding", *(f"{kind.removesuffix('_ratio')} {length}" for kind, length in cases), "table_bytes", "row_bytes"], [
            [each["name"], *(each[kind][length] for kind, length in cases), each.get("table_bytes"), each.get("row_bytes")]
            for each in facts.encodings])
    if facts.probed:
        keys = ("r2_seen", "r2_beyond", "r2_beyond_refit", "error_seen", "error_beyond")
        tables["probes"] = ("positions in hidden states", ["model", "stack", "layer", *keys], [
            [model["name"], stack, layer, *(state[key] for key in keys)] for model in facts.probed
            for stack in ("encoder", "decoder") for layer, state in enumerate(model["probes"][stack])])
    return tables


def _save_csv(path: pathlib.Path, table: Table) -> None:
    """An interval has three columns."""
    _, heads, rows = table
    wide = [any(isinstance(row[column], list) for row in rows) for column in range(len(heads))]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([name for head, is_wide in zip(heads, wide)
                         for name in ([head, head + "_low", head + "_high"] if is_wide else [head])])
        for row in rows:
            flat = [value for cell in row for value in (cell if isinstance(cell, list) else [cell])]
            writer.writerow(["" if value is None or value != value else f"{value:.10g}" if isinstance(value, float) else value
                             for value in flat])


def _cell(value: Any, decimals: int, best: bool) -> str:
    if isinstance(value, list):
        text = "–" if math.isnan(value[0]) else f"{value[0]:.{decimals}f}"
        if best:
            text = f'<b class="best">{text}</b>'
        return text + ("" if math.isnan(value[1]) else f" <small>±{(value[2] - value[1]) / 2:.{decimals}f}</small>")
    return html.escape("–" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value))


def _html_table(facts: Facts, name: str, table: Table) -> str:
    caption, heads, rows = table
    decimals = METRICS[name][2] if name in METRICS else 2
    best: dict[str, set[str]] = {}
    if name in METRICS and METRICS[name][1] and len(facts.models) > 1:
        for head in heads[1:]:
            if first := facts.best(head, name):
                best[head] = {model["name"] for model in (first, *facts.equals(head, name, first))}
    body = "".join("<tr>" + "".join(
        f"<{tag}>{_cell(value, decimals, row[0] in best.get(head, ()))}</{tag}>"
        for tag, head, value in zip(("th", *len(row) * ("td",)), heads, row)) + "</tr>\n" for row in rows)
    return (f'<div class="scroll"><table id="table-{name}"><caption>{html.escape(caption)}</caption><thead><tr>'
            f'{_each("th", heads)}</tr></thead><tbody>\n{body}</tbody></table></div>\n')


def _each(tag: str, texts: Iterable[Any]) -> str:
    return "".join(f"<{tag}>{html.escape(str(text))}</{tag}>" for text in texts)


# ---- the page ----


def _picture(folder: pathlib.Path, facts: Facts, chart: Chart) -> str:
    """Saves it in all its forms; its figure in HTML."""
    name, title, caption, draw = chart
    sources = {}
    for theme, end in (("light", ""), ("dark", "-dark")):
        with pictures.theme(theme):
            figure = draw(facts)
            for form in ("svg", "png"):
                pictures.save(figure, folder / f"{name}{end}.{form}")
            plt.close(figure)
        data = base64.b64encode((folder / f"{name}{end}.svg").read_bytes()).decode()
        sources[theme] = f"data:image/svg+xml;base64,{data}"
    return (f'<figure id="{name}"><picture><source media="(prefers-color-scheme: dark)" srcset="{sources["dark"]}">'
            f'<img src="{sources["light"]}" alt="{html.escape(title)}"></picture><figcaption>'
            f"<b>{html.escape(title)}.</b> {html.escape(caption)}</figcaption></figure>\n")


def _fold(title: str, content: str) -> str:
    return f"<details><summary>{html.escape(title)}</summary>{content}</details>\n"


def _subject(facts: Facts) -> str:
    if not facts.models:
        return "Attention treats its input as a set; a positional encoding adds the order. What does it cost?"
    comparison, text = facts.comparison, facts.comparison["text"]
    trained = text["trained_pieces"]
    buckets = ", ".join(f"{cell['name']} ({cell['lines']})" for cell in facts.models[0]["cells"][1:])
    lengths = (f"In training, no text was longer than {trained} pieces; what is longer shows what each encoding makes of "
               "positions that it has never seen." if trained else "Not all of the models record the longest text of their "
               "training, so nothing here is about lengths beyond it.")
    seeds = ("Intervals (95 %) and p know of other lines and of other seeds, whose variance is pooled over all encodings."
             if facts.has_seeds else "Intervals (95 %) and p know of other lines, but not of other seeds, as there is one of each: "
             "they are about these models, not about encodings.")
    budgets = {model["trained_tokens"] for model in facts.models}
    return html.escape(
        f"Attention treats its input as a set; a positional encoding adds the order. Which one should a translation model have, "
        f"and what does it cost? Models: {len(facts.models)}, which translated {text['lines']} lines of {text['source']}, compared "
        f"with {text['reference']} (beam {comparison['beam']}, kernels {comparison['isa']}). {lengths} Lines are put into buckets "
        f"by their source pieces: {buckets}. {seeds}" +
        ("" if len(budgets) == 1 else " The models were not trained on equally many tokens: see below."))


def _models(facts: Facts) -> str:
    kinds = {"no_positions": "none"}
    rows = []
    for model in facts.models:
        schemes = [f"{each['title']} {each['paper']} {each['parameters']}".strip() for each in model["schemes"]]
        rows.append([model["name"], " / ".join(dict.fromkeys(schemes)),
                     ", ".join(dict.fromkeys(kinds.get(each["kind"], each["kind"]) for each in model["schemes"])),
                     len(model["seeds"]), f"{model['trained_tokens']:.0f}" if model["trained_tokens"] else "not recorded",
                     model["training"] or "not recorded"])
    table = _html_table(facts, "models", ("", ["model", "encoding", "kind", "seeds", "target tokens", "training, as the file records it"], rows))
    return table.replace("<td>", '<td class="text">') + "".join(
        _fold(model["name"], f"<pre>{html.escape(model['description'])}</pre>") for model in facts.models)


def _claims(facts: Facts) -> tuple[str, str]:
    """A row for each, and its cases."""
    rows, details = [], []
    for claim in CLAIMS:
        found = judge(claim, facts)
        counts = [sum(case == kind for _, case in found.cases) for kind in ("yes", "no", "open")]
        rows.append(f"<tr><th>{html.escape(claim.text)} <small>{html.escape(claim.source)}</small></th>"
                    f"{_each('td', [found.verdict, *counts])}</tr>\n")
        listed = _each("li", (f"{words}: {'for' if case == 'yes' else 'against' if case == 'no' else 'open'}"
                              for words, case in found.cases))
        needs = f" What would tell: {found.would}." if found.would else "" if found.cases else f" Needs {claim.needs}."
        details.append(_fold(claim.text, f"<p>Rule: {html.escape(claim.rule + '.' + needs)}</p><ul>{listed}</ul>"))
    return "".join(rows), "".join(details)


def _known(value: Any) -> Any:
    """Without NaN, which JSON lacks."""
    if isinstance(value, dict):
        return {key: _known(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_known(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def write(comparison: Comparison, folder: pathlib.Path, more: Sequence[Chart] = ()) -> pathlib.Path:
    """Writes all of it into the folder; `more` pictures stand behind those of the comparison. Returns the page's path."""
    facts = Facts(comparison)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "comparison.json").write_text(json.dumps(_known(comparison.numbers)) + "\n", encoding="utf-8")
    tables = _tables(facts)
    for name, table in tables.items():
        _save_csv(folder / f"{name}.csv", table)
    drawn = [(chart[1], _picture(folder, facts, chart)) for chart in (*charts(facts), *more)]
    rows, cases = _claims(facts)
    template = string.Template(pathlib.Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
    page = folder / "index.html"
    page.write_text(template.substitute(
        subject=_subject(facts), first_chart=drawn[0][1], verdicts=rows, claims=cases, models=_models(facts),
        advice="".join(f"<li><b>{html.escape(lead)}.</b> {html.escape(text)}</li>\n" for lead, text in advice(facts)),
        charts="".join(_fold(title, figure) for title, figure in drawn[1:]),
        tables="".join(_html_table(facts, name, table) for name, table in tables.items())), encoding="utf-8")
    return page
