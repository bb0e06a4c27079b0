"""What a process that is forked from the server has done already: imports take most of its time."""

import gc

import sentence_transformers  # noqa: F401
import transformers.models.bert.modeling_bert  # noqa: F401

import perturbations.search  # noqa: F401
import scope.cli.commands
import scope.jobs.encoders

# An audit must not depend on the encoders that a machine has.
scope.jobs.encoders.AT_HAND = ()
# A child that looked through all these objects would copy the memory that they lie in.
gc.collect()
gc.freeze()
