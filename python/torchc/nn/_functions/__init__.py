"""The functions of `torchc.nn.functional`, one file for each kind."""
