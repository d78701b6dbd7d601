"""What is kept: the store of samples and models, and files of models."""
