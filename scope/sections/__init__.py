"""What every report consists of: typed sections, and how they become text."""
