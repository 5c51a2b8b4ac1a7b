"""What discreet costs, measured against native SQL in one run."""
