"""Values for the fields of an item, whatever kind of item it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any

from itemadapter import ItemAdapter


def with_values(item: Any, values: Mapping[str, Any]) -> tuple[Any, dict[str, Exception]]:
    """The item with the values, and by field the errors of those that it does not take.

    It is the item itself, or a copy where it is frozen; its class checks the values either way.
    """
    refused: dict[str, Exception] = {}
    adapter = ItemAdapter(item)
    is_frozen = _is_frozen_model(item)
    for field, value in values.items():
        try:
            if not is_frozen:
                adapter[field] = value
                continue
        except Exception as error:
            # Dataclasses and attrs classes have an error each, of the same name.
            is_frozen = type(error).__name__ == "FrozenInstanceError"
            if not is_frozen:
                refused[field] = error
                continue
        try:
            item = _replaced(item, field, value)
        except Exception as error:
            refused[field] = error
    return item, refused


def _is_frozen_model(item: Any) -> bool:
    """Whether an item is one of pydantic that takes no values."""
    config = getattr(type(item), "model_config", None)
    return isinstance(config, Mapping) and bool(config.get("frozen"))


def _replaced(item: Any, field: str, value: Any) -> Any:
    """A frozen item with another value of a field."""
    if dataclasses.is_dataclass(item):
        return dataclasses.replace(item, **{field: value})  # type: ignore[type-var]
    if hasattr(type(item), "__attrs_attrs__"):
        from attrs import evolve  # is there, as the item's class needs it

        return evolve(item, **{field: value})
    from pydantic import TypeAdapter

    told = type(item).model_fields[field]
    kind: Any = Annotated[told.annotation, told]
    checked = TypeAdapter(kind).validate_python(value)
    return item.model_copy(update={field: checked})
