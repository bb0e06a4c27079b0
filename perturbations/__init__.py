"""Changed texts that leave a model's answer alone, found by TextAttack's searches in lockstep."""
