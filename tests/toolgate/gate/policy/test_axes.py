"""Axes of a policy: lines for each, one's own axes with what they state, the line of authorized."""

import pytest

from toolgate.gate.policy.axes import Axis, shipped_axes

OWN = "axes:\n  tone: {softened: false, ceiling: ask, question: 'Does it insult anybody?'}\n"


def test_a_policy_that_says_nothing_has_the_shipped_axes(policy_of):
    assert policy_of("rules: []\n").axes == shipped_axes()


def test_each_axis_has_its_own_lines_and_keeps_what_is_fixed(policy_of):
    axes = policy_of("axes:\n  authorized: 0.9\n  destructive: {ask: 0.3, deny: 0.31}\n").axes
    assert axes.authorized == 0.9
    assert axes.axes["destructive"] == Axis("destructive", 0.3, 0.31, softened=True)
    assert axes.axes["off_task"] == shipped_axes().axes["off_task"]
    assert policy_of("axes:\n  off_task: {deny: 1}\n").axes.axes["off_task"].ceiling == "ask"


def test_lines_are_compared_as_written_and_never_rounded(policy_of):
    axes = policy_of("axes:\n  privilege: {ask: 0.4996, deny: 0.5}\n").axes
    assert axes.axes["privilege"][1:3] == (0.4996, 0.5)


def test_an_axis_of_ones_own_states_softening_and_ceiling(policy_of):
    axes = policy_of(OWN).axes.axes
    assert axes["tone"] == Axis("tone", ceiling="ask", question="Does it insult anybody?")
    assert len(axes) == 8


def test_a_rule_may_name_an_axis_of_the_policys_own(policy_of, faults_of):
    rule = "rules:\n  - {rule: r, decide: ask, axis: tone, because: x, tools: [Write]}\n"
    assert policy_of(OWN + rule).rules[0].axis == "tone"
    assert faults_of(rule) == ["rule r: unknown axis 'tone'"]


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        ("[]", "axes is list; expected a mapping from axis to its lines"),
        ("{authorized: 0}", "axes: authorized is 0; expected a number above 0 and up to 1"),
        ("{authorized: true}", "axes: authorized is True; expected a number"),
        ("{authorized: .nan}", "axes: authorized is nan; expected a number"),
        ("{destructive: {ask: 0}}", "axes: destructive: ask is 0; expected a number above 0"),
        ("{destructive: {deny: 1.01}}", "axes: destructive: deny is 1.01; expected a number"),
        ("{destructive: {ask: '0.5'}}", "axes: destructive: ask is '0.5'; expected a number"),
        ("{destructive: {ask: 0.9}}", "axes: destructive: asks from 0.9 on but denies from 0.85"),
        ("{secret_exposure: {softened: true}}", "softened of a shipped axis is fixed"),
        ("{off_task: {ceiling: deny}}", "axes: off_task: ceiling of a shipped axis is fixed"),
        ("{off_task: 0.5}", "axes: off_task: expected a mapping with ask and deny"),
        ("{tone: {}}", "axes: tone: softened is missing; an axis of your own states it"),
        ("{tone: {ceiling: allow}}", "axes: tone: ceiling is 'allow'; expected ask or deny"),
        ("{tone: {softened: 1}}", "axes: tone: softened is 1; expected true or false"),
        ("{tone: {weight: 1}}", "axes: tone: unknown key weight"),
        ("{a b: {}}", "axes: 'a b' is no name; expected letters, digits and _"),
        ("{tone: {question: ' '}}", "axes: tone: question is not text of 1 to 2000 characters"),
    ],
)
def test_faults_of_axes_are_told(faults_of, axes, said):
    assert any(said in fault for fault in faults_of(f"axes: {axes}\n"))
