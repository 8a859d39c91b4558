"""YAML as policies are written in it: no key twice, no aliases, one clear fault."""

from typing import Any

from toolgate.errors import PolicyError


def read_yaml(source: bytes, name: str, twice: list[str] | None = None) -> Any:
    """Return what YAML text says.

    Args:
        source: the text in UTF-8.
        name: what to call it in messages.
        twice: takes a fault for each key that is given twice, of which the first counts, so
            that what else is wrong can be told as well; None where that is refused at once.

    Raises:
        PolicyError: it is no YAML of this kind; says what and where.
    """
    import yaml

    found: list[str] = [] if twice is None else twice
    try:
        made = yaml.load(source.decode("utf-8"), Loader=_strict_loader(yaml, found))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or "not YAML"
        raise PolicyError(name, [f"{where}{problem}"]) from None
    except UnicodeDecodeError as error:
        raise PolicyError(name, [f"not UTF-8 at byte {error.start}"]) from None
    except RecursionError:
        raise PolicyError(name, ["nested too deep"]) from None
    except ValueError as error:  # a date or a number that is none
        raise PolicyError(name, [f"a value cannot be read: {str(error)[:80]}"]) from None
    if twice is None and found:
        raise PolicyError(name, found)
    return made


def _strict_loader(yaml: Any, twice: list[str]) -> Any:
    """Return a safe loader that tells of keys given twice, and refuses aliases, which multiply."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml is imported late, so it is untyped here
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.events.AliasEvent):
                at = self.peek_event()
                raise yaml.constructor.ConstructorError(
                    None,
                    None,
                    f"alias *{at.anchor:.40}: write out what it stands for",
                    at.start_mark,
                )
            return super().compose_node(parent, index)

    def mapping(loader: Any, node: Any) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key is a word, no list or mapping", key_node.start_mark
                )
            key = loader.construct_object(key_node, deep=True)
            value = loader.construct_object(value_node, deep=True)
            if key in made:
                line = key_node.start_mark.line + 1
                twice.append(f"line {line}: key {key!r:.80} is given twice")
                continue
            made[key] = value
        return made

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    return Loader
