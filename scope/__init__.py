"""SCoPE compares language models by behaviour."""
