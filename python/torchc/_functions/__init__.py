"""Functions of tensors that are made of others, by area; torchc._methods says which names they have."""
