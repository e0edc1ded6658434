"""How plugins of the old kind described their settings. Conclave reads none of it."""

from dataclasses import asdict, dataclass, field
from typing import Any, Optional


@dataclass
class ConfigField:
    """One setting, with what a form needs to show it."""

    type: type
    default: Any
    description: str
    example: Optional[str] = None
    required: bool = False
    choices: Optional[list] = field(default_factory=list)
    min: Optional[float] = None
    max: Optional[float] = None
    step: Optional[float] = None
    pattern: Optional[str] = None
    max_length: Optional[int] = None
    label: Optional[str] = None
    placeholder: Optional[str] = None
    hint: Optional[str] = None
    icon: Optional[str] = None
    hidden: bool = False
    disabled: bool = False
    order: int = 0
    input_type: Optional[str] = None
    rows: int = 3
    group: Optional[str] = None
    depends_on: Optional[str] = None
    depends_value: Any = None
    item_type: Optional[str] = None
    item_fields: Optional[dict] = None
    min_items: Optional[int] = None
    max_items: Optional[int] = None

    def get_ui_type(self):
        """Returns the kind of control that fits the type."""
        if self.input_type:
            return self.input_type
        if self.type in (int, float):
            return "number" if self.min is None or self.max is None else "slider"
        if self.type is str:
            return "select" if self.choices else "text"
        return {bool: "switch", list: "list", dict: "json"}.get(self.type, "text")

    def to_dict(self):
        kind = self.type.__name__ if isinstance(self.type, type) else str(self.type)
        told = {name: getattr(self, name) for name in self.__dataclass_fields__}
        told.update(type=kind, choices=self.choices or None, label=self.label or self.description)
        return {**told, "ui_type": self.get_ui_type()}


@dataclass
class ConfigSection:
    """A titled group of settings."""

    title: str
    description: Optional[str] = None
    icon: Optional[str] = None
    collapsed: bool = False
    order: int = 0

    def to_dict(self):
        return asdict(self)


@dataclass
class ConfigTab:
    """A tab with sections, by their names."""

    id: str
    title: str
    sections: list = field(default_factory=list)
    icon: Optional[str] = None
    order: int = 0
    badge: Optional[str] = None

    def to_dict(self):
        return asdict(self)


@dataclass
class ConfigLayout:
    """How the sections are laid out."""

    type: str = "auto"
    tabs: list = field(default_factory=list)

    def to_dict(self):
        return asdict(self)


def section_meta(title, description=None, icon=None, collapsed=False, order=0):
    """Returns a ConfigSection."""
    return ConfigSection(title, description, icon, collapsed, order)
