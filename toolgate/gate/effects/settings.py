"""What a policy says about places, names and hosts: the words effects are read with."""

from typing import NamedTuple


class Settings(NamedTuple):
    """Names and patterns from the policy.

    A *name* pattern is matched against a path's last component, ``*`` standing
    for any characters. A *path* is absolute, or begins with ``~/``, or with
    ``**/`` for any folder; it covers what lies below it.

    Args:
        secret_names, secret_paths: files that hold secrets.
        public_names, public_paths: files that look like secrets and are none.
        disposable_names: folders whose content can be made again.
        startup_paths: files that run by themselves later.
        ci_paths: files that say what runs when the project is pushed.
        gate_paths: files that steer the agent or this gate.
        system_paths: folders of the operating system.
        protected_refs: branches that others build on, as name patterns.
        trusted_hosts: hosts that may be sent to; a host covers its subdomains.
        trusted_tools: MCP tools that may be given what is no secret, as name patterns.
        trusted_remotes: hosts of git remotes that may be pushed to by address; a host
            covers its subdomains.
    """

    secret_names: tuple[str, ...] = ()
    secret_paths: tuple[str, ...] = ()
    public_names: tuple[str, ...] = ()
    public_paths: tuple[str, ...] = ()
    disposable_names: tuple[str, ...] = ()
    startup_paths: tuple[str, ...] = ()
    ci_paths: tuple[str, ...] = ()
    gate_paths: tuple[str, ...] = ()
    system_paths: tuple[str, ...] = ()
    protected_refs: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()
    trusted_tools: tuple[str, ...] = ()
    trusted_remotes: tuple[str, ...] = ()
