"""Which lists of a result may be long, and lie in files of their own beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

if TYPE_CHECKING:
    from pydantic_core.core_schema import CoreSchema, ValidationInfo

PLACES = INLINE, FILE = "(inline)", "(file)"
"""Where a list of a result is; part of the place that a complaint of pydantic names."""


@dataclass(frozen=True)
class Long:
    """Marks the type of a list that may have a million entries; lists of one name share a file.

    A result that is read may hold ``{"in": NAME, "rows": [FIRST, LAST]}`` in its place; the context
    of the reader gives the list by its name, the type of its entries and its rows.
    """

    name: str

    def __get_pydantic_core_schema__(self, hint: Any, handler: Any) -> CoreSchema:
        """The list itself, or what stands for it."""
        from pydantic_core import core_schema as schemas

        entry = get_args(hint)[0]

        def stored(place: dict[str, Any], info: ValidationInfo) -> Any:
            if info.context is None:
                raise ValueError("a list that lies in a file, where no file is read")
            return info.context(place["in"], entry, *place["rows"])

        rows = schemas.tuple_schema([schemas.int_schema(strict=True)] * 2)
        place = schemas.typed_dict_schema(
            {
                "in": schemas.typed_dict_field(schemas.str_schema(strict=True)),
                "rows": schemas.typed_dict_field(rows),
            },
            extra_behavior="forbid",
        )
        return schemas.tagged_union_schema(
            {
                INLINE: handler(hint),
                FILE: schemas.with_info_after_validator_function(stored, place),
            },
            discriminator=lambda value: FILE if isinstance(value, dict) else INLINE,
        )
