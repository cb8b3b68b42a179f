"""Benchmarks: webarc's whole job beside the tools a user would otherwise take. `python -m bench` runs them all."""
