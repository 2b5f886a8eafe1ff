"""The parts that decoders are made of; a family's file says which of them it is built from."""
