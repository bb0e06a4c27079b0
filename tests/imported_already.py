"""What a process that is forked from the server has done already: imports take most of its time."""

from contextlib import suppress

import sentence_transformers  # noqa: F401
import transformers.models.bert.modeling_bert  # noqa: F401

import perturbations.search  # noqa: F401
import scope.cli.commands
import scope.jobs.word_encoder
from perturbations.textattack_gate import load_textattack
from scope.errors import ResourceError

# An audit must not depend on the encoders that a machine has.
scope.jobs.word_encoder.AT_HAND = ()
# Where there are no stopwords the command says so.
with suppress(ResourceError):
    load_textattack()
