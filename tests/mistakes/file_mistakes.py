"""Mistakes in model files: what stood there, what was written instead, and words that the message must have."""

SOUND = """\
kempe: 1
name: press
gravity: [0, -9.81]
parameters:
  rod length: 0.3
model:
  - body: {name: crank, mass: 0.4, inertia: 0.001, at: [0.05, 0]}
  - body:
      name: rod
      mass: 0.6
      inertia: 0.005
      at: [0.25, 0]
  - body: {name: slider, mass: 0.9, inertia: 0.001, at: [0.4, 0]}
  - revolute: {name: O, i: ground, j: crank, at: [0, 0]}
  - revolute: {name: A, i: crank, j: rod, at: [0.1, 0]}
  - revolute: {name: B, i: rod, j: slider, at: [0.4, 0]}
  - translational: {name: way, i: ground, j: slider, axis: [1, 0]}
  - driver: {name: motor, quantity: crank.angle, motion: {constant_speed: {speed: 5}}}
analyses:
  - kinematics: {times: 1.0, steps: 10}
"""

MISTAKES: list[tuple[str, str, list[str]]] = [
    (
        "      mass: 0.6",
        "\tmass: 0.6",
        ["press.kempe.yaml:10: there is a tab at the beginning of the line", "indent with spaces"],
    ),
    (
        "      mass: 0.6",
        "     mass: 0.6",
        ["press.kempe.yaml:10: 'mass: 0.6' is indented by 5 spaces, the line before it by 6:"],
    ),
    (
        "      mass: 0.6",
        "        mass: 0.6",
        ["press.kempe.yaml:10: 'mass: 0.6' is indented by 8 spaces, the line before it by 6:"],
    ),
    ("mass: 0.6", "mass: 1,5", ["press.kempe.yaml:10: body 'rod': mass: '1,5' is not a number", "write 1.5"]),
    (
        "mass: 0.6",
        "mass: 1.0 kg",
        ["press.kempe.yaml:10: body 'rod': mass: '1.0 kg' is not a number", "write 1.0, without a unit"],
    ),
    (
        "  rod length: 0.3",
        "  rod length: [0.2, 0.4]",
        ["press.kempe.yaml:5: parameter 'rod length' must be a number or an expression or a mapping"],
    ),
    (
        "  rod length: 0.3",
        "  rod length: {value: [0.3]}",
        ["press.kempe.yaml:5: parameter 'rod length': value must be a number or an expression"],
    ),
    ("mass: 0.6", "mass 0.6", ["press.kempe.yaml:10: 'mass' needs a colon and a space behind it, as in 'mass: 1'"]),
    ("mass: 0.6", "mass:0.6", ["press.kempe.yaml:10: 'mass' needs a colon and a space behind it, as in 'mass: 1'"]),
    ("mass: 0.6", "mas: 0.6", ["press.kempe.yaml:10: body 'rod': mas is not known here", "did you mean mass?"]),
    ("mass: 0.6", "mass:", ["press.kempe.yaml:10: body 'rod': mass is empty"]),
    (
        "mass: 0.6",
        "mass: heavy",
        ["press.kempe.yaml:10: body 'rod': mass: unknown name 'heavy' (known: rod length) in 'heavy'"],
    ),
    ("mass: 0.6", "mass: yes", ["press.kempe.yaml:10: body 'rod': mass must be a number or an expression, not True"]),
    ("mass: 0.6", "mass: -0.6", ["press.kempe.yaml:10: body 'rod': mass must be above zero, not -0.6"]),
    ("mass: 0.6", "mass: [1, 2]", ["press.kempe.yaml:10: body 'rod': mass must be a number or an expression"]),
    (
        "mass: 0.6",
        "mass: 2 * rod lenght",
        [
            "press.kempe.yaml:10: body 'rod': mass: '2 * rod lenght' is not an expression",
            "a name with a space in it stands in braces, {rod length} say",
        ],
    ),
    (
        "mass: 0.6",
        "mass: '{rod lenght} * 2'",
        [
            "press.kempe.yaml:10: body 'rod': mass: unknown name 'rod lenght'",
            "did you mean rod length? (known: rod length) in '{rod lenght} * 2'",
        ],
    ),
    ("mass: 0.6", "mass: 2 *", ["press.kempe.yaml:10: body 'rod': mass: '2 *' is not an expression"]),
    ("mass: 0.6", "mass: sin(1", ["press.kempe.yaml:10: body 'rod': mass: 'sin(1' is not an expression"]),
    (
        "mass: 0.6",
        "mass: __import__('os')",
        [
            "press.kempe.yaml:10: body 'rod': mass: only these functions are allowed: sin, cos, tan,",
            "in '__import__('os')'",
        ],
    ),
    (
        "mass: 0.6",
        "mass: 1/0",
        ["press.kempe.yaml:10: body 'rod': mass: '1/0' is or contains a number that is not finite"],
    ),
    ("mass: 0.6", "mass: .nan", ["press.kempe.yaml:10: body 'rod': mass must be finite, not nan"]),
    ("mass: 0.6", "mass: 1e999", ["press.kempe.yaml:10: body 'rod': mass: '1e999' is not a number", "write 1e999"]),
    ("steps: 10", "steps: 0", ["press.kempe.yaml:20: kinematics: steps must be at least 1, not 0"]),
    ("steps: 10", "steps: ten", ["press.kempe.yaml:20: kinematics: steps must be a whole number, not 'ten'"]),
    ("steps: 10", "steps: 10.5", ["press.kempe.yaml:20: kinematics: steps must be a whole number, not 10.5"]),
    ("steps: 10", "stpes: 10", ["press.kempe.yaml:20: kinematics: stpes is not known here", "did you mean steps?"]),
    (
        "times: 1.0",
        "times: {end: -1}",
        ["press.kempe.yaml:20: kinematics: times must end after they start, which is at 0, not at -1"],
    ),
    ("times: 1.0", "times: -1", ["press.kempe.yaml:20: kinematics: times must be above zero, not -1"]),
    ("times: 1.0", "times: [0, 1, 1]", ["press.kempe.yaml:20: kinematics: times must increase, but 1 follows 1"]),
    (
        "times: 1.0",
        "times: {start: 2, end: 1}",
        ["press.kempe.yaml:20: kinematics: times must end after they start, which is at 2, not at 1"],
    ),
    ("times: 1.0", "times: {stop: 1}", ["press.kempe.yaml:20: kinematics: times end is missing"]),
    ("times: 1.0", "time: 1.0", ["press.kempe.yaml:20: kinematics: times is missing"]),
    ("times: 1.0, ", "", ["press.kempe.yaml:20: kinematics: times is missing"]),
    (
        "times: 1.0",
        "times: 1 s",
        ["press.kempe.yaml:20: kinematics: times must be a number, not '1 s'", "write 1, without a unit"],
    ),
    (
        "  - kinematics: {times: 1.0, steps: 10}",
        "  kinematics: {times: 1.0, steps: 10}",
        ["press.kempe.yaml:19: analyses must be a list: in brackets, or lines that begin with '- '"],
    ),
    (
        "  - kinematics: {times: 1.0, steps: 10}",
        "  - kinematic: {times: 1.0, steps: 10}",
        ["press.kempe.yaml:20: kinematic is not known here", "did you mean kinematics?"],
    ),
    (
        "  - kinematics: {times: 1.0, steps: 10}",
        "  - simulate: {times: 1.0, tolernace: 1.0e-6}",
        ["press.kempe.yaml:20: simulate: tolernace is not known here", "did you mean tolerance?"],
    ),
    (
        "  - kinematics: {times: 1.0, steps: 10}",
        "  - simulate: {times: 1.0, method: radua}",
        ["press.kempe.yaml:20: there is no method 'radua'", "did you mean 'radau'?"],
    ),
    (
        "  - kinematics: {times: 1.0, steps: 10}",
        "  - simulate: {times: 1.0, velocities: {crank.omga: 3}}",
        ["press.kempe.yaml:20: there is no velocity 'crank.omga'", "did you mean crank.omega?"],
    ),
    (
        "  - kinematics: {times: 1.0, steps: 10}",
        "  - simulate: {times: 1.0, parameters: {rod lenght: 3}}",
        ["press.kempe.yaml:20: there is no parameter 'rod lenght'", "did you mean rod length?"],
    ),
    ("kempe: 1\n", "", ["press.kempe.yaml: a model file of this version says 'kempe: 1'"]),
    ("kempe: 1", "kempe: 2", ["press.kempe.yaml: a model file of this version says 'kempe: 1'"]),
    ("kempe: 1", "kemp: 1", ["press.kempe.yaml: a model file of this version says 'kempe: 1'"]),
    ("name: press\n", "", ["press.kempe.yaml:1: name is missing"]),
    ("gravity: [0, -9.81]", "gravity: -9.81", ["press.kempe.yaml:3: gravity must be a list of two numbers, not -9.81"]),
    ("gravity: [0, -9.81]", "gravity: [0, -9.81, 0]", ["press.kempe.yaml:3: gravity must be a list of two numbers"]),
    (
        "gravity: [0, -9.81]",
        "gravty: [0, -9.81]",
        ["press.kempe.yaml:3: gravty is not known here", "did you mean gravity?"],
    ),
    ("gravity: [0, -9.81]", "gravity: [0; -9.81]", ["press.kempe.yaml:3: gravity must be a list of two numbers"]),
    (
        "rod length: 0.3",
        "rod length: 0,3",
        ["press.kempe.yaml:5: parameter 'rod length': Tuple is not allowed in '0,3'"],
    ),
    (
        "rod length: 0.3",
        "rod length: long",
        ["press.kempe.yaml:5: parameter 'rod length': unknown name 'long' (known: none) in 'long'"],
    ),
    (
        "rod length: 0.3",
        "rod length: {value: 0.3, bound: [0, 1]}",
        ["press.kempe.yaml:5: parameter 'rod length': bound is not known here", "did you mean bounds?"],
    ),
    (
        "rod length: 0.3",
        "rod length: {value: 0.3, bounds: [1, 2]}",
        ["press.kempe.yaml:5: parameter 'rod length': the value 0.3 is outside its bounds (1.0, 2.0)"],
    ),
    ("rod length: 0.3", "rod length: 0.3\n  rod length: 0.4", ["press.kempe.yaml:6: 'rod length' is given twice"]),
    (
        "j: crank, at: [0, 0]",
        "j: crnak, at: [0, 0]",
        ["press.kempe.yaml:14: revolute 'O': j: there is no part 'crnak'", "did you mean 'crank'?"],
    ),
    ("j: crank, at: [0, 0]", "k: crank, at: [0, 0]", ["press.kempe.yaml:14: revolute 'O': j is missing"]),
    (
        "j: crank, at: [0, 0]",
        "j: crank, at: [0 0]",
        ["press.kempe.yaml:14: revolute 'O': at must be a list of two numbers"],
    ),
    (
        "j: crank, at: [0, 0]",
        "j: crank, at: (0, 0)",
        ["press.kempe.yaml:14: revolute 'O': at must be a list of two numbers, not '(0'"],
    ),
    (
        "j: crank, at: [0, 0]",
        "j: crank, at: 0",
        ["press.kempe.yaml:14: revolute 'O': at must be a list of two numbers, not 0"],
    ),
    (
        "j: crank, at: [0, 0]",
        "j: crank",
        ["press.kempe.yaml:14: revolute joint 'O': say where it is: at=(x, y) in the drawn pose, or"],
    ),
    (
        "j: crank, at: [0, 0]",
        "j: crank, att: [0, 0]",
        ["press.kempe.yaml:14: revolute 'O': att is not known here", "did you mean at?"],
    ),
    (
        "j: crank, at: [0, 0]",
        "j: crank, at: [0, 0], on_i: [0, 0], on_j: [0, 0]",
        ["press.kempe.yaml:14: revolute joint 'O': give at=, or on_i= and on_j=, but not all three"],
    ),
    (
        "j: crank, at: [0, 0]}",
        "j: crank, at: [0, 0]",
        ["press.kempe.yaml:14: a bracket '{' is opened here and never closed, in '- revolute:"],
    ),
    (
        "revolute: {name: O",
        "revolut: {name: O",
        ["press.kempe.yaml:14: revolut is not known here", "did you mean revolute?"],
    ),
    (
        "revolute: {name: O",
        "hinge: {name: O",
        ["press.kempe.yaml:14: hinge is not known here", "did you mean revolute?"],
    ),
    ("revolute: {name: O", "revolute: {name: A", ["press.kempe.yaml:15: the name 'A' is already taken by a revolute"]),
    ("revolute: {name: O, ", "revolute: {", ["press.kempe.yaml:14: revolute: name is missing"]),
    (
        "name: way",
        "name: way.x",
        ["press.kempe.yaml:17: the name 'way.x' contains a dot, which separates part and quantity"],
    ),
    (
        "quantity: crank.angle",
        "quantity: crank",
        [
            "press.kempe.yaml:18: driver 'motor': what it drives must be one number, not all of 'crank'",
            "choose crank.x, crank.y or crank.angle",
        ],
    ),
    (
        "quantity: crank.angle",
        "quantity: crank.theta",
        [
            "press.kempe.yaml:18: driver 'motor': quantity: 'crank' has no quantity 'theta'",
            "choose crank.x, crank.y or crank.angle",
        ],
    ),
    (
        "quantity: crank.angle",
        "quantity: crnak.angle",
        ["press.kempe.yaml:18: driver 'motor': quantity: there is no part or joint 'crnak'", "did you mean 'crank'?"],
    ),
    (
        "quantity: crank.angle",
        "quantity: crank.omega",
        [
            "press.kempe.yaml:18: driver 'motor': quantity: 'crank' has no quantity 'omega'",
            "choose crank.x, crank.y or crank.angle",
        ],
    ),
    (
        "constant_speed: {speed: 5}",
        "constant_sped: {speed: 5}",
        ["press.kempe.yaml:18: driver 'motor': motion must be a number, an expression of t, or one"],
    ),
    (
        "constant_speed: {speed: 5}",
        "constant_speed: {sped: 5}",
        ["press.kempe.yaml:18: driver 'motor': motion constant_speed takes speed, start"],
    ),
    (
        "constant_speed: {speed: 5}",
        "constant_speed: {}",
        ["press.kempe.yaml:18: driver 'motor': motion: constant_speed: speed must be given", "it takes speed, start"],
    ),
    (
        "constant_speed: {speed: 5}",
        "constant_speed: 5",
        ["press.kempe.yaml:18: driver 'motor': motion constant_speed takes speed, start"],
    ),
    (
        "{constant_speed: {speed: 5}}",
        "5 * tt",
        [
            "press.kempe.yaml:18: driver 'motor': motion: unknown name 'tt'",
            "did you mean t? (known: rod length, t) in '5 * tt'",
        ],
    ),
    (
        "{constant_speed: {speed: 5}}",
        "sine(t)",
        ["press.kempe.yaml:18: driver 'motor': motion: only these functions are allowed: sin, cos,", "in 'sine(t)'"],
    ),
    (
        "axis: [1, 0]",
        "axis: [0, 0]",
        ["press.kempe.yaml:17: translational 'way': an axis on 'ground' must not be the zero vector"],
    ),
    (
        "axis: [1, 0]",
        "axis: x",
        ["press.kempe.yaml:17: translational 'way': axis must be a list of two numbers, not 'x'"],
    ),
    ("model:\n", "models:\n", ["press.kempe.yaml:6: models is not known here", "did you mean model?"]),
    ("model:\n", "model\n", ["press.kempe.yaml:6: 'model' needs a colon and a space behind it, as in 'model: 1'"]),
    (
        "  - body: {name: crank",
        "- body: {name: crank",
        ["press.kempe.yaml:8: '- body:' is indented by 2 spaces, the line before it by 0: entries"],
    ),
    (
        "  - body: {name: crank",
        "  - body: {name: crank}\n    point: {name: P}\n  - body: {name: cranky",
        ["press.kempe.yaml:7: an entry has exactly one key, such as body or revolute"],
    ),
    ("  - body: {name: crank", "  - {name: crank", ["press.kempe.yaml:7: name is not known here"]),
    (
        "  - body: {name: crank",
        "  - body {name: crank",
        ["press.kempe.yaml:7: 'body' needs a colon and a space behind it, as in 'body: 1'"],
    ),
    (
        "  - body: {name: crank",
        "  - Body: {name: crank",
        ["press.kempe.yaml:7: Body is not known here", "did you mean body?"],
    ),
    (
        "  - driver:",
        "  - spring: {name: s, i: ground, j: crank, stifness: 5}\n  - driver:",
        ["press.kempe.yaml:18: spring 's': stifness is not known here", "did you mean stiffness?"],
    ),
    (
        "  - driver:",
        "  - spring: {name: s, i: ground, j: crank, stiffness: 5, at: [0, 0]}\n  - driver:",
        [
            "press.kempe.yaml:18: spring 's': at is not known here: it has two ends",
            "give on_i and on_j in the parts' own axes",
        ],
    ),
    (
        "  - driver:",
        "  - spring: {name: s, i: ground, j: crank, law: 3 * s.lenght}\n  - driver:",
        [
            "press.kempe.yaml:18: spring 's': law: unknown name 's.lenght'",
            "did you mean s.length? (known: rod length, s.length, s.rate, t) in '3",
        ],
    ),
    (
        "  - driver:",
        "  - force: {name: s, part: crank, force: 5}\n  - driver:",
        ["press.kempe.yaml:18: force 's': force must be a list of two numbers, expressions of t, or"],
    ),
    (
        "  - driver:",
        "  - force: {name: s, part: crank, force: [0, 1], at: [0, 0], on: [0, 0]}\n  - driver:",
        ["press.kempe.yaml:18: force 's': give at=, a world point of the drawn pose, or on=, in the"],
    ),
    (
        "  - driver:",
        "  - constraint: {name: s, equations: crank.x - 1}\n  - driver:",
        ["press.kempe.yaml:18: constraint 's': equations must be a list of texts, not 'crank.x - 1'"],
    ),
    (
        "  - driver:",
        "  - constraint: {name: s, equations: [crank.x - 1 =]}\n  - driver:",
        ["press.kempe.yaml:18: constraint 's': 'crank.x - 1 =' is not an expression"],
    ),
    (
        "  - driver:",
        "  - constraint: {name: s, equations: [crank.x == 1]}\n  - driver:",
        ["press.kempe.yaml:18: constraint 's': an equation is written as what must be zero, a - b,"],
    ),
    (
        "  - driver:",
        "  - constraint: {name: s, equations: [crank.vx - 1]}\n  - driver:",
        [
            "press.kempe.yaml:18: constraint 's': unknown name 'crank.vx'",
            "did you mean crank.x? (known: rod length, crank.x, crank.y,",
        ],
    ),
    (
        "  - driver:",
        "  - user_force: {name: s, forces: {crank.omega: 1}}\n  - driver:",
        ["press.kempe.yaml:18: user force 's': there is no coordinate 'crank.omega'"],
    ),
    (
        "  - driver:",
        "  - user_force: {name: s, forces: {crank.angle: crnak.omega}}\n  - driver:",
        [
            "press.kempe.yaml:18: user force 's': unknown name 'crnak.omega'",
            "did you mean crank.omega? (known: rod length, crank.x, crank.y,",
        ],
    ),
    (
        "  - driver:",
        "  - gear: {name: s, i: crank, j: rod, teeth: 20}\n  - driver:",
        ["press.kempe.yaml:18: gear 's': teeth must be a list of two numbers, not 20"],
    ),
    (
        "  - driver:",
        "  - cam_roller: {name: s, i: crank, j: slider, radius: 1, profile: circle}\n  - driver:",
        ["press.kempe.yaml:18: cam_roller 's': profile must be {curve: {x: ..., y: ..., span: [a,"],
    ),
    (
        "j: slider, axis: [1, 0]}",
        "j: slider, axis: [1, 0], friction: -0.1}",
        ["press.kempe.yaml:17: translational joint 'way': friction must not be below zero, not -0.1"],
    ),
    (
        "j: slider, axis: [1, 0]}",
        "j: slider, axis: [1, 0], friction: {coulom: {kinetic: 0.1}}}",
        ["friction must be a coefficient, or a law with its numbers: one of coulomb, threlfall"],
    ),
    (
        "j: slider, axis: [1, 0]}",
        "j: slider, axis: [1, 0], friction: {coulomb: {mu: 0.1}}}",
        ["friction coulomb takes kinetic, static, stribeck, viscous"],
    ),
    (
        "j: slider, axis: [1, 0]}",
        "j: slider, axis: [1, 0], friction: {coulomb: {kinetic: 0.3, static: 0.2}}}",
        ["press.kempe.yaml:17: translational 'way': friction: Coulomb friction: the static coefficient (0.2)"],
    ),
    (
        "j: slider, at: [0.4, 0]}",
        "j: slider, at: [0.4, 0], clearance: 0.001, contact: {herz: {stiffness: 1.0e9}}}",
        ["press.kempe.yaml:16: revolute 'B': contact must be a law with its numbers", "did you mean 'hertz'?"],
    ),
    (
        "j: slider, at: [0.4, 0]}",
        "j: slider, at: [0.4, 0], clearance: 0.001, contact: {hertz: {stifness: 1.0e9}}}",
        ["press.kempe.yaml:16: revolute 'B': contact hertz takes stiffness, youngs", "did you mean 'stiffness'?"],
    ),
    (
        "j: slider, at: [0.4, 0]}",
        "j: slider, at: [0.4, 0], clearance: 0.001, contact: {contact_law: {force: 1.0e9 * deepth}}}",
        ["press.kempe.yaml:16: revolute 'B': contact: unknown name 'deepth'; did you mean depth?"],
    ),
    (
        "j: slider, axis: [1, 0]}",
        "j: slider, axis: [1, 0], friction: muu}",
        ["press.kempe.yaml:17: translational 'way': friction: unknown name 'muu'"],
    ),
    (
        "j: crank, at: [0, 0]}",
        "j: crank, at: [0, 0], friction: 0.1}",
        ["press.kempe.yaml:14: revolute joint 'O': friction acts on the surface of the pin: give its radius= too"],
    ),
    (
        "  - driver:",
        "  - friction: {name: f, quantity: slider.x, friction: 0.1, normal: {load: BB}}\n  - driver:",
        ["press.kempe.yaml:18: friction 'f': normal: there is no joint 'BB'", "did you mean 'B'?"],
    ),
    (
        "  - driver:",
        "  - friction: {name: f, quantity: slider.x, friction: 0.1, normal: [1, 2]}\n  - driver:",
        ["press.kempe.yaml:18: friction 'f': normal must be a number, an expression of t, or one of"],
    ),
    (
        "  - driver:",
        "  - stop: {name: s, quantity: slider.x, limit: 0.5, restitution: 1.5}\n  - driver:",
        ["press.kempe.yaml:18: stop 's': a restitution is between 0 and 1, not 1.5"],
    ),
    (
        "  - driver:",
        "  - circle_contact: {name: c, i: rod, j: slider, radii: [0.1, 0.1], inside: 1}\n  - driver:",
        ["press.kempe.yaml:18: circle_contact 'c': inside must be true or false"],
    ),
    (
        "  - driver:",
        "  - impulse: {name: h, part: crank, time: 0.1, force: 3}\n  - driver:",
        ["press.kempe.yaml:18: impulse 'h': force must be a list of two numbers"],
    ),
    (
        "analyses:",
        "outputs: {plot: [crank.x]}\nanalyses:",
        ["press.kempe.yaml:19: outputs plot is not known here", "did you mean plots?"],
    ),
    (
        "analyses:",
        "outputs: {plots: crank.x}\nanalyses:",
        ["press.kempe.yaml:19: outputs plots must be a list: in brackets, or lines that begin with"],
    ),
    (
        "analyses:",
        "outputs: {plots: [crank.xx]}\nanalyses:",
        ["press.kempe.yaml:19: plots: there is no 'crank.xx'", "did you mean crank.x?"],
    ),
    (
        "revolute: {name: A,",
        "spherical: {name: A,",
        ["press.kempe.yaml:15: spherical is not known here: it is of mechanisms in space, which say dim: 3"],
    ),
    (
        "name: press",
        "name: press\ndim: 3",
        ["press.kempe.yaml:4: gravity must be a list of three numbers"],
    ),
    ("name: press", "name: press\ndim: 1", ["press.kempe.yaml:3: dim is 2, for a planar mechanism, or 3, not 1"]),
    ("analyses:", "analysis:", ["press.kempe.yaml:19: analysis is not known here", "did you mean analyses?"]),
    ("analyses:", "name: again\nanalyses:", ["press.kempe.yaml:19: 'name' is given twice"]),
]
