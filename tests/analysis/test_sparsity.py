"""The pattern of the linear system holds every entry there is, and its fill is what elimination needs and no more."""

import numpy as np
import pytest

import kempe as kp
from kempe import view
from kempe.analysis.tangents import State, explicit, tangents
from kempe.simulation.posing import Posed


def slider_crank():
    m = kp.Mechanism("slider-crank", gravity=(0, -9.81))
    crank = m.body("crank", mass=1.5, inertia=0.05, at=(0.1, 0))
    rod = m.body("rod", mass=0.9, inertia=0.03, at=(0.35, 0))
    slider = m.body("slider", mass=2.0, inertia=0.1, at=(0.5, 0))
    m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, rod, at=(0.2, 0))
    m.revolute("B", rod, slider, at=(0.5, 0))
    m.translational("guide", m.ground, slider)
    m.spring("spring", m.ground, slider, on_i=(1.0, 0), stiffness=100.0, damping=2.0)
    return m


def chain(count):
    m = kp.Mechanism("chain", gravity=(0, -9.81))
    previous = m.ground
    for k in range(count):
        rod = m.body(f"rod {k}", mass=1.0, inertia=0.1, at=(k + 0.5, 0))
        m.revolute(f"J{k}", previous, rod, at=(k, 0))
        previous = rod
    return m


def dense(s):
    matrix, factors = np.zeros((s.n + s.m,) * 2, dtype=bool), np.zeros((s.n + s.m,) * 2, dtype=bool)
    matrix[s.rows, s.columns] = factors[s.rows, s.columns] = factors[s.fill_rows, s.fill_columns] = True
    return matrix, factors


@pytest.mark.parametrize("build", [slider_crank, lambda: chain(6)])
def test_every_entry_of_the_matrix_is_in_the_pattern(build):
    m = build()
    s, posed = m.sparsity(), Posed(m)
    matrix, _ = dense(s)
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, s.n))
    at = State(q, v, 0.0)
    J = explicit(posed, at).J.toarray()
    C, K = (x.toarray() for x in tangents(posed, at, a, rng.normal(size=s.m)))
    M = explicit(posed, at).M.toarray()
    whole = np.block([[np.abs(M) + np.abs(C) + np.abs(K), np.abs(J.T)], [np.abs(J), np.eye(s.m)]])
    assert not (whole[~matrix] != 0).any()
    assert (matrix == matrix.T).all()
    assert (np.block([[np.zeros((s.n, s.n)), J.T], [J, np.zeros((s.m, s.m))]])[matrix] != 0).sum() == 2 * (J != 0).sum()


@pytest.mark.parametrize("build", [slider_crank, lambda: chain(6)])
def test_the_fill_is_that_of_elimination_on_paper(build):
    s = build().sparsity()
    matrix, factors = dense(s)
    work = matrix[np.ix_(s.order, s.order)].copy()
    for k in range(len(work)):
        work[k + 1 :, k + 1 :] |= np.outer(work[k + 1 :, k], work[k, k + 1 :])
    assert (work == factors[np.ix_(s.order, s.order)]).all()
    assert s.nonzeros == matrix.sum() and s.fill == work.sum()
    assert s.density == pytest.approx(matrix.mean())


def test_a_chain_costs_the_same_for_every_link():
    sizes = [chain(k).sparsity() for k in (10, 20, 30)]
    assert sizes[2].fill - sizes[1].fill == sizes[1].fill - sizes[0].fill
    assert sizes[2].nonzeros - sizes[1].nonzeros == sizes[1].nonzeros - sizes[0].nonzeros


def test_it_can_be_read_and_seen(tmp_path):
    s = slider_crank().sparsity()
    lines = str(s).splitlines()
    names = [line.split()[0] for line in lines[3:]]
    assert names == s.names
    assert sum(line.count("x") for line in (row.split(maxsplit=2)[2] for row in lines[3:])) == s.nonzeros
    assert str(s).count("+") == s.fill - s.nonzeros
    assert [line.split()[0] for line in s.text(elimination=True).splitlines()[3:]] == [s.names[k] for k in s.order]
    for k, figure in enumerate((s.plot(), s.plot(elimination=True), chain(40).sparsity().plot())):
        assert view.save(figure, tmp_path / f"{k}.png").stat().st_size > 5000
    assert "x" not in str(chain(60).sparsity())  # too many rows for a picture in letters
