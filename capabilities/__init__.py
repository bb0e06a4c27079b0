"""The questions SCoPE can ask, one file each."""
