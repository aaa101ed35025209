"""A robot of three links of which the outer two overlap in all poses."""

COMPACT = """<robot name="compact">
  {links}
  <joint name="ab" type="continuous"><parent link="a"/><child link="b"/></joint>
  <joint name="bc" type="continuous"><parent link="b"/><child link="c"/></joint>
</robot>
""".format(
    links="\n  ".join(
        f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
        '</inertial><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>'
        for name in "abc"
    )
)
