"""Descriptions of robots for tests, written for them."""

ARM_URDF = """
<robot name="arm">
  <material name="grey"><color rgba="0.4 0.4 0.4 1"/></material>
  <link name="base">
    <inertial><mass value="4"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
  </link>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0.02 0.2" rpy="0.3 -0.2 0.5"/>
      <mass value="2.5"/>
      <inertia ixx="0.05" ixy="0.002" ixz="-0.001" iyy="0.06" iyz="0.003" izz="0.02"/>
    </inertial>
    <visual><origin xyz="0 0 0.2" rpy="0 1 0"/><geometry><cylinder radius="0.05" length="0.4"/></geometry>
      <material name="grey"/></visual>
  </link>
  <link name="fore">
    <inertial><origin xyz="0 0 0.15"/><mass value="1.2"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.012" iyz="0" izz="0.004"/></inertial>
    <visual><geometry><box size="0.1 0.1 0.3"/></geometry></visual>
  </link>
  <link name="tool">
    <inertial><origin xyz="0.02 0 0"/><mass value="0.3"/>
      <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.0015"/></inertial>
  </link>
  <link name="flange"/>
  <link name="finger">
    <inertial><origin xyz="0 0 0.03"/><mass value="0.1"/>
      <inertia ixx="0.0002" ixy="0" ixz="0" iyy="0.0002" iyz="0" izz="0.0001"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 0.3" rpy="0.1 0.2 0.3"/><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" effort="10" velocity="3"/><dynamics damping="0.4" friction="0"/>
  </joint>
  <joint name="elbow" type="continuous">
    <origin xyz="0.1 0 0.4" rpy="-0.4 0 0"/><parent link="upper"/><child link="fore"/><axis xyz="1 1 0"/>
  </joint>
  <joint name="wrist" type="fixed">
    <origin xyz="0 0 0.3" rpy="0 0 1"/><parent link="fore"/><child link="flange"/>
  </joint>
  <joint name="mount" type="fixed">
    <origin xyz="0.01 0.02 0.03" rpy="0.5 0 0"/><parent link="flange"/><child link="tool"/>
  </joint>
  <joint name="grip" type="prismatic">
    <origin xyz="0 0 0.05" rpy="0 0.3 0"/><parent link="tool"/><child link="finger"/><axis xyz="0 0 2"/>
    <limit lower="-0.01" upper="0.05" effort="1" velocity="1"/>
  </joint>
</robot>
"""

#: Everything that changes how numbers of MJCF are read, and geoms of every kind.
WALKER_MJCF = """
<mujoco model="walker">
  <compiler angle="radian" eulerseq="zyx" autolimits="true"/>
  <option gravity="0.3 0 -9.7"/>
  <default>
    <geom density="800"/>
    <joint armature="0.02" damping="0.1"/>
    <default class="leg">
      <joint type="hinge" axis="0 1 0" range="-1 1.5" stiffness="2" springref="0.2"/>
      <geom type="capsule" size="0.04"/>
      <default class="foot"><geom type="ellipsoid" size="0.1 0.05 0.03" density="400"/></default>
    </default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 1" contype="0"/>
    <body name="torso" pos="0 0 1" euler="0.2 0.1 -0.3">
      <freejoint name="root"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.01 0 0.05" contype="0"/>
      <geom type="sphere" size="0.1" pos="0 0 0.5" mass="3" contype="0"/>
      <site name="hand" pos="0.2 0 0" axisangle="0 0 1 0.4"/>
      <frame pos="0 0.1 -0.3" xyaxes="0 1 0 -1 0 0" childclass="leg">
        <body name="thigh" pos="0.02 0 0">
          <joint name="hip" pos="0 0 0.02" ref="0.3"/>
          <geom fromto="0 0 0 0.1 0 -0.4" contype="0"/>
          <body name="foot" pos="0.1 0 -0.4" quat="2 0.2 0 0.1" childclass="foot">
            <joint name="ankle" axis="0 1 0.2" class="leg" limited="false"/>
            <geom pos="0.03 0 0" zaxis="0.1 0 1" contype="0"/>
            <geom type="cylinder" size="0.02 0.05" contype="0" pos="0.1 0 0"/>
          </body>
        </body>
      </frame>
      <body name="arm" pos="0 -0.25 0.2">
        <inertial pos="0.1 0 0" mass="1.5" fullinertia="0.02 0.03 0.04 0.001 -0.002 0.003"/>
        <joint name="yaw" axis="0 0 1"/>
        <joint name="pitch" axis="0 1 0" pos="0.01 0 0"/>
        <joint name="slide" type="slide" axis="1 0 0"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

#: A four-bar linkage of boxes: the last bar is connected to the ground.
FOUR_BAR_MJCF = """
<mujoco model="four bar">
  <compiler angle="degree"/>
  <option gravity="0 0 -9.81"/>
  <default><geom type="capsule" size="0.02" contype="0"/><joint axis="0 1 0"/></default>
  <worldbody>
    <body name="crank"><joint name="A"/><geom fromto="0 0 0 0 0 0.3"/>
      <body name="rod" pos="0 0 0.3"><joint name="B"/><geom fromto="0 0 0 0.8 0 0.2"/>
        <body name="rocker" pos="0.8 0 0.2"><joint name="C"/><geom fromto="0 0 0 0.1 0 -0.5"/></body>
      </body>
    </body>
  </worldbody>
  <equality><connect name="D" body1="rocker" anchor="0.1 0 -0.5"/></equality>
</mujoco>
"""
