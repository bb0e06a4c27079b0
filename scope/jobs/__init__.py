"""The jobs a user gives, and the steps they are made of."""
