"""Values for the fields of an item, whatever kind of item it is."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import Annotated, Any, NamedTuple
from weakref import ref

from itemadapter import ItemAdapter

from noiseclean_scrapy.items import held

_DICTS_REMEMBERED = 16


class _Given(NamedTuple):
    item: Callable[[], Any]
    page: object
    values: Mapping[str, Any]


class GivenValues:
    """The values that items were given, and of which page: an item may be yielded again.

    They go with their items. Nothing tells when a dict goes: the last ones are kept.
    """

    def __init__(self) -> None:
        self._items: dict[int, _Given] = {}
        self._dicts: OrderedDict[int, _Given] = OrderedDict()

    def __len__(self) -> int:
        return len(self._items) + len(self._dicts)

    def note(self, item: Any, page: object, fields: Iterable[str]) -> None:
        """Remember what fields of an item hold now, which is of this page."""
        key, known = id(item), self._of(item)
        values = {field: held(ItemAdapter(item), field) for field in fields}
        if known is not None and known.page == page:
            values = {**known.values, **values}
        try:
            referred = ref(item, lambda _: self._items.pop(key, None))
        except TypeError:
            self._dicts[key] = _Given(lambda: item, page, values)
            self._dicts.move_to_end(key)
            if len(self._dicts) > _DICTS_REMEMBERED:
                self._dicts.popitem(last=False)
        else:
            self._items[key] = _Given(referred, page, values)

    def is_of_another(self, item: Any, field: str, page: object) -> bool:
        """Whether a field still holds what it was given of another page than this."""
        known = self._of(item)
        if known is None or known.page == page or field not in known.values:
            return False
        return held(ItemAdapter(item), field) is known.values[field]

    def _of(self, item: Any) -> _Given | None:
        known = self._items.get(id(item)) or self._dicts.get(id(item))
        return known if known is not None and known.item() is item else None


def with_values(item: Any, values: Mapping[str, Any]) -> tuple[Any, dict[str, Exception]]:
    """The item with the values, and by field the errors of those that it does not take.

    It is the item itself, or a copy where it is frozen; attrs and pydantic classes check the values
    either way.
    """
    refused: dict[str, Exception] = {}
    for field, value in values.items():
        item, error = _filled(item, field, value)
        if error is not None:
            refused[field] = error
    return item, refused


def _filled(item: Any, field: str, value: Any) -> tuple[Any, Exception | None]:
    """The item with a value, or as it was and what its class says to the value."""
    before = held(ItemAdapter(item), field)
    try:
        is_set = not _is_frozen_model(item) and _set(item, field, value)
        return item if is_set else _replaced(item, field, value), None
    except Exception as error:
        _put_back(item, field, before)
        return item, error


def _put_back(item: Any, field: str, before: Any) -> None:
    """Take from a model of pydantic what it has refused: what looks at all of it comes too late."""
    values = getattr(item, "__dict__", {})
    if hasattr(type(item), "model_fields") and field in values:
        values[field] = before


def _set(item: Any, field: str, value: Any) -> bool:
    """Give an item a value; False where it is frozen."""
    try:
        ItemAdapter(item)[field] = value
    except Exception as error:
        # Dataclasses and attrs classes have an error each, of the same name.
        if type(error).__name__ != "FrozenInstanceError":
            raise
        return False
    return True


def _is_frozen_model(item: Any) -> bool:
    """Whether an item is one of pydantic that takes no values."""
    config = getattr(type(item), "model_config", None)
    return isinstance(config, Mapping) and bool(config.get("frozen"))


def _replaced(item: Any, field: str, value: Any) -> Any:
    """A frozen item with another value of a field; nothing else of it is made again."""
    kind = type(item)
    if _is_frozen_model(item):
        from pydantic import TypeAdapter  # is there, as the item's class needs it

        told = kind.model_fields[field]
        annotated: Any = Annotated[told.annotation, told]
        checked = TypeAdapter(annotated).validate_python(value)
        return item.model_copy(update={field: checked})
    if hasattr(kind, "__attrs_attrs__"):
        from attrs import fields_dict, setters

        take = setters.pipe(setters.convert, setters.validate)
        value = take(item, fields_dict(kind)[field], value)
    replaced = copy(item)
    object.__setattr__(replaced, field, value)
    return replaced
