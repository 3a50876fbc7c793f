"""The whole workspace: stamps, baseline, scan — what changed outside the tools."""
