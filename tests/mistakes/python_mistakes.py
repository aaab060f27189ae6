"""Mistakes in Python: what was written, and words that the message must have."""

# ruff: noqa: E501  (messages are long lines)

MISTAKES: list[tuple[str, list[str]]] = [
    ('m.body("crank")', ["the name 'crank' is already taken by a body"]),
    ('m.body("")', ["a body needs a name: a non-empty string, not ''"]),
    ('m.body("a.b")', ["the name 'a.b' contains a dot, which separates part and quantity in results"]),
    ("m.body(3)", ["a body needs a name: a non-empty string, not 3"]),
    ('m.body("a", mass=-1, inertia=1)', ["body 'a': mass must be above zero, not -1.0"]),
    ('m.body("a", mass=0, inertia=1)', ["body 'a': mass must be above zero, not 0.0"]),
    ('m.body("a", mass=1)', ["body 'a': give both mass and inertia, or neither"]),
    ('m.body("a", inertia=1)', ["body 'a': give both mass and inertia, or neither"]),
    ('m.body("a", mass="1 kg", inertia=1)', ["body 'a': mass must be a number, not '1 kg'", "write 1, without a unit"]),
    ('m.body("a", mass=None, inertia=None, at=3)', ["body 'a': at must be 2 numbers, (x, y), not 3"]),
    ('m.body("a", at=(1, 2, 3))', ["body 'a': at must be 2 numbers, not 3 of them"]),
    ('m.body("a", at="origin")', ["body 'a': at must be 2 numbers, (x, y), not 'origin'"]),
    ('m.body("a", at=(1, None))', ["body 'a': at[1] must be a number, not None"]),
    ('m.body("a", at=[float("nan"), 0])', ["body 'a': at[0] must be finite, not nan"]),
    ('m.body("a", angle="90 deg")', ["body 'a': angle must be a number, not '90 deg'", "write 90, without a unit"]),
    ('m.body("a", angel=1)', ["body 'a': there is no angel=", "did you mean angle=?"]),
    ('m.body("a", mas=1)', ["body 'a': there is no mas=", "did you mean mass=?"]),
    ('m.body("a", 1, 1, (0, 0), 0, 0)', ["body 'a': too many values: it takes name, mass, inertia, at, angle"]),
    ('m.body(name="a", position=(1, 2))', ["body 'a': there is no position=", "did you mean at=?"]),
    ('m.point("P", fixed="z")', ["point 'P': fixed must be '', 'x', 'y' or 'xy', not 'z'"]),
    ('m.point("P", fixed=True)', ["point 'P': fixed must be '', 'x', 'y' or 'xy', not True"]),
    ('m.point("P", at=(1, 2), mas=1)', ["point 'P': there is no mas=", "did you mean mass=?"]),
    ('m.bar("b", m.point("P"), crank)', ["bar 'b': point 2 must be a point made by m.point, not body 'crank'"]),
    ('m.bar("b", m.point("P"), m.point("Q"))', ["bar 'b': its points 'P' and 'Q' are drawn at one place"]),
    (
        'm.bar("b", m.point("P", at=(0, 1)))',
        ["bar 'b': second must be given", "it takes name, first, second, length, mass, centre, inertia"],
    ),
    (
        'm.bar("b", m.point("P"), m.point("Q", at=(1, 0)), lenght=2)',
        ["bar 'b': there is no lenght=", "did you mean length=?"],
    ),
    ('m.bar("b", m.point("P"), m.point("Q", at=(1, 0)), length=-2)', ["bar 'b': length must be above zero, not -2.0"]),
    (
        'm.bar("b", m.point("P"), m.point("Q", at=(1, 0)), inertia=2)',
        ["bar 'b' has a centre of mass or an inertia, but no mass"],
    ),
    (
        'm.plate("b", m.point("P"), m.point("Q", at=(1, 0)), places=[(1, 1)])',
        ["bar 'b': places must hold one pair for each point after the second"],
    ),
    ('m.revolute("P", crank, crank, at=(0, 0))', ["revolute joint 'P' connects 'crank' with itself"]),
    (
        'm.revolute("P", "crank", "rod", at=(0, 0))',
        [
            "revolute joint 'P': the first part must be a body, a point, a bar or the ground of this",
            "a part is asked of its model by name: m['crank']",
        ],
    ),
    (
        'm.revolute("P", crank, rod)',
        ["revolute joint 'P': say where it is: at=(x, y) in the drawn pose, or on_i=(x, y) and"],
    ),
    (
        'm.revolute("P", crank, rod, (0, 0))',
        ["revolute 'P': too many values: it takes name, i, j, and by name at=, on_i=, on_j="],
    ),
    ('m.revolute("P", crank, at=(0, 0))', ["revolute 'P': j must be given", "it takes name, i, j, at, on_i, on_j"]),
    ("m.revolute(crank, rod, at=(0, 0))", ["revolute: a name comes first, a short text of your choice"]),
    (
        'm.revolute("P", crank, rod, at=(0, 0), on_i=(0, 0), on_j=(0, 0))',
        ["revolute joint 'P': give at=, or on_i= and on_j=, but not all three"],
    ),
    ('m.revolute("P", crank, rod, on_k=(0, 0))', ["revolute 'P': there is no on_k=", "did you mean on_j=?"]),
    ('m.revolute("P", crank, rod, at="A")', ["revolute 'P': a point of 'crank' must be 2 numbers, (x, y), not 'A'"]),
    ('m.revolute("O", crank, rod, at=(0, 0))', ["the name 'O' is already taken by a revolute"]),
    (
        'm.revolute("P", crank, None, at=(0, 0))',
        ["revolute joint 'P': the second part must be a body, a point, a bar or the ground of this"],
    ),
    (
        'm.revolute("P", crank, O, at=(0, 0))',
        ["revolute joint 'P': the second part must be a body, a point, a bar or the ground of this"],
    ),
    ('m.revolute("P", crank, new.body("x"), at=(0, 0))', ["revolute 'P' uses 'x', which is not a part of 'press'"]),
    (
        'm.translational("T", ground, slider, axis=(0, 0))',
        ["translational 'T': an axis on 'ground' must not be the zero vector"],
    ),
    (
        'm.translational("T", ground, slider, axis="x")',
        ["translational 'T': an axis on 'ground' must be 2 numbers, (x, y), not 'x'"],
    ),
    (
        'm.translational("T", ground, slider, axis=1)',
        ["translational 'T': an axis on 'ground' must be 2 numbers, (x, y), not 1"],
    ),
    (
        'm.translational("T", ground, slider, direction=(1, 0))',
        ["translational 'T': there is no direction=", "did you mean axis=?"],
    ),
    (
        'm.translational("T", ground, slider, 0)',
        ["translational 'T': too many values: it takes name, i, j, and by name axis=, at=, on_i=,"],
    ),
    (
        'm.pin_in_slot("T", ground, slider)',
        ["pin in slot 'T': axis must be given", "it takes name, i, j, axis, at, on_i, on_j"],
    ),
    ('m.weld("w", crank, crank)', ["weld 'w' connects 'crank' with itself"]),
    ('m.link("l", crank, rod, length=0)', ["distance link 'l': length must be above zero, not 0.0"]),
    (
        'm.link("l", crank, rod, at=(0, 0))',
        ["link 'l': there is no at=: it has two ends", "give on_i= and on_j= in the parts' own axes, or parts as"],
    ),
    ('m.link("l", ground, crank, lenght=3)', ["link 'l': there is no lenght=", "did you mean length=?"]),
    ('m.gear("g", crank, rod)', ["gear pair 'g': give either ratio= or teeth= or radii="]),
    ('m.gear("g", crank, rod, ratio=0)', ["gear pair 'g': the ratio must not be zero"]),
    ('m.gear("g", crank, rod, ratio=2, teeth=(20, 40))', ["gear pair 'g': give either ratio= or teeth= or radii="]),
    ('m.gear("g", crank, rod, teeth=(20,))', ["gear pair 'g': teeth must be 2 numbers, not 1 of them"]),
    ('m.gear("g", crank, rod, teeth=(20, -40))', ["gear pair 'g': teeth must be above zero, not -40.0"]),
    ('m.gear("g", crank, rod, teeth=20)', ["gear pair 'g': teeth must be 2 numbers, (x, y), not 20"]),
    (
        'm.belt("g", crank, rod)',
        ["belt 'g': radii must be given", "it takes name, i, j, radii, crossed, carrier, on_i, on_j, preload"],
    ),
    (
        'm.belt("g", crank, rod, radii=(1, 1), preload=3)',
        ["belt 'g': a preload needs the wheels' centres: give on_i= and on_j="],
    ),
    ('m.rack_and_pinion("r", crank, slider, radius=0)', ["rack and pinion 'r': the radius must not be zero"]),
    (
        'm.rack_and_pinion("r", crank, slider)',
        ["rack and pinion 'r': radius must be given", "it takes name, i, j, radius, axis, frame, on_i, pressure_angle"],
    ),
    (
        'm.coupler("c", [crank.angle, rod.angle])',
        ["coupler 'c' needs a list of at least two (coefficient, quantity) pairs"],
    ),
    (
        'm.coupler("c", [(1, crank), (2, rod)])',
        ["coupler 'c': term must be one number, not all of 'crank'", "choose crank.x, crank.y or crank.angle"],
    ),
    ('m.coupler("c", [(0, crank.angle), (0, rod.angle)])', ["coupler 'c': the coefficients must not all be zero"]),
    (
        'm.driver("d", crank, 5.0)',
        ["driver 'd': what it drives must be one number, not all of 'crank'", "choose crank.x, crank.y or crank.angle"],
    ),
    (
        'm.driver("d", crank.omega, 5.0)',
        ["body 'crank' has no 'omega': rates are asked of a result, by name", "to watch one, m.event(..., rate=True)"],
    ),
    (
        'm.driver("d", "crank.angle", 5.0)',
        [
            "driver 'd': what it drives must be a quantity (body.x, body.angle, joint.angle,",
            "a part is asked of its model by name: m['crank'].angle",
        ],
    ),
    ('m.driver("d", crank.angle)', ["driver 'd': motion must be given", "it takes name, quantity, motion"]),
    (
        'm.driver("d", crank.angle, "fast")',
        ["driver 'd': a motion is a law such as kp.constant_speed(2.0), a function of time, or a"],
    ),
    (
        'm.driver("d", crank.angle, kp.constant_speed)',
        ["driver 'd': a law has numbers of its own: write kp.constant_speed(speed, start)"],
    ),
    (
        'm.driver("d", crank.angle, kp.constant_speed(rpm=3))',
        ["constant_speed: there is no rpm=", "it takes speed, start"],
    ),
    (
        'm.driver("d", crank.angle, lambda: 3)',
        ["driver 'd': the function of time is called with (t)", "yours takes ()"],
    ),
    (
        'm.driver("d", crank.angle, lambda t, w: w * t)',
        ["driver 'd': the function of time is called with (t)", "yours takes (t, w)"],
    ),
    (
        'm.driver("d", crank.angle, lambda t: np.sin(t) if t > 1 else 0)',
        [
            "driver 'd': the function of time asks whether something holds (if, and, or, max, min),",
            "use kp.if_else(condition, a, b), kp.logic_and, kp.fmax, kp.fmin",
        ],
    ),
    (
        'import math\nm.driver("d", crank.angle, lambda t: math.sin(t))',
        ["driver 'd': the function of time contains NaN", "use kp.sin, kp.sqrt and such, not those of the math module"],
    ),
    (
        'm.driver("d", crank.angle, lambda t: None)',
        ["driver 'd': the function of time must return one number, not nothing (is there a return?)"],
    ),
    (
        'm.driver("d", crank.angle, lambda t: [t, t])',
        ["driver 'd': the function of time must return one number, not 2 of them"],
    ),
    ('m.driver("d", O, 1.0)', ["driver 'd': what it drives must be one number, not all of 'O'", "choose O.angle"]),
    ('m.driver("d", ground, 1.0)', ["driver 'd': what it drives must be a quantity (body.x, body.angle, joint.angle,"]),
    ('m.driver("d", crank.thetta, 1.0)', ["body 'crank' has no 'thetta'", "it has x, y, angle"]),
    ('m.driver("d", crank.theta, 1.0)', ["body 'crank' has no 'theta'", "did you mean 'angle'?"]),
    (
        'm.driver("d", m["crnak"].angle, 1.0)',
        ["there is no part, joint or parameter called 'crnak' in 'press'", "did you mean 'crank'?"],
    ),
    ('m.point_driver("d", crank, 1.0)', ["point driver 'd': y must be given", "it takes name, point, x, y"]),
    ('m.point_driver("d", ground, 1.0, 1.0)', ["driver 'd': 'ground' is fixed and cannot be led"]),
    ("kp.spline([0, 1, 1], [0, 1, 2])", ["table 'spline': the arguments must increase"]),
    (
        "kp.spline([0, 1, 2], [0, 1])",
        ["table 'spline': arguments and values must be lists of the same length, at least 2, not 3"],
    ),
    (
        "kp.spline([0], [0])",
        ["table 'spline': arguments and values must be lists of the same length, at least 2, not 1"],
    ),
    (
        'kp.spline([0, 1], [0, 1], ends="free")',
        ["table 'spline': ends must be 'not-a-knot', 'natural' or 'clamped', not 'free'"],
    ),
    (
        "kp.spline([0, 1, 2], [0, 1, 2], periodic=True)",
        ["table 'spline': periodic data must end with the value they begin with"],
    ),
    ("kp.cycloidal(1.0, 0.0)", ["cycloidal: duration must be above zero, not 0.0"]),
    ("kp.cycloidal(1.0)", ["cycloidal: duration must be given", "it takes rise, duration, begin, start"]),
    ("kp.harmonic(1.0, frequency=2.0)", ["harmonic: there is no frequency=", "did you mean omega=?"]),
    ('kp.harmonic(1.0, "2 Hz")', ["harmonic: omega must be a number, not '2 Hz'", "write 2, without a unit"]),
    ("kp.curve(lambda s: s)", ["curve: the function must return two numbers, (x, y)"]),
    ("kp.curve(lambda s, t: (s, t))", ["curve: the function is called with (s)", "yours takes (s, t)"]),
    (
        "kp.curve_through([(0, 0), (1, 1)])",
        ["curve_through needs a list of at least three points (x, y), not shape (2, 2)"],
    ),
    ("kp.polar(2.0)", ["polar needs a function of the angle, lambda a: 0.2 say, not 2.0"]),
    (
        'm.point_on_curve("c", ground, slider, curve=lambda s: (s, s))',
        [
            "point on curve 'c': the curve must be kp.curve, kp.polar or kp.curve_through, not a",
            "write kp.curve(...) around it",
        ],
    ),
    (
        'm.cam_roller("c", crank, slider, profile=kp.polar(lambda a: 1.0), radius=0)',
        ["cam 'c': roller radius (for a knife edge use point_on_curve) must be above zero, not 0.0"],
    ),
    ('m.spring("s", ground, crank)', ["spring 's' does nothing: give it stiffness=, damping=, force= or law="]),
    ('m.spring("s", ground, crank, k=100)', ["spring 's': there is no k=", "did you mean stiffness=?"]),
    (
        'm.spring("s", ground, crank, stiffness=100, lenght=0.1)',
        ["spring 's': there is no lenght=", "did you mean length=?"],
    ),
    (
        'm.spring("s", ground, crank, stiffness=100, length=-0.1)',
        ["spring 's': length must not be below zero, not -0.1"],
    ),
    (
        'm.spring("s", ground, crank, stiffness="100 N/m")',
        ["spring 's': stiffness must be a number, not '100 N/m'", "write 100, without a unit"],
    ),
    (
        'm.spring("s", ground, crank, stiffness=100, damping=-3)',
        ["spring 's': damping must not be below zero, not -3.0"],
    ),
    ('m.spring("s", ground, ground, stiffness=100)', ["spring 's' connects 'ground' with itself"]),
    (
        'm.spring("s", ground, crank, at=(0, 0), stiffness=100)',
        ["spring 's': there is no at=: it has two ends", "give on_i= and on_j= in the parts' own axes, or parts as"],
    ),
    (
        'm.spring("s", ground, crank, law=100)',
        ["spring 's': law must be a function law(length, rate) or law(length, rate, t), or"],
    ),
    (
        'm.spring("s", ground, crank, law=lambda x: 3 * x)',
        ["spring 's': the law is called with (length, rate), or with (length, rate, t)", "yours takes (x)"],
    ),
    (
        'm.spring("s", ground, crank, law=lambda x, v: None)',
        ["spring 's': the law must return one number, not nothing (is there a return?)"],
    ),
    (
        'm.spring("s", ground, crank, law=lambda x, v: 3 if x > 2 else 1)',
        [
            "spring 's': the law asks whether something holds (if, and, or, max, min), which is not",
            "use kp.if_else(condition, a, b), kp.logic_and, kp.fmax, kp.fmin",
        ],
    ),
    (
        'm.spring("s", ground, crank, law=kp.harmonic(1, 2))',
        ["spring 's': law must be a function law(length, rate) or law(length, rate, t), or"],
    ),
    (
        'm.spring("s", (0, 0), crank, stiffness=1)',
        [
            "spring 's': the first part must be a body, a point, a bar or the ground of this model,",
            "a place on the ground is m.ground.on((0, 0))",
        ],
    ),
    (
        'm.torsion_spring("s", ground, crank, stiffness=1, length=3)',
        ["torsion spring 's': there is no length=", "it takes name, i, j, stiffness, angle, damping, torque, law"],
    ),
    (
        'm.torsion_spring("s", crank, stiffness=1)',
        ["torsion spring 's': j must be given", "it takes name, i, j, stiffness, angle, damping, torque, law"],
    ),
    (
        'm.torsion_spring("s", ground, m.point("P"), stiffness=1)',
        ["torsion spring 's': 'P' is a point and has no direction", "use a body or a bar here"],
    ),
    (
        'm.bushing("b", crank, rod)',
        ["bushing 'b': stiffness must be given", "it takes name, i, j, stiffness, damping, torsion, torsion_damping,"],
    ),
    ('m.bushing("b", crank, rod, stiffness=(1, 2, 3))', ["bushing 'b': stiffness must be 2 numbers, not 3 of them"]),
    ("m.force(crank, 5)", ["force 'force on crank': force must be 2 numbers (Fx, Fy), or laws or functions of time,"]),
    (
        "m.force(crank, (1, 2, 3))",
        ["force 'force on crank': force must be 2 numbers (Fx, Fy), or laws or functions of time,"],
    ),
    (
        'm.force("F", crank, (0, 1), at=(0, 0), on=(0, 0))',
        ["force 'F': give at=, a world point of the drawn pose, or on=, in the part's own axes, not"],
    ),
    (
        'm.force("F", (0, 1), crank)',
        [
            "force 'F': the part must be a body, a point, a bar or the ground of this model, not (0, 1)",
            "a place on the ground is m.ground.on((0, 1))",
        ],
    ),
    ('m.force("F", crank)', ["force 'F': force must be given", "it takes name, part, force, at, on, frame"]),
    ('m.force("crank", (0, 1))', ["force 'crank': force must be given", "it takes name, part, force, at, on, frame"]),
    ('m.force("F", ground, (0, 1))', ["force 'F' touches no moving part"]),
    ('m.force("F", crank, (0, 1), frame="local")', ["force 'F': frame must be 'world' or 'body', not 'local'"]),
    (
        'm.force("F", crank, (0, lambda x, y: x))',
        [
            "force 'F': force[1]: the function of time is called with (t)",
            "what depends on the motion is a spring's law=, or m.user_force(...)",
        ],
    ),
    ('m.force("F", crank, (0, kp.pi), onn=(0, 0))', ["force 'F': there is no onn=", "did you mean on=?"]),
    ("m.torque(crank)", ["torque 'torque on crank': torque must be given", "it takes name, part, torque, reaction"]),
    ("m.torque(crank, (0, 1))", ["torque 'torque on crank': torque must be a number, not (0, 1)"]),
    (
        'm.torque("T", crank, lambda angle, omega: -omega)',
        [
            "torque 'T': torque: the function of time is called with (t)",
            "what depends on the motion is a spring's law=, or m.user_force(...)",
        ],
    ),
    (
        'm.torque("T", m.point("P"), 1.0)',
        ["torque 'T': 'P' is a point and has no direction", "use a body or a bar here"],
    ),
    ('m.torque("T", crank, 1.0, reaction=crank)', ["torque 'T' acts between 'crank' and itself"]),
    (
        'm.user_force("u", lambda c: (0, 0), crank)',
        ["user force 'u': your function must return (Fx, Fy, M) for 'crank', not 2 numbers"],
    ),
    (
        'm.user_force("u", lambda c: (0, 0, -c.speed), crank)',
        [
            "user force 'u': 'crank' has no 'speed' in a function of yours",
            "it has x, y, angle, r, u, n, point, vx, vy, omega, v, velocity",
        ],
    ),
    (
        'm.user_force("u", lambda c: (0, 0, -c.rate), crank)',
        [
            "user force 'u': 'crank' has no 'rate' in a function of yours",
            "it has x, y, angle, r, u, n, point, vx, vy, omega, v, velocity",
        ],
    ),
    (
        'm.user_force("u", lambda c: (0, 0, -math.sin(c.angle)), crank)',
        ["user force 'u': your function cannot be called: name 'math' is not defined"],
    ),
    (
        'import math\nm.user_force("u", lambda c: (0, 0, -math.sin(c.angle)), crank)',
        ["user force 'u': your function contains NaN", "use kp.sin, kp.sqrt and such, not those of the math module"],
    ),
    (
        'm.user_force("u", lambda c: (0, 0, max(c.vx, 0)), crank)',
        [
            "user force 'u': your function asks whether something holds (if, and, or, max, min), which",
            "use kp.if_else(condition, a, b), kp.logic_and, kp.fmax, kp.fmin",
        ],
    ),
    (
        'm.user_force("u", lambda c, r: [(0, 0, 0)], crank, rod)',
        ["user force 'u': your function must return a list with one entry for each of its 2 parts"],
    ),
    (
        'm.user_force("u", crank, lambda c: (0, 0, 0))',
        ["user force 'u' needs a function first, lambda crank: ... say, not body 'crank'"],
    ),
    ('m.user_force("u", lambda c: (0, 0, 0))', ["user force 'u' needs the parts it acts on, behind the function"]),
    (
        'm.user_force("u", lambda c: None, crank)',
        ["user force 'u': your function returned nothing", "is there a return?"],
    ),
    (
        'm.constraint("c", lambda c: c.vx, crank)',
        [
            "constraint 'c': a constraint holds between positions and has no rates (vx, omega, rate)",
            "a motion is prescribed by m.driver(...), a force that depends on",
        ],
    ),
    (
        'm.constraint("c", lambda c: c.x == 3, crank)',
        ["constraint 'c': an equation is written as what must be zero, a - b, not as a comparison"],
    ),
    (
        'm.constraint("c", lambda c: None, crank)',
        ["constraint 'c': your function returned nothing", "is there a return?"],
    ),
    (
        'm.constraint("c", lambda c: c.xx, crank)',
        ["constraint 'c': 'crank' has no 'xx' in a function of yours", "did you mean 'x'?"],
    ),
    ('m.constraint("c", lambda c: c.x - 0.05)', ["constraint 'c' needs the parts it acts on, behind the function"]),
    (
        'm.constraint("c", "crank.x - 3")',
        ["constraint 'c' needs a function first, lambda crank: ... say, not 'crank.x - 3'"],
    ),
    (
        'm.bump_stop("b", slider, 1.0, 100)',
        [
            "bump stop 'b': the quantity it limits must be one number, not all of 'slider'",
            "choose slider.x, slider.y or slider.angle",
        ],
    ),
    (
        'm.bump_stop("b", slider.x, 1.0)',
        ["bump stop 'b': stiffness must be given, or contact= with a contact law"],
    ),
    ('m.bump_stop("b", slider.x, 1.0, 0.0)', ["bump stop 'b': stiffness must be above zero, not 0.0"]),
    (
        'm.bump_stop("b", slider.x, 1.0, 100, side="left")',
        ["bump stop 'b': side must be 'below' or 'above', not 'left'"],
    ),
    (
        'm.bump_stop("b", slider.x, 1.0, 100, restitution=0.3)',
        [
            "bump stop 'b': there is no restitution=",
            "it takes name, quantity, limit, stiffness, damping, exponent, side",
        ],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), friction=0.3)',
        ["revolute joint 'P': friction acts on the surface of the pin: give its radius= too"],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), radius=0.3)',
        ["revolute joint 'P': a radius is that of a pin with friction: give friction= too"],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), friction=-0.3, radius=0.01)',
        ["revolute joint 'P': friction must not be below zero, not -0.3"],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), friction="0.3", radius=0.01)',
        [
            "revolute joint 'P': friction must be a coefficient or a law (kp.Coulomb, kp.Threlfall, kp.RooneyDeravi, kp.ModifiedCoulomb, kp.Stribeck, kp.LuGre), not '0.3'; write 0.3"
        ],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), friction="coulom", radius=0.01)',
        [
            "revolute joint 'P': friction must be a coefficient or a law (kp.Coulomb, kp.Threlfall, kp.RooneyDeravi, kp.ModifiedCoulomb, kp.Stribeck, kp.LuGre), not 'coulom'; did you mean 'coulomb'?"
        ],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), friction=kp.Coulomb, radius=0.01)',
        [
            "revolute joint 'P': friction: a law has numbers of its own: write kp.Coulomb(kinetic, static, stribeck, viscous)"
        ],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), friction=(0.3, 0.4), radius=0.01)',
        [
            "revolute joint 'P': friction must be a coefficient or a law (kp.Coulomb, kp.Threlfall, kp.RooneyDeravi, kp.ModifiedCoulomb, kp.Stribeck, kp.LuGre), not (0.3, 0.4); two coefficients are kp.Coulomb(kinetic, static)"
        ],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), friction=lambda v: 0.3, radius=0.01)',
        [
            "revolute joint 'P': friction must be a coefficient or a law (kp.Coulomb, kp.Threlfall, kp.RooneyDeravi, kp.ModifiedCoulomb, kp.Stribeck, kp.LuGre), not a function"
        ],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), friction=float("nan"), radius=0.01)',
        ["revolute joint 'P': friction must be finite, not nan"],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), friction=0.3, radius=0)',
        ["revolute joint 'P': radius must be above zero, not 0.0"],
    ),
    ('m.revolute("P", crank, rod, at=(0, 0), mu=0.3)', ["revolute 'P': there is no mu=; did you mean friction=?"]),
    (
        'm.revolute("P", crank, rod, at=(0, 0), restitution=0.3)',
        ["revolute 'P': restitution= is for joints with backlash: give backlash= too"],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), clearance=0.001)',
        ["revolute 'P': a joint with clearance= has a contact law: give contact=kp.LankaraniNikravesh(...), say"],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), clearance=0.001, contact=kp.Hertz(1e9), restitution=0.5)',
        ["revolute 'P': restitution= does not go with clearance=, where a contact law says how it touches"],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), clearance=0.001, contact=kp.Hertz(1e9), friction=0.1, bearing_radius=0.01)',
        [
            "revolute joint 'P': friction: a contact with a law has smooth friction: say over which sliding velocity",
            "kp.RooneyDeravi(0.1, speed=1e-3)",
        ],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), clearance=0.001, contact=kp.Hertz(youngs=2e11, poisson=0.3))',
        ["revolute joint 'P': contact: the law kp.Hertz needs a stiffness= here, where there are no radii"],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), clearance=0.1, bearing_radius=0.01, contact=kp.Hertz(1e9))',
        ["revolute joint 'P': the clearance must be smaller than the bearing's radius"],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), clearance=0.001, contact="herts")',
        ["revolute joint 'P': contact must be a law (kp.KelvinVoigt, kp.Hertz", "did you mean 'hertz'?"],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), clearance=0.001, contact=kp.ShortBearing(0.02, 0.01))',
        ["revolute joint 'P': a film lies around the journal: give bearing_radius= too"],
    ),
    (
        'm.circle_contact("c", crank, rod, radii=(0.1, 0.1), contact=kp.Hertz(1e9), restitution=0.5)',
        ["circle contact 'c': restitution= does not go with contact=, where a contact law says how it touches"],
    ),
    (
        'm.point_line_contact("c", ground, slider, contact=kp.Hybrid(0.9, youngs=2e11, poisson=0.3, width=0.01))',
        ["point line contact 'c': contact: the law kp.Hybrid is for a pin in a hole, with a clearance"],
    ),
    (
        'm.translational("T", ground, rod, clearance=0.001, contact=kp.Hertz(1e9))',
        ["translational joint 'T': a slider with clearance touches with its corners: give its length= too"],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), backlash=-0.001)',
        ["revolute joint 'P': backlash must be above zero, not -0.001"],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), backlash=0.001, friction=0.1)',
        ["revolute joint 'P': friction acts on the surface of the pin: give its radius= too"],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), backlash=0.001, restitution=1.2)',
        ["revolute joint 'P': a restitution is between 0 and 1, not 1.2"],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), backlash=0.001, law="hertz")',
        ["revolute joint 'P': law must be 'newton' or 'poisson', not 'hertz'"],
    ),
    (
        'm.revolute("P", crank, rod, at=(0, 0), backlash=0.001, friction=kp.LuGre(0.1, 0.2, 0.1, 1e5), radius=0.1)',
        ["revolute 'P': friction: LuGre's bristles need surfaces that stay pressed; this contact opens"],
    ),
    (
        'm.translational("T", ground, rod, length=0.1)',
        ["translational joint 'T': a length is that of a guide with friction: give friction= too"],
    ),
    (
        'm.translational("T", ground, rod, backlash=0.001)',
        ["translational joint 'T': a slider with backlash touches with its corners: give its length= too"],
    ),
    (
        'm.translational("T", ground, rod, backlash=0.001, length=0.1, angle=0)',
        ["translational 'T': a slider with play is free to turn: leave angle= out, and draw it as it is"],
    ),
    (
        'm.translational("T", ground, rod, friction=0.1, width=0.1)',
        ["translational 'T': width= is for joints with backlash: give backlash= too"],
    ),
    (
        'm.translational("T", ground, rod, friction=0.1, length=-0.1)',
        ["translational joint 'T': length must be above zero, not -0.1"],
    ),
    (
        'm.translational("way A", ground, rod); m.translational("way", ground, rod, backlash=0.001, length=0.1)',
        ["translational 'way': the name 'way A' is already taken by a translational"],
    ),
    (
        'm.pin_in_slot("S", ground, rod, axis=(1, 0), at=(0, 0), friction=0.1, radius=0.1)',
        ["pin in slot 'S': there is no radius=; it takes name, i, j, axis, at, on_i, on_j, friction"],
    ),
    (
        "kp.Coulomb(0.3, 0.2)",
        ["Coulomb friction: the static coefficient (0.2) must not be below the kinetic one (0.3)"],
    ),
    ("kp.Coulomb(-0.3)", ["Coulomb friction: kinetic must not be below zero, not -0.3"]),
    ("kp.Coulomb()", ["coulomb: kinetic must be given; it takes kinetic, static, stribeck, viscous"]),
    (
        "kp.Coulomb(0.3, stribeck=0.1)",
        ["Coulomb friction: with stribeck= give static= too, from which the coefficient falls"],
    ),
    ("kp.Coulomb(0.3, 0.4, stribek=0.1)", ["coulomb: there is no stribek=; did you mean stribeck=?"]),
    ("kp.Coulomb(mu=0.3)", ["coulomb: there is no mu=; did you mean kinetic=?"]),
    ('kp.Coulomb("0.3")', ["Coulomb friction: kinetic must be a number, not '0.3'; write 0.3"]),
    ("kp.Threlfall(0.3)", ["threlfall: speed must be given; it takes kinetic, speed"]),
    ("kp.Threlfall(0.3, 0)", ["Threlfall's friction: speed must be above zero, not 0.0"]),
    (
        "kp.ModifiedCoulomb(0.3, 0.4, (0.2, 0.1))",
        ["modified Coulomb friction: the second of the speeds must be above the first"],
    ),
    ("kp.ModifiedCoulomb(0.3, 0.4, 0.1)", ["modified Coulomb friction: speeds must be 2 numbers, (x, y), not 0.1"]),
    (
        "kp.Stribeck(0.3, 0.2, 0.1)",
        ["Stribeck friction: the static coefficient (0.2) must not be below the kinetic one (0.3)"],
    ),
    ("kp.LuGre(0.3, 0.4, 0.1, 0)", ["LuGre friction: stiffness must be above zero, not 0.0"]),
    (
        'm.point_line_contact("c", ground, slider, restitution=1.5)',
        ["point line contact 'c': a restitution is between 0 and 1, not 1.5"],
    ),
    (
        'm.point_line_contact("c", ground, slider, restitution=-0.5)',
        ["point line contact 'c': restitution must not be below zero, not -0.5"],
    ),
    (
        'm.point_line_contact("c", ground, slider, restitution="high")',
        ["point line contact 'c': restitution must be a number, not 'high'"],
    ),
    (
        'm.point_line_contact("c", ground, slider, e=0.5)',
        ["point line contact 'c': there is no e=; did you mean restitution=?"],
    ),
    (
        'm.point_line_contact("c", ground, slider, law="Newton")',
        ["point line contact 'c': law must be 'newton' or 'poisson', not 'Newton'"],
    ),
    ('m.point_line_contact("c", slider, slider)', ["point line contact 'c' connects 'slider' with itself"]),
    (
        'm.point_line_contact("c", ground, slider, axis=(0, 0))',
        ["point line contact 'c': an axis on 'ground' must not be the zero vector"],
    ),
    (
        'm.point_line_contact("c", m.point("Q"), slider)',
        ["point line contact 'c': 'Q' is a point and has no direction; use a body or a bar here"],
    ),
    (
        'm.circle_line_contact("c", ground, slider)',
        [
            "circle line contact 'c': radius must be given; it takes name, i, j, radius, axis, at, on_i, on_j, restitution, friction, law"
        ],
    ),
    (
        'm.circle_line_contact("c", ground, slider, radius=-1)',
        ["circle line contact 'c': radius must be above zero, not -1.0"],
    ),
    (
        'm.circle_line_contact("c", ground, m.point("Q", mass=1), radius=0.1, friction=0.2)',
        [
            "circle line contact 'c': 'Q' has no angle that counts full turns; use a body, or give it one with m.angle(...)"
        ],
    ),
    ('m.circle_contact("c", rod, slider, radii=0.1)', ["circle contact 'c': radii must be 2 numbers, (x, y), not 0.1"]),
    ('m.circle_contact("c", rod, slider, radii=(0.1, 0))', ["circle contact 'c': radii must be above zero, not 0.0"]),
    (
        'm.circle_contact("c", rod, slider, radii=(0.1, 0.2), inside=True)',
        ["circle contact 'c': the circle of i, the first radius, must be larger than the one inside"],
    ),
    (
        'm.circle_contact("c", rod, slider, radii=(0.1, 0.2), inside="yes")',
        ["circle contact 'c': inside must be True or False, not 'yes'"],
    ),
    (
        'm.circle_contact("c", rod, slider, radius=0.1)',
        ["circle contact 'c': there is no radius=; did you mean radii=?"],
    ),
    (
        'm.stop("s", slider, 0.1)',
        [
            "stop 's': the quantity it limits must be one number, not all of 'slider'; choose slider.x, slider.y or slider.angle"
        ],
    ),
    (
        'm.stop("s", slider.x)',
        ["stop 's': limit must be given; it takes name, quantity, limit, side, restitution, law"],
    ),
    ('m.stop("s", slider.x, 0.1, side="left")', ["stop 's': side must be 'below' or 'above', not 'left'"]),
    ('m.stop("s", slider.x, 0.1, restitution=2)', ["stop 's': a restitution is between 0 and 1, not 2"]),
    (
        'm.stop("s", slider.x, 0.1, stiffness=100)',
        ["stop 's': there is no stiffness=; it takes name, quantity, limit, side, restitution, law"],
    ),
    (
        'm.friction("f", slider.x)',
        ["friction 'f': friction, normal must be given; it takes name, quantity, friction, normal, speed, surface"],
    ),
    (
        'm.friction("f", slider.x, friction=0.2)',
        ["friction 'f': normal must be given; it takes name, quantity, friction, normal, speed, surface"],
    ),
    ('m.friction("f", slider.x, friction=0, normal=10)', ["friction 'f' does nothing: friction must be above zero"]),
    ('m.friction("f", slider.x, friction=0.2, normal=0)', ["friction 'f' does nothing: normal must be above zero"]),
    ('m.friction("f", slider.x, friction=0.2, normal=-10)', ["friction 'f': normal must not be below zero, not -10.0"]),
    (
        'm.friction("f", slider.x, friction=0.2, normal="O")',
        ["friction 'f': normal must be a number, a law of time or a joint, not 'O'"],
    ),
    (
        'm.friction("f", slider.x, friction=0.2, normal=crank)',
        ["friction 'f': normal must be a number, not body 'crank'"],
    ),
    (
        'm.friction("f", slider.x, friction=0.2, normal=m.gear("g", crank, rod, ratio=2))',
        ["friction 'f': normal is the force of a joint, contact or link, and gear 'g' has none"],
    ),
    (
        'm.friction("f", slider, friction=0.2, normal=10)',
        [
            "friction 'f': the quantity it resists must be one number, not all of 'slider'; choose slider.x, slider.y or slider.angle"
        ],
    ),
    (
        'm.friction("f", slider.x, friction=0.2, normal=10, speed=lambda t: t)',
        ["friction 'f': speed is a number; with surface= give how far the surface has moved, in time"],
    ),
    (
        'm.friction("f", slider.x, friction=0.2, normal=10, speed=kp.constant_speed(1))',
        ["friction 'f': speed is a number; with surface= give how far the surface has moved, in time"],
    ),
    (
        'm.friction("f", slider.x, friction=0.2, normal=10, speed=1, surface=lambda t: t)',
        ["friction 'f': give speed= or surface=, not both"],
    ),
    ('m.friction("f", slider.x, friction=0.2, load=10)', ["friction 'f': there is no load=; did you mean normal=?"]),
    ('m.impulse("i", crank, 0.5)', ["impulse 'i' does nothing: give it force= or torque="]),
    (
        'm.impulse("i", crank, force=(1, 0))',
        ["impulse 'i': time must be given; it takes name, part, time, force, torque, at, on"],
    ),
    ('m.impulse("i", crank, 0.5, force=1)', ["impulse 'i': force must be 2 numbers, (x, y), not 1"]),
    ('m.impulse("i", crank, "soon", force=(1, 0))', ["impulse 'i': time must be a number, not 'soon'"]),
    (
        'm.impulse("i", crank.x, 0.5, force=(1, 0))',
        ["impulse 'i': the part must be a body, a point, a bar or the ground of this model, not crank.x"],
    ),
    (
        'm.impulse("i", crank, 0.5, force=(1, 0), at=(0, 0), on=(0, 0))',
        ["impulse 'i': give at=, a world point of the drawn pose, or on=, in the part's own axes, not both"],
    ),
    ('m.impact("i", crank, 0.5)', ["a model has no 'impact'; did you mean 'impulse'?"]),
    (
        'm.event("e", slider.x, 1.0, direction="up")',
        ["event 'e': direction must be 'both', 'rising' or 'falling', not 'up'"],
    ),
    (
        'm.event("e", slider, 1.0)',
        [
            "event 'e': what it watches must be one number, not all of 'slider'",
            "choose slider.x, slider.y or slider.angle",
        ],
    ),
    (
        'm.event("e", slider.vx, 1.0)',
        ["body 'slider' has no 'vx': rates are asked of a result, by name", "to watch one, m.event(..., rate=True)"],
    ),
    ('m.parameter("rod length", 2)', ["the name 'rod length' is already taken by a parameter"]),
    ('m.parameter("t", 2)', ["a parameter cannot be called 't', which is the time in results and expressions"]),
    ('m.parameter("k", "2")', ["parameter 'k': the value must be a number, not '2'", "write 2"]),
    ('m.parameter("k", 2, bounds=(3, 4))', ["parameter 'k': the value 2.0 is outside its bounds (3.0, 4.0)"]),
    ('m.parameter("k", 2, bounds=3)', ["parameter 'k': bounds must be two numbers, not 3"]),
    ('m.parameter("k", 2, bound=(1, 3))', ["parameter 'k': there is no bound=", "did you mean bounds=?"]),
    ('m.parameter("k")', ["parameter 'k': value must be given", "it takes name, value, bounds"]),
    ("m.set(rod_length=2)", ["unknown parameter 'rod_length'", "did you mean 'rod length'?"]),
    ('m.set({"rod lenght": 2})', ["unknown parameter 'rod lenght'", "did you mean 'rod length'?"]),
    ('m.set("rod length", 2)', ["set: too many values: it takes values"]),
    ('m.set({"rod length": "2"})', ["parameter 'rod length' must be a number, not '2'", "write 2"]),
    ('L.value = "long"', ["parameter 'rod length': the value must be a number, not 'long'"]),
    ('new.body("a", mass=L, inertia=1)', ["body 'a' uses parameter 'rod length', which belongs to another model"]),
    ("m.gravity = 9.81", ["mechanism 'press': gravity must be 2 numbers, (x, y), not 9.81"]),
    ("m.gravity = (0, -9.81, 0)", ["mechanism 'press': gravity must be 2 numbers, not 3 of them"]),
    (
        "m.gravty = (0, -9.81)",
        ["a model has no attribute 'gravty', so that to assign to it does nothing", "did you mean 'gravity'?"],
    ),
    ('kp.Mechanism("x", gravity=-9.81)', ["mechanism 'x': gravity must be 2 numbers, (x, y), not -9.81"]),
    ('kp.Mechanism("x", gravty=(0, -9.81))', ["mechanism 'x': there is no gravty=", "did you mean gravity=?"]),
    ('kp.Mechanism("x", dim=4)', ["mechanism 'x': dim must be 2, for a planar mechanism, or 3, not 4"]),
    ("kp.Mechanism(3)", ["a model's name is a short line of text, not 3"]),
    ('m["crnak"]', ["there is no part, joint or parameter called 'crnak' in 'press'", "did you mean 'crank'?"]),
    ("m.crank", ["'crank' is asked of the model by m['crank']"]),
    ('m.revolut("P", crank, rod, at=(0, 0))', ["a model has no 'revolut'", "did you mean 'revolute'?"]),
    ('m.prismatic("P", ground, slider)', ["a model has no 'prismatic'", "did you mean 'translational'?"]),
    ('m.hinge("P", ground, slider)', ["a model has no 'hinge'", "did you mean 'revolute'?"]),
    ('m.damper("P", ground, slider)', ["a model has no 'damper'", "did you mean 'spring'?"]),
    ("m.run(1.0)", ["a model has no 'run'", "did you mean 'simulate'?"]),
    (
        "m.elements.clear()",
        ["elements of a model cannot be exchanged or taken away: build the model anew without what"],
    ),
    ("m.simulate(1.0, tolernace=1e-6)", ["simulate: there is no tolernace=", "did you mean tolerance=?"]),
    ("m.simulate(1.0, tolerance=1)", ["tolerance must be above 1e-14 and at most 0.1, not 1"]),
    ('m.simulate(1.0, tolerance="tight")', ["tolerance must be a number, not 'tight'"]),
    (
        'm.simulate(1.0, method="rk4")',
        ["there is no method 'rk4'", "the methods are auto, projection, baumgarte, penalty, augmented,"],
    ),
    ('m.simulate(1.0, method="Radau")', ["there is no method 'Radau'", "did you mean 'radau'?"]),
    ('m.simulate(1.0, method="raudau")', ["there is no method 'raudau'", "did you mean 'radau'?"]),
    (
        "m.simulate(1.0, penalty=3)",
        ["method 'auto' has no option 'penalty'", "methods that have it: penalty, augmented, canonical, ali3p"],
    ),
    ("m.simulate(1.0, dt=0.01)", ["simulate: there is no dt=", "did you mean step=?"]),
    ("m.simulate(1.0, step=-0.01)", ["step must be above 0, not -0.01"]),
    ("m.simulate(-1.0)", ["the end time must be above zero, not -1.0"]),
    ("m.simulate(0)", ["the end time must be above zero, not 0.0"]),
    ('m.simulate("1 s")', ["the end time must be a number, not '1 s'", "write 1, without a unit"]),
    (
        "m.simulate()",
        ["simulate: times must be given", "it takes times, method, steps, tolerance, step, max_step, start,"],
    ),
    ("m.simulate(1.0, 0.01)", ["simulate: too many values: it takes times, and by name method=, steps=, tolerance=,"]),
    (
        "m.simulate((0, 1), 100)",
        ["simulate: too many values: it takes times, and by name method=, steps=, tolerance=,"],
    ),
    ("m.simulate([0, 1, 1])", ["times must increase, but 1 follows 1"]),
    ("m.simulate([])", ["times must be an end time, or a list of times, not []"]),
    ("m.simulate(1.0, steps=0)", ["steps must be a whole number of at least 1, not 0"]),
    ("m.simulate(1.0, steps=10.5)", ["steps must be a whole number of at least 1, not 10.5"]),
    (
        'm.simulate(1.0, velocities={"crank.omegaa": 3})',
        ["there is no velocity 'crank.omegaa'", "did you mean 'crank.omega'?"],
    ),
    (
        'm.simulate(1.0, velocities={"crank.angle": 3})',
        ["there is no velocity 'crank.angle'", "did you mean 'crank.omega'?"],
    ),
    (
        'm.simulate(1.0, velocities={"crank": 3})',
        ["there is no velocity 'crank'", "choose crank.vx, crank.vy or crank.omega"],
    ),
    ("m.simulate(1.0, velocities=[3])", ["velocities are given by name, as a mapping, not [3]"]),
    (
        'm.simulate(1.0, velocities={"crank.omega": "3"})',
        ["velocity 'crank.omega' must be a number, not '3'", "write 3"],
    ),
    ('m.simulate(1.0, parameters={"rod lenght": 3})', ["unknown parameter 'rod lenght'", "did you mean 'rod length'?"]),
    (
        'm.simulate(1.0, start={"crank.angle": 1})',
        ["a start must be a pose, as m.assemble() returns it, not {'crank.angle': 1}"],
    ),
    (
        "m.simulate(1.0, start=res)",
        [
            "a start must be a pose, as m.assemble() returns it, not Result(complete: 5 points, t = 0",
            "the whole time span was covered)",
        ],
    ),
    (
        'm.driver("a", crank.angle, kp.constant_speed(1.0))\nm.driver("b", crank.angle, kp.constant_speed(2.0))\nm.simulate(0.1)',
        ["drivers 'a' and 'b' contradict each other: they ask one thing for two speeds", "keep one"],
    ),
    (
        'm.driver("a", crank.angle, kp.constant_speed(1.0))\nm.driver("b", slider.x, kp.constant_speed(2.0))\nm.simulate(0.1)',
        [
            "lock-up at t = 0: driver 'b' asks for a speed that the joints 'O', 'A' and 'B' cannot",
            "start beside the dead centre, or drive another part",
        ],
    ),
    (
        'm.driver("a", crank.angle, kp.constant_speed(1.0))\nm.driver("b", crank.angle, kp.constant_speed(2.0))\nm.kinematics(0.1)',
        [
            "'press' has too many drivers: 1 degrees of freedom, 2 driven",
            "these contradict or repeat each other: 'a', 'b'",
        ],
    ),
    (
        'm.driver("a", slider.x, kp.constant_speed(0.1))\nm.simulate(1.0)',
        [
            "lock-up at t = 0: driver 'a' asks for a speed that the joints 'O', 'A' and 'B' cannot",
            "start beside the dead centre, or drive another part",
        ],
    ),
    (
        'm.driver("a", slider.x, lambda t: 0.39 + 0.05 * t)\nm.simulate(1.0)',
        [
            "lock-up at t = 0.2: driver 'a' asks for a motion that the joints 'O', 'A' and 'B' cannot",
            "beyond this position there is none, or the driver's speed would have",
        ],
    ),
    (
        'm.driver("a", slider.x, lambda t: 0.39 + 0.05 * t)\nm.simulate(1.0, method="radau")',
        [
            "lock-up at t = 0.2: driver 'a' asks for a motion that the joints 'O', 'A' and 'B' cannot",
            "beyond this position there is none, or the driver's speed would have",
        ],
    ),
    (
        'm.driver("a", slider.x, lambda t: 0.39 + 0.05 * t)\nm.simulate(1.0, method="alpha")',
        [
            "lock-up at t = 0.1999",
            "driver 'a' asks for a motion that the joints 'O', 'A' and",
            "beyond this position there is none, or the driver's speed would have",
        ],
    ),
    (
        'm.driver("a", slider.x, lambda t: 0.39 + 0.05 * t)\nm.kinematics(1.0)',
        [
            "lock-up at t = 0.2: driver 'a' asks for a motion that 'O', 'A' and 'B' cannot follow",
            "'crank.angle', 'rod.angle', 'crank.y' and 'rod.y' would have to move",
        ],
    ),
    ("m.kinematics(1.0)", ["'press' is not fully driven: 1 degree of freedom, 0 driven", "drive as many, or simulate"]),
    (
        'm.driver("a", crank.angle, 0.0)\nm.kinematics(1.0, on_singular="continue")',
        ["on_singular must be 'raise', 'stop' or 'cross', not 'continue'"],
    ),
    (
        "driven.kinematics(1.0, tolerance=1e-3)",
        ["kinematics: there is no tolerance=", "it takes times, steps, on_singular, branch, start, parameters,"],
    ),
    ("driven.kinematics(-1.0)", ["the end time must be above zero, not -1.0"]),
    ("new.simulate(1.0)", ["'new' has no moving part yet: add a body or a point"]),
    ("new.kinematics(1.0)", ["'new' has no moving part yet: add a body or a point"]),
    (
        'new.body("a")\nnew.simulate(1.0)',
        ["'new' has no mass: give its bodies mass and inertia (kinematics needs none)"],
    ),
    ('m.equilibrium(hold=["slider.yy"])', ["there is no coordinate 'slider.yy'", "did you mean 'slider.y'?"]),
    ("m.equilibrium(hold=crank)", ["there is no coordinate 'crank'", "choose crank.x, crank.y or crank.angle"]),
    ("m.equilibrium(tol=1)", ["equilibrium: there is no tol=", "did you mean tolerance=?"]),
    ('m.assemble(hold=["crank"])', ["there is no coordinate 'crank'", "choose crank.x, crank.y or crank.angle"]),
    ('m.assemble(weights={"crnak.x": 2})', ["there is no coordinate 'crnak.x'", "did you mean 'crank.x'?"]),
    ('m.mobility(time="0")', ["the time must be a number, not '0'", "write 0"]),
    (
        "m.linearise(about=res)",
        [
            "a start must be a pose, as m.assemble() returns it, not Result(complete: 5 points, t = 0",
            "the whole time span was covered)",
        ],
    ),
    (
        'm.linearise(coordinates=["crank.omega"])',
        ["there is no coordinate 'crank.omega'", "did you mean 'crank.angle'?"],
    ),
    ("m.modes(count=-1)", ["count must be a whole number of at least 1, not -1"]),
    ('m.modes(count="3")', ["count must be a whole number of at least 1, not '3'"]),
    (
        "m.inverse_dynamics(1.0)",
        ["'press' is not fully driven: 1 degree of freedom, 0 driven", "drive as many, or simulate"],
    ),
    ("m.inverse_dynamics(res, steps=3)", ["a motion is given, so there is nothing to compute with steps"]),
    (
        'kp.run_many(m, {"rod lenght": [1, 2]}, ["slider.x"], 0.1)',
        ["unknown parameter 'rod lenght'", "did you mean 'rod length'?"],
    ),
    (
        'kp.run_many(m, {"rod length": [0.3, 0.4]}, ["slider.xx"], 0.1)',
        ["there is no quantity 'slider.xx' to record", "did you mean 'slider.x'?"],
    ),
    (
        'kp.run_many(m, [0.3, 0.4], ["slider.x"], 0.1)',
        ["designs must map parameter names to columns of values, or be a list of such mappings"],
    ),
    (
        'kp.run_many(m, {"rod length": [0.3]}, "slider.x")',
        ["run many: times must be given", "it takes designs, quantities, times, steps, tolerance, method, step,"],
    ),
    (
        'kp.run_many(m, {"rod length": [0.3, "x"]}, "slider.x", 0.1)',
        ["the values of parameter 'rod length' must be numbers, not [0.3, 'x']"],
    ),
    (
        'res["slider.z"]',
        ["there is no quantity 'slider.z' in this result", "did you mean 'slider.y' or 'slider.x' or 'slider.vy'?"],
    ),
    (
        'res["slider"]',
        ["there is no quantity 'slider' in this result", "did you mean 'slider.y' or 'slider.x' or 'slider.vy'?"],
    ),
    (
        'res["sldier.x"]',
        ["there is no quantity 'sldier.x' in this result", "did you mean 'slider.x' or 'slider.vx' or 'slider.ax'?"],
    ),
    (
        'kin["B.force"]',
        [
            "there is no quantity 'B.force' in this result: kinematics knows no forces",
            "simulate and inverse_dynamics find them",
        ],
    ),
    (
        'kin.reaction("B")',
        ["the load of 'B' is not known: simulate and inverse_dynamics find the forces of constraints"],
    ),
    (
        'kin.array("motor.effort")',
        [
            "there is no quantity 'motor.effort' in this result: kinematics knows no forces",
            "simulate and inverse_dynamics find them",
        ],
    ),
    ("kin.energy", ["this result has no energies: they come from simulate"]),
    (
        'res["B.forces"]',
        ["there is no quantity 'B.forces' in this result", "did you mean 'B.force' or 'B.force.y' or 'B.force.x'?"],
    ),
    ('res.reaction("Q")', ["there is no joint, force or driver 'Q' in 'press'", "there is 'O', 'A', 'B', 'way'"]),
    ('res.reaction("B", on="crank")', ["revolute 'B' does not act on 'crank'", "there is 'rod', 'slider'"]),
    ('res["motor.effort"]', ["there is no quantity 'motor.effort' in this result"]),
    ("res.slider", ["a result has no 'slider'", "histories are asked for by name: res['slider.x']"]),
    ("res.at(5.0)", ["a result has no 'at'"]),
    ('res.point("slidr")', ["there is no part 'slidr' in 'press'", "did you mean 'slider'?"]),
    ('res.point("slider", (1, 2, 3))', ["a point of 'slider' must be 2 numbers, not 3 of them"]),
    (
        "res.measure(slider)",
        ["what is measured must be one number, not all of 'slider'", "choose slider.x, slider.y or slider.angle"],
    ),
    (
        'res.measure("slider.x")',
        [
            "what is measured must be a quantity (body.x, body.angle, joint.angle, kp.distance(a, b),",
            "a part is asked of its model by name: m['slider'].x",
        ],
    ),
    ("res[0]", ["there is no quantity '0' in this result"]),
    (
        'res.plot("slider.xx")',
        ["there is no quantity 'slider.xx' in this result", "did you mean 'slider.x' or 'slider.vx' or 'slider.ax'?"],
    ),
    ("res.plot()", ["plot: names must be given", "it takes names"]),
    ('res.plot("slider.x", colour="red")', ["plot: there is no colour=", "it takes names"]),
    ("res.animate()", ["animate: path must be given", "it takes path"]),
    (
        'res.animate(folder / "x.txt")',
        ["cannot animate to 'x.txt': use .gif, .mp4, .html, or no suffix for a folder of PNG frames"],
    ),
    ('kp.load("nowhere.kempe.yaml")', ["nowhere.kempe.yaml: No such file or directory"]),
    ("kp.load(3)", ["a file needs a name, not 3"]),
    ("m.save()", ["save: path must be given", "it takes path, analyses, outputs"]),
    ('kp.resume(m, "nothing.h5")', ["there is no checkpoint file 'nothing.h5'"]),
    ("m.add(crank)", ["what is added must be an element, not body 'crank'"]),
    ("m.add(3)", ["what is added must be an element, not 3"]),
    ('kp.Equations("e", "x")', ["equations 'e': coordinates must be a list of names, not one string"]),
    (
        'kp.Equations("e", ["x"], force=lambda q: [0])',
        ["equations 'e': force: the function is called with (q, v, t, p)", "yours takes (q)"],
    ),
    (
        'kp.Equations("e", ["x"], mass=lambda q, p: 1.0)',
        ["equations 'e': the mass matrix must be 1 rows of 1 expressions"],
    ),
    (
        'kp.Equations("e", ["x"], mass=lambda q, p: [[1.0]], force=lambda q, v, t, p: [0, 0])',
        ["equations 'e': the force has 2 entries for 1 coordinates"],
    ),
    ('kp.Equations("e", ["x"], mass=lambda q, p: [[p.m]])', ["equations 'e': mass: there is no 'm'", "there are none"]),
    (
        'kp.Equations("e", ["x"], mass=lambda q, p: [[1.0]], force=lambda q, v, t, p: [q.y])',
        ["equations 'e': force: there is no 'y'", "there are x"],
    ),
    ("kp.distance(crank, crank)", ["a distance needs points of two parts, not two of 'crank'"]),
    (
        'kp.distance("crank", "rod")',
        [
            "the first end of a distance must be a body, a point, a bar or the ground of this model,",
            "a part is asked of its model by name: m['crank']",
        ],
    ),
    ("kp.angle(crank)", ["angle: j must be given", "it takes i, j"]),
    ("crank.on(3)", ["a point of 'crank' must be 2 numbers, (x, y), not 3"]),
    ("crank.on((1, 2), angel=3)", ["on: there is no angel=", "did you mean angle=?"]),
    ("crank.at_world()", ["at world: point must be given", "it takes point, axis"]),
    (
        'm.revolute("C", ground, slider, at=(5, 5), on_j=(0, 0))\nm.assemble()',
        [
            "cannot assemble 'press': these stay open in the closest pose found: 'C' by 3.059, 'way'",
            "the pose is in .pose",
        ],
    ),
]
