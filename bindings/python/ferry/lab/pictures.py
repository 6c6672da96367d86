"""Pictures of positional encodings, and of attention weights. What is drawn is measured, whatever an encoding is called: the
vectors of the standard basis as query and key solve, for every head and distance d, score = q·R_d k + q·a_d + k·b_d + c_d."""
from __future__ import annotations

import argparse
import contextlib
import io
import pathlib
import re
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Sequence

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import inspect
from .._native import FerryError, Status
from .._translator import Model, Translator
from .probes import STACKS, Stack

matplotlib.use("Agg")
POSITIONS, NEAR = 128, 32  # that are asked, and the distances of which vectors are drawn
WIDTH = 8.0  # inches
NOISE = 1e-5
TERMS = {"bias": "a number for each distance is added to the score", "query": "the score gets query · a vector for each distance",
         "key": "the score gets key · a vector for each distance", "rotation": "queries and keys are rotated by their positions"}
DISTANCE = "distance j − i of key j from query i"
_PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442")  # Okabe and Ito


@contextlib.contextmanager
def theme(name: str) -> Iterator[None]:
    """Figures that are made within are for a light or a dark page."""
    if name not in ("light", "dark"):
        raise FerryError(f"theme: expected light or dark, found {name}")
    ground, ink = ("white", "#1a1a1a") if name == "light" else ("#16181b", "#e6e6e6")
    settings: Any = {key: ink for key in ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")}
    with plt.rc_context({**settings, "figure.facecolor": ground, "axes.facecolor": ground, "savefig.facecolor": ground,
                         "font.size": 8, "axes.titlesize": "medium", "svg.fonttype": "none", "svg.hashsalt": "ferry",
                         "axes.prop_cycle": cycler(color=_PALETTE), "axes.spines.top": False,
                         "axes.spines.right": False}):
        yield


def save(figure: Figure, path: pathlib.Path) -> None:
    """As SVG or PNG, by the end of the name; the same bytes each time."""
    if path.suffix not in (".svg", ".png"):
        raise FerryError(f"{path}: expected a name that ends in .svg or .png")
    if path.suffix == ".png":
        figure.savefig(path, dpi=150)
        return
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    # Matplotlib names clip paths after coordinates of the layout, whose last bits vary; here they are counted.
    names: dict[str, str] = {}
    text = re.sub(r'(?<=["#])p[0-9a-f]{10}(?=[")])', lambda found: names.setdefault(found[0], f"clip{len(names)}"),
                  buffer.getvalue())
    path.write_text(text, encoding="utf-8", newline="\n")


def save_both(draw: Callable[[], Figure], path: pathlib.Path) -> None:
    """NAME.svg for a light page, NAME-dark.svg for a dark one."""
    for name, end in (("light", ""), ("dark", "-dark")):
        with theme(name):
            figure = draw()
            save(figure, path.with_name(f"{path.stem}{end}{path.suffix}"))
            plt.close(figure)


# ---- what an encoding does ----


@dataclass(frozen=True)
class Effects:
    """Of one stack: rows [positions, d_model] that are added to embeddings, or None; and the terms of scores [heads, rows,
    distances] that depend on the distance, one head where all are alike; the query is at distance `first` from key 0."""

    scheme: inspect.Scheme
    rows: inspect.Floats | None
    terms: dict[str, Any]
    first: int


def _rows(model: Model, stack: Stack, count: int) -> inspect.Floats | None:
    try:
        return inspect.position_rows(model, stack, count)
    except FerryError as error:
        if error.status is not Status.UNSUPPORTED:
            raise
        return None


def _terms(model: Model, stack: Stack, layer: int, head: int, count: int) -> dict[str, Any]:
    """Each [rows, distances]; rotations compared with distance 0."""
    sizes = inspect.sizes(model)
    width = sizes.encoder_head_width if stack == "encoder" else sizes.decoder_head_width

    def ask(q: Any, k: Any) -> Any:
        return inspect.position_scores(model, stack, layer, head, count, q, k).astype(np.float64)

    bias = ask(None, None)
    units = np.eye(width, dtype=np.float32)
    of_query, of_key = (np.array([ask(*pair) for pair in pairs]) for pairs in
                        ([(unit, None) for unit in units], [(None, unit) for unit in units]))
    both = np.array([ask(unit, unit) for unit in units]) - of_query - of_key + bias
    return {"bias": bias[None], "query": of_query - bias, "key": of_key - bias, "rotation": both / both[:, count - 1, None]}


def effects(model: Model, stack: Stack, layer: int = -1) -> Effects:
    sizes, scheme = inspect.sizes(model), inspect.scheme(model, stack)
    layers, heads = ((sizes.encoder_layers, sizes.encoder_heads) if stack == "encoder" else
                     (sizes.decoder_layers, sizes.decoder_heads))
    if not -layers <= layer < layers:
        raise FerryError(f"layer: expected one of 0 … {layers - 1}, found {layer}")
    count = min(POSITIONS, scheme.limit or POSITIONS)
    each = [_terms(model, stack, layer % layers, head, count) for head in range(heads)]
    terms = {name: np.stack([of[name] for of in each]) for name in TERMS}
    noise = {name: NOISE for name in TERMS} | {"rotation": 10 * NOISE + NOISE * float(np.abs(terms["bias"]).max())}
    kept = {name: values[:1] if np.ptp(values, axis=0).max() <= noise[name] else values for name, values in terms.items()
            if np.abs(values - values[..., count - 1, None]).max() > noise[name]}
    return Effects(scheme, _rows(model, stack, count), kept, 1 - count)


def cosines(rows: inspect.Floats) -> Any:
    """Of any two rows; 0 of one that is zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = rows / np.where(norms > 0, norms, 1)
    return unit @ unit.T


# ---- drawing ----

Part = tuple[str, float, Callable[[Any], None]]  # heading, height in inches, what draws it into a subfigure


def _heat(axis: Axes, values: Any, extent: tuple[float, float, float, float], limits: tuple[float, float] | None = None,
          label: str = "") -> None:
    """Around 0, unless there are limits."""
    most = float(np.abs(values).max()) or 1.0
    low, high = limits or (-most, most)
    image = axis.imshow(values, aspect="auto", extent=extent, vmin=low, vmax=high, interpolation="none",
                        cmap=plt.get_cmap("RdBu_r", 65) if low < 0 else "cividis")
    if label:
        axis.figure.colorbar(image, ax=axis, label=label)


def _trained(axis: Axes, trained: int, both: bool) -> None:
    """Where distances end that training has seen; the decoder's are those before the query."""
    for at in ((-trained, trained) if both else (-trained,)) if trained else ():
        axis.axvline(at, color="0.5", linestyle="--", linewidth=0.8)


def _rows_part(e: Effects) -> Part:
    def draw(figure: Any) -> None:
        rows = e.rows
        assert rows is not None
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        count = len(rows)
        _heat(left, rows, (0, rows.shape[1], count, 0), label="added")
        left.set(title="The rows", xlabel="dimension of the embedding", ylabel="position i")
        _heat(right, cosines(rows), (0, count, count, 0), (-1, 1), "cosine")
        right.set(title="How alike two rows are", xlabel="position j", ylabel="position i")
    return "a row for each position is added to the embedding", 3.0, draw


def _grid(figure: Any, heads: int) -> Any:
    columns = min(heads, 4)
    axes = figure.subplots(-(-heads // columns), columns, sharex=True, sharey=True, squeeze=False)
    for axis in list(axes.flat)[heads:]:
        axis.set_visible(False)
    for head, axis in enumerate(list(axes.flat)[:heads]):
        axis.set_title("every head" if heads == 1 else f"head {head}")
    figure.supxlabel(DISTANCE, fontsize="medium")
    return axes


def _bias_part(e: Effects, trained: int) -> Part:
    values = e.terms["bias"][:, 0]
    steps = float(np.mean(np.diff(values) == 0)) > 0.5

    def draw(figure: Any) -> None:
        for axis, line in zip(_grid(figure, len(values)).flat, values):
            axis.plot(np.arange(len(line)) + e.first, line, drawstyle="steps-mid" if steps else "default")
            _trained(axis, trained, len(line) > 1 - e.first)
        figure.supylabel("added", fontsize="medium")
    return TERMS["bias"], 1.5 + 1.3 * ((len(values) - 1) // 4), draw


def _vector_part(e: Effects, term: str) -> Part:
    values = e.terms[term]
    here = -e.first
    near = slice(max(0, here - NEAR), here + NEAR + 1)

    def draw(figure: Any) -> None:
        shown, width = values[..., near], values.shape[1]
        most = float(np.abs(shown).max())
        begin = (near.start or 0) + e.first
        for axis, of in zip(_grid(figure, len(values)).flat, shown):
            _heat(axis, of, (begin - 0.5, begin + of.shape[1] - 0.5, width, 0), (-most, most))
        figure.supylabel("dimension", fontsize="medium")
    return f"{TERMS[term]} (color: up to ±{np.abs(values[..., near]).max():.2g})", 2.0 + 1.6 * ((len(values) - 1) // 4), draw


def _rotation_part(e: Effects, trained: int) -> Part:
    values = e.terms["rotation"][0]

    def draw(figure: Any) -> None:
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        extent = (e.first - 0.5, e.first + values.shape[1] - 0.5, values.shape[0], 0)
        _heat(top, np.degrees(np.arccos(np.clip(values, -1, 1))), extent, (0, 180), "degrees")
        top.set(title="The angle between like dimensions of query and key", ylabel="dimension")
        bottom.plot(np.arange(values.shape[1]) + e.first, values.mean(0))
        bottom.set(title="The mean of their cosines: the score of equal query and key", xlabel=DISTANCE, ylabel="cosine")
        _trained(bottom, trained, values.shape[1] > 1 - e.first)
    return TERMS["rotation"], 4.2, draw


def _parts(e: Effects, trained: int) -> list[Part]:
    parts = [_rows_part(e)] if e.rows is not None else []
    for term in e.terms:
        parts.append(_bias_part(e, trained) if term == "bias" else _rotation_part(e, trained) if term == "rotation" else
                     _vector_part(e, term))
    return parts


def _is_part(encoder: Effects, decoder: Effects) -> bool:
    """Whether the decoder's is the left half of the encoder's."""
    here = 1 - encoder.first
    rows = encoder.rows is decoder.rows if encoder.rows is None or decoder.rows is None else np.array_equal(
        encoder.rows, decoder.rows)
    return rows and encoder.terms.keys() == decoder.terms.keys() and all(
        np.array_equal(values[..., :here], decoder.terms[name]) for name, values in encoder.terms.items())


def _described(scheme: inspect.Scheme) -> str:
    known = "; ".join(filter(None, (scheme.paper, scheme.parameters)))
    return f"{scheme.title} ({known})" if known else scheme.title


def positions(model: Model, layer: int = -1) -> Figure:
    """What the encodings of both stacks do; once, if the decoder sees the left half of what the encoder does."""
    encoder, decoder = (effects(model, stack, layer) for stack in STACKS)
    trained, alike = inspect.training(model).longest, _is_part(encoder, decoder)
    parts = [(("Encoder and decoder, which sees the left half" if alike and encoder.terms else "Encoder and decoder" if alike
               else stack) + ": " + heading, height, draw)
             for stack, of in (("Encoder", encoder), ("Decoder", decoder))[: 1 if alike else 2]
             for heading, height, draw in _parts(of, trained)]
    parts = parts or [("nothing is added to embeddings or scores", 0.2, lambda figure: None)]
    heights = [height + 0.45 for _, height, _ in parts]
    figure = plt.figure(figsize=(WIDTH, sum(heights) + 0.6), layout="constrained")
    names = dict.fromkeys(_described(of.scheme) for of in (encoder, decoder))
    figure.suptitle(f"{inspect.name(model)}: " + " / ".join(names))
    for (heading, _, draw), part in zip(parts, figure.subfigures(len(parts), 1, height_ratios=heights, squeeze=False)[:, 0]):
        part.suptitle(heading, fontsize="medium", x=0.02, ha="left", weight="bold")
        draw(part)
    return figure


def _brief(axis: Axes, model: Model) -> None:
    """The one effect of an encoder that says most."""
    e = effects(model, "encoder")
    far = 1 - e.first
    axis.set_title(inspect.name(model).split(",")[0])
    if e.rows is not None:
        _heat(axis, e.rows, (0, e.rows.shape[1], len(e.rows), 0))
        axis.set(xlabel="dimension", ylabel="position")
    elif "rotation" in e.terms:
        degrees = np.degrees(np.arccos(np.clip(e.terms["rotation"][0], -1, 1)))
        _heat(axis, degrees, (0.5 - far, far - 0.5, len(degrees), 0), (0, 180))
        axis.set(xlabel="distance", ylabel="dimension")
    elif "query" in e.terms or "key" in e.terms:
        vectors = e.terms["query" if "query" in e.terms else "key"][0][:, max(0, far - 1 - NEAR) : far + NEAR]
        near = vectors.shape[1] / 2
        _heat(axis, vectors, (-near, near, len(vectors), 0))
        axis.set(xlabel="distance", ylabel="dimension")
    elif "bias" in e.terms:
        axis.plot(np.arange(1 - far, far), e.terms["bias"][:, 0].T, linewidth=0.8)
        axis.set(xlabel="distance", ylabel="added")
    else:
        axis.text(0.5, 0.5, "nothing is added", ha="center", transform=axis.transAxes)
        axis.set_axis_off()


def overview(models: Sequence[Model]) -> Figure:
    """What the encoders of several models add, rotate or multiply."""
    columns = min(4, len(models))
    rows = -(-len(models) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(2.3 * columns, 1.9 * rows), squeeze=False, layout="constrained")
    for axis in list(axes.flat)[len(models):]:
        axis.set_visible(False)
    for axis, model in zip(axes.flat, models):
        _brief(axis, model)
    return figure


# ---- attention ----


def weights(model: Model, text: str, kind: Any = "cross") -> tuple[inspect.Floats, list[str], list[str]]:
    """Attention weights [layers, heads, queries, keys] while the text is translated, and the pieces of queries and keys. A
    row of cross-attention is named after the piece that it produces."""
    ((done, produced),) = inspect.translated(Translator(model, beam=1), [text])
    if done.error is not None:
        raise FerryError(done.error, done.status)
    ids, inputs = inspect.tokenize(model, text), [inspect.sizes(model).start_id, *produced[:-1]]
    of_source = [inspect.piece(model, "encoder", int(id)) for id in ids]
    of_inputs, of_output = ([inspect.piece(model, "decoder", int(id)) for id in each] for each in (inputs, produced))
    found = inspect.attention(model, kind, ids, inputs)
    queries, keys = {"encoder_self": (of_source, of_source), "decoder_self": (of_inputs, of_inputs),
                     "cross": (of_output, of_source)}[kind]
    return found, queries, keys


def attention(model: Model, text: str, kind: Any = "cross", layer: int = -1) -> Figure:
    """The weights of all heads of a layer, and their mean."""
    found, queries, keys = weights(model, text, kind)
    if not -len(found) <= layer < len(found):
        raise FerryError(f"layer: expected one of 0 … {len(found) - 1}, found {layer}")
    panels = [*found[layer], found[layer].mean(0)]
    columns = 3
    rows = -(-len(panels) // columns)
    size = 0.17 * max(len(queries), len(keys)) + 0.6
    figure, axes = plt.subplots(rows, columns, figsize=(size * columns + 0.6, size * rows + 0.4), sharex=True, sharey=True,
                                squeeze=False, layout="constrained")
    for axis in list(axes.flat)[len(panels):]:
        axis.set_visible(False)
    for index, (axis, panel) in enumerate(zip(axes.flat, panels)):
        axis.imshow(panel, vmin=0, vmax=1, cmap="cividis")
        axis.set_title(f"head {index}" if index < len(panels) - 1 else "mean of all heads")
        axis.set_xticks(range(len(keys)), keys, rotation=90)
        axis.set_yticks(range(len(queries)), queries)
    figure.suptitle(f"{kind.replace('_', ' ')}, layer {layer % len(found)} of 0 … {len(found) - 1}")
    return figure


# ---- the command ----


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("subjects", nargs="*", metavar="MODEL|ENCODING",
                        help="model files, or names of encodings, which get random weights; several: an overview, too")
    parser.add_argument("--attention", metavar="TEXT", help="attention weights while MODEL translates TEXT")
    parser.add_argument("--kind", choices=("cross", "encoder_self", "decoder_self"), default="cross")
    parser.add_argument("--layer", type=int, default=-1, help="counted from 0; default: the last")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."), help="folder for the pictures")


def _opened(subject: str) -> tuple[str, Model]:
    if subject in inspect.encodings():
        return subject, inspect.untrained(subject, d_model=128, heads=4, ffn_width=512, encoder_layers=2, decoder_layers=2)
    if not pathlib.Path(subject).exists():
        raise FerryError(f"{subject}: neither an encoding ({', '.join(inspect.encodings())}) nor a file")
    return pathlib.Path(subject).stem, Model(subject)


def draw(arguments: argparse.Namespace) -> None:
    if not arguments.subjects:
        raise FerryError("expected MODEL or ENCODING")
    if arguments.attention is not None and len(arguments.subjects) > 1:
        raise FerryError("--attention: expected one MODEL")
    models = dict(map(_opened, arguments.subjects))
    if len(models) < len(arguments.subjects):
        raise FerryError("two subjects have the same name, and so would their pictures")
    arguments.output.mkdir(parents=True, exist_ok=True)
    if arguments.attention is not None:
        for model in models.values():
            save_both(lambda: attention(model, arguments.attention, arguments.kind, arguments.layer),
                      arguments.output / "attention.svg")
        return
    for name, model in models.items():
        save_both(lambda: positions(model, arguments.layer), arguments.output / f"{name}.svg")
    if len(models) > 1:
        save_both(lambda: overview(list(models.values())), arguments.output / "overview.svg")
