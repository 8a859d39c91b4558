"""What lies on a loop of a directed graph."""

from collections.abc import Collection


def on_loops(edges: Collection[tuple[str, str]]) -> set[str]:
    """Return the nodes that a path leads back to themselves from.

    Source: R. Tarjan, Depth-first search and linear graph algorithms (1972), without recursion.
    """
    following: dict[str, list[str]] = {}
    for one, other in sorted(edges):
        following.setdefault(one, []).append(other)
    found = {one for one, other in edges if one == other}
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_: list[str] = []
    waiting: set[str] = set()
    for root, below in following.items():
        path = [] if root in number else [(root, iter(below))]
        while path:
            node, rest = path[-1]
            if node not in number:
                number[node] = lowest[node] = len(number)
                open_.append(node)
                waiting.add(node)
            for other in rest:
                if other not in number:
                    path.append((other, iter(following.get(other, ()))))
                    break
                if other in waiting:
                    lowest[node] = min(lowest[node], number[other])
            else:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
                if lowest[node] == number[node]:
                    together = [open_.pop()]
                    while together[-1] != node:
                        together.append(open_.pop())
                    waiting.difference_update(together)
                    if len(together) > 1:
                        found.update(together)
    return found
