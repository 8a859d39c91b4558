"""YAML as a person writes it, read without surprises.

Keys are text and unique, nothing is an alias of something else, and a moment
stays the text it was, so that its zone is checked by who uses it.
"""

from typing import Any

from evalkit.errors import UsageError

_TIMESTAMP = "tag:yaml.org,2002:timestamp"


def load_yaml(data: bytes, source: str) -> Any:
    """Return the one document in some YAML.

    Args:
        data: UTF-8 text.
        source: the file's name, for messages.

    Raises:
        UsageError: not UTF-8, not YAML, more than one document, an alias, a
            key that repeats or is not text.
    """
    import yaml

    loader = _loader(yaml)
    try:
        return yaml.load(data.decode("utf-8"), loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        words = " ".join(str(error).split()) or type(error).__name__
        raise UsageError(f"{source}: not readable YAML: {words[:200]}") from None


def _loader(yaml: Any) -> Any:
    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml is imported late, hence Any
        """A safe loader that refuses aliases and repeated keys."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("aliases are not allowed")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen = set()
            for key_node, _ in node.value:
                key = self.construct_object(key_node, deep=True)
                if type(key) is not str:
                    raise yaml.YAMLError(f"key {key!r:.40} is not text")
                if key in seen:
                    raise yaml.YAMLError(f"key {key!r:.40} appears twice")
                seen.add(key)
            return super().construct_mapping(node, deep=deep)

    Loader.yaml_implicit_resolvers = {
        first: [pair for pair in pairs if pair[0] != _TIMESTAMP]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return Loader
