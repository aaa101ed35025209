"""Models that are described in Python: parts, joints, the builder, and changing a model afterwards."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lithe

ONE_DOF = {
    "revolute": lambda: lithe.revolute("j", [0, 1, 0]),
    "prismatic": lambda: lithe.prismatic("j", [1, 0, 0]),
    "screw": lambda: lithe.screw("j", [0, 0, 1], 0.1),
}
ALL_JOINTS = {
    **{name: (make, 1, 1) for name, make in ONE_DOF.items()},
    "ball": (lambda: lithe.ball("j"), 4, 3),
    "free": (lambda: lithe.free_joint("j"), 7, 6),
    "planar": (lambda: lithe.planar("j"), 3, 3),
    "translational": (lambda: lithe.translational("j"), 3, 3),
    "universal": (lambda: lithe.universal("j", [1, 0, 0], [0, 1, 0]), 2, 2),
    "euler": (lambda: lithe.euler("j", [0, 0, 1], [0, 1, 0], [1, 0, 0]), 3, 3),
    "cylindrical": (lambda: lithe.cylindrical("j", [0, 0, 1]), 2, 2),
    "weld": (lithe.weld, 0, 0),
}


def pendulum(mass=1.0, length=1.0):
    rod = lithe.Body("rod", inertia=lithe.SpatialInertia.point(mass, [0, 0, -length]))
    return lithe.ModelBuilder().add_body("world", rod, lithe.revolute("hinge", [0, 1, 0])).build()


def solid(name="body"):
    return lithe.Body(name, lithe.SpatialInertia.box(2.0, [0.1, 0.2, 0.3]))


def test_a_pendulum_feels_its_weight():
    model = pendulum(mass=2.0, length=0.5)
    assert (model.nq, model.nv, model.total_mass) == (1, 1, 2.0)
    torque = lithe.rnea(model, [0.7], [0.0], [0.0])
    np.testing.assert_allclose(torque, [2.0 * 9.81 * 0.5 * math.sin(0.7)], rtol=1e-14)
    np.testing.assert_allclose(lithe.mass_matrix(model, [0.7]), [[2.0 * 0.25]], rtol=1e-14)


def test_calls_of_the_builder_can_be_chained_and_return_the_builder_itself():
    builder = lithe.ModelBuilder()
    assert builder.set_gravity([0, 0, -1]) is builder
    assert builder.add_body("world", solid("a"), lithe.revolute("j", [0, 0, 1])) is builder
    assert builder.add_body("a", solid("b"), lithe.revolute("k", [0, 0, 1])) is builder
    assert builder.add_shape("a", lithe.Shape("s", lithe.Sphere(0.1))) is builder
    assert builder.add_frame("a", lithe.Frame("f")) is builder
    assert builder.add_motor("j", lithe.velocity_motor("m")) is builder
    assert builder.add_mimic("k", "j", lithe.Mimic("mimic")) is builder
    assert builder.add_loop("world", "b", lithe.LoopClosure("l")) is builder
    assert builder.set_collision("a", "b", True) is builder
    model = builder.build()
    assert model.body_names == ["world", "a", "b"]
    assert (model.joint_names, model.shape_names, model.frame_names) == (["j", "k"], ["s"], ["f"])
    assert (model.motor_names, model.loop_names, model.mimic_names) == (["m"], ["l"], ["mimic"])
    assert model.pair_exceptions == [(1, 2, True)]
    np.testing.assert_array_equal(model.gravity, [0, 0, -1])


@pytest.mark.parametrize("kind", ALL_JOINTS)
def test_every_joint_has_its_degrees_of_freedom(kind):
    make, nq, nv = ALL_JOINTS[kind]
    model = lithe.ModelBuilder().add_body("world", solid(), make()).build()
    assert (model.nq, model.nv) == (nq, nv)
    assert sum(joint.nq for joint in model.joints) == nq
    assert all(joint.body == 1 for joint in model.joints)


def test_compositions_name_their_parts_after_the_whole():
    assert [joint.name for joint in lithe.free_joint("root")] == ["root.x", "root.y", "root.z", "root.ball"]


def test_properties_of_a_joint_are_keyword_arguments_and_attributes():
    values = {
        "lower": -1.0,
        "upper": 2.0,
        "stiffness": 3.0,
        "rest": 0.5,
        "damping": 0.1,
        "armature": 0.2,
        "dry_friction": 0.3,
        "effort_limit": 40.0,
        "velocity_limit": 5.0,
    }
    for joint in [lithe.revolute("j", [0, 1, 0], **values), lithe.Joint("j", "revolute", [0, 1, 0], **values)]:
        model = lithe.ModelBuilder().add_body("world", solid(), joint).build()
        for name, value in values.items():
            assert getattr(joint, name) == value
            assert getattr(model.joints[0], name) == value
            assert model[f"joint/j/{name}"] == value


@pytest.mark.parametrize("make", ONE_DOF.values(), ids=ONE_DOF)
def test_placement_is_a_pose_a_translation_or_a_transform(make):
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    transform = np.eye(4)
    transform[:3, :3], transform[:3, 3] = turn, [1, 2, 3]
    for placement in [lithe.Pose(R=turn, p=[1, 2, 3]), transform]:
        joint = make()
        joint.placement = placement
        np.testing.assert_array_equal(joint.placement.R, turn)
        np.testing.assert_array_equal(joint.placement.p, [1, 2, 3])
    for placement in [[1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3], np.float32)]:
        np.testing.assert_array_equal(lithe.revolute("j", [0, 0, 1], placement).placement.p, [1, 2, 3])
    np.testing.assert_array_equal(lithe.revolute("j", [0, 0, 1]).placement.p, [0, 0, 0])


@pytest.mark.parametrize("placement", [[1, 2], np.eye(3), np.ones((4, 4)), "here", 1.0])
def test_a_placement_of_another_shape_is_refused_by_name(placement):
    with pytest.raises(ValueError, match="placement"):
        lithe.revolute("j", [0, 0, 1], placement)


def test_placements_move_the_body():
    model = lithe.ModelBuilder().add_body("world", solid(), lithe.prismatic("j", [1, 0, 0], [0, 0, 2])).build()
    np.testing.assert_allclose(lithe.body_pose(model, [0.5], "body").p, [0.5, 0, 2])


def test_geometry_compares_by_value_and_has_no_hash():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    for make in [
        lambda: lithe.Sphere(0.1),
        lambda: lithe.Capsule(0.1, 0.2),
        lambda: lithe.Box([1, 2, 3]),
        lambda: lithe.Cylinder(radius=0.1, half_length=0.2),
        lambda: lithe.Plane(),
        lambda: lithe.ConvexMesh(points),
    ]:
        assert make() == make()
        assert make() != lithe.Sphere(0.7)
        assert make() != 1
        with pytest.raises(TypeError, match="hash"):
            hash(make())
    assert lithe.Sphere(0.1) != lithe.Sphere(0.2)
    np.testing.assert_array_equal(lithe.ConvexMesh(points).points, points)


def test_shapes_keep_geometry_and_surface():
    shape = lithe.Shape(
        "foot",
        lithe.Box([0.1, 0.2, 0.3]),
        [0, 0, -1],
        material=lithe.Material(friction=0.7, restitution=0.2),
        margin=0.01,
        filter=lithe.CollisionFilter(groups=2, mask=5),
    )
    model = lithe.ModelBuilder().add_body("world", solid(), lithe.free_joint("root")).add_shape("body", shape).build()
    kept = model.shapes[0]
    assert kept.geometry == lithe.Box([0.1, 0.2, 0.3])
    assert (kept.material.friction, kept.material.restitution, kept.margin) == (0.7, 0.2, 0.01)
    assert kept.filter == lithe.CollisionFilter(groups=2, mask=5)
    assert kept.body == 1
    np.testing.assert_array_equal(kept.placement.p, [0, 0, -1])
    shape.material.friction = 0.1
    assert shape.material.friction == 0.1 and model.shapes[0].material.friction == 0.7


def test_enumerations_are_strings():
    assert lithe.revolute("j", [0, 0, 1]).type == "revolute" == lithe.JointType.revolute
    assert lithe.Joint("j", lithe.JointType.ball).type == "ball"
    assert lithe.position_servo("m").target == "position"
    assert lithe.Motor("m", "position", stiffness=1).target == lithe.MotorTarget.position
    assert lithe.LoopClosure("l", "weld").kind == "weld"
    with pytest.raises(ValueError, match="type: expected one of 'revolute', 'prismatic', 'screw', 'ball', got 'hinge'"):
        lithe.Joint("j", "hinge")
    with pytest.raises(ValueError, match="kind: expected one of"):
        lithe.LoopClosure("l", 3)


def test_vectors_of_parts_are_read_only_copies():
    joint = lithe.revolute("j", [0, 1, 0])
    before = joint.axis
    with pytest.raises(ValueError, match="read-only"):
        before[0] = 1
    joint.axis = [1, 0, 0]
    np.testing.assert_array_equal(before, [0, 1, 0])
    np.testing.assert_array_equal(joint.axis, [1, 0, 0])
    model = pendulum()
    gravity = model.gravity
    with pytest.raises(ValueError, match="read-only"):
        gravity[2] = 0
    model.gravity = [0, 0, 0]
    np.testing.assert_array_equal(gravity, [0, 0, -9.81])


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (lambda: lithe.Body("arm", lithe.SpatialInertia.point(2, [0, 0, 0])), ["arm", "2 kg"]),
        (lambda: lithe.revolute("knee", [0, 1, 0], upper=1.5), ["knee", "revolute", "[0, 1, 0]", "1.5"]),
        (lambda: lithe.prismatic("rail", [1, 0, 0]), ["rail", "prismatic", "along"]),
        (lambda: lithe.ball("hip"), ["hip", "ball"]),
        (lambda: lithe.Shape("foot", lithe.Sphere(0.25)), ["foot", "Sphere", "0.25"]),
        (lambda: lithe.Capsule(0.1, 0.2), ["Capsule", "0.1", "0.2"]),
        (lambda: lithe.ConvexMesh(np.eye(4, 3)), ["ConvexMesh", "4 points"]),
        (lambda: lithe.Material(0.5), ["Material", "0.5"]),
        (lambda: lithe.CollisionFilter(), ["CollisionFilter", "0xffffffff"]),
        (lambda: lithe.Frame("tip", [0, 0, 1]), ["tip", "[0, 0, 1]"]),
        (lambda: lithe.position_servo("servo", max_effort=7), ["servo", "position", "7"]),
        (lambda: lithe.LoopClosure("loop", "weld"), ["loop", "weld"]),
        (lambda: lithe.Mimic("gear", -2), ["gear", "-2"]),
    ],
)
def test_parts_say_what_they_are(part, words):
    assert all(word in repr(part()) for word in words), repr(part())


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda b: b.add_body("wrold", solid("x"), lithe.ball("j")).build(), "unknown parent 'wrold'.*world"),
        (lambda b: b.add_body("world", solid("world")), "'world'"),
        (lambda b: b.add_body("world", lithe.Body("")), "empty name"),
        (lambda b: b.add_body("b", solid("a")).add_body("a", solid("b")).build(), "cycle"),
        (lambda b: b.add_body("world", solid("a")).add_body("world", solid("a")).build(), "two bodies named 'a'"),
        (lambda b: b.add_body("world", lithe.Body("x"), lithe.ball("j")).build(), "joint 'j' moves no mass"),
        (lambda b: b.add_body("world", solid("x"), lithe.revolute("j", [0, 0, 0])), "joint 'j': axis"),
        (lambda b: b.add_body("world", solid("x"), lithe.revolute("j", [0, 0, 1], lower=2, upper=1)), "inverted"),
        (lambda b: b.add_body("world", lithe.Body("x", lithe.SpatialInertia.sphere(-1, 1))), "body 'x': mass is -1"),
        (lambda b: b.add_body("world", solid("x"), lithe.revolute("j", [0, 0, 1], damping=math.nan)), "damping is nan"),
        (lambda b: b.add_shape("world", lithe.Shape("s", lithe.Sphere(-1))), "shape 's': radius"),
        (lambda b: b.add_shape("x", lithe.Shape("s", lithe.Plane())).build(), "shape 's' names an unknown body 'x'"),
        (lambda b: b.add_motor("x", lithe.velocity_motor("m")).build(), "motor 'm' names an unknown joint 'x'"),
        (lambda b: b.set_gravity([0, 0, math.nan]), "gravity"),
        (lambda b: b.set_gravity([0, 0]), r"gravity: expected shape \(3,\), got \(2,\)"),
    ],
)
def test_what_cannot_be_is_refused_with_names(build, words):
    with pytest.raises(ValueError, match=words):
        build(lithe.ModelBuilder())


def test_wrong_types_are_type_errors():
    builder = lithe.ModelBuilder()
    for call in [
        lambda: builder.add_body("world", "arm"),
        lambda: builder.add_body("world", solid(), [1]),
        lambda: builder.add_shape("world", lithe.Sphere(1)),
        lambda: lithe.Shape("s", 1.0),
        lambda: lithe.Body(3),
        lambda: lithe.Model(),
    ]:
        with pytest.raises(TypeError):
            call()


def test_a_refused_part_leaves_the_builder_as_it_was():
    builder = lithe.ModelBuilder().add_body("world", solid(), lithe.ball("j"))
    with pytest.raises(lithe.Error):
        builder.add_shape("body", lithe.Shape("s", lithe.Sphere(-1)))
    assert builder.build().shape_names == []


def test_builders_can_be_added_to_one_another_and_to_themselves():
    arm = lithe.ModelBuilder(pendulum())
    both = lithe.ModelBuilder().add(arm, "left/").add(pendulum(), "right/", placement=[0, 1, 0])
    model = both.add(both, "copy/").build()
    names = ["left/rod", "right/rod", "copy/left/rod", "copy/right/rod"]
    assert model.body_names == ["world", *names]
    np.testing.assert_array_equal(lithe.body_pose(model, np.zeros(4), "copy/right/rod").p, [0, 1, 0])


def test_model_parts_are_copies_and_setters_put_them_back():
    model = pendulum()
    joint = model.joints[0]
    joint.damping = 2.0
    assert model["joint/hinge/damping"] == 0
    model.set_joint("hinge", joint)
    assert model["joint/hinge/damping"] == 2
    model.set_joint(0, lithe.revolute("any name", [1, 0, 0]))
    assert model.joints[0].name == "hinge" and model["joint/hinge/damping"] == 0
    model.set_inertia("rod", lithe.SpatialInertia.sphere(3, 0.1))
    assert model.bodies[1].inertia.mass == 3
    model.set_body_placement("rod", [0, 0, 1])
    np.testing.assert_array_equal(lithe.body_pose(model, [0.0], "rod").p, [0, 0, 1])


def test_a_setter_that_refuses_changes_nothing():
    model = pendulum()
    for change in [
        lambda: model.set_joint("hinge", lithe.prismatic("hinge", [0, 1, 0])),
        lambda: model.set_joint("hinge", lithe.revolute("hinge", [0, 1, 0], damping=-1)),
        lambda: model.set_inertia("rod", lithe.SpatialInertia()),
        lambda: model.set_inertia("world", lithe.SpatialInertia.sphere(1, 1)),
        lambda: model.set_joint("knee", model.joints[0]),
        lambda: model.set_joint(1, model.joints[0]),
        lambda: model.set_joint(-1, model.joints[0]),
    ]:
        with pytest.raises(lithe.Error):
            change()
    assert (model.joints[0].type, model.joints[0].damping, model.total_mass) == ("revolute", 0, 1)


def test_every_setter_reaches_its_part():
    rod = lithe.SpatialInertia.box(1, [0.1, 0.1, 1])
    model = (
        lithe.ModelBuilder()
        .add_body("world", lithe.Body("a", rod), lithe.revolute("ja", [0, 1, 0]))
        .add_body("a", lithe.Body("b", rod), lithe.revolute("jb", [0, 1, 0], [0, 0, 1]))
        .add_shape("b", lithe.Shape("s", lithe.Sphere(0.1)))
        .add_frame("b", lithe.Frame("f"))
        .add_motor("jb", lithe.velocity_motor("m"))
        .add_loop("world", "b", lithe.LoopClosure("l"))
        .add_mimic("jb", "ja", lithe.Mimic("mimic"))
        .build()
    )
    model.set_shape("s", lithe.Shape("s", lithe.Sphere(0.5), material=lithe.Material(0.3)))
    model.set_frame_placement("f", [0, 0, 2])
    model.set_motor("m", lithe.velocity_motor("m", max_effort=3))
    model.set_loop("l", lithe.LoopClosure("l", "ball", [1, 0, 0]))
    model.set_mimic("mimic", lithe.Mimic("mimic", -1, 0.5))
    assert model.shapes[0].geometry == lithe.Sphere(0.5) and model["shape/s/friction"] == 0.3
    np.testing.assert_array_equal(model.frames[0].placement.p, [0, 0, 2])
    assert model.motors[0].max_effort == 3
    assert model["loop/l/ax"] == 1
    assert (model.mimics[0].multiplier, model.mimics[0].offset) == (-1, 0.5)
    assert (model.mimics[0].joint, model.mimics[0].source) == (1, 0)
    assert (model.loop("l"), model.mimic("mimic"), model.loops[0].a, model.loops[0].b) == (0, 0, 0, 2)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(sorted(set(ALL_JOINTS) - {"weld"})), min_size=1, max_size=5), st.integers(0, 2**32 - 1))
def test_any_chain_of_joints_inverts_its_dynamics(kinds, seed):
    rng = np.random.default_rng(seed)
    builder = lithe.ModelBuilder()
    parent = "world"
    for k, kind in enumerate(kinds):
        joints = ALL_JOINTS[kind][0]()
        joints = joints if isinstance(joints, list) else [joints]
        for joint in joints:
            joint.name = f"{k}/{joint.name}"
            joint.armature = 0.1
        joints[0].placement = rng.normal(size=3)
        builder.add_body(parent, solid(f"body{k}"), joints)
        parent = f"body{k}"
    model = builder.build()
    q = lithe.random_configuration(model, seed)
    v, a = rng.normal(size=(2, model.nv))
    tau = lithe.rnea(model, q, v, a)
    np.testing.assert_allclose(lithe.aba(model, q, v, tau), a, atol=1e-8 * (1 + np.abs(a).max()))
