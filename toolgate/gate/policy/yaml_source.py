"""YAML as policies are written in it: no key twice, no aliases, one clear fault."""

from typing import Any

from toolgate.errors import PolicyError


def read_yaml(source: bytes, name: str) -> Any:
    """Return what YAML text says.

    Args:
        source: the text in UTF-8.
        name: what to call it in messages.

    Raises:
        PolicyError: it is no YAML of this kind; says what and where.
    """
    import yaml

    try:
        return yaml.load(source.decode("utf-8"), Loader=_strict_loader(yaml))
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


def _strict_loader(yaml: Any) -> Any:
    """Return a safe loader that refuses a key given twice, and aliases, which may multiply."""

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
            if key in made:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key!r:.80} is given twice", key_node.start_mark
                )
            made[key] = loader.construct_object(value_node, deep=True)
        return made

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    return Loader
