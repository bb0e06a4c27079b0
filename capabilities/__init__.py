"""The capabilities and tasks of SCoPE, one file each."""
