"""The pictures of the documentation, one module a picture, drawn from what the methods learned."""
