"""The verifier: says what a ledger proves, and needs nothing from its writer."""

from toolgate.verify.findings import Finding
from toolgate.verify.ledger import verify
from toolgate.verify.report import Report

__all__ = ["Finding", "Report", "verify"]
