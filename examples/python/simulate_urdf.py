"""Simulates a robot from a URDF file: a cart on two wheels drops onto the ground, drives straight and turns."""

from pathlib import Path

import numpy as np

import lithe

FILE = Path(__file__).parent / "rolling_robot.urdf"
TIME_STEP = 0.002  # s


def robot_on_ground() -> lithe.Scene:
    """The robot, 5 cm above a ground that the file does not have."""
    robot = lithe.load(FILE)
    for warning in robot.warnings:  # what the file says and the model cannot hold
        print(warning)
    ground = lithe.Shape("ground", lithe.Plane(), material=lithe.Material(friction=1.0))
    model = robot.builder.add_shape("world", ground).build()
    scene = lithe.Scene(model, robot.q, robot.v, time_step=TIME_STEP)
    scene.set_initial("root.z", 0.15)  # the radius of the wheels is 0.1 m
    return scene


def print_contacts(world: lithe.World) -> None:
    """Who carries how much."""
    shapes = world.model.shape_names
    total = 0.0
    for contact in world.contacts:
        force = contact.impulse / TIME_STEP  # on shape a, in the world; mean over the step
        total += force[2]
        print(f"  {shapes[contact.shape_a]} on {shapes[contact.shape_b]}: {force[2]:.2f} N")
    print(f"  all together {total:.2f} N; the robot weighs {9.81 * world.model.total_mass:.2f} N")


def drive(world: lithe.World, left: float, right: float, seconds: float) -> None:
    """Turns the wheels at these speeds, rad/s, with torques within the limits of the file."""
    wheels = ["left", "right"]
    dofs = [world.model.v_index(wheel) for wheel in wheels]
    limits = np.array([world.model.joints[world.model.joint(wheel)].effort_limit for wheel in wheels])

    def torques(now: lithe.World) -> np.ndarray:
        tau = np.zeros(now.model.nv)
        tau[dofs] = np.clip(0.5 * (np.array([left, right]) - now.v[dofs]), -limits, limits)
        return tau

    world.simulate(seconds, torques)


def print_pose(world: lithe.World, what: str) -> None:
    """Where the base is, where it looks and how fast it goes."""
    base = lithe.body_pose(world.model, world.q, "base")
    velocity = lithe.body_velocity(world.model, world.q, world.v, "base")  # [ω; ṗ] in world axes
    heading = np.degrees(np.arctan2(base.R[1, 0], base.R[0, 0]))
    x, y, heading, speed = np.round([base.p[0], base.p[1], heading, np.linalg.norm(velocity[3:])], 2) + 0.0
    print(f"{what:10} {world.time:.1f} s   x {x:.2f} m   y {y:.2f} m   heading {heading:3.0f}°   {speed:.2f} m/s")


def main() -> None:
    world = lithe.World(robot_on_ground())
    print(world.model)
    print("joints:", ", ".join(world.model.joint_names))

    while not world.contacts:
        world.step()
    print(f"\nThe wheels touch the ground after {world.time:.3f} s. After 0.5 s:")
    world.simulate(0.5 - world.time)
    print_contacts(world)

    print()
    print_pose(world, "standing")
    drive(world, 8, 8, seconds=2)
    print_pose(world, "straight")
    drive(world, 4, 8, seconds=1.5)
    print_pose(world, "a turn")
    drive(world, 0, 0, seconds=1)
    print_pose(world, "stopped")


if __name__ == "__main__":
    main()
