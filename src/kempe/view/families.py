"""Histories of many designs in one figure."""

from __future__ import annotations

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from kempe.errors import ModelError
from kempe.simulation.batches import Runs
from kempe.view.style import SMALL, TEXT, WIDTH, Picture, quiet


def plot_designs(runs: Runs) -> Figure:
    """Each quantity of a table of designs over time, a line per design, coloured by the first parameter that varies."""
    if not len(runs):
        raise ModelError("there are no designs to plot")
    names = list(runs.values)
    varied = [name for name, values in runs.designs.items() if np.ptp(values) > 0] or list(runs.designs)
    values = runs.designs[varied[0]]
    norm, colours = Normalize(float(values.min()), float(values.max())), colormaps["viridis"]
    figure = Picture(figsize=(WIDTH, 0.6 + 2.2 * len(names)), layout="constrained")
    axes = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for ax, name in zip(axes, names, strict=True):
        for design, history in enumerate(runs.values[name]):
            ax.plot(runs.t, history, color=colours(norm(values[design])), linewidth=1.2)
        ax.set_ylabel(name, fontsize=TEXT)
        quiet(ax)
    axes[-1].set_xlabel("time", fontsize=TEXT)
    bar = figure.colorbar(ScalarMappable(norm, colours), ax=list(axes), aspect=40)
    bar.set_label(varied[0], fontsize=TEXT)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=SMALL)
    return figure
