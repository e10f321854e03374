#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that the tests of each rule fail when softcuda does without the rule.

usage: switch_off.py PROGRAM, a program of tests/conformance/rules built with
GPH_RULE_SWITCHES. For every rule R that it lists: with RULES_OFF=R and RULE_ONLY=R
it must not pass (a crash or hanging counts as noticed), and without the switch it must.
"""
import os
import subprocess
import sys

LIMIT_S = 60


def passes(program, rule, off):
    """Whether the rule's tests pass; None if they were all skipped."""
    env = dict(os.environ, RULE_ONLY=rule)
    env.pop("RULES_OFF", None)
    if off:
        env["RULES_OFF"] = rule
    try:
        run = subprocess.run([program], env=env, capture_output=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return False
    return None if run.returncode == 77 else run.returncode == 0


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = sys.argv[1]
    listed = subprocess.run([program, "--rules"], capture_output=True, text=True, check=True)
    bad = 0
    for rule in dict.fromkeys(listed.stdout.split()):
        with_rule = passes(program, rule, False)
        without = passes(program, rule, True)
        if with_rule is None:
            print(f"skipped {rule}: softcuda cannot be asked")
        elif not with_rule:
            bad += print(f"not ok {rule}: fails with its rule on") or 1
        elif without:
            bad += print(f"not ok {rule}: passes with its rule off") or 1
        else:
            print(f"ok {rule}")
    sys.exit(1 if bad else 0)


main()
